// The rules of decisions in every area: a decision covers the changes shown to staff, is made once, has an end or no
// end, and some changes are never approved.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  approvalAreas as areaNames,
  approvalDetail,
  neverApproved,
  reasonsOf,
  type ApprovalAreaName,
  type ApprovalReason,
} from '@pharos/contract/reason/approval-reason'
import { routes } from '@pharos/contract/document/routes'
import { sql } from 'kysely'
import type { ApprovalScope } from '../src/approval/approval.store.ts'
import type { PlannedApproval, StoredItem } from '../src/approval/coverage.ts'
import { evidenceOf } from '../src/approval/coverage.ts'
import { findDecision, planApprovalsIn } from '../src/approval/plan-approvals.ts'
import { approvalsOf, decideApproval, insertApprovalRow, openApprovals } from '../src/approval/testing.ts'
import { seedRegions } from '../src/byoip/announcement/testing.ts'
import { seedZone } from '../src/dns/testing.ts'
import { basicApprovalAreas as areas } from '../src/approval/parts.ts'
import { Failure } from '../src/runtime/error.ts'
import { addTeam, addUser, createTestApi, type TestApi } from './api.ts'

/**
 * How each deciding operation of staff is bound to the content shown. An approval and a letter never change: another
 * plan has another id.
 */
const bindings: Readonly<Record<string, 'evidence' | 'id'>> = {
  approveChanges: 'id',
  rejectChanges: 'id',
  applyPlatform: 'evidence',
  changePlatform: 'evidence',
  acceptLetter: 'id',
  rejectLetter: 'id',
}

let api: TestApi
let staff = ''
let region = 0
let zone = 0
before(async () => {
  api = await createTestApi()
  const team = await addTeam(api, 'red')
  const { email } = await addUser(api, 'staff', [team], { staff: true })
  staff = (await api.signIn(email)).access
  region = (await seedRegions(api.database.postgres, ['ams']))['ams']!
  zone = (await seedZone(api.database.postgres, { teamId: team.teamId, name: 'zone.example' })).id
})
after(() => api[Symbol.asyncDispose]())

const db = () => api.database.postgres.owner
async function decide(verb: 'approve' | 'reject', id: number, body?: object) {
  const answer = await api.server.inject({
    method: 'POST',
    url: `/v3/admin/approvals/${id}/${verb}`,
    headers: { authorization: `Bearer ${staff}` },
    ...(body && { payload: body }),
  })
  return { status: answer.statusCode, body: answer.json() }
}

const items = (count: number): StoredItem[] =>
  Array.from({ length: count }, (_, at) => ({ change: 'withdraw', value: `10.0.${at}.0/24` }))

/** A plan with this number of changes in a slot of each area. */
const plans: Record<ApprovalAreaName, (count: number) => readonly [ApprovalScope, PlannedApproval]> = {
  routes: (count) => planOf({ kind: 'changes', regionId: region }, 'no_rows', count),
  dns: (count) => planOf({ kind: 'publish', zoneId: zone }, 'unexplained_removals', count),
  shield: (count) => planOf({ kind: 'no_lists', scrubber: 'edge' }, 'no_lists', count),
  platform: (count) => planOf({ kind: 'import' }, 'many_deletions', count),
}
const planOf = (scope: ApprovalScope & { kind: string }, reason: ApprovalReason, count: number) => {
  const findings = [{ reason, attrs: { deletions: [] } }]
  const evidence = evidenceOf(scope, reason, count)
  return [scope, { ...scope, findings, items: items(count), evidence }] as const
}
const plan = (area: ApprovalAreaName, count: number): Promise<number[]> => {
  const [scope, planned] = plans[area](Math.abs(count))
  return planApprovalsIn(db(), areas[area], scope, count > 0 ? [planned] : [])
}
const open = async (area: ApprovalAreaName, count: number): Promise<number> => {
  await plan(area, count)
  return (await openApprovals(db(), area))[0]!.id
}
const clear = () => sql`delete from approvals`.execute(db())

describe('operations of staff that decide', () => {
  it('are all bound to what was shown', () => {
    const deciding = routes.filter(
      ({ path, query }) =>
        /^\/v3\/admin\/.*\/(approve|accept|reject)$/.test(path) || 'evidence' in (query?.properties ?? {}),
    )
    assert.deepEqual(deciding.map(({ name }) => name).toSorted(), Object.keys(bindings).toSorted())
    for (const { name, query } of deciding)
      assert.equal('evidence' in (query?.properties ?? {}), bindings[name] === 'evidence', name)
  })
})

for (const area of areaNames)
  describe(`a decision about ${area}`, () => {
    it('is refused if the plan has grown since, for what was closed in the same transaction', async () => {
      await clear()
      const [former] = await plan(area, 4)
      const [newer] = await plan(area, 5)
      const closed = (await approvalsOf(db())).find(({ id }) => id === former)
      const [opened] = await openApprovals(db())
      assert.deepEqual([closed?.state, opened!.id, opened!.replaces], ['closed', newer, former])
      assert.equal(closed?.decided, opened!.created, 'one transaction')
      for (const verb of ['approve', 'reject'] as const) {
        const { status, body } = await decide(verb, former!)
        assert.deepEqual([status, body.code], [409, 'conflict'])
      }
      assert.equal((await decide('approve', newer!)).body.state, 'approved')
    })

    it(`covers ${areas[area].covers === 'subset' ? 'each of its changes: a smaller plan joins' : 'exactly its plan: a smaller one is another'}`, async () => {
      await clear()
      const id = await open(area, 4)
      assert.equal(await open(area, 4), id)
      assert.equal((await open(area, 3)) === id, areas[area].covers === 'subset')
    })

    it('is not asked again, as long as it is valid, if it covers exactly the plan', async () => {
      if (areas[area].covers === 'subset') return
      for (const decision of ['approved', 'rejected'] as const) {
        await clear()
        await decideApproval(db(), await open(area, 4), decision)
        assert.deepEqual(await plan(area, 4), [])
        const [, { evidence }] = plans[area](4)
        assert.equal(await findDecision(db(), areas[area], evidence), decision)
        assert.equal((await plan(area, 5)).length, 1, 'another plan is asked')
        await sql`update approvals set valid_until = now() where state = ${decision}`.execute(db())
        assert.equal(await findDecision(db(), areas[area], evidence), undefined)
        assert.equal((await plan(area, 4)).length, 1, 'a decision that has ended covers nothing')
      }
    })

    it('ends when the area says so', async () => {
      const { approvalMinutes, rejectionHours } = areas[area]
      for (const [decision, minutes] of [
        ['approved', approvalMinutes],
        ['rejected', rejectionHours === null ? null : rejectionHours * 60],
      ] as const) {
        await clear()
        const { decided, valid_until: until } = await decideApproval(db(), await open(area, 4), decision)
        assert.equal(until === null ? null : (Date.parse(until) - Date.parse(decided!)) / 60_000, minutes)
      }
    })

    it('is closed if nothing is planned any more, unless it was decided', async () => {
      await clear()
      const id = await open(area, 4)
      await plan(area, -1)
      assert.equal((await approvalsOf(db()))[0]!.state, 'closed')
      assert.equal((await decide('approve', id)).status, 409)
      const decided = await open(area, 4)
      await decideApproval(db(), decided, 'rejected')
      await plan(area, -1)
      assert.equal((await approvalsOf(db()))[0]!.state, 'rejected')
    })
  })

describe('a decision', () => {
  it('is made once, with a note, and repeating it changes nothing', async () => {
    await clear()
    const id = await open('dns', 2)
    const first = await decide('approve', id, { note: 'Agreed by telephone.' })
    assert.deepEqual([first.status, first.body.note], [200, 'Agreed by telephone.'])
    const again = await decide('approve', id, { note: 'Twice.' })
    assert.deepEqual([again.status, again.body], [200, first.body])
    const other = await decide('reject', id)
    assert.deepEqual([other.status, other.body.code], [409, 'conflict'])
    const { rows } = await sql<{ after: { note: string; items: unknown[] } }>`
      select after from audit_entries where target = ${`approval:${id}`}`.execute(db())
    assert.deepEqual(
      rows.map(({ after: { note, items } }) => [note, items.length]),
      [['Agreed by telephone.', 2]],
    )
    assert.equal((await decide('approve', 999_999)).status, 404)
  })

  it('and a loop that closes the approval at once: one of them wins', async () => {
    const won = { approved: 0, closed: 0 }
    for (let round = 0; round < 50; round++) {
      await clear()
      const area = areaNames[round % areaNames.length]!
      const id = await open(area, 4)
      // Either may be the first to lock the row.
      const work = [() => decideApproval(db(), id, 'approved'), () => plan(area, round % 2 === 0 ? -1 : 6)]
      const ordered = round % 4 < 2 ? work : work.toReversed()
      const results = await Promise.allSettled<unknown>(ordered.map((start) => start()))
      const failed = results.flatMap((one) => (one.status === 'rejected' ? [one.reason as Failure] : []))
      const row = (await approvalsOf(db())).find((one) => one.id === id)!
      assert.ok(row.state === 'approved' || row.state === 'closed', row.state)
      won[row.state]++
      assert.deepEqual(
        failed.map(({ code }) => code),
        row.state === 'approved' ? [] : ['conflict'],
      )
      assert.equal(row.decided_by, row.state === 'approved' ? 'operator' : null)
      const replaced = (await approvalsOf(db())).some(({ replaces }) => replaces === id)
      assert.ok(row.state === 'closed' || !replaced, 'a decided approval is not replaced')
      const { rows } = await sql`
        select from outbox where type = 'approval.decided' and data ->> 'id' = ${String(id)}`.execute(db())
      assert.equal(rows.length, 1, 'its end is reported once')
    }
    assert.equal(won.approved + won.closed, 50)
  })

  it('never approves changes that must not be made, whatever else speaks for them', async () => {
    await clear()
    const refused: string[] = []
    for (const area of areaNames)
      for (const reason of reasonsOf(area)) {
        const [{ kind, regionId = undefined, zoneId = undefined, scrubber = undefined }] = plans[area](1)
        const id = await insertApprovalRow(db(), {
          area,
          kind: area === 'shield' ? reason : kind!,
          ...(regionId && { regionId }),
          ...(zoneId && { zoneId }),
          ...(scrubber && { scrubber }),
          reason,
          attrs: { communities: [], deletions: [] },
        })
        assert.notEqual(approvalDetail(area, [{ reason, attrs: { communities: [], deletions: [] } }]), reason)
        const { status } = await decide('approve', id)
        if (status !== 200) refused.push(`${area} ${reason} ${status}`)
        assert.equal((await decide('reject', id)).status, status === 200 ? 409 : 200)
      }
    assert.deepEqual(refused, ['dns apex_removed 409', 'shield plan_differs 409'])
    assert.equal(refused.length, neverApproved.size)
    const id = await open('dns', 1)
    await sql`update approvals set findings = findings || '[{"reason": "apex_removed", "attrs": {}}]' where id = ${id}`.execute(
      db(),
    )
    assert.equal((await decide('approve', id)).status, 409, 'not only the gravest reason counts')
  })
})
