// The stored checks of an announcement: how a new result replaces a stored one, and the clearance of all checks together.
// Pure. The rules of each check are in check-rules.ts.
import { isDeepStrictEqual } from 'node:util'
import { checkReasonText, type CheckReason } from '@pharos/contract/reason/check-reason'
import type { ReasonAttrs } from '@pharos/contract/reason/region-reason'
import {
  validationNames,
  type ValidationName,
  type ValidationState,
} from '@pharos/contract/byoip/announcement-checks'
import type { Clearance } from '../status/announcement.ts'

export { validationNames, type ValidationName, type ValidationState }

/** Why a check has its state: code, attributes, and the sentence for people. */
export type Explanation = {
  /** Null: stored before reasons had codes. */
  readonly reason: CheckReason | null
  readonly attrs: ReasonAttrs
  readonly note: string
}

/** Returns a reason with its sentence. */
export function explain(reason: CheckReason, attrs: ReasonAttrs = {}): Explanation {
  return { reason, attrs, note: checkReasonText(reason, attrs) }
}

/** The result of a check, without its history. */
export type CheckResult = Explanation & {
  readonly state: ValidationState
  readonly evidence: Readonly<Record<string, unknown>>
  /** The literal text to create; null if there is no remedy. */
  readonly fix: string | null
  /** When the registry answered; null if it did not. */
  readonly checked: Date | null
}

/** A stored result. */
export type Check = CheckResult & { readonly name: ValidationName }

export type Checks = Readonly<Record<ValidationName, Check>>

/** Keeps the last answer while a registry is unavailable: its outage never makes a check fail. */
export function keepLastAnswer(before: CheckResult | undefined, result: CheckResult): CheckResult {
  if (result.state !== 'unavailable' || before === undefined || !isAnswer(before)) return result
  if (before.reason === null) return before
  const { reason, attrs } = result
  return { ...before, ...explain(before.reason, { ...before.attrs, unanswered: { reason, attrs } }) }
}

const isAnswer = ({ state }: CheckResult): boolean => state !== 'pending' && state !== 'unavailable'

/** Whether a check failed. A letter that was never uploaded does not count: the team has yet to act. */
export function isFailing({ name, state }: Pick<Check, 'name' | 'state'>): boolean {
  if (name === 'loa' && state === 'missing') return false
  return state !== 'valid' && state !== 'pending' && state !== 'unavailable'
}

/** Returns the progress of all checks together. A pending overlap waits for the team: for its proof of authorization. */
export function clearanceOf(checks: readonly Pick<Check, 'name' | 'state'>[]): Clearance {
  if (checks.every(({ state }) => state === 'valid')) return 'passed'
  if (checks.some(isFailing)) return 'failed'
  return checks.some(({ name, state }) => state === 'pending' && name !== 'overlap') ? 'running' : 'pending'
}

/** Whether two results are equal except for their times; one may have been stored as JSON, which reorders keys. */
export function isSameResult(a: CheckResult, b: CheckResult): boolean {
  return isDeepStrictEqual(contentOf(a), contentOf(b))
}

const contentOf = ({ state, reason, attrs, fix, evidence }: CheckResult): unknown =>
  JSON.parse(JSON.stringify({ state, reason, attrs, fix, evidence }))

const notYet: CheckResult = {
  state: 'pending',
  ...explain('not_checked'),
  evidence: {},
  fix: null,
  checked: null,
}

/** Returns all checks in their order; one without a row is pending. */
export function completeChecks(known: readonly Check[]): Checks {
  const byName = new Map(known.map((check) => [check.name, check]))
  const entries = validationNames.map((name) => [name, byName.get(name) ?? { ...notYet, name }])
  return Object.fromEntries(entries) as Checks
}
