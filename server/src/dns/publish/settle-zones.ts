// Carries out the decisions about zones when a restore is closed. Every zone continues after the serial that its name servers have; an adopted
// one gets the records that a name server has, as a new version.
import type { AuditEntry } from '../../db/audit.ts'
import { writeAudit } from '../../db/audit.ts'
import type { Trx } from '../../db/postgres.ts'
import type { ZoneName } from '../../net/dns/name.ts'
import type { ResourceRecord } from '../../net/dns/record.ts'
import { isNewer, toSerial, type Serial } from '../../net/dns/serial.ts'
import { fail } from '../../runtime/error.ts'
import { desiredOf, readImport } from '../import/import-plan.ts'
import { changeZone } from '../zone/change-zone.ts'
import { listChildZones } from '../zone/related-zone.store.ts'
import { readAllSets } from '../zone/zone-change.store.ts'
import { lockZone, readDefaults } from '../zone/zone.store.ts'
import { resolveSettings } from '../zone/zone.ts'
import { raiseSerial } from './compare-server.store.ts'

/** A decided difference, as restore/settle.ts has it. */
type DecidedZone = {
  /** Name of the name server. */
  readonly source: string
  readonly subject: string
  readonly kind: string
  readonly team_id: number | null
  readonly network: Readonly<Record<string, unknown>> | null
  readonly decision: string
}

type Author = Pick<AuditEntry, 'actor'> & Partial<AuditEntry>

/** Returns every record that the name server has of the zone. */
export type ReadZone = (server: string, zone: ZoneName) => Promise<readonly ResourceRecord[]>

/** Reads the adopted zones, and returns the change of the rows. */
export async function settleZones(
  readZone: ReadZone,
  items: readonly DecidedZone[],
): Promise<(trx: Trx, by: Author, now: Date) => Promise<void>> {
  const zones = Map.groupBy(
    items.filter(({ kind }) => kind === 'change'),
    ({ subject }) => subject as ZoneName,
  )
  const adopted = new Map<ZoneName, { teamId: number | null; records: readonly ResourceRecord[] }>()
  for (const [name, ofZone] of zones) {
    const chosen = ofZone.find(({ decision }) => decision === 'adopt')
    if (!chosen) continue
    const records = await readZone(chosen.source, name).catch((error: Error) => {
      throw fail('conflict', 'zoneNotRead', { zone: name, error: error.message })
    })
    adopted.set(name, { teamId: chosen.team_id, records })
  }
  return async (trx, by, now) => {
    for (const [name, { teamId, records }] of adopted) await adoptZone(trx, by, now, name, teamId, records)
    for (const [name, ofZone] of zones) await raiseSerial(trx, name, newestOf(ofZone))
  }
}

const newestOf = (items: readonly DecidedZone[]): Serial =>
  items
    .map(({ network }) => toSerial(Number(network?.['serial'])))
    .reduce((newest, serial) => (isNewer(serial, newest) ? serial : newest))

async function adoptZone(
  trx: Trx,
  by: Author,
  now: Date,
  name: ZoneName,
  teamId: number | null,
  records: readonly ResourceRecord[],
): Promise<void> {
  const zone = await lockZone(trx, teamId, { name })
  if (!zone || zone.kind !== 'primary') throw fail('conflict', 'notAdoptable', { subjects: [name] })
  const defaults = await readDefaults(trx)
  const settings = resolveSettings(zone.settings, defaults)
  const children = (await listChildZones(trx, zone)).map((child) => child.name)
  const context = { zone: name, settings, children, ttlFloor: 0 }
  const { sets } = readImport(
    records.map((record) => ({ ...record, line: 0 })),
    context,
  )
  const desired = desiredOf('replace', await readAllSets(trx, zone.id), sets, context)
  const { difference } = await changeZone(trx, zone, desired, {
    author: { actor: by.actor, what: 'zone.import' },
    now,
    settings: { ...settings, minimum_ttl: 0 },
    limits: defaults,
  })
  await writeAudit(trx, {
    ...by,
    teamId,
    action: 'zone.import',
    target: `zone:${zone.id}`,
    after: { by: 'restore', added: difference.added.length, removed: difference.removed.length },
  })
}
