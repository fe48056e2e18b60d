// For tests of signing and answers: record sets from a few lines of text, and zones as files for the tools that verify them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseName, type ZoneName } from '../net/dns/name.ts'
import { parseRdata, printRdata } from '../net/dns/rdata/rdata.ts'
import { collectRrsets, type Rrset, type SignedRrset } from '../net/dns/record.ts'
import { findType, recordClass, recordType, typeName } from '../net/dns/type.ts'

/** Returns the sets of lines `name ttl type data`; names are relative to the zone, and lines with `;` are left out. */
export function rrsetsOf(zone: ZoneName, text: string): Rrset[] {
  const lines = text.split('\n').filter((line) => /^[^;]*\S[^;]*$/.test(line))
  return collectRrsets(
    lines.map((line) => {
      const [, owner, ttl, mnemonic, data] = /^\s*(\S+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line)!
      const type = findType(mnemonic!)!
      const name = parseName(owner!, zone)
      return { name, type, class: recordClass.IN, ttl: Number(ttl), rdata: parseRdata(type, data!, { origin: zone }) }
    }),
  )
}

/** Prints sets with their signatures as a zone file, the SOA first. */
export function zoneFileOf(sets: Iterable<SignedRrset>): string {
  const sorted = [...sets].sort((a, b) => Number(b.type === recordType.SOA) - Number(a.type === recordType.SOA))
  const lines = sorted.flatMap(({ name, type, ttl, rdata, rrsig }) => {
    const line = (type: number, data: Uint8Array): string =>
      `${name} ${ttl} IN ${typeName(type)} ${printRdata(type, data)}`
    return [
      ...rdata.map((data) => line(type, data)),
      ...rrsig.map((data) => line(recordType.RRSIG, data)),
    ]
  })
  return `${lines.join('\n')}\n`
}

/** The programs that verify a signed zone. */
export const verifiers = ['ldns-verify-zone', 'dnssec-verify', 'kzonecheck'] as const
type Verifier = (typeof verifiers)[number]
/** kzonecheck 3.2 finds no valid signature where two keys of one kind sign, also in zones signed by BIND. */
export const rolloverVerifiers: readonly Verifier[] = ['ldns-verify-zone', 'dnssec-verify']

const argumentsOf = {
  'ldns-verify-zone': (_zone: string, file: string) => ['-V', '1', file],
  // -z: a CSK has the flags of a KSK.
  'dnssec-verify': (zone: string, file: string) => ['-q', '-z', '-o', zone, file],
  kzonecheck: (zone: string, file: string) => ['-o', zone, '-d', 'on', file],
} satisfies Record<Verifier, (zone: string, file: string) => string[]>

/** Returns which verifiers reject the zone, with what they print. */
export function rejectionsOf(
  zone: ZoneName,
  sets: Iterable<SignedRrset>,
  programs: readonly Verifier[] = verifiers,
): Map<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-zone-'))
  const file = join(folder, 'zone')
  try {
    writeFileSync(file, zoneFileOf(sets))
    const results = programs.map((program) => {
      const { status, stdout, stderr } = spawnSync(program, argumentsOf[program](zone, file))
      return [program, status === 0 ? '' : `${stdout}${stderr}`] as const
    })
    return new Map(results.filter(([, output]) => output !== ''))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Asserts that independent verifiers accept the zone. */
export function assertVerified(
  zone: ZoneName,
  sets: Iterable<SignedRrset>,
  programs: readonly Verifier[] = verifiers,
): void {
  assert.deepEqual(Object.fromEntries(rejectionsOf(zone, sets, programs)), {})
}
