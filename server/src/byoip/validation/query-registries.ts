// Queries the routing registries and the proofs that are due, for a batch of announcements. It evaluates no check.
import type { AuthorizationKind } from '@pharos/contract/byoip/announcement-checks'
import { unavailable, type IrrVerdict } from '../../registry/irr-verdict.ts'
import type { Irr } from '../../registry/irr.ts'
import type { RdapSource } from '../../registry/rdap-source.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import type { TxtResolver } from '../../team/txt-resolver.ts'
import { storedKinds, type StoredKind } from './authorization.ts'
import { evaluateIrr } from './check-rules.ts'
import { checkRdap, checkTxt } from './prefix-proof.ts'
import { prefixTokens } from './prefix-token.ts'
import { keepLastAnswer, type Check, type CheckResult, type ValidationState } from './validation.ts'
import type { QueriedProof, Subject } from './validation.store.ts'

export type QueryDeps = {
  readonly irr: Pick<Irr, 'judge'>
  readonly authorization: AuthorizationDeps
  readonly irrIntervalSeconds: number
}

/** The accepted kinds of proof, of which any is enough, and the sources to query for them. */
export type AuthorizationDeps = {
  readonly kinds: readonly AuthorizationKind[]
  readonly ring: KeyRing
  readonly txt: TxtResolver
  /** Undefined if it is not configured. */
  readonly rdap: RdapSource | undefined
}

/** Returns the kinds of proof that are queried. */
export const queriedKinds = ({ kinds, rdap }: AuthorizationDeps): readonly StoredKind[] =>
  storedKinds.filter((kind) => kinds.includes(kind) && (kind !== 'rdap' || rdap !== undefined))

/** Concurrent queries to the routing registries. */
const concurrentQueries = 32
/** A search in an as-set takes hundreds of queries, and anyone may name any as-set. */
const irrQuerySeconds = 40
const retrySecondsMin = 10
/** Address registries limit the rate of queries; name servers do not. */
const rdapRetrySecondsMin = 60

/** The longest due first, so that slow queries delay no other subject in every run. */
export async function queryIrr(
  { irr }: QueryDeps,
  subjects: readonly Subject[],
  now: Date,
  signal: AbortSignal,
): Promise<Map<number, CheckResult>> {
  const due = subjects
    .filter((subject) => isIrrDue(subject, now))
    .toSorted((a, b) => dueMs(a) - dueMs(b))
    .values()
  const answers = new Map<number, CheckResult>()
  const work = async (): Promise<void> => {
    for (const subject of due) {
      const verdict = await judgeIrr(irr, subject, signal)
      if (verdict) answers.set(subject.id, evaluateIrr(subject, verdict))
    }
  }
  await Promise.all(Array.from({ length: concurrentQueries }, work))
  return answers
}

/**
 * A sweep must not wait for queries that a team can slow down. An announcement without a result has no due time yet.
 */
const isIrrDue = ({ irrDue, requested, isSwept }: Subject, now: Date): boolean =>
  irrDue === null || (!isSwept && (irrDue <= now || requested !== null))

const dueMs = ({ irrDue, requested }: Subject): number =>
  Math.min(irrDue?.getTime() ?? 0, requested?.getTime() ?? Infinity)

/** Returns undefined if the signal was aborted before the answer. */
async function judgeIrr(
  irr: QueryDeps['irr'],
  { prefix, originAsn, asSet, requested }: Subject,
  signal: AbortSignal,
): Promise<IrrVerdict | undefined> {
  if (signal.aborted) return undefined
  const late = AbortSignal.timeout(irrQuerySeconds * 1000)
  try {
    return await irr.judge(prefix, originAsn, {
      ...(asSet === null ? {} : { asSet }),
      // A team that requested the checks has just changed its objects, so a cached answer would be out of date.
      ...(requested === null ? {} : { maxAgeSeconds: 0 }),
      signal: AbortSignal.any([signal, late]),
    })
  } catch (error) {
    if (signal.aborted) return undefined
    if (late.aborted) return unavailable(`the search took longer than ${irrQuerySeconds} seconds`)
    throw error
  }
}

/** Queries the proofs that are due, in sequence for each announcement. */
export async function queryProofs(
  { authorization, irrIntervalSeconds }: QueryDeps,
  subjects: readonly Subject[],
  now: Date,
  signal: AbortSignal,
): Promise<Map<number, QueriedProof[]>> {
  const waiting = subjects
    .flatMap((subject) => queriedKinds(authorization).map((kind) => ({ subject, kind })))
    .filter(({ subject, kind }) => isProofDue(subject, kind, now))
    .values()
  const found = new Map<number, QueriedProof[]>()
  const work = async (): Promise<void> => {
    for (const { subject, kind } of waiting) {
      if (signal.aborted) return
      const result = await queryProof(authorization, subject, kind, now, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
      if (!result) return
      const before = subject.proofs.find((proof) => proof.kind === kind)
      const proof = keepLastAnswer(before, result)
      const secondsMin = kind === 'rdap' ? rdapRetrySecondsMin : retrySecondsMin
      const nextCheck = nextCheckOf(before, proof.state, { irrIntervalSeconds, secondsMin }, now)
      found.set(subject.id, [...(found.get(subject.id) ?? []), { ...proof, kind, nextCheck }])
    }
  }
  await Promise.all(Array.from({ length: concurrentQueries }, work))
  return found
}

/** A sweep queries no proofs, as it queries no routing registry. */
export function isProofDue(
  { proofs, proofsDue, requested, vouched, isSwept }: Subject,
  kind: StoredKind,
  now: Date,
): boolean {
  if (isSwept || vouched.includes('loa')) return false
  const known = proofs.find((proof) => proof.kind === kind)
  return requested !== null || (proofsDue && (known === undefined || known.nextCheck <= now))
}

function queryProof(
  { ring, txt, rdap }: AuthorizationDeps,
  { teamId, prefix }: Subject,
  kind: StoredKind,
  now: Date,
  signal: AbortSignal,
): Promise<CheckResult> {
  const tokens = prefixTokens(ring, teamId, prefix)
  return kind === 'dns_txt'
    ? checkTxt(txt, prefix, tokens, now, signal)
    : checkRdap(rdap!, prefix, tokens, now, signal)
}

/** Returns when the routing registries are queried again after this result. */
export function nextIrr({ irrIntervalSeconds }: QueryDeps, subject: Subject, check: Check, now: Date): Date {
  const before = subject.checks.find(({ name }) => name === 'irr')
  return nextCheckOf(before, check.state, { irrIntervalSeconds, secondsMin: retrySecondsMin }, now)
}

type RetryDelays = { readonly irrIntervalSeconds: number; readonly secondsMin: number }

/** A valid check is queried again at the interval; any other one soon, with a delay that grows with the age of its state. */
function nextCheckOf(
  before: { readonly state: ValidationState; readonly since: Date } | undefined,
  state: ValidationState,
  { irrIntervalSeconds, secondsMin }: RetryDelays,
  now: Date,
): Date {
  const ageSeconds = before?.state === state ? (now.getTime() - before.since.getTime()) / 1000 : 0
  const retry = Math.min(Math.max(ageSeconds / 10, secondsMin), irrIntervalSeconds)
  const seconds = state === 'valid' ? irrIntervalSeconds : retry
  return new Date(now.getTime() + seconds * 1000)
}
