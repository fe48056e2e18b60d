// The mitigation of events by the team's own rules: it follows the installed rules of a scrubber, for the team alone,
// in the lists, filters and counts.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { RelatedEvent, RelatedEventDetail } from '@pharos/contract/events/event'
import { ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { markMitigations } from '../src/shield/mark-mitigations.ts'
import { reconcileScrubber } from '../src/shield/reconcile.ts'
import type { Scrubber } from '../src/shield/scrubber.ts'
import { refreshStates, expireLists } from '../src/shield/expire-lists.ts'
import { fixture } from '../src/events/sources/fixtures.ts'
import { addPrefix, addSource, compareCounts, deliver } from '../src/events/testing.ts'
import { SandboxScrubber } from '../src/drivers/sandbox-scrubber/scrubber.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { DriverError } from '../src/runtime/driver-error.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import type { Answered } from './support/dns.ts'

let api: TestApi
let red: TestTeam
let networks = 0
const access: Record<string, string> = {}
let scrubber: SandboxScrubber

const events = '/v3/lighthouse/security/events/related'
const shield = '/v3/lighthouse/security/shield'
const db = () => api.database.postgres.owner
const minuteMs = 60_000

before(async () => {
  api = await createTestApi()
  red = await addTeam(api, 'red')
  const blue = await addTeam(api, 'blue')
  for (const [name, team] of Object.entries({ red, blue }))
    access[name] = (await api.signIn((await addUser(api, name, [team], { admin: true })).email)).access
  await addPrefix(db(), blue.teamId, '198.18.0.0/15')
  await addSource(db(), 'fnm')
  const driver = JSON.stringify({ kind: 'sandbox' })
  await db().insertInto('scrubbers').values({ name: 'edge', driver }).execute()
  scrubber = new SandboxScrubber({ name: 'edge', rulesMax: 10_000, latencyMs: 0 })
})
after(() => api[Symbol.asyncDispose]())

async function call(
  method: 'GET' | 'PUT' | 'POST',
  url: string,
  body?: object,
  as = 'red',
): Promise<Answered> {
  const answer = await api.server.inject({
    method,
    url,
    headers: { authorization: `Bearer ${access[as]}` },
    ...(body === undefined ? {} : { payload: body }),
  })
  assert.ok(answer.statusCode < 300, `${answer.statusCode} ${answer.body}`)
  return answer.json()
}
const put = (prefix: string, rules: readonly object[], rest: object = {}) =>
  call('PUT', `${shield}/rules`, { prefix, rules, force: true, ...rest })

/** Seconds from the detection to the rule, of the attacks that were mitigated. */
const reactions: number[] = []

/** One run of the loops. */
async function run(of: Scrubber = scrubber): Promise<void> {
  await expireLists(db())
  try {
    await reconcileScrubber({ db: db() }, { name: 'edge', prefixes: [], scrubber: of })
  } finally {
    await refreshStates(db())
    assert.deepEqual(
      (await markMitigations(db(), { onMitigated: (seconds) => reactions.push(...seconds) })).failed,
      [],
    )
  }
}

type Attacked = {
  readonly prefix: string
  readonly host: string
  readonly report: (action: string) => Promise<void>
}

/** Returns a new prefix of the team with an attack on a host: UDP packets from port 53, as reported by the detector. */
async function newAttack(): Promise<Attacked> {
  const prefix = `198.18.${networks++}.0/24`
  const host = prefix.replace('.0/24', '.77')
  await addPrefix(db(), red.teamId, prefix)
  const uuid = `00000000-0000-4000-8000-${String(networks).padStart(12, '0')}`
  const report = async (action: string) => {
    const text = JSON.stringify(fixture(`fastnetmon-${action}`)).replaceAll('203.0.113.77', host)
    const delivery = JSON.parse(text.replace(/"attack_uuid":"[^"]*"/, `"attack_uuid":"${uuid}"`)) as object
    await deliver(db(), 'fnm', [delivery], new Date(Date.now() - 5 * minuteMs))
    await ingestDeliveries(api.database.postgres, createOwnershipCache())
  }
  await report('ban')
  return { prefix, host, report }
}

/** The part of the status that is about the mitigation, in the list and its filters, of which count and page agree. */
async function mitigationOf({ host }: Attacked, as = 'red'): Promise<string | undefined> {
  const listed = await call('GET', `${events}?affected_network=${host}`, undefined, as)
  assert.equal(listed.count, 1)
  const [event] = listed.results as RelatedEvent[]
  const states = event!.status.filter((status) => status.startsWith('MITIGATION'))
  assert.ok(states.length < 2, String(states))
  for (const status of ['MITIGATION_ACTIVE', 'MITIGATION_ENDED']) {
    const found = await call('GET', `${events}?affected_network=${host}&status=${status}`, undefined, as)
    const expected = states.includes(status as RelatedEvent['status'][number]) ? 1 : 0
    assert.deepEqual([found.count, found.results.length], [expected, expected], status)
  }
  return states[0]
}
const marksOf = async ({ host }: Attacked) => {
  const [event] = (await call('GET', `${events}?affected_network=${host}`)).results as RelatedEvent[]
  const { marks } = (await call('GET', `${events}/${event!.id}?include=marks`)) as RelatedEventDetail
  return marks!.map(({ mark }) => mark)
}

const deny = (port: number, rest: object = {}) => ({
  action: 'deny',
  protocol: 'udp',
  source_port: String(port),
  ...rest,
})

describe('the mitigation of an event', () => {
  it('is active while a scrubber holds a rule against it, for the team of the rule, and then has ended', async () => {
    const attack = await newAttack()
    await run()
    assert.equal(await mitigationOf(attack), undefined)
    await put(attack.prefix, [deny(53)], { confirm_within: 600 })
    await markMitigations(db())
    assert.equal(await mitigationOf(attack), undefined, 'a rule that is wanted drops nothing')
    await run()
    assert.equal(await mitigationOf(attack), 'MITIGATION_ACTIVE')
    assert.deepEqual(await marksOf(attack), ['MITIGATION_ACTIVE'])
    assert.equal(await mitigationOf(attack, 'blue'), undefined)
    await attack.report('attack-status')
    assert.equal(await mitigationOf(attack), 'MITIGATION_ACTIVE')
    const [list] = (await call('GET', `${shield}/lists?prefix=${attack.prefix}`)).results
    await call('POST', `${shield}/lists/${list.id}/revert`, { version: list.version })
    await run()
    assert.equal(await mitigationOf(attack), 'MITIGATION_ENDED', 'reverted')
    assert.deepEqual(await marksOf(attack), ['MITIGATION_ENDED'])
    await put(attack.prefix, [deny(53, { destination: attack.host })])
    await run()
    assert.equal(await mitigationOf(attack), 'MITIGATION_ACTIVE', 'again')
    await put(attack.prefix, [])
    await run()
    assert.equal(await mitigationOf(attack), 'MITIGATION_ENDED', 'removed')
    const { kept, counted } = await compareCounts(db())
    assert.deepEqual(kept, counted)
  })

  it('is measured once from the detection, unless the rule was there before', async () => {
    reactions.splice(0)
    const attack = await newAttack()
    const detect = (interval: string) =>
      sql`update events set detected = now() + ${interval}::interval where affected_network = ${attack.host}::cidr`.execute(
        db(),
      )
    await detect('-1 hour')
    await put(attack.prefix, [deny(53)])
    await run()
    const [seconds, ...others] = reactions.splice(0)
    assert.ok(seconds! >= 3_600 && seconds! < 3_660 && others.length === 0, String([seconds, ...others]))
    await put(attack.prefix, [])
    await run()
    await put(attack.prefix, [deny(53, { destination: attack.host })])
    await run()
    assert.equal(await mitigationOf(attack), 'MITIGATION_ACTIVE')
    assert.deepEqual(reactions, [], 'the second time')

    const expected = await newAttack()
    await put(expected.prefix, [deny(53)])
    await sql`update events set detected = now() where affected_network = ${expected.host}::cidr`.execute(
      db(),
    )
    await run()
    assert.equal(await mitigationOf(expected), 'MITIGATION_ACTIVE')
    assert.deepEqual(reactions, [], 'a rule of before the detection')
  })

  it('is not one by a rule of another vector, of another host, that allows, or that is not enabled', async () => {
    const attack = await newAttack()
    await put(attack.prefix, [
      deny(123),
      deny(53, { destination: attack.host.replace('.77', '.78') }),
      deny(53, { enabled: false }),
      { ...deny(53), action: 'allow' },
      deny(53, { destination: attack.host }),
    ])
    await run()
    assert.equal(await mitigationOf(attack), undefined)
  })

  it('does not change while the list is replaced, held, or the scrubber does not answer', async () => {
    const attack = await newAttack()
    await put(attack.prefix, [deny(53)])
    await run()
    const before = await messageCount()
    await put(attack.prefix, [deny(53), deny(123)])
    await refreshStates(db())
    await markMitigations(db())
    await run()
    await put(attack.prefix, [{ action: 'deny' }])
    await run()
    assert.equal(
      (await call('GET', `${shield}/lists?prefix=${attack.prefix}`)).results[0].status_reason.code,
      'held',
    )
    const silent = new Proxy(scrubber, {
      get: (target, name) =>
        name === 'list'
          ? () => Promise.reject(new DriverError('unreachable', 'no answer'))
          : (Reflect.get(target, name) as unknown),
    })
    await put(attack.prefix, [])
    await assert.rejects(run(silent))
    assert.equal(await mitigationOf(attack), 'MITIGATION_ACTIVE', 'the scrubber keeps the rules that it has')
    assert.equal(await messageCount(), before)
    await run()
    assert.equal(await mitigationOf(attack), 'MITIGATION_ENDED')
  })

  it('does not exist while no router of the scrubber has a session', async () => {
    const attack = await newAttack()
    await put(attack.prefix, [deny(53)])
    const alone = new Proxy(scrubber, {
      get: (target, name) =>
        name === 'probe'
          ? async () => ({ ...(await target.probe()), neighbors: { established: 0, configured: 2 } })
          : typeof Reflect.get(target, name) === 'function'
            ? (Reflect.get(target, name) as () => unknown).bind(target)
            : (Reflect.get(target, name) as unknown),
    })
    await assert.rejects(run(alone), /none of 2 routers/)
    assert.equal(await mitigationOf(attack), undefined)
    await run()
    assert.equal(await mitigationOf(attack), 'MITIGATION_ACTIVE')
  })

  it('ends an hour after the event, whose rules may stay', async () => {
    const attack = await newAttack()
    await put(attack.prefix, [deny(53)])
    await attack.report('unban')
    await run()
    assert.equal(await mitigationOf(attack), 'MITIGATION_ACTIVE', 'it ended a short time ago')
    await sql`update team_events set end_at = now() - interval '61 minutes'
      where affected_network = ${attack.host}::cidr`.execute(db())
    await run()
    assert.equal(await mitigationOf(attack), 'MITIGATION_ENDED')
    const late = await newAttack()
    await late.report('unban')
    await sql`update team_events set end_at = now() - interval '61 minutes'
      where affected_network = ${late.host}::cidr`.execute(db())
    await put(late.prefix, [deny(53)])
    await run()
    assert.equal(await mitigationOf(late), undefined, 'rules of later do not concern it')
  })
})

const messageCount = async () =>
  (await sql`select from outbox where type = 'event.updated'`.execute(db())).rows.length

describe('a mitigation that is measured', () => {
  const measured = (eventId: string, share: number) => async () =>
    new Map([
      [eventId, { share_bytes: share, share_packets: share / 2, source: 'flows' as const, rules: [] }],
    ])

  it('is active from 5 % of the octets or packets on, whatever the rules say, and shows the part', async () => {
    const attack = await newAttack()
    await put(attack.prefix, [deny(123)])
    await run()
    const [event] = (await call('GET', `${events}?affected_network=${attack.host}`)).results as RelatedEvent[]
    const marks = async () =>
      ((await call('GET', `${events}/${event!.id}?include=marks`)) as RelatedEventDetail).marks!
    assert.deepEqual(await marks(), [], 'the rule is for another port')
    await markMitigations(db(), { measure: measured(event!.id, 0.999) })
    const [{ since: _since, ...mark }] = (await marks()) as [NonNullable<RelatedEventDetail['marks']>[number]]
    assert.deepEqual(mark, {
      mark: 'MITIGATION_ACTIVE',
      share_bytes: 0.999,
      share_packets: 0.4995,
      source: 'flows',
    })
    await markMitigations(db(), { measure: measured(event!.id, 0.04) })
    assert.deepEqual(
      (await marks()).map((one) => [one.mark, one.source]),
      [['MITIGATION_ENDED', undefined]],
    )
    await put(attack.prefix, [deny(53)])
    await run()
    const [byText] = await marks()
    assert.deepEqual(
      [byText!.share_bytes, byText!.source],
      [null, 'rules'],
      'without flows the conditions decide',
    )
  })
})
