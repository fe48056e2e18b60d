// The answer under construction: records by section. A set is added with its signatures only if the client requested
// DNSSEC.
import type { DomainName } from '../../net/dns/name.ts'
import type { ResourceRecord, SignedRrset } from '../../net/dns/record.ts'
import { recordClass, recordType } from '../../net/dns/type.ts'
import { rcode } from '../../net/dns/message.ts'

export class DnsReply {
  rcode: number = rcode.NOERROR
  /** Authoritative answer: false for a referral of the name in the question (RFC 1034 section 6.2.7). */
  aa = true
  readonly answers: ResourceRecord[] = []
  readonly authorities: ResourceRecord[] = []
  readonly additionals: ResourceRecord[] = []
  /** Number of additional records without which a referral is useless: the answer is truncated if they do not fit (RFC 9471). */
  glue = 0
  /** Whether DNSSEC records are added (DO, RFC 3225). */
  readonly isDnssec: boolean

  constructor(isDnssec: boolean) {
    this.isDnssec = isDnssec
  }

  /** Adds a set as it is, or under the name that a wildcard stands for. */
  answer(set: SignedRrset, owner: DomainName = set.name): void {
    addSet(this.answers, set, owner, set.ttl, this.isDnssec)
  }

  /** Adds a set to the authority section, once. */
  authority(set: SignedRrset, ttl: number = set.ttl): void {
    const isKnown = this.authorities.some(({ name, type }) => name === set.name && type === set.type)
    if (!isKnown) addSet(this.authorities, set, set.name, ttl, this.isDnssec)
  }

  additional(set: SignedRrset): void {
    const isKnown = this.additionals.some(({ name, type }) => name === set.name && type === set.type)
    if (!isKnown) addSet(this.additionals, set, set.name, set.ttl, this.isDnssec)
  }
}

function addSet(
  section: ResourceRecord[],
  { type, rdata, rrsig }: SignedRrset,
  name: DomainName,
  ttl: number,
  isDnssec: boolean,
): void {
  for (const data of rdata) section.push({ name, type, class: recordClass.IN, ttl, rdata: data })
  if (!isDnssec) return
  for (const data of rrsig) {
    section.push({ name, type: recordType.RRSIG, class: recordClass.IN, ttl, rdata: data })
  }
}
