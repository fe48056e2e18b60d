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

/** `secretContext`: that under which the secret is sealed, if it is not the key. */
export type OpenedProvider = Pick<SignInProvider, 'key' | 'settings' | 'secretSealed' | 'domains'> & {
  readonly secretContext?: string
}

export function openProvider(
  { ring, publicUrl, createProvider }: OpenProviderDeps,
  { key, secretContext = key, settings, secretSealed, domains }: OpenedProvider,
): IdentityProvider {
  return createProvider({
    issuer: settings.issuer,
    clientId: settings.client_id,
    clientSecret: open(ring, 'identity-provider', secretSealed, secretContext).toString(),
    groupsClaim: settings.groups_claim,
    secondFactorValues: settings.second_factor_values,
    domains,
    redirectUri: redirectUriOf(publicUrl, key),
  })
}
