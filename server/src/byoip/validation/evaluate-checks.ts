// Evaluates all checks of a batch of announcements, with the answers of registries and proofs that are due. Does not
// write; saveEvaluations() does.
import { evaluateAuthorization } from './authorization.ts'
import {
  evaluateAsn,
  evaluateOverlap,
  evaluateRpki,
  evaluateSize,
  isAuthorized,
  noLetter,
  vouch,
  type LetterVerdict,
} from './check-rules.ts'
import { prefixTokens } from './prefix-token.ts'
import type { Rpki } from '../../registry/rpki.ts'
import { covers } from '../../net/prefix.ts'
import {
  isProofDue,
  nextIrr,
  queriedKinds,
  queryIrr,
  queryProofs,
  type QueryDeps,
} from './query-registries.ts'
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
} from './validation.ts'
import type { QueriedProof, CheckEvaluation, Subject } from './validation.store.ts'

export type EvaluateChecksDeps = QueryDeps & { readonly rpki: Pick<Rpki, 'judge'> }

/** A check with an unchanged result is saved again once the stored time is this old. */
const checkedAgeMs = 10 * 60_000

export type LetterVerdicts = ReadonlyMap<number, LetterVerdict>

/**
 * Returns the results that differ from the stored ones, in the order of the subjects. The signal ends the queries:
 * earlier answers count, and the others stay due.
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

/** Returns whether every query of a request for checks is answered. */
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
