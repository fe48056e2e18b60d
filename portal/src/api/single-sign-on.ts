// Single sign-on in this browser: the query with which the identity provider returns, and what the tab has to do with it. The query is read and removed from
// the address bar when the page loads, so that no history and no script has the code.
import { ProblemError } from '@pharos/contract/client'
import type { BodyOf } from '@pharos/contract/route'
import type { completeSingleSignOnRoute } from '@pharos/contract/session/sso'

export type ProviderAnswer = Pick<
  BodyOf<typeof completeSingleSignOnRoute>,
  'state' | 'code' | 'iss' | 'error'
>

const returnPath = /^\/sign-in\/return\/[a-z2-7]{12}$/

function readAnswer(): ProviderAnswer | undefined {
  if (!returnPath.test(location.pathname) || location.search === '') return undefined
  const query = new URLSearchParams(location.search)
  history.replaceState(history.state, '', location.pathname)
  const state = query.get('state')
  if (state === null || state === '') return undefined
  const fields = ['code', 'iss', 'error'].map((name) => [name, query.get(name)] as const)
  return { state, ...Object.fromEntries(fields.filter(([, value]) => value !== null && value !== '')) }
}

/** The assertion consumer service of SAML asks for it, after an answer without a request. */
const isAskedAnew = returnPath.test(location.pathname) && location.search === '?anew'

const answer = readAnswer()

/** Returns the answer of the identity provider with which this page was opened. */
export const answerOfProvider = (): ProviderAnswer | undefined => answer

const anewKey = 'pharos-sign-in-anew'
const anewPauseMs = 60_000

/** Whether this page starts a sign-in: not again within a minute, if the provider never returns what identifies it. */
export function takeStartAnew(): boolean {
  if (!isAskedAnew) return false
  const last = Number(sessionStorage.getItem(anewKey))
  sessionStorage.setItem(anewKey, String(Date.now()))
  return Date.now() - last > anewPauseMs
}

const testKey = 'pharos-provider-test'

/** Remembers in this tab that the next answer ends a test of the provider. */
export const beginProviderTest = (providerId: number): void =>
  sessionStorage.setItem(testKey, String(providerId))

/** Returns the provider whose test this answer ends, once. */
export function takeProviderTest(): number | undefined {
  const id = sessionStorage.getItem(testKey)
  sessionStorage.removeItem(testKey)
  return id === null ? undefined : Number(id)
}

/** Returns the key of the identity provider that opens the team; undefined for other errors, and for a team without one. */
export function neededProviderOf(error: unknown): string | undefined {
  if (!(error instanceof ProblemError) || error.problem.code !== 'sign_in_required') return undefined
  return error.problem.errors?.find(({ ctx }) => ctx?.['provider'] !== undefined)?.ctx?.['provider'] as
    | string
    | undefined
}

const startedKey = 'pharos-sign-in-started'

/** Returns true once for a team in this tab, until a sign-in is complete. */
export function mayStartByItself(teamId: number): boolean {
  const started = sessionStorage.getItem(startedKey)
  sessionStorage.setItem(startedKey, String(teamId))
  return started !== String(teamId)
}

export const completeStarted = (): void => sessionStorage.removeItem(startedKey)
