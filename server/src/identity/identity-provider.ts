// The port to an identity provider (IdP): one sign-in from the redirect to what the IdP states about the person. It knows no team and no account:
// whether the person may sign in is decided in link.ts and mapping.ts.
import type { SignInReason } from '@pharos/contract/sign-in-reason'

type SharedSettings = {
  readonly key: string
  /** Name of the claim or attribute with the groups. */
  readonly groupsClaim: string
  /** Values of `acr`, `amr` and AuthnContext that state a second factor, beside the usual ones. */
  readonly secondFactorValues: readonly string[]
}

/** The settings of one provider, with its secret in plain text. */
export type OidcSettings = SharedSettings & {
  readonly kind: 'oidc'
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The verified domains that are bound to the provider. */
  readonly domains: readonly string[]
  readonly redirectUri: string
}

export type SamlSettings = SharedSettings & {
  readonly kind: 'saml'
  readonly entityId: string
  readonly signOnUrl: string
  /** Base64 of DER. */
  readonly certificates: readonly string[]
  /** Our entity id. */
  readonly audience: string
  readonly acsUrl: string
}

export type ProviderSettings = OidcSettings | SamlSettings

/** What the driver needs again to finish, such as nonce and PKCE verifier. It is stored sealed. */
export type FlowSecrets = Readonly<Record<string, string>>

export type FlowStart = {
  readonly state: string
  /** E-mail address that the person typed. */
  readonly loginHint?: string | undefined
}

/** What the browser brings back. The flow of `state` is the one that the driver finishes. */
export type FlowAnswer = {
  readonly state: string
  readonly code?: string | undefined
  readonly iss?: string | undefined
  readonly error?: string | undefined
  /** The answer of SAML, in base64. The browser has sent it to the assertion consumer service. */
  readonly samlResponse?: string | undefined
}

export type PersonNames = { readonly first: string; readonly last: string; readonly display: string }

export type Assertion = {
  /** Identifies the person at the provider; compared byte by byte. */
  readonly subject: string
  readonly email: string | null
  /** Undefined: the provider does not say. */
  readonly emailVerified?: boolean | undefined
  readonly names: PersonNames
  /** `overflow`: there are more groups than the provider sends. */
  readonly groups: readonly string[] | 'overflow'
  /** The provider states that a second factor was used. */
  readonly secondFactor: boolean
  /** Names of all claims. */
  readonly claims: readonly string[]
  /** Session at the provider, which its logout names. */
  readonly idpSession?: string | undefined
}

/** That a person has signed out at the provider: of one session there, else of all. */
export type LogoutStatement = {
  readonly subject: string | null
  readonly idpSession: string | null
  /** Id of the statement, which counts once. */
  readonly id: string
  readonly expires: Date
}

export type IdentityProvider = {
  /** Returns the URL for the browser. Throws SignInFailure. */
  begin(start: FlowStart): Promise<{ readonly redirect: string; readonly secrets: FlowSecrets }>
  /** Redeems the answer, once. Throws SignInFailure. */
  finish(secrets: FlowSecrets, answer: FlowAnswer): Promise<Assertion>
  /** Returns the URL at which a browser signs out; null if the provider has none. */
  signOutUrl?(hint: string, returnTo: string): Promise<string | null>
  /** Verifies a logout token. Throws SignInFailure. */
  readLogout?(token: string): Promise<LogoutStatement>
}

export type CreateIdentityProvider<S = ProviderSettings> = (settings: S) => IdentityProvider

/** A sign-in that failed, with the names of the claims if there was an answer. */
export class SignInFailure extends Error {
  readonly reason: SignInReason
  readonly claims: readonly string[]

  constructor(
    reason: SignInReason,
    { claims = [], cause }: { claims?: readonly string[]; cause?: unknown } = {},
  ) {
    super(reason, { cause })
    this.name = 'SignInFailure'
    this.reason = reason
    this.claims = claims
  }
}
