import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { billFileColumns } from '@pharos/contract/operator/bill'
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
    billing_method: 'p95',
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

test('lists the bills of a month with their money, also as the file of the API', async () => {
  const price = { currency: 'EUR', amount: '12.50' }
  const credit = { corrects: 1, billable_bps: -200, billable_octets: null, currency: 'EUR', amount: '-3.25' }
  const bill = {
    port_id: 2,
    name: '=1+1',
    billable_bps: 300,
    billable_octets: null,
    price,
    credit_note: credit,
  }
  await sql`insert into billing_periods (team_id, service_id, service_name, billing_ref, month, timezone, place, bill)
    select id, 8, 'Pool', 'INV', '2026-02', 'UTC', 0, ${JSON.stringify(bill)}::jsonb from teams`.execute(db)
  assert.match(
    await pharos('list', '--period', '2026-02'),
    /^bill \d+  2026-02  red  Pool  =1\+1: 300 bit\/s, 12\.50 EUR\n$/,
  )
  const [head, line, end] = (await pharos('list', '--period', '2026-02', '--csv')).split('\n')
  assert.deepEqual(head!.split(','), [...billFileColumns])
  const cells = line!.split(',')
  const cell = (name: (typeof billFileColumns)[number]) => cells[billFileColumns.indexOf(name)]
  assert.deepEqual(
    [
      cell('team'),
      cell('service'),
      cell('name'),
      cell('amount'),
      cell('credit_bps'),
      cell('credit_amount'),
      end,
    ],
    ['red', 'Pool', "'=1+1", '12.50', '-200', '-3.25', ''],
  )
  assert.equal(await pharos('list', '--period', '2026-01'), 'No bills of 2026-01.\n')
  await assert.rejects(pharos('list', '--period', '2026-13'), UsageError)
})

test('refuses a figure that the bill does not have, and names the option of the one that it has', async () => {
  const bill = { port_id: 3, name: 'et-0/0/3', price: null, billable_bps: null, billable_octets: null }
  const add = async (service: number, method: string) => {
    const { rows } = await sql<{ id: number }>`
      insert into billing_periods (team_id, service_id, service_name, billing_ref, month, timezone, place, bill)
      select id, ${service}, 'Transit', '', '2026-01', 'UTC', 0, ${JSON.stringify({ ...bill, billing_method: method })}::jsonb
      from teams returning id`.execute(db)
    return String(rows[0]!.id)
  }
  const [rate, volume] = [await add(11, 'average'), await add(12, 'volume')]
  await assert.rejects(pharos('correct', rate, '--reason', 'x', '--octets', '1'), /by average .* --bps/)
  await assert.rejects(pharos('correct', volume, '--reason', 'x', '--bps', '1'), /by volume .* --octets/)
  assert.match(await pharos('correct', volume, '--reason', 'x', '--octets', '7'), /: 7 bytes\n$/)
})

test('needs a reason, one figure, and a bill that exists', async () => {
  await assert.rejects(pharos('correct', '1'), UsageError)
  await assert.rejects(pharos('correct', '1', '--reason', 'x', '--bps', '1', '--recount'), UsageError)
  await assert.rejects(pharos('correct', '1', '--reason', 'x', '--bps', '-1'), /whole number|argument/)
  await assert.rejects(pharos('correct', '99', '--reason', 'x'), /no such bill/)
})
