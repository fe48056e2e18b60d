// From a stored provider to its driver: the secret is opened here and nowhere else.
import { open, seal, type KeyRing } from '../runtime/secrets.ts'
import type { CreateIdentityProvider, IdentityProvider } from './identity-provider.ts'
import type { SignInProvider } from './provider.store.ts'

export type OpenProviderDeps = {
  readonly ring: KeyRing
  readonly publicUrl: string
  readonly createProvider: CreateIdentityProvider
}

/** Per provider, so that no other provider can answer for it. */
export const redirectUriOf = (publicUrl: string, key: string): string => `${publicUrl}/sign-in/return/${key}`

export const sealClientSecret = (ring: KeyRing, key: string, secret: string): Buffer =>
  seal(ring, 'identity-provider', Buffer.from(secret), key)

export function openProvider(
  { ring, publicUrl, createProvider }: OpenProviderDeps,
  { key, settings, secretSealed, domains }: SignInProvider,
): IdentityProvider {
  return createProvider({
    issuer: settings.issuer,
    clientId: settings.client_id,
    clientSecret: open(ring, 'identity-provider', secretSealed, key).toString(),
    groupsClaim: settings.groups_claim,
    secondFactorValues: settings.second_factor_values,
    domains,
    redirectUri: redirectUriOf(publicUrl, key),
  })
}
