import assert from 'node:assert/strict'
import { CompiledQuery, sql } from 'kysely'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../runtime/error.ts'
import { openPostgres, type Postgres, type Trx } from './postgres.ts'
import { executeLater, runPostponed } from './team-transactions.ts'
import { createTestDatabase, type TestDatabase } from './testing.ts'

const MIGRATION = `
  do $$ begin create role pharos_tenant nologin; exception when duplicate_object then null; end $$;
  do $$ begin execute format('grant pharos_tenant to %I', current_user); end $$;
  grant usage on schema public to pharos_tenant;
  create table notes (id bigint generated always as identity primary key, team_id integer not null, text text not null);
  alter table notes enable row level security;
  create policy tenant on notes to pharos_tenant
    using (team_id = nullif(current_setting('pharos.team_id', true), '')::integer);
  grant select, insert, update on notes to pharos_tenant;
  insert into notes (team_id, text) values (1, 'one'), (1, 'uno'), (2, 'two'), (3, 'three');`

const folder = mkdtempSync(join(tmpdir(), 'pharos-migrations-'))
writeFileSync(join(folder, '001-notes.sql'), MIGRATION)

let database: TestDatabase
let postgres: Postgres
before(async () => {
  database = await createTestDatabase({
    migrations: folder,
    postgres: { timeoutFactor: 1, readConnections: 2, applicationName: 'walls' },
  })
  postgres = database.postgres
})
after(async () => {
  await database?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

type Note = { id: number; team_id: number; text: string }
const allNotes = CompiledQuery.raw('select id, team_id, text from notes order by id') as CompiledQuery<Note>
const textsOf = (notes: readonly Note[]) => notes.map(({ text }) => text)
const one = async <T>(text: string) =>
  (await postgres.owner.executeQuery<T>(CompiledQuery.raw(text))).rows[0]!

const isUnavailable = (error: unknown) => {
  assert.ok(error instanceof Failure, String(error))
  assert.equal(error.code, 'unavailable')
  assert.deepEqual(error.degraded, ['postgresql'])
  return true
}

describe('a value', () => {
  it('is the equivalent JavaScript value, and text if there is none', async () => {
    const row = await one(`select 9007199254740991 as int8, '{1,null,3}'::bigint[] as int8s,
      '2026-01-02 03:04:05.678+02'::timestamptz as at, '{2026-01-02 00:00:00+00}'::timestamptz[] as ats,
      '2026-01-02'::date as day, '2026-01-02 03:04:05'::timestamp as naive, 1.50 as numeric, '{1.50}'::numeric[] as numerics,
      '10.0.0.0/8'::cidr as cidr, '{10.0.0.0/8}'::cidr[] as cidrs, '{a,null}'::text[] as texts, '1 day'::interval as span,
      '\\x00ff'::bytea as bytes, '{"a": [1]}'::jsonb as json, true as yes`)
    assert.deepEqual(row, {
      int8: Number.MAX_SAFE_INTEGER,
      int8s: [1, null, 3],
      at: new Date('2026-01-02T01:04:05.678Z'),
      ats: [new Date('2026-01-02T00:00:00Z')],
      day: '2026-01-02',
      naive: '2026-01-02 03:04:05',
      numeric: '1.50',
      numerics: ['1.50'],
      cidr: '10.0.0.0/8',
      cidrs: ['10.0.0.0/8'],
      texts: ['a', null],
      span: '1 day',
      bytes: Buffer.from([0, 255]),
      json: { a: [1] },
      yes: true,
    })
  })

  it('that exceeds a number is an error, not another value', async () => {
    await assert.rejects(one('select 9007199254740993 as n'), /bigint 9007199254740993 does not fit/)
    await assert.rejects(one(`select 'infinity'::timestamptz as t`), /infinity is not a point in time/)
    assert.deepEqual(await one('select 1 as fine'), { fine: 1 })
  })
})

describe('a transaction in a team', () => {
  it('sees the rows of the team and no others', async () => {
    const notes = await postgres.inTeam(1, async (trx) => (await trx.executeQuery(allNotes)).rows)
    assert.deepEqual(textsOf(notes), ['one', 'uno'])
  })

  it('cannot write a row of another team', async () => {
    const write = postgres.inTeam(1, (trx) =>
      sql`insert into notes (team_id, text) values (2, 'foreign')`.execute(trx),
    )
    await assert.rejects(write, /row-level security/)
    const none = await postgres.inTeam(1, (trx) =>
      sql`update notes set text = 'x' where team_id = 2`.execute(trx),
    )
    assert.equal(none.numAffectedRows, 0n)
  })

  it('commits when its callback returns and rolls back when it throws', async () => {
    const insert = sql`insert into notes (team_id, text) values (7, 'kept')`
    await postgres.inTeam(7, (trx) => insert.execute(trx))
    const failing = postgres.inTeam(7, async (trx) => {
      await insert.execute(trx)
      throw new RangeError('changed my mind')
    })
    await assert.rejects(failing, RangeError)
    assert.deepEqual(textsOf(await postgres.readInTeam(7, allNotes)), ['kept'])
  })

  it('is not reported as committed if a caught error has aborted it', async () => {
    const caught = postgres.inTeam(8, async (trx) => {
      await sql`insert into notes (team_id, text) values (8, 'lost')`.execute(trx)
      await sql`select 1 / 0`.execute(trx).catch(() => {})
    })
    await assert.rejects(caught)
    assert.deepEqual(await postgres.readInTeam(8, allNotes), [])
  })

  it('rejects statements after its end, which would run as the owner', async () => {
    let late: (() => Promise<unknown>) | undefined
    await postgres.inTeam(1, async (trx) => {
      late = () => trx.executeQuery(allNotes)
    })
    await assert.rejects(late!(), /transaction has ended/)
  })

  it('waits for statements that were sent and not awaited', async () => {
    await postgres.inTeam(9, async (trx) => {
      void sql`insert into notes (team_id, text) values (9, 'sent')`.execute(trx)
    })
    assert.deepEqual(textsOf(await postgres.readInTeam(9, allNotes)), ['sent'])
  })

  it('runs the statements of one turn in their order, and none after one that fails', async () => {
    const insert = (text: string) => sql`insert into notes (team_id, text) values (10, ${text})`
    const count = sql<{ count: number }>`select count(*)::integer as count from notes`
    const counts = await postgres.inTeam(10, (trx) =>
      Promise.all([count.execute(trx), insert('a').execute(trx), count.execute(trx)]),
    )
    assert.deepEqual(
      counts.map(({ rows }) => rows),
      [[{ count: 0 }], [], [{ count: 1 }]],
    )
    const failing = postgres.inTeam(10, async (trx) => {
      const results = await Promise.allSettled([
        insert('b').execute(trx),
        sql`select 1 / 0`.execute(trx),
        insert('c').execute(trx),
      ])
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'rejected'],
      )
    })
    await assert.rejects(failing)
    assert.deepEqual(textsOf(await postgres.readInTeam(10, allNotes)), ['a'])
  })

  it('sends a postponed statement before the next one and with the commit, but not for a rollback', async () => {
    const insert = (text: string) => sql`insert into notes (team_id, text) values (11, ${text})`
    await postgres.inTeam(11, async (trx) => {
      await executeLater(trx, insert('before a read'))
      assert.deepEqual(textsOf((await trx.executeQuery(allNotes)).rows), ['before a read'])
      await executeLater(trx, insert('before the commit'))
    })
    const failing = postgres.inTeam(11, async (trx) => {
      await executeLater(trx, insert('never'))
      throw new RangeError('changed my mind')
    })
    await assert.rejects(failing, RangeError)
    assert.deepEqual(textsOf(await postgres.readInTeam(11, allNotes)), ['before a read', 'before the commit'])
  })

  it('fails with the error of a postponed statement, in whatever message it was', async () => {
    const foreign = sql`insert into notes (team_id, text) values (2, 'foreign')`
    const one = sql`select 1`
    const works: ((trx: Trx) => Promise<unknown>)[] = [
      (trx) => executeLater(trx, foreign),
      (trx) => executeLater(trx, foreign).then(() => one.execute(trx)),
      (trx) => executeLater(trx, foreign).then(() => runPostponed(trx)),
      // In the message of a statement that succeeds.
      (trx) => Promise.all([one.execute(trx), executeLater(trx, foreign)]),
      (trx) => Promise.all([one.execute(trx), executeLater(trx, foreign)]).then(() => one.execute(trx)),
      (trx) => executeLater(trx, foreign).then(() => one.execute(trx).catch(() => {})),
    ]
    for (const work of works) await assert.rejects(postgres.inTeam(1, work), /row-level security/)
    assert.deepEqual(textsOf(await postgres.readInTeam(2, allNotes)), ['two'])
  })

  it('runs nothing if the role cannot be entered, although its statements were sent', async () => {
    // Policies do not bind it, as they do not bind the owner.
    const role = `outsider_${process.pid}`
    await one(`create role ${role} login bypassrls password 'outsider'`)
    await one(`grant select, insert on notes to ${role}`)
    const databaseUrl = database.databaseUrl.replace(
      /^postgresql:\/\/[^@]*@/,
      `postgresql://${role}:outsider@`,
    )
    await using outsider = await openPostgres({ databaseUrl, dataDir: '' })
    const insert = sql`insert into notes (team_id, text) values (12, 'as the owner')`
    const works: ((trx: Trx) => Promise<unknown>)[] = [
      (trx) => trx.executeQuery(allNotes),
      (trx) => insert.execute(trx),
      (trx) => executeLater(trx, insert),
      (trx) => executeLater(trx, insert).then(() => trx.executeQuery(allNotes)),
    ]
    for (const work of [...works, ...works])
      await assert.rejects(outsider.inTeam(12, work), /permission denied to set role/)
    assert.deepEqual(textsOf(await postgres.readInTeam(12, allNotes)), [])
  })

  it('leaves neither role nor team behind on its connection', async () => {
    const seen = new Set<unknown>()
    for (let n = 0; n < 20; n++) {
      await postgres.inTeam(2, (trx) => sql`select 1`.execute(trx))
      seen.add((await one<{ role: string }>('select current_role as role')).role)
    }
    assert.equal(seen.has('pharos_tenant'), false)
  })

  it('needs a team', async () => {
    for (const teamId of [0, -1, 1.5, Number.NaN, 2 ** 31, '1; drop table notes' as unknown as number]) {
      await assert.rejects(
        postgres.inTeam(teamId, () => Promise.resolve()),
        /not a team id/,
      )
      await assert.rejects(postgres.readInTeam(teamId, allNotes), /not a team id/)
    }
  })
})

describe('a shared read', () => {
  it('returns each of many teams its own rows, however they are mixed', async () => {
    const wanted: Record<number, string[]> = { 1: ['one', 'uno'], 2: ['two'], 3: ['three'], 4: [] }
    const reads = Array.from({ length: 2_000 }, async (_, n) => {
      const teamId = 1 + ((n * 7_919) % 4)
      if (n % 97 === 0) await sleep(n % 5)
      assert.deepEqual(textsOf(await postgres.readInTeam(teamId, allNotes)), wanted[teamId])
    })
    await Promise.all(reads)
  })

  it('that fails does not disturb those before and after it', async () => {
    const bad = [
      CompiledQuery.raw('select 1 / $1::integer', [0]),
      CompiledQuery.raw('select nothing from nowhere'),
      CompiledQuery.raw('select $1::integer', ['ten']),
      CompiledQuery.raw('select 9007199254740993'),
      CompiledQuery.raw('selekt'),
    ]
    const reads = Array.from({ length: 100 }, async (_, n) => {
      if (n % 4 === 1) return await assert.rejects(postgres.readInTeam(1, bad[(n >> 2) % bad.length]!))
      return assert.deepEqual(textsOf(await postgres.readInTeam(1 + (n % 3), allNotes)).length > 0, true)
    })
    await Promise.all(reads)
  })

  it('cannot write', async () => {
    const write = CompiledQuery.raw(`insert into notes (team_id, text) values (1, 'written') returning id`)
    await assert.rejects(postgres.readInTeam(1, write), /read-only transaction/)
  })

  it('survives a change of a table under its prepared statement', async () => {
    const star = CompiledQuery.raw('select * from changing')
    await one('create table changing as select 1 as a')
    await one('grant select on changing to pharos_tenant')
    assert.deepEqual(await postgres.readInTeam(1, star), [{ a: 1 }])
    await one('alter table changing add column b integer default 2')
    const results = await Promise.all([1, 2, 3, 4].map((teamId) => postgres.readInTeam(teamId, star)))
    assert.deepEqual(
      results,
      Array.from({ length: 4 }, () => [{ a: 1, b: 2 }]),
    )
  })

  it('returns nothing if entering the team failed, although its statement was sent', async (t) => {
    const { superuser } = await one<{ superuser: string }>(
      `select current_setting('is_superuser') as superuser`,
    )
    if (superuser !== 'on') return t.skip('only a superuser can revoke set_config')
    // The function that enters the team is revoked from the role: the statement after it in the same message must not run.
    assert.deepEqual(textsOf(await postgres.readInTeam(2, allNotes)), ['two'])
    await one('revoke execute on function set_config(text, text, boolean) from public')
    try {
      for (const teamId of [3, 1, 3])
        await assert.rejects(postgres.readInTeam(teamId, allNotes), /permission denied/)
    } finally {
      await one('grant execute on function set_config(text, text, boolean) to public')
    }
    assert.deepEqual(textsOf(await postgres.readInTeam(3, allNotes)), ['three'])
  })

  it('continues after its connections were lost, and returns unavailable to waiting calls', async () => {
    const slow = CompiledQuery.raw('select pg_sleep(600)')
    const waiting = Promise.all(
      [1, 2, 3].map((teamId) => assert.rejects(postgres.readInTeam(teamId, slow), isUnavailable)),
    )
    // Again for those whose connection is opened only now.
    for (let over = false; !over;) {
      await one(`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'walls read' and datname = current_database()`)
      over = await Promise.race([waiting.then(() => true), sleep(100, false)])
    }
    assert.deepEqual(textsOf(await postgres.readInTeam(2, allNotes)), ['two'])
  })

  it('continues at once after its connections were lost while idle', async () => {
    await Promise.all([1, 2, 3, 4].map((teamId) => postgres.readInTeam(teamId, allNotes)))
    await one(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'walls read' and datname = current_database()`)
    await sleep(100)
    assert.deepEqual(textsOf(await postgres.readInTeam(1, allNotes)), ['one', 'uno'])
  })
})

describe('a connection', () => {
  it('that is lost within a transaction is an unavailable database, and its slot in the pool is released', async () => {
    for (let n = 0; n < 12; n++) {
      const lost = postgres.inTeam(1, async (trx) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
        await one(`select pg_terminate_backend(${rows[0]!.pid})`)
        await sleep(20)
        await sql`select 1`.execute(trx)
      })
      await assert.rejects(lost, isUnavailable)
    }
    assert.equal(await postgres.inTeam(1, () => Promise.resolve('fine')), 'fine')
  })

  it('has a name and its timeouts', async () => {
    const settings = sql<Record<string, string>>`select current_setting('application_name') as name,
      current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
      current_setting('idle_in_transaction_session_timeout') as idle`
    assert.deepEqual((await settings.execute(postgres.owner)).rows[0], {
      name: 'walls owner',
      statement: '1min',
      lock: '10s',
      idle: '1min',
    })
    assert.deepEqual(await postgres.inTeam(1, async (trx) => (await settings.execute(trx)).rows[0]), {
      name: 'walls team',
      statement: '10s',
      lock: '5s',
      idle: '15s',
    })
    const direct = await postgres.directConnection()
    assert.deepEqual((await direct.query(`show statement_timeout`)).rows, [{ statement_timeout: '0' }])
    await direct.end()
  })
})

describe('an unreachable database', () => {
  const everyWay = [
    (away: Postgres) => away.ping(),
    (away: Postgres) => away.inTeam(1, (trx) => sql`select 1`.execute(trx)),
    (away: Postgres) => away.readInTeam(1, allNotes),
    (away: Postgres) => away.directConnection(),
    (away: Postgres) => sql`select 1`.execute(away.owner),
    (away: Postgres) => away.owner.transaction().execute((trx) => sql`select 1`.execute(trx)),
  ]

  it('is unavailable for every kind of query: no port', async () => {
    await using away = await openPostgres({ databaseUrl: 'postgresql://x@127.0.0.1:1/x', dataDir: '' })
    for (const ask of everyWay) await assert.rejects(ask(away), isUnavailable)
  })

  it('is unavailable for every kind of query: no socket', async () => {
    await using away = await openPostgres({
      databaseUrl: 'postgresql://x@localhost/x?host=/nonexistent',
      dataDir: '',
    })
    for (const ask of everyWay) await assert.rejects(ask(away), isUnavailable)
  })

  it('is unavailable for every kind of query: it hangs up', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    await using away = await openPostgres({ databaseUrl: `postgresql://x@127.0.0.1:${port}/x`, dataDir: '' })
    for (const ask of everyWay) await assert.rejects(ask(away), isUnavailable)
    server.close()
  })
})

describe('a server without a connection left', () => {
  const limit = 3
  let limited: string
  before(async () => {
    const role = `limited_${process.pid}`
    await sql
      .raw(`create role ${role} login connection limit ${limit} password 'limited'`)
      .execute(postgres.owner)
    await sql.raw(`grant pharos_tenant to ${role}`).execute(postgres.owner)
    limited = database.databaseUrl.replace(/^postgresql:\/\/[^@]*@/, `postgresql://${role}:limited@`)
  })
  const open = () => openPostgres({ databaseUrl: limited, dataDir: '', readConnections: 1 })

  it('lets statements wait for the connections that are in use', async () => {
    await using few = await open()
    const calls = Array.from({ length: 48 }, () =>
      few.inTeam(1, (trx) => sql`select pg_sleep(0.01)`.execute(trx)),
    )
    const results = await Promise.allSettled(calls)
    assert.deepEqual(
      results.filter(({ status }) => status === 'rejected'),
      [],
    )
  })

  it('reads on the connections that are open', async () => {
    await using few = await openPostgres({ databaseUrl: limited, dataDir: '', readConnections: 8 })
    await few.readInTeam(1, allNotes)
    const reads = await Promise.all(Array.from({ length: 30 }, () => few.readInTeam(1, allNotes)))
    assert.ok(reads.every((notes) => notes.length === 2))
  })

  it('is unavailable, with the time after which to repeat, if others keep all of them', async () => {
    await using others = await open()
    const releases = Promise.withResolvers<void>()
    const started = Array.from({ length: limit }, () => Promise.withResolvers<void>())
    const held = started.map(({ resolve }) =>
      others.owner.transaction().execute(async () => {
        resolve()
        await releases.promise
      }),
    )
    await Promise.race([Promise.all(started.map(({ promise }) => promise)), ...held])
    try {
      await using few = await open()
      await assert.rejects(
        few.inTeam(1, (trx) => sql`select 1`.execute(trx)),
        (error) => isUnavailable(error) && (error as Failure).retryAfterSeconds !== undefined,
      )
    } finally {
      releases.resolve()
      await Promise.all(held)
    }
  })
})

describe('the end', () => {
  it('comes once, and nothing is served after it', async () => {
    const away = await openPostgres({ databaseUrl: database.databaseUrl, dataDir: '' })
    await away.ping()
    await away.readInTeam(1, allNotes)
    await Promise.all([away.stop(), away.stop()])
    await assert.rejects(away.readInTeam(1, allNotes), /stopped/)
    await assert.rejects(away.ping())
  })
})
