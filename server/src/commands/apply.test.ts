import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { createTestDatabase } from '../db/testing.ts'
import { sampleText } from '../platform/samples.ts'
import { apply } from './apply.ts'
import { UsageError } from './command.ts'
import { runCommand } from './testing.ts'

const database = await createTestDatabase()
const folder = mkdtempSync(join(tmpdir(), 'pharos-apply-'))
after(async () => {
  rmSync(folder, { recursive: true })
  await database[Symbol.asyncDispose]()
})
const pharos = (...args: readonly string[]) => runCommand(database, apply, ...args)

function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

async function teams(): Promise<unknown[]> {
  const { rows } = await sql`select slug from teams order by 1`.execute(database.postgres.owner)
  return rows.map((row) => (row as { slug: string }).slug)
}

test('a dry run prints the plan and changes nothing; the file is then applied once, as printed', async () => {
  const file = write('platform.yaml', sampleText)
  const shown = await pharos('-f', file, '--dry-run')
  assert.match(shown, /^\+ team demo \(name Demo Networks\)$/m)
  assert.match(shown, /\n= 15 to create, 0 to change, 0 to delete, 0 unchanged\n$/)
  assert.deepEqual(await teams(), [])
  assert.equal(await pharos('-f', file, '--yes'), `${shown}Applied.\n`)
  assert.deepEqual(await teams(), ['demo', 'other'])
  assert.match(await pharos('-f', file), /^= 0 to create.*15 unchanged/, 'nothing to confirm')
})

test('files are read relative to the platform file', async () => {
  write('password', 'a password of some length\n')
  const file = write('users.yaml', 'users: [{email: x@x.example, password_file: password}]\n')
  assert.match(await pharos('-f', file, '--yes'), /^\+ user x@x\.example/)
})

test('prints the plan as JSON without secrets', async () => {
  const file = write('json.yaml', 'users: [{email: y@x.example, password: a password of some length}]\n')
  const plan = JSON.parse(await pharos('-f', file, '--dry-run', '--json')) as { changes: { kind: string }[] }
  assert.deepEqual(
    plan.changes.map(({ kind }) => kind),
    ['user'],
  )
  assert.doesNotMatch(JSON.stringify(plan), /argon2|a password/)
})

test('deletes what the file no longer names only with --prune', async () => {
  const file = write('pruned.yaml', 'users: []\n')
  assert.match(await pharos('-f', file, '--yes'), /^= 0 to create, 0 to change, 0 to delete/)
  assert.match(await pharos('-f', file, '--prune', '--yes'), /^- user /m)
})

test('refuses a missing option and a missing file', async () => {
  await assert.rejects(pharos(), UsageError)
  await assert.rejects(pharos('-f', join(folder, 'none.yaml')), /none\.yaml cannot be read/)
  await assert.rejects(pharos('-f', folder, 'more'))
})

test('refuses a database without the schema, with the command to run', async () => {
  const missing = {
    ...database,
    databaseUrl: database.databaseUrl.replace(/\/pharos_test_[^?]*/, '/postgres'),
  }
  assert.notEqual(missing.databaseUrl, database.databaseUrl)
  await assert.rejects(
    runCommand(missing, apply, '-f', write('some.yaml', '')),
    /The database lacks 001-core\.sql.*pharos migrate/,
  )
})

type Ended = { readonly code: number; readonly out: string; readonly err: string }

/** Runs a process, for its exit code and streams. */
function run(...args: readonly string[]): Promise<Ended> {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const env = {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    DATABASE_URL: database.databaseUrl,
    PHAROS_SECRET: 'a-secret-of-at-least-thirty-two-bytes',
  }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, ...args], { env }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    )
    child.stdin?.end()
  })
}

test('exits with 0 if the database matches, 1 if nothing was applied, 2 for wrong usage; errors have file, line and column', async () => {
  const good = write(
    'good.yaml',
    'teams: [{slug: demo, name: Demo Networks, modules: [ipam, lighthouse], enable_dns: true}]\n',
  )
  const bad = write('bad.yaml', 'teams:\n  - {slug: a, nmae: A}\nusers: 5\n')
  const agrees = await run('apply', '-f', good)
  assert.deepEqual([agrees.code, agrees.err], [0, ''])
  const wrong = await run('apply', '-f', bad)
  assert.equal(wrong.code, 1)
  assert.match(wrong.err, /bad\.yaml:2:5: name is required\n.*bad\.yaml:2:15: nmae is not a known field/)
  assert.match(wrong.err, /bad\.yaml:3:8: users must be a list/)
  assert.doesNotMatch(wrong.err, /\n {4}at /)
  assert.equal(wrong.out, '')
  const unattended = await run('apply', '-f', write('team.yaml', 'teams: [{slug: third, name: Third}]\n'))
  assert.equal(unattended.code, 1, 'no terminal for the confirmation')
  assert.match(unattended.err, /use --yes/)
  assert.deepEqual(await teams(), ['demo', 'other'])
  const misused = await run('apply', '--prune')
  assert.equal(misused.code, 2)
  assert.match(misused.err, /-f platform\.yaml[^]*pharos apply -f/)
})
