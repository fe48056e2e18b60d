// Evaluates all checks of a batch of announcements, and queries the routing registries and proofs that are due. Changes
// nothing; saveFindings() does.
import type { Irr } from '../../registry/irr.ts'
import type { AuthorizationKind } from '@pharos/contract/announcement-checks'
import type { TxtResolver } from '../../team/txt-resolver.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import type { RdapSource } from '../../registry/rdap-source.ts'
import { judgeAuthorization, keptKinds, type KeptKind } from './authorization.ts'
import {
  judgeAsn,
  judgeIrr,
  judgeOverlap,
  judgeRpki,
  judgeSize,
  noLetter,
  vouch,
  type LetterVerdict,
} from './judge.ts'
import { checkRdap, checkTxt } from './prefix-proof.ts'
import { prefixTokens } from './prefix-token.ts'
import type { Rpki } from '../../registry/rpki.ts'
import {
  clearanceOf,
  completeChecks,
  isFailing,
  sameJudgement,
  settle,
  validationNames,
  type Check,
  type Judgement,
  type ValidationName,
  type ValidationState,
} from './validation.ts'
import type { FoundProof, Finding, Subject } from './validation.store.ts'

export type FindOutDeps = {
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
export const soughtKinds = ({ kinds, rdap }: AuthorizationDeps): readonly KeptKind[] =>
  keptKinds.filter((kind) => kinds.includes(kind) && (kind !== 'rdap' || rdap !== undefined))

/** Concurrent queries to the routing registries. */
const questionsAtOnce = 32
/** A check with an unchanged result is saved again once the stored time is this old. */
const checkedAgeMs = 10 * 60_000
const retrySecondsMin = 10
/** Address registries limit the rate of queries; name servers do not. */
const rdapRetrySecondsMin = 60

export type LetterVerdicts = ReadonlyMap<number, LetterVerdict>

/** Returns the results that differ from the stored ones, in the order of the subjects. */
export async function findOut(
  deps: FindOutDeps,
  subjects: readonly Subject[],
  letters: LetterVerdicts,
  now: Date,
  signal?: AbortSignal,
): Promise<Finding[]> {
  const irr = await askIrr(deps, subjects, now, signal)
  const proofs = await askProofs(deps, subjects, now, signal)
  const taken = new Set<string>()
  return subjects.flatMap((subject) => {
    const facts = {
      letter: letters.get(subject.id) ?? noLetter,
      irr: irr.get(subject.id),
      proofs: proofs.get(subject.id) ?? [],
    }
    const finding = findingOf(deps, subject, facts, now)
    if (!finding.claims) return isWorthSaving(finding) ? [finding] : []
    // If the checks of two teams pass in the same batch, the first team claims the prefix. The next run reports the conflict.
    if (taken.has(subject.prefix)) return []
    taken.add(subject.prefix)
    return [finding]
  })
}

const isWorthSaving = ({ checks, proofs, clearance, answers, subject }: Finding): boolean =>
  checks.length > 0 || proofs.length > 0 || answers !== null || clearance !== subject.clearance

async function askIrr(
  { irr }: FindOutDeps,
  subjects: readonly Subject[],
  now: Date,
  signal: AbortSignal | undefined,
): Promise<Map<number, Judgement>> {
  const due = subjects.filter(
    ({ irrDue, requested }) => irrDue === null || irrDue <= now || requested !== null,
  )
  const answers = new Map<number, Judgement>()
  const ask = async (subject: Subject) => {
    const { prefix, originAsn, asSet, requested } = subject
    const question = {
      ...(asSet === null ? {} : { asSet }),
      // A team that requested the checks has just changed its objects, so a cached answer would be out of date.
      ...(requested === null ? {} : { maxAgeSeconds: 0 }),
      ...(signal ? { signal } : {}),
    }
    answers.set(subject.id, judgeIrr(subject, await irr.judge(prefix, originAsn, question)))
  }
  for (let at = 0; at < due.length; at += questionsAtOnce)
    await Promise.all(due.slice(at, at + questionsAtOnce).map(ask))
  return answers
}

/** Queries the proofs that are due, those of one announcement in sequence. */
async function askProofs(
  { authorization, irrIntervalSeconds }: FindOutDeps,
  subjects: readonly Subject[],
  now: Date,
  signal: AbortSignal = new AbortController().signal,
): Promise<Map<number, FoundProof[]>> {
  const waiting = subjects
    .flatMap((subject) => soughtKinds(authorization).map((kind) => ({ subject, kind })))
    .filter(({ subject, kind }) => isProofDue(subject, kind, now))
    .values()
  const found = new Map<number, FoundProof[]>()
  const work = async (): Promise<void> => {
    for (const { subject, kind } of waiting) {
      const judged = await lookForProof(authorization, subject, kind, now, signal)
      const before = subject.proofs.find((proof) => proof.kind === kind)
      const proof = settle(before, judged)
      const secondsMin = kind === 'rdap' ? rdapRetrySecondsMin : retrySecondsMin
      const nextCheck = nextCheckOf(before, proof.state, { irrIntervalSeconds, secondsMin }, now)
      found.set(subject.id, [...(found.get(subject.id) ?? []), { ...proof, kind, nextCheck }])
    }
  }
  await Promise.all(Array.from({ length: questionsAtOnce }, work))
  return found
}

/** A sweep does not query proofs that were never queried: those have a due time of their own. */
function isProofDue({ proofs, proofsDue, requested, vouched }: Subject, kind: KeptKind, now: Date): boolean {
  if (vouched.includes('loa')) return false
  const known = proofs.find((proof) => proof.kind === kind)
  return requested !== null || (proofsDue && (known === undefined || known.nextCheck <= now))
}

function lookForProof(
  { ring, txt, rdap }: AuthorizationDeps,
  { teamId, prefix }: Subject,
  kind: KeptKind,
  now: Date,
  signal: AbortSignal,
): Promise<Judgement> {
  const tokens = prefixTokens(ring, teamId, prefix)
  return kind === 'dns_txt'
    ? checkTxt(txt, prefix, tokens, now, signal)
    : checkRdap(rdap!, prefix, tokens, now, signal)
}

type Facts = {
  readonly letter: LetterVerdict
  readonly irr: Judgement | undefined
  readonly proofs: readonly FoundProof[]
}

function findingOf(deps: FindOutDeps, subject: Subject, facts: Facts, now: Date): Finding {
  const known = new Map(subject.checks.map((check) => [check.name, check]))
  const judged = judgeAll(deps, subject, facts, now)
  const settled = validationNames.flatMap((name) => {
    const judgement = judged[name]
    return judgement ? [{ ...standing(subject, known.get(name), name, judgement, now), name }] : []
  })
  const checks = settled
    .filter((check) => check.name === 'irr' || isNews(known.get(check.name), check))
    .map((check) =>
      check.name === 'irr' ? { ...check, nextCheck: nextIrr(deps, subject, check, now) } : check,
    )
  const all = Object.values(completeChecks([...subject.checks, ...settled]))
  const clearance = clearanceOf(all)
  const claims = clearance === 'passed' && !subject.claimed
  return { subject, checks, proofs: facts.proofs, clearance, claims, answers: subject.requested }
}

/** Keeps the last answer of an unavailable registry, and marks a check as valid if the operator vouches for it. */
function standing(
  { vouched }: Subject,
  before: Check | undefined,
  name: ValidationName,
  judgement: Judgement,
  now: Date,
): Judgement {
  return vouched.includes(name) ? vouch(judgement, now) : settle(before, judgement)
}

function judgeAll(
  deps: FindOutDeps,
  subject: Subject,
  { letter, irr, proofs }: Facts,
  now: Date,
): Partial<Record<ValidationName, Judgement>> {
  const { prefix, originAsn } = subject
  const rpki = judgeRpki(subject, deps.rpki.judge(prefix, originAsn))
  const asn = judgeAsn(originAsn, subject.asn, now)
  const { kinds, ring } = deps.authorization
  const authorization = {
    announcementId: subject.id,
    claim: subject,
    tokens: prefixTokens(ring, subject.teamId, prefix),
    letter,
    // If the RPKI is unavailable, its last answer is kept here too.
    rpki: settle(
      subject.checks.find(({ name }) => name === 'rpki'),
      rpki,
    ),
    asn,
    kept: Object.fromEntries([...subject.proofs, ...proofs].map((proof) => [proof.kind, proof])),
  }
  const before = subject.checks.find(({ name }) => name === 'loa')
  return {
    rpki,
    asn: vouchedAsn(subject, asn, now),
    size: judgeSize(prefix, now),
    overlap: judgeOverlap(subject.contested, now),
    loa: judgeAuthorization(kinds, authorization, before, now),
    ...(irr ? { irr } : {}),
  }
}

/** If the platform file vouches for all three checks, it vouches for the origin ASN too. */
function vouchedAsn({ vouched }: Subject, judged: Judgement, now: Date): Judgement {
  return vouched.length === 3 && isFailing({ name: 'asn', state: judged.state }) ? vouch(judged, now) : judged
}

function isNews(before: Check | undefined, check: Check): boolean {
  if (!before || !sameJudgement(before, check)) return true
  return check.checked !== null && check.checked.getTime() - (before.checked?.getTime() ?? 0) > checkedAgeMs
}

function nextIrr({ irrIntervalSeconds }: FindOutDeps, subject: Subject, check: Check, now: Date): Date {
  const before = subject.checks.find(({ name }) => name === 'irr')
  return nextCheckOf(before, check.state, { irrIntervalSeconds, secondsMin: retrySecondsMin }, now)
}

type Pace = { readonly irrIntervalSeconds: number; readonly secondsMin: number }

/** A valid check is queried again at the interval; any other one soon, with a delay that grows with the age of its state. */
function nextCheckOf(
  before: { readonly state: ValidationState; readonly since: Date } | undefined,
  state: ValidationState,
  { irrIntervalSeconds, secondsMin }: Pace,
  now: Date,
): Date {
  const ageSeconds = before?.state === state ? (now.getTime() - before.since.getTime()) / 1000 : 0
  const retry = Math.min(Math.max(ageSeconds / 10, secondsMin), irrIntervalSeconds)
  const seconds = state === 'valid' ? irrIntervalSeconds : retry
  return new Date(now.getTime() + seconds * 1000)
}
