// Zones for tests. The product does not import this file.
import { parseName, parseZoneName } from '../net/dns/name.ts'
import { parseRdata } from '../net/dns/rdata/rdata.ts'
import { recordType } from '../net/dns/type.ts'
import type { Postgres } from '../db/postgres.ts'
import { changeZone, type PlacedDesired } from './zone/change-zone.ts'
import { insertZone, markDeleted, readDefaults } from './zone/zone.store.ts'
import { managedSets, resolveSettings, type Zone } from './zone/zone.ts'

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
      recordsetsMax: Infinity,
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
    if (deleted) await markDeleted(trx, zone, 'operator')
    return zone
  })
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
