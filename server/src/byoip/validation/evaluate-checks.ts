// Evaluates all checks of a batch of announcements, and queries the routing registries and proofs that are due. Changes
// nothing; saveEvaluations() does.
import type { Irr } from '../../registry/irr.ts'
import type { AuthorizationKind } from '@pharos/contract/announcement-checks'
import type { TxtResolver } from '../../team/txt-resolver.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import type { RdapSource } from '../../registry/rdap-source.ts'
import { evaluateAuthorization, storedKinds, type StoredKind } from './authorization.ts'
import {
  evaluateAsn,
  evaluateIrr,
  evaluateOverlap,
  evaluateRpki,
  evaluateSize,
  isAuthorized,
  noLetter,
  vouch,
  type LetterVerdict,
} from './check-rules.ts'
import { checkRdap, checkTxt } from './prefix-proof.ts'
import { prefixTokens } from './prefix-token.ts'
import { unavailable } from '../../registry/irr-verdict.ts'
import type { IrrVerdict } from '../../registry/irr-verdict.ts'
import type { Rpki } from '../../registry/rpki.ts'
import { covers } from '../../net/prefix.ts'
import {
  clearanceOf,
  completeChecks,
  isFailing,
  isSameResult,
  keepLastAnswer,
  validationNames,
  type Check,
  type CheckResult,
  type ValidationName,
  type ValidationState,
} from './validation.ts'
import type { QueriedProof, CheckEvaluation, Subject } from './validation.store.ts'

export type EvaluateChecksDeps = {
  readonly rpki: Pick<Rpki, 'judge'>
  readonly irr: Pick<Irr, 'judge'>
  readonly authorization: AuthorizationDeps
  readonly irrIntervalSeconds: number
}

/** The accepted kinds of proof, one of which is enough, and the sources to query for them. */
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
/** A check with an unchanged result is saved again once the stored time is this old. */
const checkedAgeMs = 10 * 60_000
const retrySecondsMin = 10
/** Address registries limit the rate of queries; name servers do not. */
const rdapRetrySecondsMin = 60

export type LetterVerdicts = ReadonlyMap<number, LetterVerdict>

/**
 * Returns the results that differ from the stored ones, in the order of the subjects. The signal ends the queries: what they
 * answered until then counts, and the others stay due.
 */
export async function evaluateChecks(
  deps: EvaluateChecksDeps,
  subjects: readonly Subject[],
  letters: LetterVerdicts,
  now: Date,
  signal: AbortSignal = new AbortController().signal,
): Promise<CheckEvaluation[]> {
  const irr = await queryIrr(deps, subjects, now, signal)
  const proofs = await queryProofs(deps, subjects, now, signal)
  const taken: Subject[] = []
  return subjects.flatMap((subject) => {
    const facts = {
      letter: letters.get(subject.id) ?? noLetter,
      irr: irr.get(subject.id),
      proofs: proofs.get(subject.id) ?? [],
    }
    const evaluation = evaluateSubject(deps, subject, facts, now)
    if (!evaluation.claims) return needsSaving(evaluation) ? [evaluation] : []
    // If the checks of two teams pass in the same batch, the first team claims the prefix. The next run reports the conflict.
    if (taken.some(({ teamId, prefix }) => teamId !== subject.teamId && covers(prefix, subject.prefix)))
      return []
    taken.push(subject)
    return [evaluation]
  })
}

const needsSaving = ({ checks, proofs, clearance, answers, subject }: CheckEvaluation): boolean =>
  checks.length > 0 || proofs.length > 0 || answers !== null || clearance !== subject.clearance

/** The longest due first, so that slow queries delay no other subject in every run. */
async function queryIrr(
  { irr }: EvaluateChecksDeps,
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

/** A sweep must not wait for what a team can make slow. An announcement without a result has no due time yet. */
const isIrrDue = ({ irrDue, requested, isSwept }: Subject, now: Date): boolean =>
  irrDue === null || (!isSwept && (irrDue <= now || requested !== null))

const dueMs = ({ irrDue, requested }: Subject): number =>
  Math.min(irrDue?.getTime() ?? 0, requested?.getTime() ?? Infinity)

/** Returns undefined if the signal was aborted before the answer. */
async function judgeIrr(
  irr: EvaluateChecksDeps['irr'],
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

/** Queries the proofs that are due, those of one announcement in sequence. */
async function queryProofs(
  { authorization, irrIntervalSeconds }: EvaluateChecksDeps,
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
function isProofDue(
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

type Facts = {
  readonly letter: LetterVerdict
  readonly irr: CheckResult | undefined
  readonly proofs: readonly QueriedProof[]
}

function evaluateSubject(
  deps: EvaluateChecksDeps,
  subject: Subject,
  facts: Facts,
  now: Date,
): CheckEvaluation {
  const known = new Map(subject.checks.map((check) => [check.name, check]))
  const results = resultsOf(deps, subject, facts, now)
  const updated = validationNames.flatMap((name) => {
    const result = results[name]
    return result ? [{ ...resultToStore(subject, known.get(name), name, result, now), name }] : []
  })
  const checks = updated
    .filter((check) => check.name === 'irr' || hasChanged(known.get(check.name), check))
    .map((check) =>
      check.name === 'irr' ? { ...check, nextCheck: nextIrr(deps, subject, check, now) } : check,
    )
  const all = Object.values(completeChecks([...subject.checks, ...updated]))
  const clearance = clearanceOf(all)
  const claims = clearance === 'passed' && !subject.claimed
  const answers = isAnswered(deps, subject, facts, now) ? subject.requested : null
  return { subject, checks, proofs: facts.proofs, clearance, claims, answers }
}

/** Whether everything was queried that a request for checks asks for. */
const isAnswered = (
  { authorization }: EvaluateChecksDeps,
  subject: Subject,
  { irr, proofs }: Facts,
  now: Date,
): boolean =>
  irr !== undefined &&
  queriedKinds(authorization).every(
    (kind) => !isProofDue(subject, kind, now) || proofs.some((proof) => proof.kind === kind),
  )

/** Keeps the last answer of an unavailable registry, and marks a check as valid if the operator vouches for it. */
function resultToStore(
  { vouched }: Subject,
  before: Check | undefined,
  name: ValidationName,
  result: CheckResult,
  now: Date,
): CheckResult {
  return vouched.includes(name) ? vouch(result, now) : keepLastAnswer(before, result)
}

function resultsOf(
  deps: EvaluateChecksDeps,
  subject: Subject,
  { letter, irr, proofs }: Facts,
  now: Date,
): Partial<Record<ValidationName, CheckResult>> {
  const { prefix, originAsn } = subject
  const rpki = evaluateRpki(subject, deps.rpki.judge(prefix, originAsn))
  const asn = evaluateAsn(originAsn, subject.asn, now)
  const { kinds, ring } = deps.authorization
  const authorization = {
    announcementId: subject.id,
    target: subject,
    tokens: prefixTokens(ring, subject.teamId, prefix),
    letter,
    // If the RPKI is unavailable, its last answer is stored here too.
    rpki: keepLastAnswer(
      subject.checks.find(({ name }) => name === 'rpki'),
      rpki,
    ),
    asn,
    stored: Object.fromEntries([...subject.proofs, ...proofs].map((proof) => [proof.kind, proof])),
  }
  const before = subject.checks.find(({ name }) => name === 'loa')
  const decisive = {
    rpki,
    asn: vouchedAsn(subject, asn, now),
    loa: evaluateAuthorization(kinds, authorization, before, now),
  }
  return {
    ...decisive,
    size: evaluateSize(prefix, now),
    overlap: evaluateOverlap(subject.contested, subject.claimed || authorizes(subject, decisive, now), now),
    ...(irr ? { irr } : {}),
  }
}

/** Whether the results, as they are stored after this run, authorize the announcement. */
function authorizes(
  subject: Subject,
  results: Record<'rpki' | 'asn' | 'loa', CheckResult>,
  now: Date,
): boolean {
  const stateOf = (name: 'rpki' | 'asn' | 'loa') => {
    const before = subject.checks.find((check) => check.name === name)
    return resultToStore(subject, before, name, results[name], now).state
  }
  return isAuthorized({ rpki: stateOf('rpki'), asn: stateOf('asn'), loa: stateOf('loa') })
}

/** If the platform file vouches for all three checks, it vouches for the origin ASN too. */
function vouchedAsn({ vouched }: Subject, result: CheckResult, now: Date): CheckResult {
  return vouched.length === 3 && isFailing({ name: 'asn', state: result.state }) ? vouch(result, now) : result
}

function hasChanged(before: Check | undefined, check: Check): boolean {
  if (!before || !isSameResult(before, check)) return true
  return check.checked !== null && check.checked.getTime() - (before.checked?.getTime() ?? 0) > checkedAgeMs
}

function nextIrr(
  { irrIntervalSeconds }: EvaluateChecksDeps,
  subject: Subject,
  check: Check,
  now: Date,
): Date {
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
