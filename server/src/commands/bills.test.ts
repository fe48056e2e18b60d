import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase } from '../db/testing.ts'
import { bills } from './bills.ts'
import { UsageError } from './command.ts'
import { runCommand } from './testing.ts'

const database = await createTestDatabase()
after(() => database[Symbol.asyncDispose]())
const db = database.postgres.owner
const pharos = (...args: readonly string[]) => runCommand(database, bills, ...args)

before(async () => {
  await sql`insert into teams (slug, name) values ('red', 'Red')`.execute(db)
  const bill = {
    port_id: 1,
    name: 'et-0/0/1',
    commit_bps: 100,
    billable_bps: 500,
    billable_octets: null,
    overage_bps: 400,
    samples: 8000,
    missing_samples: 928,
    review: 'missing_samples',
    period_start: '2026-03-01T00:00:00.000Z',
    samples_sha256: 'ab',
  }
  await sql`insert into billing_periods (team_id, service_id, service_name, billing_ref, month, timezone, place, bill)
    select id, 7, 'Transit', '', '2026-03', 'UTC', 0, ${JSON.stringify(bill)}::jsonb from teams`.execute(db)
})

test('lists the bills that wait, and adds a correction that names the old one, in the audit log of the team', async () => {
  const listed = await pharos('review')
  const [, id = ''] =
    /^bill (\d+)  2026-03  red  Transit  et-0\/0\/1: 928 of 8928 samples missing, 500 bit\/s\n$/.exec(
      listed,
    ) ?? []
  assert.notEqual(id, '', listed)
  assert.match(
    await pharos('correct', id, '--reason', 'Agreed.', '--bps', '300'),
    /^bill \d+ replaces bill \d+: 300 bit\/s\n$/,
  )
  assert.equal(await pharos('review'), 'No bills need a decision.\n')
  await assert.rejects(pharos('correct', id, '--reason', 'Again.'), /was corrected before: correct bill \d+/)
  const { rows } = await sql`
    select actor, action, target, before ->> 'billable_bps' as before, after ->> 'billable_bps' as after, after ->> 'reason' as reason
    from audit_entries`.execute(db)
  assert.deepEqual(rows, [
    {
      actor: 'operator',
      action: 'bill.correct',
      target: `bill:${id}`,
      before: '500',
      after: '300',
      reason: 'Agreed.',
    },
  ])
})

test('needs a reason, one figure, and a bill that exists', async () => {
  await assert.rejects(pharos('correct', '1'), UsageError)
  await assert.rejects(pharos('correct', '1', '--reason', 'x', '--bps', '1', '--recount'), UsageError)
  await assert.rejects(pharos('correct', '1', '--reason', 'x', '--bps', '-1'), /whole number|argument/)
  await assert.rejects(pharos('correct', '99', '--reason', 'x'), /no such bill/)
})
