// Numbers and mnemonics of record types and classes (IANA, Domain Name System Parameters), with the generic spelling of RFC 3597. The data of the
// types is in `rdata/`.

/** Every type that has a mnemonic here; a type without one is written `TYPEnnn`. */
export const recordType = {
  A: 1,
  NS: 2,
  MD: 3,
  MF: 4,
  CNAME: 5,
  SOA: 6,
  MB: 7,
  MG: 8,
  MR: 9,
  NULL: 10,
  WKS: 11,
  PTR: 12,
  HINFO: 13,
  MINFO: 14,
  MX: 15,
  TXT: 16,
  RP: 17,
  AFSDB: 18,
  X25: 19,
  ISDN: 20,
  RT: 21,
  NSAP: 22,
  'NSAP-PTR': 23,
  SIG: 24,
  KEY: 25,
  PX: 26,
  GPOS: 27,
  AAAA: 28,
  LOC: 29,
  NXT: 30,
  EID: 31,
  NIMLOC: 32,
  SRV: 33,
  ATMA: 34,
  NAPTR: 35,
  KX: 36,
  CERT: 37,
  A6: 38,
  DNAME: 39,
  SINK: 40,
  OPT: 41,
  APL: 42,
  DS: 43,
  SSHFP: 44,
  IPSECKEY: 45,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  DHCID: 49,
  NSEC3: 50,
  NSEC3PARAM: 51,
  TLSA: 52,
  SMIMEA: 53,
  HIP: 55,
  NINFO: 56,
  RKEY: 57,
  TALINK: 58,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  CSYNC: 62,
  ZONEMD: 63,
  SVCB: 64,
  HTTPS: 65,
  DSYNC: 66,
  HHIT: 67,
  BRID: 68,
  SPF: 99,
  UINFO: 100,
  UID: 101,
  GID: 102,
  UNSPEC: 103,
  NID: 104,
  L32: 105,
  L64: 106,
  LP: 107,
  EUI48: 108,
  EUI64: 109,
  NXNAME: 128,
  TKEY: 249,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
  URI: 256,
  CAA: 257,
  AVC: 258,
  DOA: 259,
  AMTRELAY: 260,
  RESINFO: 261,
  WALLET: 262,
  CLA: 263,
  IPN: 264,
  TA: 32_768,
  DLV: 32_769,
  /** PowerDNS' private type: the addresses of another name, which the server publishes in its place. */
  ALIAS: 65_401,
} as const

/** Other servers use ANAME for ALIAS. */
const numbers: ReadonlyMap<string, number> = new Map([
  ...Object.entries(recordType),
  ['ANAME', recordType.ALIAS],
])
const mnemonics: ReadonlyMap<number, string> = new Map(
  Object.entries(recordType).map(([mnemonic, type]) => [type, mnemonic]),
)

/** Returns the number of a mnemonic or of `TYPEnnn`, in any case; undefined if it is neither. `*` is not a type here. */
export function findType(text: string): number | undefined {
  return numbers.get(text) ?? findSpelled(text, 'TYPE', numbers)
}

/** Returns the mnemonic, or `TYPEnnn` (RFC 3597 section 5). */
export function typeName(type: number): string {
  return mnemonics.get(type) ?? `TYPE${type}`
}

/** Types of questions and of the protocol, which no zone contains (RFC 6895 section 3.1), OPT included. */
export function isMetaType(type: number): boolean {
  return type === recordType.OPT || (type >= 128 && type <= 255)
}

export const recordClass = { IN: 1, CH: 3, HS: 4, NONE: 254, ANY: 255 } as const

const classes: ReadonlyMap<string, number> = new Map(Object.entries(recordClass))
/** Returns the number of `IN`, `CH`, ... or of `CLASSnnn`, in any case; undefined if it is neither. */
export function findClass(text: string): number | undefined {
  return classes.get(text) ?? findSpelled(text, 'CLASS', classes)
}

function findSpelled(text: string, prefix: string, known: ReadonlyMap<string, number>): number | undefined {
  if (text.length > 16) return undefined
  const upper = text.toUpperCase()
  const number = known.get(upper)
  if (number !== undefined || !upper.startsWith(prefix)) return number
  const digits = upper.slice(prefix.length)
  return /^\d{1,5}$/.test(digits) && Number(digits) <= 0xffff ? Number(digits) : undefined
}

/** Types of RFC 1035 and DNSSEC before RFC 4034 that are obsolete or experimental, and NULL. */
const obsolete = new Set<number>(
  (['MD', 'MF', 'MB', 'MG', 'MR', 'NULL', 'WKS', 'SIG', 'KEY', 'NXT', 'A6'] as const).map(
    (name) => recordType[name],
  ),
)

/** Returns whether a zone may contain the type: it is neither a meta type nor obsolete. */
export function isZoneType(type: number): boolean {
  return type !== 0 && !isMetaType(type) && !obsolete.has(type)
}
