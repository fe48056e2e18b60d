// SAML 2.0, the Web Browser SSO profile: a request in the redirect, the answer by HTTP POST. Answers without our request, encrypted assertions and single logout are not
// supported.
import { randomBytes } from 'node:crypto'
import {
  SignInFailure,
  type CreateIdentityProvider,
  type SamlSettings,
} from '../../identity/identity-provider.ts'
import type { SignInReason } from '@pharos/contract/sign-in-reason'
import { createThreadPool } from '../../runtime/thread-pool.ts'
import { ThreadLimitError } from '../../runtime/thread.ts'
import type { ReadAssertion } from './read-assertion.ts'
import { requestUrl } from './request.ts'
import type { AnswerJob } from './verify-answer.ts'

export type AnswerResult =
  | { readonly read: ReadAssertion }
  | { readonly reason: SignInReason; readonly claims: readonly string[] }

/** Remembers the id of an assertion of a provider until it expires. Returns whether it is new. */
export type ClaimAssertion = (providerKey: string, id: string, expires: Date) => Promise<boolean>

export type SamlDeps = { readonly claimAssertion: ClaimAssertion; readonly now?: () => Date }

const threads = 2
const waitingMax = 50
const limits = { timeoutMs: 2_000, heapMib: 64 }

const verifyInThread = createThreadPool<AnswerJob, AnswerResult>(
  new URL('answer-thread.ts', import.meta.url),
  threads,
  waitingMax,
  limits,
)

export function createSaml({
  claimAssertion,
  now = () => new Date(),
}: SamlDeps): CreateIdentityProvider<SamlSettings> {
  return (settings) => ({
    async begin({ state }) {
      const requestId = `_${randomBytes(16).toString('hex')}`
      const { signOnUrl, audience: entityId, acsUrl } = settings
      const request = { id: requestId, signOnUrl, entityId, acsUrl, relayState: state, at: now() }
      return { redirect: requestUrl(request), secrets: { requestId } }
    },
    async finish({ requestId }, { samlResponse }) {
      if (samlResponse === undefined) throw new SignInFailure('idp_error')
      const { key, entityId, certificates, audience, acsUrl, groupsClaim, secondFactorValues } = settings
      const expected = {
        issuer: entityId,
        audience,
        recipient: acsUrl,
        requestId: requestId!,
        now: now().getTime(),
        groupsAttribute: groupsClaim,
        secondFactorValues,
      }
      const result = await verifyInThread({ answer: samlResponse, certificates, expected }).catch(asFailure)
      if ('reason' in result) throw new SignInFailure(result.reason, { claims: result.claims })
      const { assertion, id, expires } = result.read
      if (!(await claimAssertion(key, id, new Date(expires))))
        throw new SignInFailure('replayed', { claims: assertion.claims })
      return assertion
    },
  })
}

function asFailure(error: unknown): never {
  throw error instanceof ThreadLimitError ? new SignInFailure('document', { cause: error }) : error
}
