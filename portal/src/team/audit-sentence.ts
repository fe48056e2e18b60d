// Entries of the audit log as sentences: actor, action and target. Pure.
import type { AuditEntry } from '@pharos/contract/team/audit'
import { entryText, targetText } from './audit-words.ts'

type Recorded = Readonly<Record<string, unknown>>
type Entry = Pick<AuditEntry, 'action' | 'target' | 'before' | 'after'>

/** Actions about the actor or the whole team, without a target. */
const withoutTarget =
  /^(session|totp|recovery_codes|password|email|account|team|user|notifications|authorization|token\.refuse|member\.join|audit)/

const recordOf = (value: unknown): Recorded =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Recorded) : {}

const namesOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** Returns what happened without the actor: `enabled announcement 198.51.100.0/24 in Frankfurt`. `nameOf` names a region. */
export function deedOf(entry: Entry, nameOf: (region: string) => string): string {
  const text =
    changeOfRegions(entry, nameOf) ?? `${entryText(entry)}${suffixOf(entry)}${placeOf(entry, nameOf)}`
  return text.charAt(0).toLowerCase() + text.slice(1)
}

/** The name of the target; its number if it has no name, since the action contains the type. */
function suffixOf(entry: Entry): string {
  if (withoutTarget.test(entry.action)) return ''
  const text = targetText(entry)
  const isNumbered = text === targetText({ ...entry, before: null, after: null }) && !/^AS\d/.test(text)
  return ` ${isNumbered ? entry.target.replace(/^[^:]*:/, '') : text}`
}

/** ` in Amsterdam, Frankfurt` for an announcement that has regions. */
function placeOf({ action, after }: Entry, nameOf: (region: string) => string): string {
  if (!action.startsWith('announcement.')) return ''
  const regions = namesOf(recordOf(after)['regions'])
  return regions.length === 0 ? '' : ` in ${listOf(regions.map(nameOf))}`
}

/** An update that leaves an announcement enabled, and only adds or removes regions. */
function changeOfRegions(entry: Entry, nameOf: (region: string) => string): string | undefined {
  const [before, after] = [recordOf(entry.before), recordOf(entry.after)]
  if (entry.action !== 'announcement.update' || before['enabled'] !== after['enabled']) return undefined
  const [had, has] = [namesOf(before['regions']), namesOf(after['regions'])]
  const added = has.filter((one) => !had.includes(one))
  const removed = had.filter((one) => !has.includes(one))
  if (added.length === 0 && removed.length === 0) return `Changed announcement ${targetText(entry)}`
  const parts = [
    added.length > 0 ? `added ${listOf(added.map(nameOf))}` : '',
    removed.length > 0 ? `removed ${listOf(removed.map(nameOf))}` : '',
  ].filter((part) => part !== '')
  return `${parts.join(' and ')} ${added.length > 0 ? 'to' : 'from'} ${targetText(entry)}`
}

const listOf = (names: readonly string[]): string => new Intl.ListFormat('en').format(names)
