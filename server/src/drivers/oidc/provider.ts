// OpenID Connect (OpenID Connect Core 1.0): the code flow with PKCE (RFC 7636), nonce, state and the issuer in the answer (RFC 9207). ID tokens are verified by
// their signature also where the specification would let TLS do, and issuers are compared exactly.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  getJwksCache,
  randomNonce,
  randomPKCECodeVerifier,
  setJwksCache,
  type ClientAuth,
  type ServerMetadata,
} from 'openid-client'
import type { JWTVerifyGetKey } from 'jose'
import {
  SignInFailure,
  type Assertion,
  type CreateIdentityProvider,
  type FlowAnswer,
  type FlowSecrets,
  type FlowStart,
  type OidcSettings,
} from '../../identity/identity-provider.ts'
import type { OutgoingFetch } from '../outgoing/fetch.ts'
import { assertionOf, type TokenClaims } from './claims.ts'
import { failureReasonOf } from './failure-reason.ts'
import { idTokenAlgorithms, createLogoutKeys, verifyLogoutToken } from './logout-token.ts'

type JwksCache = NonNullable<ReturnType<typeof getJwksCache>>
type Known = {
  readonly metadata: ServerMetadata
  readonly jwks: Partial<JwksCache>
  readonly logoutKeys: JWTVerifyGetKey
  readonly until: number
}

const knownMs = 60 * 60_000
const knownMax = 1_000

export type OidcDeps = { readonly fetch: OutgoingFetch; readonly now?: () => number }

/** Metadata and keys of an issuer are read again after an hour; a key that is unknown is looked for immediately. */
export function createOidc({
  fetch,
  now = () => performance.now(),
}: OidcDeps): CreateIdentityProvider<OidcSettings> {
  const known = new Map<string, Known>()

  async function open(settings: OidcSettings): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = settings
    const cached = known.get(issuer)
    const metadata = cached && cached.until > now() ? cached.metadata : await discover(settings)
    if (metadata !== cached?.metadata) {
      if (known.size >= knownMax) known.clear()
      known.set(issuer, {
        metadata,
        jwks: {},
        logoutKeys: createLogoutKeys(metadata.jwks_uri, fetch),
        until: now() + knownMs,
      })
    }
    const config = new Configuration(
      metadata,
      clientId,
      { client_secret: clientSecret },
      authOf(clientSecret),
    )
    config[customFetch] = fetch as never
    // The connection refuses plain HTTP to the public internet.
    allowInsecureRequests(config)
    enableNonRepudiationChecks(config)
    const { jwks } = known.get(issuer)!
    if ('jwks' in jwks) setJwksCache(config, jwks as JwksCache)
    return config
  }

  async function discover({ issuer, clientId }: OidcSettings): Promise<ServerMetadata> {
    const config = await discovery(new URL(issuer), clientId, undefined, undefined, {
      [customFetch]: fetch as never,
      execute: [allowInsecureRequests],
    })
    const metadata = config.serverMetadata()
    if (metadata.issuer !== issuer) throw new SignInFailure('issuer')
    return metadata
  }

  /** Keys that were read stay known to the next sign-in. */
  function keepKeys({ issuer }: OidcSettings, config: Configuration): void {
    const jwks = getJwksCache(config)
    if (jwks) Object.assign(known.get(issuer)?.jwks ?? {}, jwks)
  }

  return (settings) => ({
    begin: (start) => translating(async () => redirectTo(await open(settings), settings, start)),
    finish: (secrets, answer) =>
      translating(async () => {
        const config = await open(settings)
        const assertion = await redeem(config, settings, secrets, answer)
        keepKeys(settings, config)
        return assertion
      }),
    signOutUrl: (hint, returnTo) =>
      translating(async () => {
        const config = await open(settings)
        if (config.serverMetadata().end_session_endpoint === undefined) return null
        // No token of the provider is stored: it finds the person by the address.
        const url = buildEndSessionUrl(config, { logout_hint: hint, post_logout_redirect_uri: returnTo })
        return url.href
      }),
    readLogout: (token) =>
      translating(async () => {
        await open(settings)
        return verifyLogoutToken(token, settings, known.get(settings.issuer)!.logoutKeys)
      }),
  })
}

async function redirectTo(
  config: Configuration,
  { redirectUri }: OidcSettings,
  { state, loginHint }: FlowStart,
): Promise<{ readonly redirect: string; readonly secrets: FlowSecrets }> {
  const secrets = { nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
  const redirect = buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid email profile',
    response_type: 'code',
    state,
    nonce: secrets.nonce,
    code_challenge: await calculatePKCECodeChallenge(secrets.verifier),
    code_challenge_method: 'S256',
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
  })
  return { redirect: redirect.href, secrets }
}

async function translating<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof SignInFailure) throw error
    throw new SignInFailure(failureReasonOf(error), { cause: error })
  }
}

/** As the provider supports it; without a statement by HTTP Basic (OpenID Connect Discovery 1.0, 3). */
function authOf(secret: string): ClientAuth {
  const [basic, post] = [basicAuthOf(secret), ClientSecretPost(secret)]
  return (as, client, body, headers) => {
    const methods = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const auth = methods.includes('client_secret_basic') ? basic : post
    return auth(as, client, body, headers)
  }
}

/**
 * HTTP Basic with form encoding (RFC 6749, 2.3.1). Letters, digits and `*-._` stay as they are (URL standard, 5.2): the library encodes these four too, and
 * providers that decode nothing, such as LemonLDAP::NG, then refuse the secret.
 */
const basicAuthOf =
  (secret: string): ClientAuth =>
  (_, { client_id: clientId }, _body, headers) => {
    const [id, password] = [clientId, secret].map((text) =>
      new URLSearchParams({ '': text }).toString().slice(1),
    )
    headers.set('authorization', `Basic ${Buffer.from(`${id}:${password}`).toString('base64')}`)
  }

async function redeem(
  config: Configuration,
  settings: OidcSettings,
  { nonce, verifier }: FlowSecrets,
  { state, code, iss, error }: FlowAnswer,
): Promise<Assertion> {
  const { authorization_response_iss_parameter_supported: statesIssuer, userinfo_endpoint } =
    config.serverMetadata()
  if (iss === undefined ? statesIssuer === true : iss !== settings.issuer) throw new SignInFailure('issuer')
  if (error !== undefined || code === undefined) throw new SignInFailure('idp_error')
  const url = new URL(settings.redirectUri)
  url.search = new URLSearchParams({ state, code, ...(iss === undefined ? {} : { iss }) }).toString()
  const tokens = await authorizationCodeGrant(config, url, {
    expectedNonce: nonce!,
    expectedState: state,
    pkceCodeVerifier: verifier!,
    idTokenExpected: true,
  })
  if (!idTokenAlgorithms.includes(algorithmOf(tokens.id_token!))) throw new SignInFailure('algorithm')
  const claims: TokenClaims = tokens.claims()!
  const isComplete = ['email', settings.groupsClaim].every((name) => name in claims)
  if (isComplete || userinfo_endpoint === undefined) return assertionOf(claims, settings)
  // Of the same subject, which the library compares. Only for claims that the ID token lacks.
  const further = await fetchUserInfo(config, tokens.access_token, String(claims['sub']))
  return assertionOf({ ...further, ...claims }, settings)
}

const algorithmOf = (jwt: string): string =>
  String((JSON.parse(Buffer.from(jwt.split('.')[0]!, 'base64url').toString()) as { alg?: unknown }).alg)
