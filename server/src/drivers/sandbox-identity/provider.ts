// An identity provider in memory, for the demo and for tests: it signs in whoever typed an address, without a page. It must never be reachable from other hosts.
import { randomBytes } from 'node:crypto'
import {
  SignInFailure,
  type Assertion,
  type CreateIdentityProvider,
  type OidcSettings,
} from '../../identity/identity-provider.ts'

/** RFC 6761: the name never resolves. */
export const sandboxIssuer = 'https://sandbox.invalid'

export type SandboxPerson = Partial<Assertion> & { readonly email: string | null }

/** Returns the person of an address. Each code works once, for its nonce. */
export function createSandbox(
  personOf: (email: string) => SandboxPerson = (email) => ({ email }),
): CreateIdentityProvider<OidcSettings> {
  const codes = new Map<string, { readonly nonce: string; readonly person: SandboxPerson }>()
  return ({ redirectUri }) => ({
    async begin({ state, loginHint = 'demo@sandbox.invalid' }) {
      const [code, nonce] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')]
      if (codes.size > 1_000) codes.clear()
      codes.set(code, { nonce, person: personOf(loginHint) })
      const query = new URLSearchParams({ code, state, iss: sandboxIssuer })
      return { redirect: `${redirectUri}?${query.toString()}`, secrets: { nonce } }
    },
    /** It has no page of its own. */
    async signOutUrl(_hint, returnTo) {
      return `${returnTo}?signed_out`
    },
    async finish({ nonce }, { code = '', iss, error }) {
      if (iss !== sandboxIssuer) throw new SignInFailure('issuer')
      const issued = error === undefined ? codes.get(code) : undefined
      codes.delete(code)
      if (!issued) throw new SignInFailure('idp_error')
      if (issued.nonce !== nonce) throw new SignInFailure('nonce')
      return {
        subject: issued.person.email ?? 'nobody',
        names: { first: '', last: '', display: '' },
        groups: [],
        secondFactor: false,
        claims: ['email', 'sub'],
        ...issued.person,
      }
    },
  })
}
