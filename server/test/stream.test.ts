// The stream over a real connection: recipients, no gaps between two connections, and its end.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ProblemError } from '@pharos/contract/client'
import { openStream, type StreamEvent, type StreamInput } from '@pharos/contract/messages/stream-client'
import { messageOf, type MessageType } from '@pharos/contract/messages/webhook-message'
import { sql } from 'kysely'
import { Value } from 'typebox/value'
import { seedAnnouncement } from '../src/byoip/announcement/testing.ts'
import { saveStatuses } from '../src/byoip/status/status.store.ts'
import { wake } from '../src/db/wake.ts'
import type { Db } from '../src/db/postgres.ts'
import { writePersonalMessages } from '../src/outbox/outbox.ts'
import { addMessage, addMessageIn } from '../src/outbox/testing.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { addApiToken, openSession } from './support/credentials.ts'
import { waitFor } from '../../lab/src/wait.ts'

let api: TestApi
let owner: Db
let url: string
let red: TestTeam
let blue: TestTeam
let admin: { userId: number }

before(async () => {
  api = await createTestApi({ PHAROS_STREAM_LIFETIME_SECONDS: '3600' })
  owner = api.database.postgres.owner
  url = await listen(api)
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  admin = await addUser(api, 'admin', [red], { admin: true })
})
after(() => api[Symbol.asyncDispose]())

async function listen({ server }: TestApi): Promise<string> {
  await server.listen({ port: 0, host: '127.0.0.1' })
  return `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
}

const open = new Set<Followed>()
afterEach(async () => {
  await Promise.all([...open].map((one) => one.end()))
  open.clear()
})

type FollowOptions = Omit<StreamInput, 'signal'> & { readonly token?: string; readonly at?: string }

/** One connection, whose events are read one by one. */
class Followed {
  readonly #abort = new AbortController()
  readonly #events: AsyncGenerator<StreamEvent>

  constructor({ token, at = url, ...input }: FollowOptions, bearer: string) {
    const credential = () => (token === undefined ? { bearer } : { token })
    this.#events = openStream({ baseUrl: at, credential }, { ...input, signal: this.#abort.signal })
  }

  /** Returns the next event; undefined if the server has closed the stream. */
  async next(): Promise<StreamEvent | undefined> {
    const late = sleep(300_000, undefined, { ref: false }).then(() =>
      assert.fail('no event within 5 minutes'),
    )
    const { done, value } = await Promise.race([this.#events.next(), late])
    return done ? undefined : value
  }

  async end(): Promise<void> {
    this.#abort.abort()
    await this.#events.return(undefined).catch(() => {})
  }
}

async function follow(options: FollowOptions = {}): Promise<Followed> {
  const { access } = await openSession(api, admin.userId, red.teamId)
  const followed = new Followed(options, access)
  open.add(followed)
  return followed
}

/** Opens a stream and reads its `ready` event. */
async function followFromNow(options: FollowOptions = {}): Promise<Followed & { lastId: string }> {
  const followed = await follow(options)
  const { type, id } = (await followed.next())!
  assert.equal(type, 'ready')
  return Object.assign(followed, { lastId: id })
}

const send = (teamId: number, mark: string, type?: MessageType) => addMessage(owner, teamId, { mark }, type)

const markOf = (event: StreamEvent | undefined) =>
  (event?.message.data as { mark?: string } | undefined)?.mark

/** Waits until no transaction of the database server delays the messages, including transactions of other tests. */
async function untilReadable(): Promise<void> {
  await waitFor('no transaction delays the messages', async () => {
    const { rows } = await sql<{ held: boolean }>`
      select exists (select from outbox where xid >= pg_snapshot_xmin(pg_current_snapshot())) as held`.execute(
      owner,
    )
    return !rows[0]!.held
  })
}

async function problemOf(options: FollowOptions): Promise<string> {
  const followed = await follow(options)
  const error = await followed.next().then(
    () => assert.fail('the delivery was accepted'),
    (refused: unknown) => refused,
  )
  assert.ok(error instanceof ProblemError, String(error))
  return error.problem.code
}

describe('the messages of the stream', () => {
  it('are the bodies of webhook messages, sent when the event has happened', async () => {
    const id = await seedAnnouncement(api.database.postgres, { teamId: red.teamId, prefix: '192.0.2.0/24' })
    const followed = await followFromNow()
    await owner.transaction().execute(async (trx) => {
      await sql`update announcements set suspended = true, suspended_by = 'staff' where id = ${id}`.execute(
        trx,
      )
      await saveStatuses(trx, [id])
    })
    const event = (await followed.next())!
    assert.equal(event.type, 'announcement.status_changed')
    assert.ok(
      Value.Check(messageOf('announcement.status_changed'), event.message),
      JSON.stringify(event.message),
    )
    assert.equal((event.message.data as { announcement_id: number }).announcement_id, id)
  })

  it('are those of the team, in order', async () => {
    const followed = await followFromNow()
    await send(blue.teamId, 'of blue')
    for (const mark of ['one', 'two']) await send(red.teamId, mark)
    assert.deepEqual([markOf(await followed.next()), markOf(await followed.next())], ['one', 'two'])
  })

  it('to one user reach only that user, and no token', async () => {
    const followed = await followFromNow()
    const { userId } = await addUser(api, 'other', [red])
    const data = (unread: number) => ({ unread, newest_id: 7 })
    const personal = { teamId: red.teamId, type: 'notifications.changed' } as const
    await owner.transaction().execute((trx) =>
      writePersonalMessages(trx, [
        { ...personal, userId, data: data(1) },
        { ...personal, userId: admin.userId, data: data(2) },
      ]),
    )
    const { type, message } = (await followed.next())!
    assert.equal(type, 'notifications.changed')
    assert.deepEqual(message.data, data(2))
  })

  it('are those that were requested and that the token may read', async () => {
    const token = await addApiToken(api, red.teamId, { scopes: ['ipam:read'] })
    const byScope = await followFromNow({ token })
    const byType = await followFromNow({ query: { type: ['event.ended'] } })
    await send(red.teamId, 'one', 'event.started')
    await send(red.teamId, 'two', 'event.ended')
    await send(red.teamId, 'three', 'validation.failed')
    assert.equal(markOf(await byScope.next()), 'three')
    assert.equal(markOf(await byType.next()), 'two')
    assert.equal(await problemOf({ token, query: { type: ['event.started'] } }), 'scope_missing')
    const none = await addApiToken(api, red.teamId, { scopes: ['team:read'] })
    assert.equal(await problemOf({ token: none }), 'scope_missing')
  })

  it('wait for older transactions, so that their order is final', async () => {
    const followed = await followFromNow()
    const held = Promise.withResolvers<void>()
    const written = Promise.withResolvers<void>()
    const slow = owner.transaction().execute(async (trx) => {
      await addMessageIn(trx, red.teamId, { mark: 'older' })
      written.resolve()
      await held.promise
    })
    await written.promise
    await send(red.teamId, 'younger')
    held.resolve()
    await slow
    assert.deepEqual([markOf(await followed.next()), markOf(await followed.next())], ['older', 'younger'])
  })
})

describe('a reconnected stream', () => {
  it('receives the messages since the disconnect, once', async () => {
    const first = await followFromNow()
    await send(red.teamId, 'before')
    const { id } = (await first.next())!
    await first.end()
    for (let n = 0; n < 250; n++) await send(red.teamId, `meanwhile ${n}`)
    await untilReadable()
    const second = await follow({ lastEventId: id })
    assert.equal((await second.next())!.type, 'ready')
    for (let n = 0; n < 250; n++) assert.equal(markOf(await second.next()), `meanwhile ${n}`)
    await send(red.teamId, 'after')
    assert.equal(markOf(await second.next()), 'after')
  })

  it('can resume from the id of its ready event', async () => {
    const { lastId } = await followFromNow()
    await send(red.teamId, 'one')
    const second = await follow({ lastEventId: lastId })
    assert.equal((await second.next())!.type, 'ready')
    assert.equal(markOf(await second.next()), 'one')
  })

  it('gets a reset if messages may be missing', async () => {
    const { lastId } = await followFromNow()
    const [cluster, xid, id, at] = lastId.split('.') as [string, string, string, string]
    const elsewhere = cluster === '00000000' ? '00000001' : '00000000'
    for (const lost of [
      `${elsewhere}.${xid}.${id}.${at}`,
      `${cluster}.${BigInt(xid) + 1_000_000_000n}.${id}.${at}`,
      `${cluster}.${xid}.${id}.${Number(at) - 8 * 86_400}`,
    ]) {
      const followed = await follow({ lastEventId: lost })
      const event = (await followed.next())!
      assert.equal(event.type, 'reset', lost)
      await send(red.teamId, lost)
      assert.equal(markOf(await followed.next()), lost)
      await followed.end()
    }
  })

  it('is rejected with an invalid id', async () => {
    assert.equal(await problemOf({ lastEventId: 'yesterday' }), 'invalid')
  })
})

describe('a stream ends', () => {
  it('when the session does', async () => {
    const { sessionId, access } = await openSession(api, admin.userId, red.teamId)
    const followed = new Followed({}, access)
    assert.equal((await followed.next())!.type, 'ready')
    await owner.updateTable('sessions').set({ revoked: new Date() }).where('id', '=', sessionId).execute()
    await wake(owner, 'actors')
    assert.equal(await followed.next(), undefined)
  })

  it('when the team no longer opens to the session, which has signed in in another way', async () => {
    const { access } = await openSession(api, admin.userId, red.teamId)
    const followed = new Followed({}, access)
    assert.equal((await followed.next())!.type, 'ready')
    await sql`update teams set sign_in_policy = 'required' where id = ${red.teamId}`.execute(owner)
    assert.equal(await followed.next(), undefined)
    await sql`update teams set sign_in_policy = 'optional'`.execute(owner)
  })

  it('with the API token, and sends nothing after it', async () => {
    const token = await addApiToken(api, red.teamId, { scopes: ['lighthouse:read'] })
    const followed = await followFromNow({ token })
    await owner.transaction().execute(async (trx) => {
      await sql`update api_tokens set revoked = now() where team_id = ${red.teamId}`.execute(trx)
      await sql`select pg_notify('pharos', 'actors')`.execute(trx)
    })
    await send(red.teamId, 'too late')
    assert.equal(await followed.next(), undefined)
  })

  it('with the server', async () => {
    const second = await createTestApi(
      { PHAROS_STREAM_LIFETIME_SECONDS: '3600' },
      { sameInstallationAs: api },
    )
    const followed = await followFromNow({ at: await listen(second) })
    const closed = second[Symbol.asyncDispose]()
    assert.equal(await followed.next(), undefined)
    await closed
  })

  it('after its maximum lifetime, with all messages so far', async () => {
    const { lastId } = await followFromNow()
    await send(red.teamId, 'one')
    await untilReadable()
    await using short = await createTestApi(
      { PHAROS_STREAM_LIFETIME_SECONDS: '0' },
      { sameInstallationAs: api },
    )
    const followed = await follow({ at: await listen(short), lastEventId: lastId })
    assert.equal((await followed.next())!.type, 'ready')
    assert.equal(markOf(await followed.next()), 'one')
    assert.equal(await followed.next(), undefined)
  })
})

describe('a silent stream', () => {
  it('is not ended by the timeouts of other responses', async () => {
    const settings = {
      PHAROS_STREAM_LIFETIME_SECONDS: '3600',
      PHAROS_REQUEST_TIMEOUT_SECONDS: '1',
      PHAROS_HANDLER_TIMEOUT_SECONDS: '1',
    }
    await using hasty = await createTestApi(settings, { sameInstallationAs: api })
    const followed = await followFromNow({ at: await listen(hasty) })
    // Longer than both timeouts and the interval at which they are checked.
    await sleep(4_000)
    await send(red.teamId, 'still here')
    assert.equal(markOf(await followed.next()), 'still here')
  })
})

describe('concurrent streams', () => {
  it('are counted for each team and in total, and released', async () => {
    const limits = { PHAROS_STREAMS_PER_TEAM: '3', PHAROS_STREAMS_AT_ONCE: '5' }
    await using few = await createTestApi(
      { PHAROS_STREAM_LIFETIME_SECONDS: '3600', ...limits },
      { sameInstallationAs: api },
    )
    const at = await listen(few)
    const other = await addUser(api, 'other', [blue])
    const { access } = await openSession(api, other.userId, blue.teamId)
    const ofBlue = [new Followed({ at }, access), new Followed({ at }, access)]
    const ofRed = [await followFromNow({ at }), await followFromNow({ at }), await followFromNow({ at })]
    assert.equal(await problemOf({ at }), 'rate_limited')
    for (const one of ofBlue) assert.equal((await one.next())!.type, 'ready')
    const refused = { name: 'ProblemError', message: /^The server has too many open streams/ }
    await assert.rejects(new Followed({ at }, access).next(), refused)
    await Promise.all([...ofRed, ...ofBlue].map((one) => one.end()))
    await waitFor('a place for a stream', async () => (await beginning(at)) === 'ready')
  })
})

/** Returns the first event, or the refusal. */
async function beginning(at: string): Promise<string> {
  const followed = await follow({ at })
  try {
    return (await followed.next())!.type
  } catch (error) {
    assert.ok(error instanceof ProblemError, String(error))
    return error.problem.code
  }
}
