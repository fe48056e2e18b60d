// Publishes A and AAAA records in place of ALIAS records. The ALIAS type is never published. Pure.
import type { DomainName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import type { RrsetChange } from '../sign/sign-delta.ts'
import { aliasTtlMax, type AliasAddresses } from './alias.ts'

/** An ALIAS record set of a zone with the addresses of its target; undefined before the first answer. */
export type PublishedAlias = {
  readonly name: DomainName
  readonly ttl: number
  readonly addresses: AliasAddresses | undefined
}

const addressTypes = [
  [recordType.A, 'a'],
  [recordType.AAAA, 'aaaa'],
] as const

/**
 * Returns the changes with addresses instead of ALIAS records. At a name whose target has no answer yet, the addresses that are served stay as
 * they are. `aliases` has all ALIAS record sets of the zone.
 */
export function withAddresses(
  change: readonly RrsetChange[],
  aliases: readonly PublishedAlias[],
): RrsetChange[] {
  const names = new Set(aliases.map(({ name }) => name))
  const isAddress = (type: number): boolean => addressTypes.some(([one]) => one === type)
  const others = change.filter(
    ({ name, type }) => type !== recordType.ALIAS && !(isAddress(type) && names.has(name)),
  )
  const cleared = change
    .filter(({ name, type, after }) => type === recordType.ALIAS && after === undefined && !names.has(name))
    .flatMap(({ name }) => addressTypes.map(([type]) => ({ name, type, after: undefined })))
    .filter(({ name, type }) => !others.some((other) => other.name === name && other.type === type))
  const resolved = aliases.flatMap(({ name, ttl, addresses }) =>
    addresses === undefined
      ? []
      : addressTypes.map(([type, family]) => {
          const set = { name, type, ttl: Math.min(ttl, aliasTtlMax), rdata: addresses[family] }
          return { name, type, after: set.rdata.length === 0 ? undefined : set }
        }),
  )
  return [...others, ...cleared, ...resolved]
}
