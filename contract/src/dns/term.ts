// Shared by several parts of the contract of DNS: names, permissions, and the states and algorithms of DNSSEC.
import { Type } from 'typebox'

export const dnsReading = { credential: 'any', module: 'dns', scope: 'dns:read', grant: 'dns.see' } as const
export const dnsWriting = { credential: 'any', module: 'dns', scope: 'dns:write', grant: 'dns.edit' } as const
/** The permission for DNSSEC and for creating, importing and deleting whole zones. */
export const dnsAdmin = { ...dnsWriting, grant: 'dns.manage' } as const

/** Most record sets of one request. */
export const recordSetsAtOnce = 1000

/** A zone in a path: its id or its name. */
export const ZoneInPath = Type.String({
  minLength: 1,
  maxLength: 1020,
  description: 'id or name of the zone: `4711` or `example.com`, with or without the trailing dot',
})

/** A domain name in a request; the server checks its form. Each octet may be written as an escape of four characters. */
export const DomainNameText = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1020, description })

/** The serial of an SOA record. */
export const Serial = Type.Integer({ minimum: 0, maximum: 4_294_967_295 })

/** A TTL of a record set, in seconds. */
export const Ttl = Type.Integer({ minimum: 0, maximum: 2_147_483_647 })

/** Status of DNSSEC in a zone. `signing`: signed, and not yet at all name servers; `pending_ds`: the parent has no DS record yet. */
export const dnssecStates = [
  'disabled',
  'signing',
  'active',
  'pending_ds',
  'pending_disabled',
  'error',
] as const
export type DnssecState = (typeof dnssecStates)[number]

/** Algorithms of new keys by their mnemonic (RFC 8624): 13 and 15. */
export const dnssecAlgorithms = ['ECDSAP256SHA256', 'ED25519'] as const
export type DnssecAlgorithm = (typeof dnssecAlgorithms)[number]
