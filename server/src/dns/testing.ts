// For tests: record sets from a few lines of text, zones as files for the tools that verify them, and zones in the database.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Postgres } from '../db/postgres.ts'
import { parseName, type ZoneName, parseZoneName } from '../net/dns/name.ts'
import { parseRdata, printRdata } from '../net/dns/rdata/rdata.ts'
import { collectRrsets, type Rrset, type SignedRrset } from '../net/dns/record.ts'
import { findType, recordClass, recordType, typeName } from '../net/dns/type.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { insertKey } from './dnssec/dnssec.store.ts'
import { createKey } from './dnssec/key.ts'
import type { PlacedDesired } from './zone/change-content.ts'
import { changeZone } from './zone/change-zone.ts'
import { insertZone, markZoneDeleted, readDefaults } from './zone/zone.store.ts'
import { managedSets, resolveSettings, withoutLimits, type Zone } from './zone/zone.ts'

/** Returns the sets of lines `name ttl type data`; names are relative to the zone, and lines with `;` are skipped. */
export function rrsetsOf(zone: ZoneName, text: string): Rrset[] {
  const lines = text.split('\n').filter((line) => /^[^;]*\S[^;]*$/.test(line))
  return collectRrsets(
    lines.map((line) => {
      const [, owner, ttl, mnemonic, data] = /^\s*(\S+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line)!
      const type = findType(mnemonic!)!
      const name = parseName(owner!, zone)
      return {
        name,
        type,
        class: recordClass.IN,
        ttl: Number(ttl),
        rdata: parseRdata(type, data!, { origin: zone }),
      }
    }),
  )
}

/** Prints sets with their signatures as a zone file, the SOA first. */
export function zoneFileOf(sets: Iterable<SignedRrset>): string {
  const sorted = [...sets].sort(
    (a, b) => Number(b.type === recordType.SOA) - Number(a.type === recordType.SOA),
  )
  const lines = sorted.flatMap(({ name, type, ttl, rdata, rrsig }) => {
    const line = (type: number, data: Uint8Array): string =>
      `${name} ${ttl} IN ${typeName(type)} ${printRdata(type, data)}`
    return [...rdata.map((data) => line(type, data)), ...rrsig.map((data) => line(recordType.RRSIG, data))]
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

/** Returns the verifiers that reject the zone, with their output. */
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

export type SeedOptions = {
  /** Null for a zone of the operator. */
  readonly teamId: number | null
  /** With or without the trailing dot. */
  readonly name: string
  readonly deleted?: boolean
  readonly records?: readonly {
    readonly name: string
    readonly type: keyof typeof recordType
    readonly records: readonly string[]
  }[]
}

/** Inserts a zone with SOA, NS and the records, by default `www` with an address, as versions 1 and 2. */
export async function seedZone(
  postgres: Postgres,
  {
    teamId,
    name,
    deleted = false,
    records = [{ name: 'www', type: 'A', records: ['192.0.2.1'] }],
  }: SeedOptions,
): Promise<Zone> {
  return postgres.owner.transaction().execute(async (trx) => {
    const defaults = await readDefaults(trx)
    const settings = resolveSettings({}, defaults)
    const zoneName = parseZoneName(name)
    const inserted = await insertZone(trx, {
      teamId,
      name: zoneName,
      kind: 'primary',
      isReverse: name.includes('.arpa'),
      isGenerated: false,
      managedBy: 'team',
      serial: null,
      settings: {},
      isClaimed: true,
    })
    const options = (what: string) => ({
      author: { actor: 'operator', what },
      now: new Date(),
      settings,
      limits: withoutLimits,
    })
    const placed = (set: Omit<PlacedDesired, 'loc'>): PlacedDesired => ({ ...set, loc: [] })
    const created = await changeZone(
      trx,
      inserted!,
      managedSets(zoneName, settings).map(placed),
      options('zone.create'),
    )
    const sets = records.map((set) => {
      const type = recordType[set.type]
      const rdata = set.records.map((text) => parseRdata(type, text, { origin: zoneName }))
      return placed({ name: parseName(set.name, zoneName), type, ttl: 3600, rdata, source: 'user' })
    })
    const { zone } = await changeZone(trx, created.zone, sets, options('recordset.create'))
    if (deleted) await markZoneDeleted(trx, zone, 'operator')
    return zone
  })
}

/** Inserts a zone that is signed with a key, and waits for the DS record of the parent. */
export async function seedSignedZone(postgres: Postgres, ring: KeyRing, options: SeedOptions): Promise<Zone> {
  const zone = await seedZone(postgres, options)
  await postgres.owner.transaction().execute(async (trx) => {
    await insertKey(trx, zone.id, createKey(ring, zone.id, 13))
    await sql`update dns_keys set state = 'active' where zone_id = ${zone.id}`.execute(trx)
    await sql`update dns_zones set dnssec = 'pending_ds' where id = ${zone.id}`.execute(trx)
  })
  return zone
}

/** Inserts a PTR template with one generated record in a new zone. Returns its id. */
export async function seedTemplate(
  postgres: Postgres,
  teamId: number,
  octets: string,
  last: number,
): Promise<number> {
  const { owner } = postgres
  const { id } = await owner
    .insertInto('dns_ptr_templates')
    .values({ team_id: teamId, prefix: `${octets}${last}/32`, pattern: 'host.example.net' })
    .onConflict((conflict) =>
      conflict.columns(['team_id', 'prefix']).doUpdateSet({ pattern: 'host.example.net' }),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
