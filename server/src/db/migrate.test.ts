import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { digestOf } from './former-history.ts'
import { listMigrations, migrate, migrationsFolder, pendingMigrations } from './migrate.ts'
import { baseline } from './migration-file.ts'
import { readSchemaFloor } from './schema-floor.ts'
import { createTestDatabase } from './testing.ts'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-migrations-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const head = (phase: string, runsWith: string) => `-- phase: ${phase}\n-- runs with: ${runsWith}\n`
const empty = folderOf({})
const first = { '001-cats.sql': 'create table cats (id integer);' }
const second = { ...first, '002-dogs.sql': 'create table dogs (id integer);' }

/** Two connections to an empty database: a lock must be visible from another session. */
async function withClients(work: (client: Client, other: Client) => Promise<void>): Promise<void> {
  await using database = await createTestDatabase({ migrations: empty })
  const client = await database.postgres.directConnection()
  const other = await database.postgres.directConnection()
  try {
    await work(client, other)
  } finally {
    await client.end()
    await other.end()
  }
}

async function tables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
  )
  return rows.map(({ name }) => name)
}

describe('migrate', () => {
  it('applies the missing migrations, in order, and none the second time', async () => {
    await withClients(async (client) => {
      assert.deepEqual(await migrate(client, { folder: folderOf(first) }), {
        applied: ['001-cats.sql'],
        waiting: [],
        version: 1,
      })
      assert.deepEqual(await migrate(client, { folder: folderOf(second) }), {
        applied: ['002-dogs.sql'],
        waiting: [],
        version: 2,
      })
      assert.deepEqual(await migrate(client, { folder: folderOf(second) }), {
        applied: [],
        waiting: [],
        version: 2,
      })
      assert.deepEqual(await tables(client), ['cats', 'dogs', 'migrations'])
    })
  })

  it('runs once if two processes start at the same time', async () => {
    await withClients(async (client, other) => {
      const folder = folderOf(second)
      const results = await Promise.all([migrate(client, { folder }), migrate(other, { folder })])
      assert.deepEqual(results.map(({ applied }) => applied.length).sort(), [0, 2])
    })
  })

  it('leaves no trace of a file that fails, keeps those before it, and names file and line', async () => {
    await withClients(async (client, other) => {
      const broken = {
        ...first,
        '002-dogs.sql': 'create table dogs (id integer);\n-- ü\ncreate tabel birds ();\n',
      }
      await assert.rejects(
        migrate(client, { folder: folderOf(broken) }),
        /^Error: 002-dogs\.sql:3: syntax error .*SQLSTATE 42601/,
      )
      assert.deepEqual(await tables(client), ['cats', 'migrations'])
      assert.deepEqual((await migrate(other, { folder: folderOf(second) })).applied, ['002-dogs.sql'])
    })
  })

  it('refuses an applied file that has changed, and changes nothing', async () => {
    await withClients(async (client) => {
      await migrate(client, { folder: folderOf(first) })
      const changed = {
        '001-cats.sql': 'create table cats (id bigint);',
        '002-dogs.sql': 'create table dogs ();',
      }
      await assert.rejects(
        migrate(client, { folder: folderOf(changed) }),
        /001-cats\.sql is not the file that was applied/,
      )
      assert.deepEqual(await tables(client), ['cats', 'migrations'])
    })
  })

  it('refuses a database that is newer than the code', async () => {
    await withClients(async (client) => {
      await migrate(client, { folder: folderOf(second) })
      await assert.rejects(
        migrate(client, { folder: folderOf(first) }),
        /newer than this Pharos [\d.]+\S*: it contains 002-dogs\.sql\. Start the newer Pharos/,
      )
    })
  })

  it('releases its lock after a failure', async () => {
    await withClients(async (client, other) => {
      await assert.rejects(migrate(client, { folder: folderOf({ '001-bad.sql': 'nonsense' }) }))
      const { rows } = await other.query('select pg_try_advisory_lock(1885892978) as free')
      assert.deepEqual(rows, [{ free: true }])
    })
  })
})

describe('a history that other files have replaced', () => {
  const folder = folderOf({
    '001-cats.sql': 'create table cats (id integer);',
    '002-dogs.sql': 'create table dogs (id integer);',
    '003-coats.sql': 'alter table cats add column coat text;',
  })
  const steps = listMigrations(folder)
  const former = { steps: 3, sha256: digestOf(steps), files: 1 }
  const replaced = {
    '001-pets.sql': 'create table cats (id integer, coat text); create table dogs (id integer);',
  }
  const later = {
    ...replaced,
    '002-birds.sql': `${head('expand', '0.2.0-rc.1')}create table birds (id integer);`,
  }
  const next = { folder: folderOf(later), former }

  it('is replaced, once, by that of the files, whose later steps follow', async () => {
    await withClients(async (client) => {
      await migrate(client, { folder })
      await client.query('insert into cats values (7)')
      assert.deepEqual(await pendingMigrations(client, next), ['002-birds.sql'])
      assert.deepEqual(
        await history(client),
        steps.map(({ file }) => file),
        'asking changes nothing',
      )
      for (const applied of [['002-birds.sql'], []])
        assert.deepEqual(await migrate(client, next), { applied, waiting: [], version: 2 })
      assert.deepEqual(await history(client), Object.keys(later))
      assert.deepEqual(await tables(client), ['birds', 'cats', 'dogs', 'migrations'])
      assert.deepEqual((await client.query('select id from cats')).rows, [{ id: 7 }])
      await migrate(client, { folder: folderOf(later) })
    })
  })

  it('is replaced entirely or not at all', async () => {
    await withClients(async (client) => {
      await migrate(client, { folder })
      await client.query(`
        create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
        create trigger refused before insert on migrations for each row execute function refuse()`)
      await assert.rejects(migrate(client, next), /refused/)
      assert.deepEqual(
        await history(client),
        steps.map(({ file }) => file),
      )
    })
  })

  for (const [problem, change] of Object.entries({
    'lacks a step': 'delete from migrations where number = 3',
    'has a step more': `insert into migrations (number, file, sha256) values (4, '004-x.sql', 'x')`,
    'has another step': `update migrations set sha256 = 'x' where number = 2`,
  }))
    it(`is refused if it ${problem}`, async () => {
      await withClients(async (client) => {
        await migrate(client, { folder })
        await client.query(change)
        const before = await history(client)
        for (const work of [migrate, pendingMigrations])
          await assert.rejects(
            work(client, next),
            /001-pets\.sql is not the file that was applied to this database/,
          )
        assert.deepEqual(await history(client), before)
        assert.deepEqual(await tables(client), ['cats', 'dogs', 'migrations'])
      })
    })
})

async function history(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ file: string }>('select file from migrations order by number')
  return rows.map(({ file }) => file)
}

const product = (file: string) => readFileSync(join(migrationsFolder, file), 'utf8')

/** Three releases: each adds further steps to the previous one. */
const releases = (() => {
  const first = {
    '001-base.sql': product('001-core.sql') + 'create table cats (id integer, colour text);',
  }
  const second = {
    ...first,
    '002-coats.sql': `${head('expand', '0.2.0')}alter table cats add column coat text;`,
    '003-colours.sql': `${head('contract', '0.3.0')}alter table cats drop column colour;`,
  }
  const third = {
    ...second,
    '004-tails.sql': `${head('expand', '0.3.0')}alter table cats add column tail text;`,
    '005-coats.sql': `${head('contract', '0.4.0')}alter table cats drop column coat;`,
  }
  return {
    first: { folder: folderOf(first), version: '0.2.0' },
    second: { folder: folderOf(second), version: '0.3.0' },
    third: { folder: folderOf(third), version: '0.4.0' },
  }
})()

async function columns(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = 'cats'::regclass and attnum > 0 and not attisdropped
     order by attnum`,
  )
  return rows.map(({ name }) => name)
}

const addProcess = (client: Client, version: string, secondsAgo = 0) =>
  client.query(
    `insert into processes (id, host, pid, version, roles, started, seen, loops, registries)
     values (gen_random_uuid(), 'core', 7, $1, '{api}', now(), now() - make_interval(secs => $2), '[]', '[]')`,
    [version, secondsAgo],
  )

describe('migrating while the release before runs', () => {
  it('adds first, and removes only with finish, which older processes then refuse', async () => {
    await withClients(async (client) => {
      await migrate(client, releases.first)
      const second = await migrate(client, releases.second)
      assert.deepEqual(second, { applied: ['002-coats.sql'], waiting: ['003-colours.sql'], version: 2 })
      assert.deepEqual(await columns(client), ['id', 'colour', 'coat'])
      for (const release of [releases.first, releases.second])
        assert.deepEqual(await pendingMigrations(client, release), [], release.version)
      assert.equal(await readSchemaFloor(client), '0.2.0')

      const finished = await migrate(client, { ...releases.second, steps: 'finish' })
      assert.deepEqual(finished, { applied: ['003-colours.sql'], waiting: [], version: 3 })
      assert.deepEqual(await columns(client), ['id', 'coat'])
      assert.equal(await readSchemaFloor(client), '0.3.0')
      assert.deepEqual(await pendingMigrations(client, releases.second), [])
      for (const work of [migrate, pendingMigrations])
        await assert.rejects(
          work(client, releases.first),
          /This is Pharos 0\.2\.0, and the upgrade of the database to 0\.3\.0 was finished\. Start Pharos 0\.3\.0 or later/,
        )
    })
  })

  it('finishes only when no older process was seen within a minute', async () => {
    await withClients(async (client) => {
      await migrate(client, releases.first)
      await migrate(client, releases.second)
      await addProcess(client, '0.3.0')
      await addProcess(client, '0.3.0-rc.1', 61)
      await addProcess(client, '0.2.0', 50)
      const finish = () => migrate(client, { ...releases.second, steps: 'finish' })
      await assert.rejects(
        finish(),
        /Processes older than 0\.3\.0 still run: core:7 \(Pharos 0\.2\.0, api, seen 5\d s ago\)\. Replace or stop them/,
      )
      assert.deepEqual(await columns(client), ['id', 'colour', 'coat'])
      assert.equal(await readSchemaFloor(client), '0.2.0')
      await client.query(`delete from processes where version = '0.2.0'`)
      assert.deepEqual((await finish()).applied, ['003-colours.sql'])
    })
  })

  it('continues to finish where a failed step stopped', async () => {
    await withClients(async (client, other) => {
      await migrate(client, releases.first)
      await migrate(client, releases.second)
      await client.query('create view colours as select colour from cats')
      const finish = () => migrate(other, { ...releases.second, steps: 'finish' })
      await assert.rejects(finish(), /003-colours\.sql: cannot drop column colour/)
      await client.query('drop view colours')
      assert.deepEqual((await finish()).applied, ['003-colours.sql'])
    })
  })

  it('applies unfinished steps of the release before with the next release, unless a process needs what they remove', async () => {
    await withClients(async (client) => {
      await migrate(client, releases.first)
      await migrate(client, releases.second)
      await addProcess(client, '0.2.0')
      await assert.rejects(migrate(client, releases.third), /Processes older than 0\.3\.0 still run/)
      assert.deepEqual(await columns(client), ['id', 'colour', 'coat'])
      await client.query(`update processes set version = '0.3.0'`)
      const third = await migrate(client, releases.third)
      assert.deepEqual(third, {
        applied: ['003-colours.sql', '004-tails.sql'],
        waiting: ['005-coats.sql'],
        version: 4,
      })
      assert.equal(await readSchemaFloor(client), '0.3.0')
      assert.deepEqual(await pendingMigrations(client, releases.second), [])
      await assert.rejects(pendingMigrations(client, releases.first), /upgrade of the database to 0\.3\.0/)
    })
  })

  it('refuses a release for which newer steps are too much', async () => {
    await withClients(async (client) => {
      await migrate(client, releases.third)
      await client.query(`update installation set schema_floor = null`)
      await assert.rejects(
        pendingMigrations(client, releases.first),
        /newer than this Pharos 0\.2\.0: it contains 003-colours\.sql, which needs Pharos 0\.3\.0 or later/,
      )
    })
  })

  it('applies everything to a new database, and to one that no other process uses', async () => {
    await withClients(async (client) => {
      assert.equal((await migrate(client, releases.second)).version, 3)
      assert.equal(await readSchemaFloor(client), '0.3.0')
      await addProcess(client, '0.3.0')
      assert.equal((await migrate(client, { ...releases.third, steps: 'all' })).version, 5)
      assert.equal(await readSchemaFloor(client), '0.4.0')
    })
  })

  it('does not hold up other statements while it waits for a lock', async () => {
    await withClients(async (client, other) => {
      await migrate(client, releases.first)
      await other.query('begin; lock table cats in access share mode')
      const migrated = migrate(client, releases.second)
      await using third = await connect(other)
      const isWaiting = `select from pg_locks where relation = 'cats'::regclass and not granted
        and database = (select oid from pg_database where datname = current_database())`
      while ((await third.client.query(isWaiting)).rowCount === 0) await sleep(20)
      // Queues behind the step that waits for `other`, which does not end before this has been read.
      await third.client.query('select from cats')
      await other.query('commit')
      assert.deepEqual((await migrated).applied, ['002-coats.sql'])
    })
  })
})

/** A further connection to the database of another one. */
async function connect(other: Client) {
  const client = new Client({
    host: other.host,
    port: other.port,
    database: other.database!,
    user: other.user!,
  })
  await client.connect()
  return { client, [Symbol.asyncDispose]: () => client.end() }
}

describe('a folder of migrations', () => {
  it('is numbered without gaps or duplicates', () => {
    assert.throws(() => listMigrations(folderOf({ '002-a.sql': '' })), /number 1 is expected/)
    assert.throws(
      () => listMigrations(folderOf({ '001-a.sql': '', '001-b.sql': '' })),
      /001-b\.sql.*number 2 is expected/,
    )
    assert.throws(() => listMigrations(folderOf({ '1-a.sql': '' })), /named NNN-title\.sql/)
    assert.throws(() => listMigrations(folderOf({ '001-A.sql': '' })), /named NNN-title\.sql/)
  })

  it('has phases after the baseline', () => {
    const files = Object.fromEntries(
      Array.from({ length: baseline }, (_, at) => [`${String(at + 1).padStart(3, '0')}-a.sql`, '']),
    )
    const next = `${String(baseline + 1).padStart(3, '0')}-a.sql`
    for (const text of [
      '',
      '-- A comment first.\n-- phase: expand\n',
      head('remove', '0.2.0'),
      head('expand', 'next'),
    ])
      assert.throws(
        () => listMigrations(folderOf({ ...files, [next]: text })),
        /begin with the lines "-- phase: expand"/,
      )
    const [last] = listMigrations(folderOf({ ...files, [next]: head('contract', '0.3.0-rc.1') })).slice(-1)
    assert.deepEqual([last!.phase, last!.runsWith], ['contract', '0.3.0-rc.1'])
  })

  it('may contain other files', () => {
    assert.deepEqual(
      listMigrations(folderOf({ ...first, 'README.md': '' })).map(({ file }) => file),
      ['001-cats.sql'],
    )
  })
})
