import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase } from '../db/testing.ts'
import { UsageError } from './command.ts'
import { flows } from './flows.ts'
import { runCommand } from './testing.ts'

test('exporters are listed with their device and the interfaces that the inventory does not know', async () => {
  await using database = await createTestDatabase()
  assert.equal(await runCommand(database, flows, 'exporters'), 'No exporter has sent flows yet.\n')
  const { owner } = database.postgres
  await sql`insert into devices (name) values ('r1')`.execute(owner)
  await sql`insert into interfaces (device_id, key, if_index, name, type) values (1, 'et-0', 7, 'et-0', 6)`.execute(
    owner,
  )
  await sql`insert into flow_exporters (address, device_id, last_seen) values
    ('192.0.2.1', 1, '2026-03-01 10:00:00+00'), ('192.0.2.2', null, '2026-03-01 11:00:00+00')`.execute(owner)
  await sql`insert into flow_unknown_interfaces (exporter_id, if_index) values (1, 7), (1, 9), (1, 4294967295)`.execute(
    owner,
  )
  assert.equal(
    await runCommand(database, flows, 'exporters'),
    '192.0.2.1  r1  last seen 2026-03-01T10:00:00.000Z  unknown interfaces: 9, 4294967295\n' +
      '192.0.2.2  no device  last seen 2026-03-01T11:00:00.000Z\n',
  )
  await assert.rejects(runCommand(database, flows), UsageError)
})
