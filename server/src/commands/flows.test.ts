import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase } from '../db/testing.ts'
import { saveFindings, saveLongFlows } from '../collector/exporter.store.ts'
import { createFlowStore } from '../drivers/clickhouse/flow-store.ts'
import { flowsBlock } from '../drivers/clickhouse/testing.ts'
import { CommandFailure, UsageError } from './command.ts'
import { flowsCommand } from './flows.ts'
import { runCommand } from './testing.ts'

test('exporters are listed with their device and the interfaces that the inventory does not know', async () => {
  await using database = await createTestDatabase()
  assert.equal(await runCommand(database, flowsCommand, 'exporters'), 'No exporter has sent flows yet.\n')
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
  await saveFindings(owner, [
    {
      exporter: '192.0.2.1',
      implausible: {
        at: 1_700_000_000,
        octets: 9e9,
        packets: 1,
        rate: 0,
        in_if: 7,
        out_if: 9,
        duration_ms: 5,
      },
      ambiguousRates: undefined,
      isByPort: true,
    },
  ])
  await saveFindings(owner, [
    { exporter: '192.0.2.1', implausible: undefined, ambiguousRates: [1000, 1], isByPort: false },
    { exporter: '192.0.2.99', implausible: undefined, ambiguousRates: [1000, 1], isByPort: false },
  ])
  await saveLongFlows(owner, [
    { exporter: '192.0.2.1', seconds: 1800 },
    { exporter: '192.0.2.2', seconds: 120 },
  ])
  await sql`insert into flow_exporter_settings (address, interfaces, internal) values
    ('192.0.2.1', '{"5": "xe-5"}', '{et-0, xe-5, 12, et-9}'), ('192.0.2.2', '{}', '{all}')`.execute(owner)
  assert.equal(
    await runCommand(database, flowsCommand, 'exporters'),
    '192.0.2.1  r1  last seen 2026-03-01T10:00:00.000Z  unknown interfaces: 9, 4294967295\n' +
      '  several exporters share this address: templates, sampling rates and sequence numbers are kept by source port\n' +
      '  internal interfaces of the platform file that no interface has: et-9; their flows are not left out\n' +
      '  flows of up to 1800 s in one record: set its active timeout to 60 s\n' +
      '  one record has the sampling rates 1000 and 1\n' +
      '  last implausible record 2023-11-14T22:13:20.000Z: 9000000000 octets, 1 packet, rate unknown, interfaces 7 to 9, 5 ms\n' +
      '192.0.2.2  no device  last seen 2026-03-01T11:00:00.000Z\n',
  )
  await assert.rejects(runCommand(database, flowsCommand), UsageError)
})

const skip = process.env.PHAROS_TEST_CLICKHOUSE_URL !== undefined && 'the server is elsewhere'

test(
  'past traffic is counted, and claimed with --yes by a team that holds the prefix',
  { skip },
  async () => {
    await using database = await createTestDatabase()
    const { owner } = database.postgres
    await sql`insert into teams (slug, name) values ('acme', 'A'), ('other', 'O')`.execute(owner)
    await sql`insert into prefixes (team_id, prefix) values (1, '203.0.113.0/24')`.execute(owner)
    const claim = (...args: readonly string[]) => runCommand(database, flowsCommand, 'claim', ...args)
    await assert.rejects(claim('203.0.113.0/24'), UsageError)
    await assert.rejects(claim('203.0.113.1/24', '--team', 'acme'), UsageError)
    await assert.rejects(claim('0.0.0.0/0', '--team', 'acme'), UsageError)
    await assert.rejects(claim('203.0.113.0/24', '--team', 'acm'), (error) => {
      return error instanceof CommandFailure && /no team acm/.test(error.message)
    })
    await assert.rejects(claim('203.0.113.0/24', '--team', 'other'), (error) => {
      return error instanceof CommandFailure && /other holds no prefix that covers/.test(error.message)
    })

    const folder = mkdtempSync(join(tmpdir(), 'pharos-claim-'))
    const retention = { flowDays: 15, rollupDays: 400 }
    const store = createFlowStore({ url: null, dataDir: folder, retention, log: () => {} })
    try {
      const time = Math.floor(Date.now() / 86_400_000) * 86_400 - 3 * 86_400 + 10
      const day = new Date(time * 1000).toISOString().slice(0, 10)
      await store.insert('flows', flowsBlock(40, 0, time), 'past')
      const teams = async () =>
        await store.query('select team_id, count() as rows from flows group by team_id order by team_id', {})
      const inFolder = {
        ...flowsCommand,
        run: (context) => flowsCommand.run({ ...context, env: { ...context.env, PHAROS_DATA_DIR: folder } }),
      } satisfies typeof flowsCommand
      const claimHere = (...args: readonly string[]) =>
        runCommand(database, inFolder, 'claim', '203.0.113.0/24', '--team', 'acme', ...args)
      const counted = `${day}  40 flows  6000000 bytes\n`
      assert.equal(await claimHere(), `${counted}Nothing was changed. --yes gives it to acme.\n`)
      assert.deepEqual(await teams(), [{ team_id: 0, rows: 40 }])
      assert.equal(await claimHere('--yes'), `${counted}${day}  203.0.113.0/24 done\n`)
      assert.deepEqual(await teams(), [{ team_id: 1, rows: 40 }])
      assert.equal(await claimHere('--yes'), 'There is no traffic without a team in 203.0.113.0/24.\n')
      const { rows } =
        await sql`select team_id, actor, target, after from audit_entries where action = 'traffic.claim'`.execute(
          owner,
        )
      assert.deepEqual(rows, [
        {
          team_id: 1,
          actor: 'operator',
          target: 'prefix:203.0.113.0/24',
          after: { prefix: '203.0.113.0/24', days: [{ day, rows: 40, bytes: 6_000_000 }] },
        },
      ])
    } finally {
      await store.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  },
)
