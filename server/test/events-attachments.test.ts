// Files of events over HTTP: pushed by a detector before or after the event, listed and downloaded by teams, each its part, and deleted after
// their time.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { Attachment } from '@pharos/contract/inventory/attachment'
import type { RelatedEvent } from '@pharos/contract/events/event'
import { readCapture, writeCapture } from '../src/events/attachment/capture.ts'
import { ethernet, ipv4Packet, pcapngOf } from '../src/events/attachment/testing.ts'
import { sourceSecretMac } from '../src/events/ingest/delivery.ts'
import { ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { fixture } from '../src/events/sources/fixtures.ts'
import { addPrefix, deliver } from '../src/events/testing.ts'
import { maintain } from '../src/db/maintenance.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { addTeam, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { addApiToken } from './support/credentials.ts'

let api: TestApi
const teams: Record<string, TestTeam> = {}
const tokens: Record<string, string> = {}

const secret = 'the-secret-of-the-detector'
const list = '/v3/lighthouse/security/events/related'
const db = () => api.database.postgres.owner
const ingest = () => ingestDeliveries(api.database.postgres, createOwnershipCache())
const held = {
  whole: '203.0.113.0/24',
  left: '203.0.113.0/25',
  right: '203.0.113.128/25',
  other: '198.51.100.0/24',
}

before(async () => {
  api = await createTestApi()
  for (const [name, prefix] of Object.entries(held)) {
    teams[name] = await addTeam(api, name)
    await addPrefix(db(), teams[name].teamId, prefix)
    tokens[name] = await addApiToken(api, teams[name].teamId, { scopes: ['lighthouse:read'] })
  }
  for (const [key, kind] of [
    ['fnm', 'fastnetmon'],
    ['community', 'fastnetmon-community'],
    ['rival', 'fastnetmon'],
  ] as const)
    await db()
      .insertInto('sources')
      .values({
        key,
        kind,
        name: key,
        secret_mac: sourceSecretMac(api.config.secret, key === 'rival' ? 'its own' : secret),
      })
      .execute()
})
after(() => api[Symbol.asyncDispose]())

const push = (event: string, body: Buffer, filename?: string, source = 'fnm', given = secret) =>
  api.server.inject({
    method: 'POST',
    url: `/v3/ingest/events/${source}/${encodeURIComponent(event)}/attachments`,
    headers: {
      authorization: `Token ${given}`,
      'content-type': 'application/octet-stream',
      ...(filename === undefined ? {} : { 'x-filename': filename }),
    },
    payload: body,
  })
const get = (url: string, team: string) =>
  api.server.inject({ method: 'GET', url, headers: { authorization: `Token ${tokens[team]}` } })
const filesOf = async (team: string, event: string, query = '') => {
  const answer = await get(`${list}/${event}/attachments${query}`, team)
  return answer.statusCode === 200
    ? answer.json<{ results: Attachment[]; count: number }>()
    : answer.statusCode
}
const hasAttachment = async (team: string, event: string) =>
  (await get(`${list}/${event}`, team)).json<{ has_attachment: boolean }>().has_attachment
const download = (url: string) =>
  api.server.inject({ method: 'GET', url: url.replace(/^https?:\/\/[^/]+/, '') })
const names = (found: Awaited<ReturnType<typeof filesOf>>) =>
  typeof found === 'number' ? found : found.results.map(({ filename }) => filename).toSorted()

const packet = (source: string, destination: string) => {
  const bytes = Buffer.concat([
    ethernet(ipv4Packet(source, destination)),
    Buffer.from('secret payload '.repeat(20)),
  ])
  return { at: 1_700_000_000_000_000_000n, length: bytes.length, bytes }
}
const capture = pcapngOf(
  {
    linkType: 1,
    packets: [
      packet('192.0.2.1', '203.0.113.5'),
      packet('192.0.2.2', '203.0.113.200'),
      packet('203.0.113.5', '192.0.2.1'),
    ],
  },
  { isLittle: true, resolution: 9 },
)
const carpet = (id: string) => {
  const body = fixture('fastnetmon-hostgroup-ban')
  return {
    ...body,
    hostgroup_networks: ['203.0.113.0/24'],
    attack_details: { ...(body.attack_details as object), attack_uuid: id },
  }
}
const eventOf = async (team: string) =>
  (await get(`${list}?ordering=-start`, team)).json<{ results: RelatedEvent[] }>().results[0]!.id

describe('a file of an event', () => {
  let id: string

  it('that arrives before the event is joined when it appears, once for any number of repeats', async () => {
    const answers = [
      await push('carpet 1', capture, 'attack.pcapng'),
      await push('carpet 1', capture, 'attack.pcapng'),
      ...(await Promise.all(
        Array.from({ length: 4 }, () => push('carpet 1', Buffer.from('IP: 203.0.113.5\n'), 'attack.txt')),
      )),
    ]
    for (const answer of answers) assert.equal(answer.statusCode, 202, answer.body)
    id = answers[0]!.json<{ event_id: string }>().event_id
    assert.equal(await filesOf('whole', id), 404, 'the event is not known yet')
    await deliver(db(), 'fnm', [carpet('carpet 1')], new Date(Date.now() - 60_000))
    await ingest()
    assert.equal(await eventOf('whole'), id)
    assert.deepEqual(names(await filesOf('whole', id)), ['attack.pcap', 'attack.txt'])
    assert.equal(await hasAttachment('whole', id), true)
  })

  it('is cut to 128 bytes of each packet, and downloaded by its link', async () => {
    const files = await filesOf('whole', id, '?kind=pcap')
    assert.ok(typeof files === 'object' && files.count === 1)
    const [file] = files.results
    const answer = await download(file!.url!)
    assert.equal(answer.statusCode, 200, answer.body)
    const { packets } = readCapture(answer.rawPayload)
    assert.deepEqual(
      packets.map(({ bytes }) => bytes.length),
      [128, 128, 128],
    )
    assert.equal(answer.rawPayload.length, file!.size)
    assert.equal(answer.headers['content-type'], 'application/vnd.tcpdump.pcap')
  })

  it('shows a team with a part of the event only the packets of its own addresses, and no text', async () => {
    for (const [team, count] of [
      ['left', 2],
      ['right', 1],
    ] as const) {
      const files = await filesOf(team, id)
      assert.ok(typeof files === 'object')
      assert.deepEqual(names(files), ['attack.pcap'])
      assert.equal(await hasAttachment(team, id), true)
      const answer = await download(files.results[0]!.url!)
      assert.deepEqual(
        [readCapture(answer.rawPayload).packets.length, answer.rawPayload.length],
        [count, files.results[0]!.size],
      )
      assert.equal(answer.rawPayload.includes(Buffer.from([203, 0, 113, team === 'left' ? 200 : 5])), false)
    }
    assert.equal(await filesOf('other', id), 404)
    assert.equal(await filesOf('whole', 'no-such-event'), 404)
  })

  it('is not found by a link of which anything was changed, or of a team that lost the event', async () => {
    const files = await filesOf('left', id)
    assert.ok(typeof files === 'object')
    const url = files.results[0]!.url!
    assert.equal((await download(url)).statusCode, 200)
    const token = /token=(\d+)-(\d+)\.(\w+)$/.exec(url)!
    const whole = `token=${token[1]}.${token[3]}`
    const ofWhole = `token=${token[1]}-${teams['whole']!.teamId}.${token[3]}`
    for (const changed of [whole, ofWhole])
      assert.equal((await download(url.replace(/token=.*/, changed))).statusCode, 404)
    await sql`delete from team_events where team_id = ${teams['left']!.teamId}`.execute(db())
    assert.equal((await download(url)).statusCode, 404)
  })

  it('is refused if it is no capture, JSON or text, if there are too many, and with another secret', async () => {
    const statuses = async (...answers: ReturnType<typeof push>[]) =>
      (await Promise.all(answers)).map(({ statusCode }) => statusCode)
    assert.deepEqual(
      await statuses(
        push('carpet 1', Buffer.from([0x4d, 0x5a, 0, 1])),
        push('carpet 1', Buffer.alloc(0)),
        push('carpet 1', Buffer.concat([Buffer.from('0a0d0d0a', 'hex'), Buffer.alloc(40)])),
        push('carpet 1', capture, 'x', 'fnm', 'wrong'),
        push('carpet 1', capture, 'x', 'nobody'),
        push('carpet 1', Buffer.alloc(11 * 1024 * 1024, 'a')),
      ),
      [415, 415, 422, 401, 401, 413],
    )
    const other = await push('carpet 1', capture, 'attack.pcapng', 'rival', 'its own')
    assert.notEqual(other.json<{ event_id: string }>().event_id, id, 'an id is of the source that sent it')
    const many = []
    for (let n = 0; n < 20; n++) many.push((await push('many', Buffer.from(`text ${n}`))).statusCode)
    assert.deepEqual([...new Set(many)], [202])
    assert.equal((await push('many', Buffer.from('text 20'))).json<{ code: string }>().code, 'quota_exceeded')
    assert.equal((await push('many', Buffer.from('text 3'))).statusCode, 202, 'it is stored already')
  })

  it('of FastNetMon Community is named by address and time of the ban, in any form of the address', async () => {
    const body = {
      ip: '2001:0db8:00a0::0007',
      direction: 'incoming',
      pps: '1903',
      action: 'ban',
      time: 1_767_225_600,
      incident: '1767225600',
    }
    await addPrefix(db(), teams['whole']!.teamId, '2001:db8:a0::/48')
    await deliver(db(), 'community', [{ version: 1, ...body, details: '' }])
    await ingest()
    const { rows } = await sql<{ id: string }>`select id from events where source_key = 'community'`.execute(
      db(),
    )
    for (const text of ['2001:db8:a0::7|1767225600', '2001:DB8:A0:0::7/128|1767225600'])
      assert.equal(
        (await push(text, Buffer.from('text'), 'a.txt', 'community')).json<{ event_id: string }>().event_id,
        rows[0]!.id,
      )
  })

  it('is joined to an event whose key is hashed, by the key or by its hash', async () => {
    for (const [key, id] of [
      ['long', '/key'],
      ['hidden', { at: '/key', hash: true }],
    ] as const) {
      const settings = JSON.stringify({ fields: { id, network: '/ip' } })
      const secret_mac = sourceSecretMac(api.config.secret, secret)
      await db()
        .insertInto('sources')
        .values({ key, kind: 'generic', name: key, secret_mac, settings })
        .execute()
      const text = key === 'long' ? 'x'.repeat(250) : 'name of a customer'
      await deliver(db(), key, [{ key: text, ip: '203.0.113.9' }])
      await ingest()
      const { rows } = await sql<{ id: string; hash: string }>`
        select id, source_event_id as hash from events where source_key = ${key}`.execute(db())
      for (const written of [text, rows[0]!.hash]) {
        const answer = await push(written, Buffer.from('text'), 'a.txt', key)
        assert.equal(answer.json<{ event_id: string }>().event_id, rows[0]!.id, `${key} ${written}`)
      }
    }
  })

  it('is deleted after 90 days, of which its entry remains, and after seven days without an event', async () => {
    await push('never', Buffer.from('an event that does not appear'))
    await sql`update attachments set created = created - interval '8 days' where subject_kind = 'event'`.execute(
      db(),
    )
    await maintain(db())
    const { rows } = await sql<{ kept: boolean; known: boolean }>`
      select content is not null as kept, exists (select from events e where e.id = subject_id) as known
      from attachments where subject_kind = 'event'`.execute(db())
    assert.ok(rows.length > 0 && rows.every(({ kept, known }) => kept && known))
    const before = await filesOf('whole', id)
    await sql`update attachments set created = created - interval '83 days' where subject_kind = 'event'`.execute(
      db(),
    )
    await maintain(db())
    const after = await filesOf('whole', id)
    assert.ok(typeof before === 'object' && typeof after === 'object')
    assert.deepEqual(
      after.results.map(({ url, url_expires }) => [url, url_expires]),
      [
        [null, null],
        [null, null],
      ],
    )
    assert.deepEqual(
      after.results.map(({ sha256, size }) => [sha256, size]),
      before.results.map(({ sha256, size }) => [sha256, size]),
    )
    assert.equal((await download(before.results[0]!.url!)).statusCode, 404)
    assert.deepEqual(names(await filesOf('right', id)), [], 'a part of what is deleted is nothing')
  })

  it('is listed in every order, page by page', async () => {
    const page = async (query: string) => names(await filesOf('whole', id, query))
    assert.deepEqual(await page('?ordering=filename&limit=1'), ['attack.pcap'])
    assert.deepEqual(await page('?ordering=-filename&limit=1'), ['attack.txt'])
    assert.deepEqual(await page('?ordering=size&offset=1'), ['attack.pcap'])
    assert.deepEqual(await page('?kind=json'), [])
  })
})

it('a capture of the longest file is read and written within its own size', () => {
  const packets = Array.from({ length: 30_000 }, () => packet('192.0.2.1', '203.0.113.5'))
  const file = writeCapture({ linkType: 1, packets })
  assert.equal(file.length, 24 + 30_000 * (16 + 128))
})
