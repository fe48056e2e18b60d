// The inbox of staff: each kind of state that waits for the provider has an entry, and the customers count the same entries.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { crossConnectStates, crossConnectStatuses } from '@pharos/contract/inventory/cross-connect'
import { examples } from '@pharos/contract/examples/index'
import { listStaffBillsRoute } from '@pharos/contract/operator/bill'
import { inboxKinds, type InboxEntry, type InboxKind } from '@pharos/contract/operator/inbox'
import type { Customer } from '@pharos/contract/operator/team'
import type { ResponseOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { insertApprovalRow, withdrawalsOf } from '../src/approval/testing.ts'
import { seedAnnouncement } from '../src/byoip/announcement/testing.ts'
import { createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { addFormerRouter, createFixtures, replaceOpenRestore, type Fixtures } from './support/fixtures.ts'

let api: TestApi
let fixtures: Fixtures
let authorization: string

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  const { access } = await openSession(api, fixtures.people.staff.userId, fixtures.red.teamId)
  authorization = `Bearer ${access}`
  await seedAnnouncement(api.database.postgres, {
    teamId: fixtures.red.teamId,
    prefix,
    enabled: true,
    regions: [fixtures.regions['ams']!, fixtures.regions['lon']!],
  })
})
after(() => api[Symbol.asyncDispose]())

async function get<T>(url: string): Promise<T> {
  const response = await api.server.inject({ url, headers: { authorization } })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}
const inbox = (query = '') =>
  get<{ results: InboxEntry[]; count: number }>(`/v3/admin/inbox?limit=1000${query}`)
const kindsOf = async () => new Set((await inbox()).results.map(({ kind }) => kind))

const owner = () => api.database.postgres.owner
const prefix = '203.0.113.128/25'
const withdrawals = withdrawalsOf([prefix])
const approval = {
  kind: 'changes',
  reason: 'too_many_withdrawals',
  attrs: { max: 3 },
  items: withdrawals,
} as const

async function addBill(): Promise<void> {
  const { results } = examples.get(listStaffBillsRoute.name)!.response as unknown as ResponseOf<
    typeof listStaffBillsRoute
  >
  const bill = { ...results[0]!, review: 'missing_samples' }
  await sql`insert into billing_periods (team_id, service_id, service_name, billing_ref, month, timezone, place, bill)
    values (${fixtures.red.teamId}, ${fixtures.red.serviceId}, 'Transit', '', '2026-03', 'UTC', 0, ${JSON.stringify(bill)}::jsonb)`.execute(
    owner(),
  )
}

/** Makes a state of each kind wait for the provider. */
const waiting: Readonly<Record<InboxKind, () => Promise<unknown>>> = {
  routes: () =>
    insertApprovalRow(owner(), { ...approval, area: 'routes', regionId: fixtures.regions['lon']! }),
  dns: () => insertApprovalRow(owner(), { area: 'dns', kind: 'catalog', reason: 'catalog_empty' }),
  shield: () =>
    insertApprovalRow(owner(), { area: 'shield', kind: 'no_lists', reason: 'no_lists', scrubber: 'edge' }),
  platform: () =>
    insertApprovalRow(owner(), {
      area: 'platform',
      kind: 'import',
      reason: 'many_deletions',
      attrs: { source: 'netbox', deletions: [] },
    }),
  // The fixtures have letters.
  letter: async () => {},
  // It stands behind more claims than a page of the list has.
  asn: async () => {
    await sql`insert into asns (team_id, asn) select ${fixtures.red.teamId}, asn from generate_series(1, 1001) asn`.execute(
      owner(),
    )
    await sql`insert into asn_proofs (team_id, asn, method, state, note, checked)
      values (${fixtures.red.teamId}, 64999, 'roa', 'valid', 'A ROA names it.', now())`.execute(owner())
  },
  cross_connect: async () => {
    for (const status of crossConnectStatuses)
      await sql`
        insert into cross_connects (team_id, service_id, circuit_id, name, status)
        values (${fixtures.red.teamId}, ${fixtures.red.serviceId}, ${`XC ${status}`}, ${status}, ${status})`.execute(
        owner(),
      )
  },
  bill: addBill,
  former_router: async () => {
    const id = await addFormerRouter(api, fixtures.regions['lon']!)
    await sql`update former_speakers set last_error = 'no connection' where id = ${id}`.execute(owner())
    // One that is being emptied waits for nobody.
    await addFormerRouter(api, fixtures.regions['lon']!)
  },
  restore: () => replaceOpenRestore(api),
}

describe('the inbox', () => {
  it('has an entry for each kind of state that waits for the provider', async () => {
    for (const kind of inboxKinds) {
      if (kind !== 'letter') assert.equal((await kindsOf()).has(kind), false, kind)
      await waiting[kind]()
      assert.ok((await kindsOf()).has(kind), kind)
    }
    assert.deepEqual(await kindsOf(), new Set(inboxKinds))
    const { results } = await inbox()
    assert.equal(new Set(results.map(({ key }) => key)).size, results.length)
    const since = results.map((entry) => entry.since)
    assert.deepEqual(since, since.toSorted())
  })

  it('has every cross connect whose next step is the provider’s, and one whose letter has arrived', async () => {
    const waits = async () =>
      (await inbox('&kind=cross_connect')).results.map(({ cross_connect: one }) => one!.status).toSorted()
    const expected = crossConnectStatuses.filter(
      (status) => crossConnectStates[status].waitsFor === 'provider',
    )
    assert.deepEqual(await waits(), expected.toSorted())
    await sql`
      insert into attachments (subject_kind, subject_id, filename, media_type, kind, purpose, sha256, content, created_by)
      select 'cross_connect', id::text, 'loa.pdf', 'application/pdf', 'other', 'loa', sha256('a'), 'a', 'operator'
      from cross_connects where status = 'awaiting_loa'`.execute(owner())
    assert.deepEqual(await waits(), [...expected, 'awaiting_loa'].toSorted())
  })

  it('has the changes of routes of one person in all regions as one entry', async () => {
    await insertApprovalRow(owner(), { ...approval, area: 'routes', regionId: fixtures.regions['ams']! })
    const { results } = await inbox('&kind=routes')
    assert.deepEqual(
      results.map(({ team, approvals }) => [team?.id, approvals.length]),
      [[fixtures.red.teamId, 2]],
    )
    assert.ok(results[0]!.approvals.every((one) => !('items' in one)))
  })

  it('has the same entries as the customers count', async () => {
    const { results: customers } = await get<{ results: Customer[] }>(
      '/v3/admin/teams?ordering=-open_requests',
    )
    assert.equal(customers[0]!.id, fixtures.red.teamId)
    for (const { id, open_requests: open } of customers)
      assert.equal(open, (await inbox(`&team_id=${id}`)).count)
    assert.equal(
      (await get<Customer>(`/v3/admin/teams/${fixtures.red.teamId}`)).open_requests,
      customers[0]!.open_requests,
    )
  })

  it('is paged, and ordered by how long its entries wait', async () => {
    const { results, count } = await inbox()
    const page = await get<{ results: InboxEntry[]; count: number }>(
      '/v3/admin/inbox?limit=2&offset=1&ordering=-since',
    )
    assert.equal(page.count, count)
    assert.deepEqual(
      page.results.map(({ key }) => key),
      results
        .toReversed()
        .slice(1, 3)
        .map(({ key }) => key),
    )
  })
})
