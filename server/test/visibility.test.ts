// The running visibility monitor: a server that speaks RIS Live, a real database, and the responses and messages to a team.
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Announcement } from '@pharos/contract/byoip/announcement'
import type { Visibility } from '@pharos/contract/byoip/visibility'
import { seedAnnouncement, seedRegions } from '../src/byoip/announcement/testing.ts'
import { createVisibilityMonitor } from '../src/byoip/visibility/visibility-monitor.ts'
import { countUnseen } from '../src/byoip/visibility/visibility.store.ts'
import { createRisLiveSource } from '../src/drivers/ris-live/source.ts'
import { FakeRis, type RisPeer } from '../src/drivers/ris-live/testing.ts'
import { parseRisLiveUrl } from '../src/drivers/ris-live/url.ts'
import { parsePrefix } from '../src/net/prefix.ts'
import { readStatus } from '../src/status/status.ts'
import type { Component } from '../src/runtime/component.ts'
import { createLog } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'

const log = createLog({ logLevel: 'silent', logFormat: 'json' })
const prefix = parsePrefix('203.0.113.0/24')
const inner = parsePrefix('203.0.113.0/25')
const beacon = parsePrefix('198.18.0.0/24')
const peers: readonly RisPeer[] = Array.from({ length: 20 }, (_, n) => ({
  address: `192.0.2.${n + 1}`,
  asn: 64600 + n,
}))

let api: TestApi
let ris: FakeRis
let red: TestTeam
let blue: TestTeam
let id: number
let ams: number
const access: Record<string, string> = {}
const monitors: Component[] = []

before(async () => {
  api = await createTestApi()
  ris = await FakeRis.start()
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  for (const [name, team] of [
    ['red', red],
    ['blue', blue],
  ] as const)
    access[name] = (await api.signIn((await addUser(api, name, [team], { admin: true })).email)).access
  const regions = await seedRegions(api.database.postgres, ['ams'])
  ams = regions['ams']!
  await sql`update regions set last_check = now(), last_check_result = true, neighbors4 = true`.execute(
    owner(),
  )
  id = await seedAnnouncement(api.database.postgres, {
    teamId: red.teamId,
    prefix,
    enabled: true,
    regions: [ams],
  })
})
after(async () => {
  await ris.stop()
  await api[Symbol.asyncDispose]()
})
afterEach(async () => {
  for (const monitor of monitors.splice(0)) await monitor.stop?.()
  // The next test waits for the subscriptions of its own monitor.
  await until(
    async () => ris.subscribed(),
    (list) => list.length === 0,
  )
})

const metrics = createMetrics()
/** Changes that were measured, of all monitors. */
const measured = async () => {
  const { values } = await metrics.changeVisibleSeconds.get()
  return values.find(({ metricName }) => metricName?.endsWith('_count'))?.value ?? 0
}

const owner = () => api.database.postgres.owner

function startMonitor(url = ris.url({ query: `&reference=${beacon}` }), silentMs = 60_000): Component {
  const limits = { pingMs: 50, silentMs, retryFirstMs: 20, retryMaxMs: 100 }
  const now = () => new Date()
  const source = createRisLiveSource({ ...parseRisLiveUrl(url), log, now, limits })
  const monitor = createVisibilityMonitor({
    postgres: api.database.postgres,
    waker: api.waker,
    sources: [source],
    rpki: {
      judge: () => ({ state: 'valid', covering: [], source: 'test', asOf: now() }),
    },
    ourAsn: 64500,
    now,
    log,
    metrics,
    intervalMs: 30,
  })
  monitors.push(monitor)
  void monitor.start?.()
  return monitor
}

async function call<T>(
  name: string,
  method: 'GET' | 'PATCH',
  path: string,
  payload?: object,
): Promise<{ status: number; body: T }> {
  const response = await api.server.inject({
    method,
    url: `/v3/ipam/announcements${path}`,
    headers: { authorization: `Bearer ${access[name]}` },
    ...(payload ? { payload } : {}),
  })
  return { status: response.statusCode, body: response.json() as T }
}

const read = async (query = 'include=visibility'): Promise<Announcement> =>
  (await call<Announcement>('red', 'GET', `/${id}?${query}`)).body
const visibility = async (): Promise<Visibility> => (await read()).visibility!

async function until<T>(read: () => Promise<T>, isDone: (value: T) => unknown): Promise<T> {
  const endMs = performance.now() + 300_000
  for (;;) {
    const value = await read()
    if (isDone(value)) return value
    if (performance.now() > endMs)
      throw new Error(`not within 5 minutes: ${isDone}: ${JSON.stringify(value)}`)
    await sleep(20)
  }
}

/** The state that the reconciler saves when it observes the routers. */
const setObserved = (state: 'announced' | 'withdrawn', since: Date) =>
  sql`update announcement_regions set state = ${state}, since = ${since} where announcement_id = ${id}`.execute(
    owner(),
  )

const messages = async (type: string) =>
  (
    await sql<{ team_id: number; data: Record<string, unknown> }>`
      select team_id, data from outbox where type = ${type} order by id`.execute(owner())
  ).rows

describe('visibility of an announcement', () => {
  it('is unavailable without a source, and only returned on request', async () => {
    assert.equal((await read('')).visibility, undefined)
    const { state, reason, message, collectors_total, collectors_seeing, zombie, checked } =
      await visibility()
    assert.deepEqual([state, reason], ['unavailable', 'no_source'])
    assert.ok(message!.length > 0)
    assert.deepEqual([collectors_total, collectors_seeing, zombie, checked], [null, null, null, null])
    const list = await call<{ results: Announcement[] }>('red', 'GET', '?include=visibility')
    assert.deepEqual(list.body.results[0]!.visibility, await visibility())
    const patched = await call<Announcement>('red', 'PATCH', `/${id}?include=visibility`, { enabled: true })
    assert.deepEqual(patched.body.visibility, await visibility())
  })

  it('has the counts, the origins and the propagation time', async () => {
    startMonitor()
    await until(
      async () => ris.subscribed(),
      (list) => list.includes(prefix) && list.includes(beacon),
    )
    for (const peer of peers) ris.sendUpdate(peer, beacon, 12654)
    await until(visibility, ({ collectors_total }) => collectors_total === 20)
    await sleep(100)
    const since = new Date()
    await setObserved('announced', since)
    for (const [n, peer] of peers.slice(0, 19).entries())
      ris.sendUpdate(peer, prefix, n === 18 ? 64511 : 64496, since.getTime())
    const seen = await until(visibility, (one) => one.collectors_seeing === 19 && one.last_change)
    assert.deepEqual([seen.state, seen.reason, seen.collectors_total], ['current', null, 20])
    assert.deepEqual(seen.origins, [
      { asn: 64496, count: 18, expected: true },
      { asn: 64511, count: 1, expected: false },
    ])
    assert.deepEqual(seen.last_change, { at: since.toISOString(), kind: 'announced', seconds_to_80pct: 0 })
    assert.equal(await until(measured, (count) => count > 0), 1)
    assert.deepEqual([seen.zombie, seen.rpki], [false, 'valid'])
    assert.ok(Math.abs(Date.parse(seen.checked!) - Date.now()) < 60_000)
    assert.deepEqual(await messages('announcement.unexpected_origin'), [], 'one collector is no warning')
  })

  it('keeps the measured time, and is partial after a restart without a table', async () => {
    startMonitor()
    const seen = await until(
      visibility,
      ({ state, reason }) => state === 'partial' && reason === 'few_collectors',
    )
    assert.equal(seen.last_change!.seconds_to_80pct, 0)
    for (const peer of peers) ris.sendUpdate(peer, beacon, 12654)
    const partial = await until(visibility, ({ reason }) => reason === 'changes_only')
    assert.deepEqual([partial.state, partial.collectors_seeing, partial.zombie], ['partial', 0, false])
    assert.equal(await measured(), 1, 'another process measures nothing again')
    // Another process had no data when it took over: no announcement has ended.
    assert.deepEqual(await messages('announcement.zombie'), [])
  })

  it('warns of another origin for the prefix and inside it, in the answer and in messages, until it ends', async () => {
    startMonitor(ris.url({ table: true, query: `&reference=${beacon}` }))
    ris.update(prefix, 64496, { quiet: true })
    await until(
      async () => ris.subscribed(),
      (list) => list.includes(prefix) && list.includes(beacon),
    )
    for (const peer of peers) ris.sendUpdate(peer, beacon, 12654)
    await until(visibility, ({ state, collectors_seeing }) => state === 'current' && collectors_seeing === 3)
    for (const peer of peers.slice(4)) ris.sendUpdate(peer, prefix, 64496)
    for (const peer of peers.slice(0, 4)) ris.sendUpdate(peer, prefix, 64511)
    for (const peer of peers.slice(0, 9)) ris.sendUpdate(peer, inner, 64510)
    await until(visibility, (one) => one.origins.length === 2 && one.more_specifics[0]?.count === 9)
    const { state_messages } = await read('include=state_messages')
    const warning = state_messages!.find(({ tag }) => tag === 'unexpected_origin')!
    assert.equal(warning.severity, 'warning')
    assert.match(warning.message, /203\.0\.113\.0\/25 by AS64510, seen by 9 route collectors/)
    const started = await until(
      () => messages('announcement.unexpected_origin'),
      (list) => (list.at(-1)?.data['routes'] as unknown[])?.length === 2,
    )
    assert.equal(started.at(-1)!.team_id, red.teamId)
    assert.equal(started.at(-1)!.data['active'], true)
    for (const peer of peers.slice(0, 4)) ris.sendUpdate(peer, prefix, 64496)
    for (const peer of peers.slice(0, 9)) ris.sendUpdate(peer, inner, null)
    const ended = await until(
      () => messages('announcement.unexpected_origin'),
      (list) => list.at(-1)?.data['active'] === false,
    )
    assert.deepEqual(ended.at(-1)!.data['routes'], [])
    const { state_messages: left } = await read('include=state_messages')
    assert.ok(!left!.some(({ tag }) => tag === 'unexpected_origin'))
  })

  it('warns of a prefix that hardly any collector sees, or none through us, and of the end', async () => {
    startMonitor(ris.url({ table: true, query: `&reference=${beacon}` }))
    await until(
      async () => ris.subscribed(),
      (list) => list.includes(prefix) && list.includes(beacon),
    )
    for (const peer of peers) ris.sendUpdate(peer, beacon, 12654)
    await until(visibility, ({ state, collectors_seeing }) => state === 'current' && collectors_seeing === 3)
    assert.deepEqual(
      [await messages('announcement.not_visible'), await countUnseen(owner())],
      [[], noneUnseen],
    )
    // The announcement was 20 minutes ago.
    await sql`update announcement_visibility set change_at = now() - interval '20 minutes'`.execute(owner())
    const [started] = await until(
      () => messages('announcement.not_visible'),
      (list) => list.length === 1,
    )
    const { active, collectors_seeing, collectors_total } = started!.data
    assert.deepEqual([active, collectors_seeing, collectors_total], [true, 3, 20])
    assert.match(await stateMessage('not_visible'), /only 3 of 20 route collectors/)
    assert.deepEqual(await countUnseen(owner()), { not_visible: 1, other_path: 0 })

    for (const peer of peers) ris.sendUpdate(peer, prefix, 64496, Date.now(), 64777)
    await until(
      () => messages('announcement.not_visible'),
      (list) => list.length === 2 && list[1]!.data['active'] === false,
    )
    await until(
      () => messages('announcement.other_path'),
      (list) => list.length === 1 && list[0]!.data['active'] === true,
    )
    assert.match(await stateMessage('other_path'), /^No route collector .* through this provider: 20 of 20 /)
    assert.deepEqual(await countUnseen(owner()), { not_visible: 0, other_path: 1 })

    ris.sendUpdate(peers[0]!, prefix, 64496)
    const ended = await until(
      () => messages('announcement.other_path'),
      (list) => list.length === 2,
    )
    assert.equal(ended[1]!.data['active'], false)
    assert.deepEqual(await countUnseen(owner()), noneUnseen)
  })

  const noneUnseen = { not_visible: 0, other_path: 0 }
  const stateMessage = async (tag: string) =>
    (await read('include=state_messages')).state_messages!.find((one) => one.tag === tag)!.message

  it('has a zombie if collectors keep the route, and its end', async () => {
    startMonitor(ris.url({ table: true, query: `&reference=${beacon}` }))
    await until(
      async () => ris.subscribed(),
      (list) => list.includes(prefix) && list.includes(beacon),
    )
    for (const peer of peers) ris.sendUpdate(peer, beacon, 12654)
    await until(visibility, ({ state, collectors_seeing }) => state === 'current' && collectors_seeing === 3)
    for (const peer of peers) ris.sendUpdate(peer, prefix, 64496)
    await until(visibility, ({ state, collectors_seeing }) => state === 'current' && collectors_seeing === 20)
    await sql`update announcements set enabled = false where id = ${id}`.execute(owner())
    await setObserved('withdrawn', new Date())
    await until(visibility, ({ last_change }) => last_change?.kind === 'withdrawn')
    assert.equal((await visibility()).zombie, false, 'not long enough')
    // The withdrawal was 20 minutes ago.
    const withdrawn = new Date(Date.now() - 20 * 60_000)
    await setObserved('withdrawn', withdrawn)
    await sql`update announcement_visibility set change_at = ${withdrawn}`.execute(owner())
    for (const peer of peers.slice(0, 17)) ris.sendUpdate(peer, prefix, null)
    const zombie = await until(visibility, (one) => one.zombie && one.collectors_seeing === 3)
    assert.equal(zombie.last_change!.at, withdrawn.toISOString())
    const { state_messages } = await read('include=state_messages')
    assert.match(state_messages!.find(({ tag }) => tag === 'zombie')!.message, /^3 of 20 route collectors/)
    const [message] = await until(
      () => messages('announcement.zombie'),
      (list) => list.length === 1,
    )
    const { active, cidr, collectors_total } = message!.data
    assert.deepEqual([active, cidr, collectors_total], [true, prefix, 20])
    for (const peer of peers) ris.sendUpdate(peer, prefix, null)
    await until(visibility, (one) => one.zombie === false)
    assert.equal((await messages('announcement.zombie')).at(-1)!.data['active'], false)
  })

  it('is unavailable while the source is down, which operators see, and returns', async () => {
    startMonitor(undefined, 300)
    await until(
      async () => ris.subscribed(),
      (list) => list.includes(prefix),
    )
    await until(visibility, ({ state }) => state !== 'unavailable')
    ris.hide()
    const down = await until(visibility, ({ state }) => state === 'unavailable')
    assert.deepEqual(
      [down.reason, down.collectors_seeing, down.zombie, down.origins],
      ['stale', null, null, []],
    )
    assert.ok(down.checked !== null && down.last_change !== null, 'facts from before have their time')
    const { problems } = await readStatus(owner(), { ...api.config, reconcileIntervalSeconds: 30 })
    const problem = problems.find(({ code }) => code === 'visibility_down')
    assert.match(problem!.subject, /^ws:\/\/127\.0\.0\.1/)
    ris.show()
    await until(visibility, ({ state }) => state !== 'unavailable')
  })

  it('is stale if no process follows the source', async () => {
    const monitor = startMonitor()
    await until(
      async () => ris.subscribed(),
      (list) => list.includes(prefix),
    )
    await until(visibility, ({ state }) => state !== 'unavailable')
    await monitor.stop?.()
    await sql`update visibility_sources set checked = now() - interval '3 minutes'`.execute(owner())
    assert.equal((await visibility()).reason, 'stale')
  })

  it('is followed by one process, and by another one when that stops', async () => {
    const { connections } = ris
    const first = startMonitor()
    await until(
      async () => ris.subscribed(),
      (list) => list.includes(prefix),
    )
    startMonitor()
    await sleep(300)
    assert.equal(ris.connections, connections + 1)
    await first.stop?.()
    await until(
      async () => ris.connections,
      (count) => count === connections + 2,
    )
    await until(
      async () => ris.subscribed(),
      (list) => list.includes(prefix),
    )
  })

  it('is not shown to another team, and the name of the source to nobody', async () => {
    const { status } = await call('blue', 'GET', `/${id}?include=visibility`)
    assert.equal(status, 404)
    const list = await call<{ results: unknown[] }>('blue', 'GET', '?include=visibility')
    assert.deepEqual(list.body.results, [])
    assert.doesNotMatch(JSON.stringify(await read('include=visibility,state_messages')), /127\.0\.0\.1|ws:/)
    const seen = await api.database.postgres.readInTeam(
      blue.teamId,
      sql<{ count: number }>`select count(*)::integer as count from announcement_visibility`,
    )
    assert.equal(seen[0]!.count, 0)
  })
})
