// The messages of the outbox: each type through the code that causes it, and changes that cause no message.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventFlags } from '@pharos/contract/events/event'
import { streamMessageTypes } from '@pharos/contract/messages/stream'
import {
  messageTypes,
  operatorMessageTypes,
  messageOf,
  type MessageType,
} from '@pharos/contract/messages/webhook-message'
import { Value } from 'typebox/value'
import { sql } from 'kysely'
import type { ValidationName, ValidationState } from '@pharos/contract/byoip/announcement-checks'
import { eventMessages } from '../src/events/relate/event-message.ts'
import { ingestBatch, ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { flagBits, flagsOf } from '../src/events/relate/event-json.ts'
import { rematch } from '../src/events/relate/rematch.ts'
import { replayDeliveries } from '../src/events/ingest/replay.ts'
import { fixture } from '../src/events/sources/fixtures.ts'
import { addPrefix, addSource, deliver } from '../src/events/testing.ts'
import { seedAnnouncement, seedChecks, seedRegions } from '../src/byoip/announcement/testing.ts'
import { saveStatuses } from '../src/byoip/status/status.store.ts'
import { readSubjectsAfter, saveEvaluations } from '../src/byoip/validation/validation.store.ts'
import { maintain } from '../src/db/maintenance.ts'
import type { Db } from '../src/db/postgres.ts'
import { createTestDatabase, type TestDatabase } from '../src/db/testing.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { messageText } from '../src/outbox/message.ts'
import { writeMessages } from '../src/outbox/outbox.ts'
import { addMessage } from '../src/outbox/testing.ts'
import { createKeyRing } from '../src/runtime/secrets.ts'
import { addWebhook } from '../src/webhook/testing.ts'

const ring = createKeyRing(['a secret of the tests that is long enough'])
const minute = 60_000

let database: TestDatabase
let owner: Db
let teamId: number

before(async () => {
  database = await createTestDatabase()
  owner = database.postgres.owner
  await addSource(owner, 'detector')
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await sql`delete from team_events`.execute(owner)
  await sql`delete from events`.execute(owner)
  await sql`delete from deliveries`.execute(owner)
  await sql`delete from teams`.execute(owner)
  await sql`delete from outbox`.execute(owner)
  teamId = await addTeam('red', ['ipam', 'lighthouse'])
})

async function addTeam(slug: string, modules: string[]): Promise<number> {
  const row = await owner
    .insertInto('teams')
    .values({ slug, name: slug, enabled_modules: modules })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

type StoredMessage = {
  readonly team_id: number
  readonly type: MessageType
  readonly data: Record<string, unknown>
}

/** Returns and deletes the messages since the last call, in order. */
async function takeMessages(): Promise<StoredMessage[]> {
  const { rows } = await sql<StoredMessage>`
    with gone as (delete from outbox returning *) select team_id, type, data from gone order by xid, id`.execute(
    owner,
  )
  return rows
}
const takeTypes = async (): Promise<string[]> => (await takeMessages()).map(({ type }) => type)

const ban = fixture('fastnetmon-ban') as Record<string, unknown>

/** The message of FastNetMon about an attack on 203.0.113.77. */
function callback(action: 'ban' | 'unban', mbps = 100): unknown {
  const text = JSON.stringify({ ...ban, action })
  const body = JSON.parse(text) as { attack_details: Record<string, unknown> }
  body.attack_details['total_incoming_traffic'] = mbps * 125_000
  return body
}

const ingest = () => ingestDeliveries(database.postgres, createOwnershipCache())
/** Adds a delivery received at that time, and processes it. */
async function receive(at: Date, ...bodies: unknown[]): Promise<void> {
  await deliver(owner, 'detector', bodies, at)
  await ingest()
}
const ago = (ms: number) => new Date(Date.now() - ms)

describe('an event', () => {
  it('causes messages when it starts, grows and ends, with the data of the API', async () => {
    await addPrefix(owner, teamId, '203.0.113.0/24')
    await receive(ago(30 * minute), callback('ban', 100))
    const [started, ...none] = await takeMessages()
    assert.deepEqual(none, [])
    const record = async () => {
      const { rows } = await sql<{ record: string }>`select record || '}' as record from team_events`.execute(
        owner,
      )
      return JSON.parse(rows[0]!.record) as Record<string, unknown>
    }
    const shown = await record()
    const fields = Object.fromEntries(Object.keys(started!.data).map((name) => [name, shown[name]]))
    assert.deepEqual([started!.team_id, started!.type, started!.data], [teamId, 'event.started', fields])
    await receive(ago(20 * minute), callback('ban', 900))
    const [updated, ...noMore] = await takeMessages()
    assert.deepEqual(noMore, [])
    assert.equal(updated!.type, 'event.updated')
    assert.equal(updated!.data['affected_bps'], (await record())['affected_bps'])
    await receive(ago(10 * minute), callback('ban', 900))
    assert.deepEqual(await takeTypes(), [], 'nothing new')
    await receive(ago(5 * minute), callback('unban', 900))
    const [ended] = await takeMessages()
    assert.equal(ended!.type, 'event.ended')
    assert.equal(ended!.data['end'], (await record())['end'])
    assert.notEqual(ended!.data['end'], null)
  })

  it('that is processed from start to end at once causes two messages, the start first', async () => {
    await addPrefix(owner, teamId, '203.0.113.0/24')
    await receive(ago(30 * minute), callback('ban'), callback('unban'))
    assert.deepEqual(await takeTypes(), ['event.started', 'event.ended'])
  })

  it('causes a message for every team concerned, and for no other', async () => {
    const blue = await addTeam('blue', ['lighthouse'])
    await addTeam('green', ['lighthouse'])
    await addPrefix(owner, teamId, '203.0.113.0/24')
    await addPrefix(owner, blue, '203.0.112.0/22')
    await receive(ago(minute), callback('ban'))
    assert.deepEqual(
      (await takeMessages()).map(({ team_id }) => team_id).toSorted((a, b) => a - b),
      [teamId, blue],
    )
  })

  it('that has ended causes no message when a prefix is added; an ongoing one does', async () => {
    await receive(ago(30 * minute), callback('ban'), callback('unban'))
    await addPrefix(owner, teamId, '203.0.113.0/24')
    await rematch(database.postgres, createOwnershipCache())
    assert.equal((await owner.selectFrom('team_events').select('event_id').execute()).length, 1)
    assert.deepEqual(await takeTypes(), [])
    const other = JSON.parse(
      JSON.stringify(callback('ban'))
        .replaceAll('203.0.113', '198.51.100')
        .replaceAll('0b8a4c52', '1c9b5d63'),
    )
    await receive(ago(20 * minute), other)
    assert.deepEqual(await takeTypes(), [])
    await addPrefix(owner, teamId, '198.51.100.0/24')
    await rematch(database.postgres, createOwnershipCache())
    assert.deepEqual(await takeTypes(), ['event.started'])
  })

  it('of more than a day ago causes no message, even if it is processed in parts', async () => {
    await addPrefix(owner, teamId, '203.0.113.0/24')
    await receive(ago(1500 * minute), callback('ban', 100))
    await receive(ago(1490 * minute), callback('unban', 100))
    const types = await takeTypes()
    assert.deepEqual(
      types.filter((type) => type !== 'event.updated'),
      [],
    )
  })

  it('that lasts for days causes a message when it ends', async () => {
    await addPrefix(owner, teamId, '203.0.113.0/24')
    await receive(ago(3 * 1440 * minute), callback('ban', 100))
    await receive(ago(minute), callback('ban', 200))
    await receive(ago(minute), callback('unban', 200))
    assert.deepEqual(await takeTypes(), ['event.updated', 'event.ended'])
  })

  it('causes no new message by a replay with the same result', async () => {
    await addPrefix(owner, teamId, '203.0.113.0/24')
    await receive(ago(30 * minute), callback('ban', 100))
    await receive(ago(25 * minute), callback('ban', 300))
    await receive(ago(20 * minute), callback('unban', 300))
    assert.equal((await sql`select from outbox`.execute(owner)).rows.length, 3)
    await replayDeliveries(owner)
    // One batch per delivery: the event is open in between.
    while ((await ingestBatch(database.postgres, createOwnershipCache(), { limit: 1 })).done > 0);
    assert.deepEqual(await takeTypes(), ['event.started', 'event.updated', 'event.ended'])
  })

  it('has the flags of the contract in its messages', async () => {
    for (const [at, flag] of eventFlags.entries()) assert.deepEqual(flagsOf(1 << at), [flag])
    assert.deepEqual(flagsOf(flagBits(eventFlags)), [...eventFlags])
    await addPrefix(owner, teamId, '203.0.113.0/24')
    await receive(ago(minute), callback('ban'))
    const all = flagBits(eventFlags)
    const [row] = await owner.selectFrom('team_events').selectAll().execute()
    await owner.transaction().execute(async (trx) => {
      const written = { team_id: teamId, event_id: row!.event_id, before: row!, now: new Date() }
      await writeMessages(
        trx,
        eventMessages([{ ...row!, flags: all, facet: { status: 1 } }], [written], [], true),
      )
    })
    assert.deepEqual((await takeMessages()).at(-1)!.data['flags'], [...eventFlags])
  })
})

describe('an announcement', () => {
  it('causes a message when its status changes, for every cause', async () => {
    const { ams } = await seedRegions(database.postgres, ['ams'])
    await seedChecks(database.postgres, ['ams'])
    const id = await seedAnnouncement(database.postgres, {
      teamId,
      prefix: '203.0.113.0/24',
      enabled: true,
      regions: [ams!],
    })
    await takeMessages()
    const setState = (state: string) =>
      owner.transaction().execute(async (trx) => {
        await sql`update announcement_regions set state = ${state}, changes = '{}'`.execute(trx)
        await saveStatuses(trx, [id])
      })
    await setState('announced')
    await setState('announced')
    const all = await takeMessages()
    assert.equal(all.length, 1)
    const { at, ...data } = all[0]!.data
    assert.deepEqual(data, {
      announcement_id: id,
      cidr: '203.0.113.0/24',
      origin_asn: 64496,
      before: 'announcing',
      after: 'announced',
    })
    assert.ok(Math.abs(Date.parse(String(at)) - Date.now()) < 3_600_000)
  })

  it('causes no message for a change that was rolled back', async () => {
    const id = await seedAnnouncement(database.postgres, { teamId, prefix: '203.0.113.0/24' })
    const failing = owner.transaction().execute(async (trx) => {
      await sql`update announcements set suspended = true, suspended_by = 'staff' where id = ${id}`.execute(
        trx,
      )
      await saveStatuses(trx, [id])
      assert.equal((await sql`select from outbox`.execute(trx)).rows.length, 1)
      throw new Error('taken back')
    })
    await assert.rejects(failing, /taken back/)
    assert.deepEqual(await takeMessages(), [])
  })

  it('causes a message for a check that passed and now fails, and none for a registry that does not respond', async () => {
    const id = await seedAnnouncement(database.postgres, { teamId, prefix: '203.0.113.0/24' })
    await sql`insert into announcement_validations (announcement_id, name, team_id, state, note) values
      (${id}, 'rpki', ${teamId}, 'valid', ''), (${id}, 'irr', ${teamId}, 'valid', ''),
      (${id}, 'loa', ${teamId}, 'pending', '')`.execute(owner)
    const become = (name: ValidationName, state: ValidationState) =>
      owner.transaction().execute(async (trx) => {
        const [subject] = await readSubjectsAfter(owner, id - 1, 1)
        const check = {
          name,
          state,
          reason: null,
          attrs: {},
          note: 'The ROA is gone.',
          fix: 'a ROA',
          evidence: {},
          checked: null,
        }
        const { clearance } = subject!
        const finding = {
          subject: subject!,
          checks: [check],
          proofs: [],
          clearance,
          claims: false,
          answers: null,
        }
        await saveEvaluations(trx, [finding])
      })
    await become('rpki', 'invalid')
    const [failed, ...none] = await takeMessages()
    assert.deepEqual(none, [])
    assert.deepEqual(failed, {
      team_id: teamId,
      type: 'validation.failed',
      data: {
        announcement_id: id,
        cidr: '203.0.113.0/24',
        origin_asn: 64496,
        name: 'rpki',
        state: 'invalid',
        note: 'The ROA is gone.',
        fix: 'a ROA',
      },
    })
    await become('rpki', 'missing')
    await become('irr', 'unavailable')
    await become('loa', 'missing')
    assert.deepEqual(await takeMessages(), [])
  })
})

describe('the outbox', () => {
  it('creates a delivery for each subscribed webhook, in order', async () => {
    await addPrefix(owner, teamId, '203.0.113.0/24')
    const all = await addWebhook(owner, ring, teamId)
    const ends = await addWebhook(owner, ring, teamId, { events: ['event.ended'] })
    await addWebhook(owner, ring, teamId, { enabled: false })
    await addWebhook(owner, ring, await addTeam('blue', ['lighthouse']))
    await receive(ago(30 * minute), callback('ban'), callback('unban'))
    const rows = await owner.selectFrom('webhook_deliveries').selectAll().orderBy('id').execute()
    assert.deepEqual(
      rows.map(({ webhook_id, type }) => [webhook_id, type]),
      [
        [all, 'event.started'],
        [all, 'event.ended'],
        [ends, 'event.ended'],
      ],
    )
    assert.equal(rows[1]!.message_id, rows[2]!.message_id)
    assert.match(rows[0]!.message_id, /^msg_[0-9a-f]+_[0-9a-f]+$/)
    const bodies = rows.map(({ body }) => JSON.parse(body) as { type: MessageType })
    for (const body of bodies) assert.deepEqual([...Value.Errors(messageOf(body.type), body)], [])
  })

  it('creates deliveries with the bytes that the stream sends, and an id from the message', async () => {
    await addWebhook(owner, ring, teamId)
    await sql`
      insert into webhooks (team_id, url, events, secret_sealed, created_by)
      values (null, 'https://192.0.2.8/hook', '{approval.opened}', '', 'settings')`.execute(owner)
    const approval = { teamId: null, type: 'approval.opened', data: { text: 'a "quoted" text' } }
    await addMessage(owner, teamId, { text: 'ümläut, \\ and\n', number: 1.5 })
    await owner.transaction().execute((trx) => writeMessages(trx, [approval as never]))
    const { rows: messages } = await sql<{ id: number; type: MessageType; at: Date; data: string }>`
      select id, type, at, data::text as data from outbox order by id`.execute(owner)
    const { rows: deliveries } = await sql<{ message_id: string; body: string }>`
      select message_id, body from webhook_deliveries order by id`.execute(owner)
    assert.deepEqual(
      deliveries,
      messages.map(({ id, type, at, data }) => ({
        message_id: `msg_${at.getTime().toString(16)}_${id.toString(16)}`,
        body: messageText(type, at, data),
      })),
    )
    assert.equal(deliveries.length, 2)
    await sql`delete from webhooks where team_id is null`.execute(owner)
  })

  it('contains no message of a module that the team does not have', async () => {
    const blue = await addTeam('blue', ['ipam'])
    await addPrefix(owner, blue, '203.0.113.0/24')
    await addWebhook(owner, ring, blue)
    await receive(ago(minute), callback('ban'))
    assert.deepEqual(await owner.selectFrom('webhook_deliveries').select('id').execute(), [])
  })

  it('contains the types of the contract and no others', async () => {
    for (const [constraint, ofTeams] of [
      ['outbox_type_check', streamMessageTypes],
      ['webhooks_events_check', messageTypes],
    ] as const) {
      const { rows } = await sql<{ definition: string }>`
        select pg_get_constraintdef(oid) as definition from pg_constraint where conname = ${constraint}`.execute(
        owner,
      )
      const types = [...rows[0]!.definition.matchAll(/'([a-z_.]+)'::text/g)].map(([, type]) => type)
      assert.deepEqual(types.toSorted(), [...ofTeams, ...operatorMessageTypes].toSorted())
    }
  })

  it('is kept for a week, and deliveries for a month', async () => {
    const webhook = await addWebhook(owner, ring, teamId)
    for (const days of [8, 6]) {
      await addMessage(owner, teamId, { days })
      await sql`update outbox set at = now() - make_interval(days => ${days}) where data ->> 'days' = ${`${days}`}`.execute(
        owner,
      )
    }
    await sql`update webhook_deliveries set state = 'delivered', created = now() - interval '31 days'
      where webhook_id = ${webhook} and id = (select min(id) from webhook_deliveries)`.execute(owner)
    await maintain(owner)
    assert.equal((await takeMessages()).length, 1)
    const left = await owner.selectFrom('webhook_deliveries').select('state').execute()
    assert.deepEqual(left, [{ state: 'pending' }])
  })

  it('can be read in an order in which no message appears before one that was already read', async () => {
    const insert = (db: Db) =>
      sql<{
        id: number
      }>`insert into outbox (team_id, type, data) values (${teamId}, 'event.started', '{}') returning id`.execute(
        db,
      )
    const follow = async (xid: string, id: number) => {
      const { rows } = await sql<{ xid: string; id: number }>`
        select xid::text, id from outbox
        where (xid, id) > (${xid}::xid8, ${id}) and xid < pg_snapshot_xmin(pg_current_snapshot())
        order by xid, id`.execute(owner)
      return rows
    }
    const held = Promise.withResolvers<void>()
    const began = Promise.withResolvers<number>()
    const slow = owner.transaction().execute(async (trx) => {
      began.resolve((await insert(trx)).rows[0]!.id)
      await held.promise
    })
    const first = await began.promise
    const second = (await insert(owner)).rows[0]!.id
    assert.deepEqual(await follow('0', 0), [], 'the later one waits for the earlier')
    held.resolve()
    await slow
    // A transaction of any database of the server also delays it, for example in other tests.
    const ids = async () => (await follow('0', 0)).map(({ id }) => id)
    while ((await ids()).length < 2) await sleep(20)
    assert.deepEqual(await ids(), [first, second])
  })

  it('is readable by its team only, like webhooks, and writable for its team only', async () => {
    const blue = await addTeam('blue', ['ipam', 'lighthouse'])
    await addPrefix(owner, blue, '203.0.113.0/24')
    await addWebhook(owner, ring, blue)
    await receive(ago(minute), callback('ban'))
    const seenBy = (team: number, table: 'webhooks' | 'webhook_deliveries') =>
      database.postgres.inTeam(
        team,
        async (trx) => (await trx.selectFrom(table).select('id').execute()).length,
      )
    assert.deepEqual([await seenBy(blue, 'webhooks'), await seenBy(blue, 'webhook_deliveries')], [1, 1])
    assert.deepEqual([await seenBy(teamId, 'webhooks'), await seenBy(teamId, 'webhook_deliveries')], [0, 0])
    const countMessages = (team: number) =>
      database.postgres.inTeam(team, async (trx) => (await sql`select from outbox`.execute(trx)).rows.length)
    assert.deepEqual([await countMessages(blue), await countMessages(teamId)], [1, 0])
    const forge = database.postgres.inTeam(blue, (trx) => sql`delete from outbox`.execute(trx))
    await assert.rejects(forge, /permission denied/)
    const change = database.postgres.inTeam(blue, (trx) => sql`update outbox set data = '{}'`.execute(trx))
    await assert.rejects(change, /permission denied/)
    for (const other of [teamId, null]) {
      const type = other === null ? 'approval.opened' : 'event.started'
      const write = database.postgres.inTeam(blue, (trx) =>
        sql`insert into outbox (team_id, type, data) values (${other}, ${type}, '{}')`.execute(trx),
      )
      await assert.rejects(write, /row-level security/)
    }
  })
})
