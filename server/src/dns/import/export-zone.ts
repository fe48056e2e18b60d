// Exports the desired records of a zone as a zone file, without DNSSEC records.
import type { Postgres } from '../../db/postgres.ts'
import { recordType } from '../../net/dns/type.ts'
import type { Operation } from '../../operation/operation.ts'
import { getZoneOf } from '../zone/find-zone.ts'
import { shownZoneName } from '../zone/zone-name.ts'
import { rdataWithSerial } from '../zone/zone.ts'
import { readAllSets } from '../zone/zone-change.store.ts'
import { printZoneFile } from '../zone-file/print.ts'

/** A file to download. */
type ZoneFileDownload = { readonly bytes: Buffer; readonly mediaType: string; readonly filename: string }

/** Returns the file, named after the zone. It has the published serial; before the first publication that is 1. */
export async function exportZone(
  { postgres }: { readonly postgres: Postgres },
  { actor }: Operation,
  text: string,
): Promise<ZoneFileDownload> {
  const zone = await getZoneOf(postgres, actor.teamId, text)
  const sets = await postgres.inTeam(actor.teamId, (trx) => readAllSets(trx, zone.id))
  const numbered = sets.map((set) =>
    set.type === recordType.SOA ? { ...set, rdata: [rdataWithSerial(set.rdata[0]!, zone.serial ?? 1)] } : set,
  )
  const lines = [...printZoneFile(numbered)]
  return {
    bytes: Buffer.from(lines.join(''), 'latin1'),
    mediaType: 'text/dns',
    filename: `${shownZoneName(zone.name).replaceAll(/[^a-z0-9._-]/g, '_')}.zone`,
  }
}
