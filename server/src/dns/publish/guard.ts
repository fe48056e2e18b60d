// The guard of publications: every removal must be in a version, and the apex always has SOA and NS. Pure.
import { compareOctets, nameKey, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import { isGeneratedType } from '../sign/authority.ts'
import type { ServedChange } from '../sign/served-index.ts'
import type { RrsetChange } from '../sign/sign-delta.ts'

/** Why a publication is not made: staff decide about `unexplained_removals`; `apex_removed` is never made. */
export type PublishRefusal = {
  readonly reason: 'unexplained_removals' | 'apex_removed'
  /** The sets that would leave, in canonical order. */
  readonly sets: readonly { readonly name: DomainName; readonly type: number }[]
}

/** Types that signing and DNSSEC states write: they follow the keys, not the journal. */
const keyTypes: ReadonlySet<number> = new Set([recordType.DNSKEY, recordType.CDS, recordType.CDNSKEY])

/** Returns why the changes must not be published; undefined if they may be. */
export function checkPublication(
  zone: ZoneName,
  changes: readonly ServedChange[],
  journal: readonly RrsetChange[],
): PublishRefusal | undefined {
  const removed = changes.flatMap(({ before, after }) => (before && !after ? [before] : []))
  const apex = removed.filter(({ name, type }) => name === zone && isEssential(type))
  if (apex.length > 0) return { reason: 'apex_removed', sets: apex.map(nameAndType) }
  const itemised = new Set(
    journal.filter(({ after }) => after === undefined).map(({ name, type }) => `${type} ${name}`),
  )
  const unexplained = removed.filter(
    ({ name, type }) =>
      !isGeneratedType(type) && !(name === zone && keyTypes.has(type)) && !itemised.has(`${type} ${name}`),
  )
  return unexplained.length > 0
    ? { reason: 'unexplained_removals', sets: unexplained.map(nameAndType).sort(byName) }
    : undefined
}

const isEssential = (type: number): boolean => type === recordType.SOA || type === recordType.NS

const nameAndType = ({ name, type }: SignedRrset): { name: DomainName; type: number } => ({ name, type })

const byName = (a: { name: DomainName; type: number }, b: { name: DomainName; type: number }): number =>
  compareOctets(nameKey(a.name), nameKey(b.name)) || a.type - b.type
