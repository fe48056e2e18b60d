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
import type { Rpki } from '../../registry/rpki.ts'
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
/** A check with an unchanged result is saved again once the stored time is this old. */
const checkedAgeMs = 10 * 60_000
const retrySecondsMin = 10
/** Address registries limit the rate of queries; name servers do not. */
const rdapRetrySecondsMin = 60

export type LetterVerdicts = ReadonlyMap<number, LetterVerdict>

/** Returns the results that differ from the stored ones, in the order of the subjects. */
export async function evaluateChecks(
  deps: EvaluateChecksDeps,
  subjects: readonly Subject[],
  letters: LetterVerdicts,
  now: Date,
  signal?: AbortSignal,
): Promise<CheckEvaluation[]> {
  const irr = await queryIrr(deps, subjects, now, signal)
  const proofs = await queryProofs(deps, subjects, now, signal)
  const taken = new Set<string>()
  return subjects.flatMap((subject) => {
    const facts = {
      letter: letters.get(subject.id) ?? noLetter,
      irr: irr.get(subject.id),
      proofs: proofs.get(subject.id) ?? [],
    }
    const evaluation = evaluateSubject(deps, subject, facts, now)
    if (!evaluation.claims) return needsSaving(evaluation) ? [evaluation] : []
    // If the checks of two teams pass in the same batch, the first team claims the prefix. The next run reports the conflict.
    if (taken.has(subject.prefix)) return []
    taken.add(subject.prefix)
    return [evaluation]
  })
}

const needsSaving = ({ checks, proofs, clearance, answers, subject }: CheckEvaluation): boolean =>
  checks.length > 0 || proofs.length > 0 || answers !== null || clearance !== subject.clearance

async function queryIrr(
  { irr }: EvaluateChecksDeps,
  subjects: readonly Subject[],
  now: Date,
  signal: AbortSignal | undefined,
): Promise<Map<number, CheckResult>> {
  const due = subjects.filter(
    ({ irrDue, requested }) => irrDue === null || irrDue <= now || requested !== null,
  )
  const answers = new Map<number, CheckResult>()
  const query = async (subject: Subject) => {
    const { prefix, originAsn, asSet, requested } = subject
    const options = {
      ...(asSet === null ? {} : { asSet }),
      // A team that requested the checks has just changed its objects, so a cached answer would be out of date.
      ...(requested === null ? {} : { maxAgeSeconds: 0 }),
      ...(signal ? { signal } : {}),
    }
    answers.set(subject.id, evaluateIrr(subject, await irr.judge(prefix, originAsn, options)))
  }
  for (let at = 0; at < due.length; at += concurrentQueries)
    await Promise.all(due.slice(at, at + concurrentQueries).map(query))
  return answers
}

/** Queries the proofs that are due, those of one announcement in sequence. */
async function queryProofs(
  { authorization, irrIntervalSeconds }: EvaluateChecksDeps,
  subjects: readonly Subject[],
  now: Date,
  signal: AbortSignal = new AbortController().signal,
): Promise<Map<number, QueriedProof[]>> {
  const waiting = subjects
    .flatMap((subject) => queriedKinds(authorization).map((kind) => ({ subject, kind })))
    .filter(({ subject, kind }) => isProofDue(subject, kind, now))
    .values()
  const found = new Map<number, QueriedProof[]>()
  const work = async (): Promise<void> => {
    for (const { subject, kind } of waiting) {
      const result = await queryProof(authorization, subject, kind, now, signal)
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

/** A sweep does not query proofs that were never queried: those have a due time of their own. */
function isProofDue(
  { proofs, proofsDue, requested, vouched }: Subject,
  kind: StoredKind,
  now: Date,
): boolean {
  if (vouched.includes('loa')) return false
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
  return { subject, checks, proofs: facts.proofs, clearance, claims, answers: subject.requested }
}

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
