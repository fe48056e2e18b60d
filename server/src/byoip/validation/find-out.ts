// What is found out about announcements in one go: every check from what is known now, the routing registries asked where
// they are due. It changes nothing; saveFindings() does.
import type { Irr } from '../registry/irr.ts'
import {
  judgeAsn,
  judgeIrr,
  judgeLetter,
  judgeOverlap,
  judgeRpki,
  judgeSize,
  vouch,
  type LetterVerdict,
} from './judge.ts'
import type { Rpki } from '../registry/rpki.ts'
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
} from './validation.ts'
import type { Finding, Subject } from './validation.store.ts'

export type FindOutDeps = {
  readonly rpki: Pick<Rpki, 'judge'>
  readonly irr: Pick<Irr, 'judge'>
  /** A valid ROA of a proven ASN counts as the letter. */
  readonly rpkiCountsAsLetter: boolean
  readonly irrIntervalSeconds: number
}

/** Questions to the routing registries at once. */
const questionsAtOnce = 32
/** A check that was made again with the same result is written when the kept time is this old. */
const checkedAgeMs = 10 * 60_000
const retrySecondsMin = 10

export type LetterVerdicts = ReadonlyMap<number, LetterVerdict>
const noLetter: LetterVerdict = {
  state: 'missing',
  note: 'No letter of authorization was uploaded.',
  validUntil: null,
  letterId: null,
}

/** Findings of those about which there is anything to save, in the order of the subjects. */
export async function findOut(
  deps: FindOutDeps,
  subjects: readonly Subject[],
  letters: LetterVerdicts,
  now: Date,
  signal?: AbortSignal,
): Promise<Finding[]> {
  const irr = await askIrr(deps, subjects, now, signal)
  const taken = new Set<string>()
  return subjects.flatMap((subject) => {
    const finding = findingOf(deps, subject, letters.get(subject.id) ?? noLetter, irr.get(subject.id), now)
    if (!finding.claims) return isWorthSaving(finding) ? [finding] : []
    // Two teams whose checks pass at the same moment: the first takes the prefix, the other learns of it next time.
    if (taken.has(subject.prefix)) return []
    taken.add(subject.prefix)
    return [finding]
  })
}

const isWorthSaving = ({ checks, clearance, answers, subject }: Finding): boolean =>
  checks.length > 0 || answers !== null || clearance !== subject.clearance

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
      // Whoever waits for what he has just changed is not served what was kept.
      ...(requested === null ? {} : { maxAgeSeconds: 0 }),
      ...(signal ? { signal } : {}),
    }
    answers.set(subject.id, judgeIrr(subject, await irr.judge(prefix, originAsn, question)))
  }
  for (let at = 0; at < due.length; at += questionsAtOnce)
    await Promise.all(due.slice(at, at + questionsAtOnce).map(ask))
  return answers
}

function findingOf(
  deps: FindOutDeps,
  subject: Subject,
  letter: LetterVerdict,
  irr: Judgement | undefined,
  now: Date,
): Finding {
  const known = new Map(subject.checks.map((check) => [check.name, check]))
  const judged = judgeAll(deps, subject, letter, irr, now)
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
  return { subject, checks, clearance, claims, answers: subject.requested }
}

/** What stands of a judgement: an unanswered registry leaves the last one, and what the operator vouches for counts. */
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
  letter: LetterVerdict,
  irr: Judgement | undefined,
  now: Date,
): Partial<Record<ValidationName, Judgement>> {
  const { prefix, originAsn } = subject
  const rpki = judgeRpki(subject, deps.rpki.judge(prefix, originAsn))
  const asn = judgeAsn(originAsn, subject.asn, now)
  const byRpki = deps.rpkiCountsAsLetter && rpki.state === 'valid' && asn.state === 'valid'
  return {
    rpki,
    asn: vouchedAsn(subject, asn, now),
    size: judgeSize(prefix, now),
    overlap: judgeOverlap(subject.contested, now),
    loa: judgeLetter(subject.id, letter, byRpki, now),
    ...(irr ? { irr } : {}),
  }
}

/** Where the operator's file vouches for everything, it vouches for the origin too. */
function vouchedAsn({ vouched }: Subject, judged: Judgement, now: Date): Judgement {
  return vouched.length === 3 && isFailing({ name: 'asn', state: judged.state }) ? vouch(judged, now) : judged
}

function isNews(before: Check | undefined, check: Check): boolean {
  if (!before || !sameJudgement(before, check)) return true
  return check.checked !== null && check.checked.getTime() - (before.checked?.getTime() ?? 0) > checkedAgeMs
}

/** What is valid is asked for again at the interval; what is not, soon, and later the longer it has been so. */
function nextIrr({ irrIntervalSeconds }: FindOutDeps, subject: Subject, check: Check, now: Date): Date {
  const before = subject.checks.find(({ name }) => name === 'irr')
  const ageSeconds = before?.state === check.state ? (now.getTime() - before.since.getTime()) / 1000 : 0
  const retry = Math.min(Math.max(ageSeconds / 10, retrySecondsMin), irrIntervalSeconds)
  const seconds = check.state === 'valid' ? irrIntervalSeconds : retry
  return new Date(now.getTime() + seconds * 1000)
}
