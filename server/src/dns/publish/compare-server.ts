// Compares a restored database with a name server that follows the primary: zones with a newer serial there, and members of its catalog zone that
// the database does not have. It only asks.
import type { Difference } from '@pharos/contract/operator/restore'
import type { Db } from '../../db/postgres.ts'
import { nameFromWire, type ZoneName } from '../../net/dns/name.ts'
import { compareSerials, type Serial } from '../../net/dns/serial.ts'
import { recordType } from '../../net/dns/type.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { listComparedZones, type ComparedZone } from './compare-server.store.ts'
import type { NameServer } from './name-server.ts'

/** Zones of one batch of questions. */
const batchSize = 2_000

/** Throws the DriverError of a server that does not answer. */
export async function compareServer(
  db: Db,
  client: Pick<NameServer, 'serials' | 'read'>,
): Promise<Difference[]> {
  const zones = await listComparedZones(db)
  const changed: Difference[] = []
  for (let at = 0; at < zones.length; at += batchSize) {
    const batch = zones.slice(at, at + batchSize)
    const serials = await client.serials(batch.map(({ name }) => name))
    changed.push(...batch.flatMap((zone) => differenceOf(zone, serials.get(zone.name)!)))
  }
  const catalog = zones.find(({ isCatalog }) => isCatalog)
  const known = new Set<string>(zones.map(({ name }) => name))
  const members = catalog ? await readMembers(client, catalog.name) : []
  return [...changed, ...members.filter((name) => !known.has(name)).map(memberOnly)]
}

/** A server that is behind catches up once zones are sent again. */
function differenceOf(
  { name, serial, teamId, isCatalog, isPrimary }: ComparedZone,
  answer: Serial | 'absent' | 'failing',
): Difference[] {
  if (answer === 'failing' || !isPrimary) return []
  const one = { subject: name, teamId, database: { serial } }
  // NSD and Knot answer no question about a catalog zone that they do not serve, or use.
  if (answer === 'absent' && isCatalog) return []
  if (answer === 'absent') return [{ ...one, kind: 'add', network: null, adoptable: false }]
  const isAhead = (compareSerials(answer, serial) ?? 1) > 0
  return isAhead ? [{ ...one, kind: 'change', network: { serial: answer }, adoptable: !isCatalog }] : []
}

const memberOnly = (subject: ZoneName): Difference => ({
  subject,
  kind: 'remove',
  teamId: null,
  database: null,
  network: { catalog: true },
  adoptable: false,
})

/** A server that does not use the catalog, or refuses the transfer, has no members to compare. */
async function readMembers(client: Pick<NameServer, 'read'>, catalog: ZoneName): Promise<ZoneName[]> {
  try {
    const members: ZoneName[] = []
    for await (const { type, rdata } of client.read(catalog))
      if (type === recordType.PTR) members.push(nameFromWire(rdata) as string as ZoneName)
    return members
  } catch (error) {
    if (error instanceof DriverError && error.kind === 'refused') return []
    throw error
  }
}
