import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { sealAll } from '../audit/seal.ts'
import { anEntry, tamper } from '../audit/testing.ts'
import { writeAudit } from '../db/audit.ts'
import { createTestDatabase } from '../db/testing.ts'
import { audit } from './audit.ts'
import { CommandFailure, UsageError, type Command } from './command.ts'
import { runCommand, testRing } from './testing.ts'

const database = await createTestDatabase()
after(() => database[Symbol.asyncDispose]())
const db = database.postgres.owner
const pharos = (...args: readonly string[]) => runCommand(database, audit, ...args)
const seal = () => sealAll(db, testRing, new AbortController().signal)

test('an unchanged audit log verifies, up to a head recorded before', async () => {
  await assert.rejects(pharos('head'), /No entry has been sealed yet/)
  assert.match(await pharos('verify'), /^0 entries are unchanged, 0 are not checkable\nno entry/)
  await writeAudit(db, anEntry, anEntry, anEntry)
  await seal()
  const head = (await pharos('head')).trim()
  assert.match(head, /^3:[0-9a-f]{64}$/)
  assert.equal(
    await pharos('verify', '--head', head),
    `3 entries are unchanged, 0 are not checkable\nhead ${head}\n`,
  )
  assert.match(await pharos('verify', '--from', '2'), /^1 entry is unchanged, 1 is not checkable/)
  await writeAudit(db, anEntry)
  await seal()
  assert.match(await pharos('verify', '--head', head), /^4 entries/)
})

/** The output before the command fails; it must fail. */
async function failing(...args: readonly string[]): Promise<string> {
  let printed = ''
  const command: Command = {
    ...audit,
    run: (context) => audit.run({ ...context, out: (text) => void (printed += text) }),
  }
  await assert.rejects(runCommand(database, command, ...args), CommandFailure)
  return printed
}

test('a changed entry is reported with its time, and a missing one too', async () => {
  const { rows } = await sql<{ id: number; day: string }>`
    select id, to_char(at at time zone 'UTC', 'YYYY-MM-DD') as day from audit_entries order by id`.execute(db)
  const [first, second] = rows
  await tamper(db, sql`update audit_entries set target = 'test:2' where id = ${first!.id}`)
  assert.match(
    await failing('verify'),
    new RegExp(
      `^broken: seal 1, entry ${first!.id} of ${first!.day}T\\S+Z: the entry or its seal was changed\n3 entries are`,
    ),
  )
  await tamper(db, sql`delete from audit_entries where id = ${second!.id}`)
  assert.match(
    await failing('verify'),
    new RegExp(`\nbroken: seal 2, entry ${second!.id} of .*: the entry is missing\n`),
  )
  assert.match(
    await failing('verify', '--head', `9:${'0'.repeat(64)}`),
    /seal 9: the chain ends before the given head/,
  )
})

test('invalid arguments are rejected', async () => {
  for (const args of [[], ['check'], ['verify', '--head', '1:abc'], ['verify', '--from', '0'], ['head', 'x']])
    await assert.rejects(
      pharos(...args),
      (error) =>
        error instanceof UsageError || String((error as { code?: string }).code).startsWith('ERR_PARSE'),
      args.join(' '),
    )
})
