// From a stored provider to its driver: the secret is opened here and nowhere else.
import { open, seal, type KeyRing } from '../runtime/secrets.ts'
import type { CreateIdentityProvider, IdentityProvider } from './identity-provider.ts'
import { isSaml, type SignInProvider } from './provider.store.ts'

export type OpenProviderDeps = {
  readonly ring: KeyRing
  readonly publicUrl: string
  readonly createProvider: CreateIdentityProvider
}

/** Per provider, so that no other provider can answer for it. */
export const redirectUriOf = (publicUrl: string, key: string): string => `${publicUrl}/sign-in/return/${key}`

/** What an identity provider of OpenID Connect has to know about us. */
export const relyingPartyUris = (publicUrl: string, key: string) => ({
  redirect_uri: redirectUriOf(publicUrl, key),
  backchannel_logout_uri: `${publicUrl}/sso/oidc/${key}/logout`,
  post_logout_redirect_uri: signedOutUri(publicUrl),
})

export const signedOutUri = (publicUrl: string): string => `${publicUrl}/sign-in`

export const sealClientSecret = (ring: KeyRing, key: string, secret: string): Buffer =>
  seal(ring, 'identity-provider', Buffer.from(secret), key)

/** What an identity provider of SAML has to know about us. */
export const serviceProviderOf = (publicUrl: string, key: string) => ({
  acs_url: `${publicUrl}/sso/saml/${key}/acs`,
  entity_id: `${publicUrl}/sso/saml/${key}/metadata`,
  metadata_url: `${publicUrl}/sso/saml/${key}/metadata`,
})

/** `secretContext`: that under which the secret is sealed, if it is not the key. */
export type OpenedProvider = Pick<SignInProvider, 'key' | 'settings' | 'secretSealed' | 'domains'> & {
  readonly secretContext?: string
}

export function openProvider(
  { ring, publicUrl, createProvider }: OpenProviderDeps,
  { key, secretContext = key, settings, secretSealed, domains }: OpenedProvider,
): IdentityProvider {
  const shared = {
    key,
    groupsClaim: settings.groups_claim,
    secondFactorValues: settings.second_factor_values,
  }
  if (isSaml(settings)) {
    const { entity_id: audience, acs_url: acsUrl } = serviceProviderOf(publicUrl, key)
    const { entity_id: entityId, sign_on_url: signOnUrl, certificates } = settings
    return createProvider({ ...shared, kind: 'saml', entityId, signOnUrl, certificates, audience, acsUrl })
  }
  return createProvider({
    ...shared,
    kind: 'oidc',
    issuer: settings.issuer,
    clientId: settings.client_id,
    clientSecret: open(ring, 'identity-provider', secretSealed!, secretContext).toString(),
    domains,
    redirectUri: redirectUriOf(publicUrl, key),
  })
}
