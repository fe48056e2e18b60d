// The record sets with which a zone delegates to another one: NS, DS, and the addresses of name servers that are below the cut (glue). Pure.
import type { DnssecState } from '@pharos/contract/dns/term'
import { isAtOrBelow, nameFromWire, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import { parentRequestOf, type KeyState } from '../sign/key-state.ts'
import { dsOf, keyFlags } from '../sign/dnskey.ts'
import type { DesiredSet, StoredSet } from './zone-change.ts'

export type ParentKey = {
  readonly id: number
  readonly flags: number
  readonly dnskey: Uint8Array
  readonly state: KeyState
}

const addressTypes = new Set<number>([recordType.A, recordType.AAAA])
export const isAddressSet = ({ type }: { readonly type: number }): boolean => addressTypes.has(type)

/** Types that a parent has at the cut itself. */
export const isAtCut = ({ type }: { readonly type: number }): boolean =>
  type === recordType.NS || type === recordType.DS

/** Returns the names of the servers of an NS set. */
export const serversOf = (ns: Pick<StoredSet, 'rdata'> | undefined): DomainName[] =>
  (ns?.rdata ?? []).map((rdata) => nameFromWire(rdata))

export type DsFacts = {
  readonly name: ZoneName
  readonly status: DnssecState
  readonly isPublished: boolean
  readonly hasManagedDs: boolean
  readonly keys: readonly ParentKey[]
}

/**
 * Returns the data of the DS records that a zone has at its parent, in the digests of its CDS records; undefined if they stay as they are. A zone
 * that was never published is signed from its first publication on, so that no resolver has it without signatures.
 */
export function dsRecordsOf({
  name,
  status,
  isPublished,
  hasManagedDs,
  keys,
}: DsFacts): Uint8Array[] | undefined {
  if (!hasManagedDs) return undefined
  const request = parentRequestOf({ status, keys })
  if (request.request === 'delete' || status === 'disabled') return []
  const isNew = status === 'signing' && !isPublished
  if (request.request === 'none' && !isNew) return undefined
  return keys
    .filter(({ id, flags }) => {
      const isWanted = request.request === 'keys' ? request.ids.includes(id) : true
      return isWanted && (flags & keyFlags.secureEntryPoint) !== 0
    })
    .flatMap(({ dnskey }) => [dsOf(name, dnskey, 2), dsOf(name, dnskey, 4)])
}

/**
 * Returns the sets of the delegation. `apex` has the sets of the child's apex, `glue` the addresses of its servers.
 * Without NS records, as in a secondary zone before its first transfer, the list is empty.
 */
export function delegationSets(
  name: ZoneName,
  apex: readonly StoredSet[],
  glue: readonly StoredSet[],
  ds: readonly Uint8Array[] | undefined,
): DesiredSet[] {
  const ns = apex.find(({ type }) => type === recordType.NS)
  if (!ns) return []
  const servers = new Set(serversOf(ns))
  const addresses = [...apex, ...glue].filter(
    (set) => isAddressSet(set) && servers.has(set.name) && isAtOrBelow(set.name, name),
  )
  return [
    managed(ns),
    ...(ds === undefined || ds.length === 0
      ? []
      : [managed({ name, type: recordType.DS, ttl: ns.ttl, rdata: ds })]),
    ...new Map(addresses.map((set) => [`${set.type} ${set.name}`, managed(set)])).values(),
  ]
}

const managed = ({ name, type, ttl, rdata }: Omit<DesiredSet, 'source'>): DesiredSet => ({
  name,
  type,
  ttl,
  rdata,
  source: 'system',
})
