// What every identity provider must do, whatever its protocol. A driver's test passes a provider and a browser.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SignInReason } from '@pharos/contract/sign-in-reason'
import { SignInFailure, type FlowAnswer, type IdentityProvider } from './identity-provider.ts'

export type ProviderHarness = {
  readonly provider: IdentityProvider
  /** Follows the redirect as a browser in which the person signs in, and returns what comes back. */
  readonly browse: (redirect: string) => Promise<FlowAnswer>
  /** The person who signs in. */
  readonly person: { readonly email: string; readonly subject: string }
  readonly protocol: ProtocolAnswers
}

/** What differs between protocols. */
export type ProtocolAnswers = {
  /** Name of the claim with the subject. */
  readonly subjectClaim: string
  /** Why an answer is refused that was redeemed. */
  readonly spent: SignInReason
  /** Answers of another issuer, made from one of the provider. */
  readonly ofOthers: (answer: FlowAnswer) => readonly FlowAnswer[]
  /** Answers without what is redeemed. */
  readonly errors: (answer: FlowAnswer) => readonly FlowAnswer[]
}

export const oidcAnswers: ProtocolAnswers = {
  subjectClaim: 'sub',
  spent: 'idp_error',
  ofOthers: (answer) => ['https://mallory.example', undefined].map((iss) => ({ ...answer, iss })),
  errors: (answer) => ['access_denied', undefined].map((error) => ({ ...answer, code: undefined, error })),
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
      const { provider, browse, person, protocol } = harness
      const { redirect, secrets } = await provider.begin({ state: 'state-1', loginHint: person.email })
      const answer = await browse(redirect)
      assert.equal(answer.state, 'state-1')
      const assertion = await provider.finish(secrets, answer)
      assert.equal(assertion.subject, person.subject)
      assert.equal(assertion.email, person.email)
      assert.ok(assertion.claims.includes(protocol.subjectClaim))
    })

    it('redeems an answer once', async () => {
      await using harness = await open()
      const { provider, browse, person, protocol } = harness
      const { redirect, secrets } = await provider.begin({ state: 'state-1', loginHint: person.email })
      const answer = await browse(redirect)
      await provider.finish(secrets, answer)
      await assert.rejects(provider.finish(secrets, answer), failsWith(protocol.spent))
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
      const { provider, browse, person, protocol } = harness
      const { redirect, secrets } = await provider.begin({ state: 'state-1', loginHint: person.email })
      for (const foreign of protocol.ofOthers(await browse(redirect)))
        await assert.rejects(provider.finish(secrets, foreign), failsWith('issuer'))
    })

    it('reports an error of the provider', async () => {
      await using harness = await open()
      const { provider, browse, person, protocol } = harness
      const { redirect, secrets } = await provider.begin({ state: 'state-1', loginHint: person.email })
      for (const error of protocol.errors(await browse(redirect)))
        await assert.rejects(provider.finish(secrets, error), failsWith('idp_error'))
    })
  })
}
