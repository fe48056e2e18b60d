// The drivers of the port IdentityProvider.
import { SignInFailure, type CreateIdentityProvider } from '../identity/identity-provider.ts'
import { createOidc } from './oidc/provider.ts'
import type { OutgoingFetch } from './outgoing/fetch.ts'
import { createSandbox, sandboxIssuer } from './sandbox-identity/provider.ts'

/** The sandbox answers on loopback only, as demo accounts do. */
export function createIdentityProviders(fetch: OutgoingFetch, onLoopback: boolean): CreateIdentityProvider {
  const [oidc, sandbox] = [createOidc({ fetch }), createSandbox()]
  return (settings) => {
    if (settings.issuer !== sandboxIssuer) return oidc(settings)
    if (!onLoopback) throw new SignInFailure('unavailable')
    return sandbox(settings)
  }
}
