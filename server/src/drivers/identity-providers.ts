// The drivers of the port IdentityProvider.
import { SignInFailure, type CreateIdentityProvider } from '../identity/identity-provider.ts'
import { createOidc } from './oidc/provider.ts'
import type { OutgoingFetch } from './outgoing/fetch.ts'
import { createSaml, type ClaimAssertion } from './saml/provider.ts'
import { createSandbox, sandboxIssuer } from './sandbox-identity/provider.ts'

/** The sandbox answers on loopback only, as demo accounts do. */
export function createIdentityProviders(
  fetch: OutgoingFetch,
  onLoopback: boolean,
  claimAssertion: ClaimAssertion,
): CreateIdentityProvider {
  const [oidc, sandbox, saml] = [createOidc({ fetch }), createSandbox(), createSaml({ claimAssertion })]
  return (settings) => {
    if (settings.kind === 'saml') return saml(settings)
    if (settings.issuer !== sandboxIssuer) return oidc(settings)
    if (!onLoopback) throw new SignInFailure('unavailable')
    return sandbox(settings)
  }
}
