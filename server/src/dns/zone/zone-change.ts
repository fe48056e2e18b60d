// The difference between current and desired record sets. Pure: a set in another order or spelling is the same set.
import { compareOctets } from '../../net/dns/name.ts'
import { canonicalRdata, printRdata } from '../../net/dns/rdata/rdata.ts'
import { uniqueRdata, type Rrset } from '../../net/dns/record.ts'
import type { RecordSetSource } from '@pharos/contract/dns/recordset'

/** A record set as stored. `rdata` is canonical and in canonical order. */
export type StoredSet = Rrset & {
  readonly content: string
  readonly source: RecordSetSource
  readonly comment: string
  readonly created: Date
  readonly touched: Date
}

/** A record set as it is to be; without records it is to be deleted. */
export type DesiredSet = Rrset & {
  readonly source: RecordSetSource
  /** Undefined keeps the comment. */
  readonly comment?: string | undefined
}

export type ZoneDifference = {
  readonly added: readonly StoredSet[]
  readonly changed: readonly { readonly before: StoredSet; readonly after: StoredSet }[]
  readonly removed: readonly StoredSet[]
  /** Sets with the same records and TTL, and another comment: no new version. */
  readonly commented: readonly { readonly before: StoredSet; readonly after: StoredSet }[]
  readonly unchangedCount: number
}

/** Identifies a record set in its zone. */
export const setId = ({ name, type }: Pick<Rrset, 'name' | 'type'>): string => `${type} ${name}`

/** Returns the record data in canonical form and order, without repetitions (RFC 4034 sections 6.2 and 6.3). */
const canonicalRecords = (type: number, rdata: readonly Uint8Array[]): Uint8Array[] =>
  uniqueRdata(rdata.map((one) => canonicalRdata(type, one))).sort(compareOctets)

/** Returns the records in presentation format, one a line: a record has no line break in it. */
export const contentOf = ({ type, rdata }: Pick<Rrset, 'type' | 'rdata'>): string =>
  rdata.map((one) => printRdata(type, one)).join('\n')

/** Plans the changes that make `desired` true. `stored` has at least the sets with a name and type of `desired`. */
export function planDifference(
  stored: Iterable<StoredSet>,
  desired: readonly DesiredSet[],
  now: Date,
): ZoneDifference {
  const known = new Map(Array.from(stored, (set) => [setId(set), set]))
  const added: StoredSet[] = []
  const changed: { before: StoredSet; after: StoredSet }[] = []
  const removed: StoredSet[] = []
  const commented: { before: StoredSet; after: StoredSet }[] = []
  let unchangedCount = 0
  for (const set of desired) {
    const before = known.get(setId(set))
    const rdata = canonicalRecords(set.type, set.rdata)
    if (rdata.length === 0) {
      if (before) removed.push(before)
      else unchangedCount++
      continue
    }
    const after = storedSet({ ...set, rdata }, before, now)
    if (!before) added.push(after)
    else if (!sameSet(before, after)) changed.push({ before, after })
    else if (before.comment !== after.comment) commented.push({ before, after })
    else unchangedCount++
  }
  return { added, changed, removed, commented, unchangedCount }
}

function storedSet(set: DesiredSet, before: StoredSet | undefined, now: Date): StoredSet {
  const { name, type, ttl, rdata, source, comment = before?.comment ?? '' } = set
  const created = before?.created ?? now
  return { name, type, ttl, rdata, source, comment, created, touched: now, content: contentOf(set) }
}

/** Both have canonical records in canonical order. */
const sameSet = (a: Rrset, b: Rrset): boolean =>
  a.ttl === b.ttl &&
  a.rdata.length === b.rdata.length &&
  a.rdata.every((octets, i) => compareOctets(octets, b.rdata[i]!) === 0)

export const isEmpty = ({ added, changed, removed }: ZoneDifference): boolean =>
  added.length + changed.length + removed.length === 0

/** Returns the sets as they were and as they are, for the journal: a changed set is in both. */
export function journalOf({ added, changed, removed }: ZoneDifference): {
  readonly removed: readonly StoredSet[]
  readonly added: readonly StoredSet[]
} {
  return {
    removed: [...removed, ...changed.map(({ before }) => before)],
    added: [...added, ...changed.map(({ after }) => after)],
  }
}
