import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { createTestFlowStore, type TestFlowStore } from '../../drivers/clickhouse/testing.ts'
import { createOwnershipCache } from '../../inventory/holding/ownership.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import type { FlowStore } from '../../flow/flow-store.ts'
import { insertFlows, testFlow } from '../../flow/testing.ts'
import { ingestDeliveries } from '../ingest/ingest.ts'
import { fixture } from '../sources/fixtures.ts'
import { addPrefix, addSource, addTeam, deliver } from '../testing.ts'
import { saveFlowsOfEvents } from './save-flows.ts'

const now = new Date(Math.floor(Date.now() / 1000) * 1000)
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000)

let database: TestDatabase
let store: TestFlowStore
const teams: number[] = []

before(async () => {
  database = await createTestDatabase()
  store = await createTestFlowStore()
  const { owner } = database.postgres
  await addSource(owner, 'fnm')
  for (const prefix of ['203.0.113.0/24', '203.0.0.0/16']) {
    teams.push(await addTeam(owner, prefix.replaceAll(/\W/g, '-')))
    await addPrefix(owner, teams.at(-1)!, prefix)
  }
  for (const action of ['ban', 'unban'])
    await deliver(owner, 'fnm', [fixture(`fastnetmon-${action}`)], ago(action === 'ban' ? 30 : 20))
  await ingestDeliveries(database.postgres, createOwnershipCache())
})
after(async () => {
  await database[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
})

const files = async () =>
  (
    await sql<{ customer_id: number; filename: string; kind: string; content: Buffer }>`
      select customer_id, filename, kind, content from attachments where subject_kind = 'event' order by customer_id`.execute(
      database.postgres.owner,
    )
  ).rows

describe('the flows of an event', () => {
  test('are not saved without a flow store, and the event is tried again', async () => {
    const absent = {
      ...store,
      query: () => Promise.reject(new DriverError('unreachable', 'no store')),
    } as unknown as FlowStore
    assert.equal(await saveFlowsOfEvents(database.postgres.owner, absent, now), 0)
    assert.deepEqual(await files(), [])
  })

  test('are a file of each team with its own flows only, once, with the largest first', async () => {
    const [a, b] = teams
    const flow = (teamId: number, dst: string, bytes: number, minutes: number) =>
      testFlow({ teamId, dst, bytes, time: ago(minutes), samplingRate: 10, srcPort: 53 })
    await insertFlows(store, [
      flow(a!, '203.0.113.77', 100, 25),
      flow(a!, '203.0.113.77', 900, 24),
      flow(a!, '203.0.113.78', 5_000, 24),
      flow(a!, '203.0.113.77', 7_000, 50),
      flow(a!, '203.0.113.77', 7_000, 10),
      testFlow({
        teamId: a!,
        direction: 'out',
        src: '203.0.113.77',
        dst: '192.0.2.9',
        bytes: 40,
        time: ago(22),
      }),
      flow(999, '203.0.113.77', 6_000, 24),
    ])
    const runs = await Promise.all([1, 2].map(() => saveFlowsOfEvents(database.postgres.owner, store, now)))
    assert.equal(runs[0]! + runs[1]!, 1, 'the other team has no flows, and so no file')
    assert.equal(await saveFlowsOfEvents(database.postgres.owner, store, now), 0)
    const [file, ...others] = await files()
    assert.deepEqual([file!.customer_id, file!.filename, file!.kind, others], [a, 'flows.csv', 'csv', []])
    const [head, ...lines] = file!.content
      .toString()
      .trim()
      .split('\n')
      .map((line) => line.split(','))
    const at = (name: string) => head!.indexOf(name)
    assert.deepEqual(
      lines.map((line) => [
        line[at('direction')],
        line[at('source_address')],
        line[at('destination_address')],
        line[at('bytes')],
      ]),
      [
        ['in', '198.51.100.1', '203.0.113.77', '9000'],
        ['in', '198.51.100.1', '203.0.113.77', '1000'],
        ['out', '203.0.113.77', '192.0.2.9', '40'],
      ],
    )
    assert.equal(lines[0]![at('time')], `${ago(24).toISOString().slice(0, 19)}Z`)
    const { rows } = await sql<{
      team_id: number
    }>`select team_id from event_flow_files order by team_id`.execute(database.postgres.owner)
    assert.deepEqual(
      rows.map(({ team_id }) => team_id),
      [a, b],
    )
  })
})
