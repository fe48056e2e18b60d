import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase } from '../../../db/testing.ts'
import { listExporterSettings } from './exporter.store.ts'

test('internal interfaces of an exporter are found by number, by name in the platform file, and by name on the device with the members of a LAG', async () => {
  await using database = await createTestDatabase()
  const { owner } = database.postgres
  await sql`insert into devices (name) values ('r1'), ('r2')`.execute(owner)
  await sql`insert into interfaces (device_id, key, if_index, name, type)
    values (1, 'ae0', 20, 'ae0', 161), (2, 'ae0', 30, 'ae0', 161), (1, 'et-1', 9, 'et-1', 6)`.execute(owner)
  await sql`insert into interfaces (device_id, key, if_index, name, type, lag_id)
    select 1, 'et-0', 7, 'et-0', 6, id from interfaces where if_index = 20`.execute(owner)
  await sql`insert into flow_exporters (address, device_id) values ('192.0.2.1', 1)`.execute(owner)
  await sql`insert into flow_exporter_settings (address, sampling_rate, interfaces, internal) values
    ('192.0.2.1', 10, '{"40": "core"}', '{ae0,514,core,gone}'),
    ('192.0.2.2', null, '{}', '{all}'), ('192.0.2.3', null, '{}', '{}')`.execute(owner)
  assert.deepEqual(
    (await listExporterSettings(owner)).map((one) => ({
      ...one,
      ...(Array.isArray(one.internal) && { internal: one.internal.toSorted((a, b) => a - b) }),
    })),
    [
      { address: '192.0.2.1', samplingRate: 10, internal: [7, 20, 40, 514] },
      { address: '192.0.2.2', internal: 'all' },
      { address: '192.0.2.3' },
    ],
  )
})
