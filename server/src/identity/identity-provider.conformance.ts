// What every identity provider must do, whatever its protocol. A driver's test passes a provider and a browser.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SignInFailure, type FlowAnswer, type IdentityProvider } from './identity-provider.ts'

export type ProviderHarness = {
  readonly provider: IdentityProvider
  /** Follows the redirect as a browser in which the person signs in, and returns what comes back. */
  readonly browse: (redirect: string) => Promise<FlowAnswer>
  /** The person who signs in. */
  readonly person: { readonly email: string; readonly subject: string }
}

const failsWith = (reason: string) => (error: unknown) =>
  error instanceof SignInFailure &&
  (error.reason === reason || assert.equal(error.reason, reason) === undefined)

export function conformsToIdentityProvider(
  name: string,
  open: () => Promise<ProviderHarness & AsyncDisposable>,
): void {
  describe(`${name} as an identity provider`, () => {
    it('returns who signed in, with the state of the flow', async () => {
      await using harness = await open()
      const { provider, browse, person } = harness
      const { redirect, secrets } = await provider.begin({ state: 'state-1', loginHint: person.email })
      const answer = await browse(redirect)
      assert.equal(answer.state, 'state-1')
      const assertion = await provider.finish(secrets, answer)
      assert.equal(assertion.subject, person.subject)
      assert.equal(assertion.email, person.email)
      assert.ok(assertion.claims.includes('sub'))
    })

    it('redeems an answer once', async () => {
      await using harness = await open()
      const { provider, browse, person } = harness
      const { redirect, secrets } = await provider.begin({ state: 'state-1', loginHint: person.email })
      const answer = await browse(redirect)
      await provider.finish(secrets, answer)
      await assert.rejects(provider.finish(secrets, answer), failsWith('idp_error'))
    })

    it('does not redeem the answer of another flow', async () => {
      await using harness = await open()
      const { provider, browse, person } = harness
      const one = await provider.begin({ state: 'state-1', loginHint: person.email })
      const other = await provider.begin({ state: 'state-2', loginHint: person.email })
      const answer = await browse(one.redirect)
      await assert.rejects(provider.finish(other.secrets, answer), SignInFailure)
    })

    it('refuses the answer of another issuer, and an answer without one', async () => {
      await using harness = await open()
      const { provider, browse, person } = harness
      const { redirect, secrets } = await provider.begin({ state: 'state-1', loginHint: person.email })
      const { iss: _, ...without } = await browse(redirect)
      await assert.rejects(
        provider.finish(secrets, { ...without, iss: 'https://mallory.example' }),
        failsWith('issuer'),
      )
      await assert.rejects(provider.finish(secrets, without), failsWith('issuer'))
    })

    it('reports an error of the provider', async () => {
      await using harness = await open()
      const { provider, browse, person } = harness
      const { redirect, secrets } = await provider.begin({ state: 'state-1', loginHint: person.email })
      const { code: _, ...answer } = await browse(redirect)
      await assert.rejects(
        provider.finish(secrets, { ...answer, error: 'access_denied' }),
        failsWith('idp_error'),
      )
      await assert.rejects(provider.finish(secrets, answer), failsWith('idp_error'))
    })
  })
}
