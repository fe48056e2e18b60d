// The checks of an announcement as they are kept: what a new judgement makes of an old one, and what all of them together
// mean. Pure. How a registry's answer becomes a judgement is in judge.ts.
import {
  validationNames,
  type ValidationName,
  type ValidationState,
} from '@pharos/contract/announcement-checks'
import type { Clearance } from '../announcement/announcement.ts'

export { validationNames, type ValidationName, type ValidationState }

/** What was found out now, without the history of it. */
export type Judgement = {
  readonly state: ValidationState
  /** Why, in a sentence for the team. */
  readonly note: string
  readonly evidence: Readonly<Record<string, unknown>>
  /** The literal text of what to create; null where there is nothing to do. */
  readonly fix: string | null
  /** When the registry answered; null where it did not. */
  readonly checked: Date | null
}

/** A judgement as it is kept. */
export type Check = Judgement & { readonly name: ValidationName }

export type Checks = Readonly<Record<ValidationName, Check>>

/** A registry that does not answer leaves the last answer standing: nothing turns bad for want of one. */
export function settle(before: Judgement | undefined, judged: Judgement): Judgement {
  if (judged.state !== 'unavailable' || before === undefined || !isAnswer(before)) return judged
  return { ...before, note: `${withoutSilence(before.note)}${silence}${judged.note}` }
}

const silence = ' This is the last answer: '

function withoutSilence(note: string): string {
  const at = note.indexOf(silence)
  return at < 0 ? note : note.slice(0, at)
}

const isAnswer = ({ state }: Judgement): boolean => state !== 'pending' && state !== 'unavailable'

/** What somebody said no to. A letter that was never sent is not among them: it is the team's turn. */
export function isFailing({ name, state }: Pick<Check, 'name' | 'state'>): boolean {
  if (name === 'loa' && state === 'missing') return false
  return state !== 'valid' && state !== 'pending' && state !== 'unavailable'
}

/** How far all checks together are. */
export function clearanceOf(checks: readonly Pick<Check, 'name' | 'state'>[]): Clearance {
  if (checks.every(({ state }) => state === 'valid')) return 'passed'
  if (checks.some(isFailing)) return 'failed'
  return checks.some(({ state }) => state === 'pending') ? 'running' : 'pending'
}

/** Whether two judgements say the same, whenever they were made. */
export function sameJudgement(a: Judgement, b: Judgement): boolean {
  return (
    a.state === b.state &&
    a.note === b.note &&
    a.fix === b.fix &&
    JSON.stringify(a.evidence) === JSON.stringify(b.evidence)
  )
}

const notYet: Judgement = {
  state: 'pending',
  note: 'It has not been checked yet.',
  evidence: {},
  fix: null,
  checked: null,
}

/** All checks in their order; one without a row has not been made yet. */
export function completeChecks(known: readonly Check[]): Checks {
  const byName = new Map(known.map((check) => [check.name, check]))
  const entries = validationNames.map((name) => [name, byName.get(name) ?? { ...notYet, name }])
  return Object.fromEntries(entries) as Checks
}
