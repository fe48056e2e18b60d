import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase } from '../db/testing.ts'
import { listExporterSettings, listKnownExporters } from './exporter.store.ts'

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

test('speeds of exporters are those of Ethernet interfaces and LAGs', async () => {
  await using database = await createTestDatabase()
  const { owner } = database.postgres
  await sql`insert into devices (name) values ('r1')`.execute(owner)
  await sql`insert into interfaces (device_id, key, if_index, name, type, speed_bps) values
    (1, 'ae0', 20, 'ae0', 161, 200000000000), (1, 'et-1', 9, 'et-1', 6, 100000000000), (1, 'irb', 7, 'irb', 6, 1000000000),
    (1, 'et-2', 8, 'et-2', 6, null), (1, 'tun', 6, 'Tunnel0', 131, 100000)`.execute(owner)
  await sql`insert into flow_exporters (address, device_id, first_seen) values
    ('192.0.2.1', 1, to_timestamp(1700000000)), ('192.0.2.2', null, to_timestamp(1700000001))`.execute(owner)
  const speeds = new Map([
    [9, 1e11],
    [20, 2e11],
  ])
  const known = await listKnownExporters(owner)
  assert.deepEqual(
    known,
    new Map([
      ['192.0.2.1', { firstSeen: 1_700_000_000, speeds, isByPort: false }],
      ['192.0.2.2', { firstSeen: 1_700_000_001, speeds: new Map(), isByPort: false }],
    ]),
  )
})
