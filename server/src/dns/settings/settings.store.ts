// The SQL of the settings of a zone.
import { sql } from 'kysely'
import type { ZoneSettingsUpdate } from '@pharos/contract/dns/settings'
import type { Trx } from '../../db/postgres.ts'
import type { Zone } from '../zone/zone.ts'

export async function saveZoneSettings(trx: Trx, zone: Zone, settings: ZoneSettingsUpdate): Promise<void> {
  await sql`
    update dns_zones set settings = ${JSON.stringify(settings)}::jsonb, settings_version = settings_version + 1, touched = now()
    where id = ${zone.id} and team_id is not distinct from ${zone.teamId}`.execute(trx)
}
