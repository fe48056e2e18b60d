import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from '../../test/api.ts'
import { openSession } from '../../test/support/credentials.ts'
import { createRotate, type Rotate } from './rotate.ts'
import { revokeSession, switchTeam, type Presented } from './session.store.ts'

let api: TestApi
let red: TestTeam
let blue: TestTeam
let userId: number
let rotate: Rotate

before(async () => {
  api = await createTestApi()
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  userId = (await addUser(api, 'anna', [red, blue])).userId
  rotate = createRotate(api.database.postgres.front, { idleSeconds: 3600, absoluteSeconds: 7200 })
})
after(() => api[Symbol.asyncDispose]())

/** The first token of each of `count` new sessions, each presented by another client. */
const present = async (count: number): Promise<Presented[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const { sessionId } = await openSession(api, userId, red.teamId)
      return { sessionId, counter: 1, address: `192.0.2.${at}`, userAgent: `"browser", {${at}}` }
    }),
  )

type Row = {
  id: string
  counter: number
  rotated: number
  address: string
  agent: string
  transaction: string
}

async function rowsOf(presented: readonly Presented[]): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select id, counter, cardinality(rotations) as rotated, host(last_address) as address, last_user_agent as agent,
      xmin::text as transaction
    from sessions where id = any(${presented.map(({ sessionId }) => sessionId)}::uuid[])
    order by last_address`.execute(api.database.postgres.owner)
  return rows
}

describe('tokens presented at the same time', () => {
  it('are rotated in common transactions, each for its own session and client', async () => {
    const presented = await present(30)
    const holders = await Promise.all(presented.map(rotate))
    assert.deepEqual(
      holders.map((holder) => holder?.sessionId),
      presented.map(({ sessionId }) => sessionId),
    )
    assert.deepEqual([...new Set(holders.map((holder) => holder?.profile.current_team.id))], [red.teamId])
    const rows = await rowsOf(presented)
    assert.deepEqual(
      rows.map(({ id, counter, rotated, address, agent }) => ({ id, counter, rotated, address, agent })),
      presented.map(({ sessionId: id, address, userAgent: agent }) => {
        return { id, counter: 2, rotated: 1, address, agent }
      }),
    )
    const transactions = new Set(rows.map(({ transaction }) => transaction)).size
    assert.ok(transactions < 10, `${transactions} transactions`)
  })

  it('are rotated once if several clients present the same one', async () => {
    const presented = await present(3)
    const holders = await Promise.all(
      [...presented, ...presented, ...presented].map(async (one) => (await rotate(one)) ?? 'not the newest'),
    )
    for (const { sessionId } of presented) {
      const rotated = holders.filter((one) => one !== 'not the newest' && one.sessionId === sessionId)
      assert.ok(rotated.length > 0)
    }
    assert.deepEqual(
      (await rowsOf(presented)).map(({ counter, rotated }) => [counter, rotated]),
      presented.map(() => [2, 1]),
    )
  })

  it('do not rotate if they are not the newest ones', async () => {
    const presented = await present(4)
    const others = presented.map((one, at) => ({ ...one, counter: at % 2 === 0 ? 1 : 2 }))
    const holders = await Promise.all(others.map(rotate))
    assert.deepEqual(
      holders.map((holder) => holder !== undefined),
      [true, false, true, false],
    )
  })

  it('do not wait for a session that is being changed, which alone waits for the change', async () => {
    const [first, second, third, revoked, switched] = (await present(5)) as [
      Presented,
      Presented,
      Presented,
      Presented,
      Presented,
    ]
    const late = await api.database.postgres.owner.transaction().execute(async (trx) => {
      await revokeSession(trx, revoked.sessionId, 'logout')
      await switchTeam(trx, switched.sessionId, blue.teamId)
      const pending = Promise.all([rotate(first), rotate(revoked), rotate(switched)])
      const others = await Promise.all([rotate(second), rotate(third)])
      assert.ok(others.every((holder) => holder))
      assert.equal(await Promise.race([pending, sleep(100, 'waiting')]), 'waiting')
      return { pending }
    })
    const [done, ended, moved] = await late.pending
    assert.equal(done?.sessionId, first.sessionId)
    assert.equal(ended, undefined)
    assert.equal(moved?.teamId, blue.teamId)
    assert.equal(moved?.profile.current_team.id, blue.teamId)
  })

  it('do not fail with one whose values the database rejects', async () => {
    const presented = await present(6)
    const results = await Promise.allSettled(
      presented.map((one, at) => rotate(at === 4 ? { ...one, address: 'no address' } : one)),
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      presented.map((_, at) => (at === 4 ? 'rejected' : 'fulfilled')),
    )
  })
})
