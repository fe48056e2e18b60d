// The sets at the apex that publish keys: DNSKEY, and CDS and CDNSKEY, which request DS records at the parent (RFC
// 7344).
import type { ZoneName } from '../../net/dns/name.ts'
import type { Rrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import { cdnskeyDelete, cdsDelete, dsOf } from './dnskey.ts'

/** The request of CDS and CDNSKEY to the parent: DS records of these keys, no DS records, or no request. */
export type ParentRequest =
  | { readonly request: 'keys'; readonly dnskeys: readonly Uint8Array[] }
  | { readonly request: 'delete' }
  | { readonly request: 'none' }

/** Returns the non-empty sets at the apex. `ttl` is in seconds. CDS has the digests SHA-256 and SHA-384. */
export function keySets(
  zone: ZoneName,
  dnskeys: readonly Uint8Array[],
  parent: ParentRequest,
  ttl: number,
): Rrset[] {
  const [cds, cdnskey] = requestRecords(zone, parent)
  return [
    { name: zone, type: recordType.DNSKEY, ttl, rdata: dnskeys },
    { name: zone, type: recordType.CDS, ttl, rdata: cds },
    { name: zone, type: recordType.CDNSKEY, ttl, rdata: cdnskey },
  ].filter(({ rdata }) => rdata.length > 0)
}

function requestRecords(
  zone: ZoneName,
  parent: ParentRequest,
): [readonly Uint8Array[], readonly Uint8Array[]] {
  if (parent.request === 'none') return [[], []]
  if (parent.request === 'delete') return [[cdsDelete], [cdnskeyDelete]]
  const { dnskeys } = parent
  return [dnskeys.flatMap((dnskey) => [dsOf(zone, dnskey, 2), dsOf(zone, dnskey, 4)]), dnskeys]
}
