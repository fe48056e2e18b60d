// The commands of README.md and the examples of docs/examples, against the demo platform.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { skipWithout } from '@pharos/lab/program'
import { runWalkthrough } from '@pharos/lab/testing-walkthrough'
import { sql } from 'kysely'
import { receiveDelivery } from '../src/events/ingest/delivery.ts'
import { ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { demoFile, prepareDemo } from '../../demo/src/demo.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { createTestApi } from './api.ts'

const api = await createTestApi({
  PHAROS_IRR_SOURCES: pathToFileURL(demoFile('routes.rpsl')).href,
  PHAROS_RPKI_SOURCES: pathToFileURL(demoFile('vrps.json')).href,
})
after(() => api[Symbol.asyncDispose]())
const { database } = api
const keys = api.config.secret
const folder = new URL('../../docs/examples/', import.meta.url)
await prepareDemo(database.postgres, api.config, new Date())
await ingestDeliveries(database.postgres, createOwnershipCache())

type Shown = {
  classification_key: string
  status: string[]
  affected_network: string
  affected_bps: number
  team: string
}

async function deliver(file: string, sourceKey: string, secret: string): Promise<Shown | undefined> {
  const request = { sourceKey, authorization: `Token ${secret}`, token: undefined, deliveryId: undefined }
  const body = readFileSync(new URL(file, folder))
  await receiveDelivery({ postgres: database.postgres, keys }, { ...request, contentType: undefined, body })
  const report = await ingestDeliveries(database.postgres, createOwnershipCache())
  assert.deepEqual(report, { done: 1, partial: 0, failed: 0, events: 1 })
  const { rows } = await sql<Shown>`
    select e.classification_key, e.status, e.affected_network, e.affected_bps, t.slug as team
    from events e join team_events te on te.event_id = e.id join teams t on t.id = te.team_id
    where e.source_event_id in ('7d1f3c52-9b0e-4d1b-8a57-1f2c3d4e5f60', 'FA-1') and e.source_key = ${sourceKey}`.execute(
    database.postgres.owner,
  )
  return rows[0]
}

test('the commands of the README work as documented', { skip: skipWithout('curl', 'jq') }, async () => {
  const url = await api.server.listen({ host: '127.0.0.1', port: 0 })
  await runWalkthrough({
    file: 'README.md',
    env: {},
    rewrite: (code) => (code.startsWith('npm ') ? ':' : code.replaceAll('http://127.0.0.1:8080', url)),
  })
})

test('the README has the two commands and three calls; all others are in docs/first-hour.md', () => {
  const text = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  assert.equal(text.match(/^```sh$/gm)?.length, 4)
  assert.match(text, /^```sh\nnpm start .*\nnpm test .*\n```$/m)
})

test("FastNetMon's example is an attack on the demo team, and over when its end is delivered", async () => {
  const attack = {
    classification_key: 'udp.amplification.dns',
    status: ['EVENT_PENDING'],
    affected_network: '203.0.113.77/32',
    affected_bps: 9_500_000_000,
    team: 'demo',
  }
  assert.deepEqual(await deliver('fastnetmon-ban.json', 'fastnetmon', 'demo-secret'), attack)
  assert.deepEqual(await deliver('fastnetmon-unban.json', 'fastnetmon', 'demo-secret'), {
    ...attack,
    status: ['EVENT_ENDED'],
  })
})

test('the example of a mapped source is an attack on the demo team', async () => {
  assert.deepEqual(await deliver('flow-alarm.json', 'flow-alarms', 'demo-flow-secret'), {
    classification_key: 'tcp.syn_flood',
    status: ['EVENT_ONGOING'],
    affected_network: '2001:db8:a::80/128',
    affected_bps: 640_000_000,
    team: 'demo',
  })
})

test('every example is tested', () => {
  const text = readFileSync(import.meta.filename, 'utf8')
  const files = readdirSync(folder)
  assert.ok(files.length > 0)
  assert.deepEqual(
    files.filter((file) => !text.includes(`'${file}'`)),
    [],
  )
})
