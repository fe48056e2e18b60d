// The zone of a request: by id or name, of the caller's team and not deleted. Zones of other teams do not exist for the
// caller.
import type { Postgres, Trx } from '../../db/postgres.ts'
import { fail, notFound } from '../../runtime/error.ts'
import { findId } from '../../text/id.ts'
import { findZoneName } from '../../net/dns/unicode-name.ts'
import { shownZoneName } from './zone-name.ts'
import { findZone, lockZone, type ZoneRef } from './zone.store.ts'
import type { Zone } from './zone.ts'

/** Parses `{zone}` of a path: an id, or else a name. Throws `not_found` for a text that can be neither. */
export function parseZoneRef(text: string): ZoneRef {
  const id = findId(text)
  if (id !== undefined) return { id }
  const name = findZoneName(text)
  if (name === undefined) throw notFound('zone')
  return { name }
}

/** Returns the zone; throws `not_found`. */
export async function getZoneOf(postgres: Postgres, teamId: number, text: string): Promise<Zone> {
  const zone = await findZone(postgres, teamId, parseZoneRef(text))
  if (!zone) throw notFound('zone')
  return zone
}

/** Locks and returns the zone until the end of the transaction; throws `not_found`. */
export async function lockZoneOf(trx: Trx, teamId: number, text: string): Promise<Zone> {
  const zone = await lockZone(trx, teamId, parseZoneRef(text))
  if (!zone || zone.deleted !== null) throw notFound('zone')
  return zone
}

/** Throws `conflict` for a zone whose records come from its primaries. */
export function requirePrimary(zone: Zone): void {
  if (zone.kind === 'secondary') throw fail('conflict', 'secondaryZone', { zone: shownZoneName(zone.name) })
}
