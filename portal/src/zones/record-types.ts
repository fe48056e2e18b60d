// The types of records that people write: an example of a value, and what its parts are.
import { words } from './words.ts'

const examples: Readonly<Record<string, string>> = {
  A: '192.0.2.1',
  AAAA: '2001:db8::1',
  ALIAS: 'lb.example.net.',
  CAA: '0 issue "ca.example.net"',
  CNAME: 'www.example.net.',
  DNAME: 'example.net.',
  DS: '12345 13 2 49FD46E6C4B45C55D4AC…',
  HTTPS: '1 . alpn=h2,h3',
  LOC: '52 22 N 4 53 E 2m',
  MX: '10 mail.example.net.',
  NAPTR: '100 10 "u" "E2U+sip" "!^.*$!sip:info@example.net!" .',
  NS: 'ns1.example.net.',
  PTR: 'host.example.net.',
  SRV: '10 5 5060 sip.example.net.',
  SSHFP: '4 2 123456789abcdef6…',
  SVCB: '1 svc.example.net. port=853',
  TLSA: '3 1 1 0b9fa5a59eed715c…',
  TXT: 'v=spf1 mx -all',
  URI: '10 1 "https://www.example.net/"',
}

export const commonTypes: readonly string[] = Object.keys(examples)

const keyOf = (type: string): string => type.trim().toUpperCase()

/** Returns a value as it is written; empty for a type that is not known. */
export const exampleOf = (type: string): string => examples[keyOf(type)] ?? ''

/** Describes the parts of a value; undefined for an unknown type. */
export const helpOf = (type: string): string | undefined => words.records.typeHelp[keyOf(type)]

const rankOf = ({ name, type }: { readonly name: string; readonly type: string }): number =>
  name !== '@' ? 2 : type === 'SOA' ? 0 : type === 'NS' ? 1 : 2

/** Returns the sets of a page as a zone file has them: the sets of the apex begin with SOA and NS. */
export const asInZoneFile = <Set extends { readonly name: string; readonly type: string }>(
  sets: readonly Set[],
): readonly Set[] => {
  // Only their own order changes: a page begins and ends with any name.
  const ofZone = sets.filter(({ name }) => name === '@').toSorted((a, b) => rankOf(a) - rankOf(b))
  let at = 0
  return sets.map((set) => (set.name === '@' ? ofZone[at++]! : set))
}
