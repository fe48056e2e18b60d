// From the journal to one change: several versions in a moment become one serial. Pure.
import type { DomainName } from '../../net/dns/name.ts'
import type { Rrset } from '../../net/dns/record.ts'
import type { RrsetChange } from '../sign/sign-delta.ts'
import type { JournalEntry } from './publish.store.ts'

/** Thrown if the journal lacks a version: the sets that it removed or added are unknown. */
export class JournalGap extends Error {}

/**
 * Returns the last state of each set that the versions after `published` up to `version` change. Throws JournalGap if a
 * version is missing.
 */
export function mergeJournal(
  entries: readonly JournalEntry[],
  published: number,
  version: number,
): RrsetChange[] {
  if (entries.length !== version - published) throw new JournalGap('versions are missing in the journal')
  const changes = new Map<string, RrsetChange>()
  for (const { removed, added } of entries) {
    for (const { name, type } of removed) changes.set(keyOf(name, type), { name, type, after: undefined })
    for (const set of added) changes.set(keyOf(set.name, set.type), changeTo(set))
  }
  return [...changes.values()]
}

export const changeTo = (after: Rrset): RrsetChange => ({ name: after.name, type: after.type, after })

const keyOf = (name: DomainName, type: number): string => `${type} ${name}`
