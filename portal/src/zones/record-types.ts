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

/** Returns what the parts of a value are; undefined for a type that is not known. */
export const helpOf = (type: string): string | undefined => words.records.typeHelp[keyOf(type)]
