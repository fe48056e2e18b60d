// Requests from approvals about routes: one per customer and person over all regions, and what a decision covers besides.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Approval, ApprovalItem } from '@pharos/contract/operator/approval'
import { regionsIn, remainingIn, requestsOf } from './requests.ts'

const at = (minute: number): string => `2026-04-01T09:0${minute}:00.000Z`

const item = (
  value: string,
  team: number | null,
  by: string | null,
  { asked = at(1), ...more }: Partial<ApprovalItem> & { readonly asked?: string } = {},
): ApprovalItem => ({
  change: 'withdraw',
  value,
  router: null,
  from: null,
  to: null,
  team: team === null ? null : { id: team, name: `Team ${team}` },
  announcement_id: team === null ? null : 7,
  requested:
    by === null
      ? null
      : { action: 'announcement.update', by, by_name: `${by}@example.net`, by_staff: false, at: asked },
  ...more,
})

const approval = (id: number, region: string, items: ApprovalItem[], count = items.length): Approval => ({
  id,
  area: 'routes',
  subject: { type: 'region', id, name: region },
  team: null,
  reason: 'too_many_withdrawals',
  reasons: [],
  detail: '',
  item_count: count,
  items,
  state: 'open',
  created: at(id),
  decided: null,
  decided_by: null,
  note: null,
  valid_until: null,
  replaces: null,
})

describe('requests of the inbox', () => {
  it('are one for a customer and person, over all regions', () => {
    const web = item('203.0.113.0/24', 1, 'user:1')
    const mail = item('198.51.100.0/24', 1, 'user:1', { asked: at(3) })
    const [request, ...rest] = requestsOf([
      approval(2, 'fra', [web, mail]),
      approval(1, 'ams', [web]),
      approval(3, 'lon', [web]),
      approval(4, 'nyc', [web]),
    ])
    assert.equal(rest.length, 0)
    assert.deepEqual(
      request!.approvals.map(({ region }) => region),
      ['ams', 'fra', 'lon', 'nyc'],
    )
    assert.deepEqual(
      request!.prefixes.map(({ cidr, withdrawnIn }) => [cidr, withdrawnIn]),
      [
        ['198.51.100.0/24', ['fra']],
        ['203.0.113.0/24', ['ams', 'fra', 'lon', 'nyc']],
      ],
    )
    assert.equal(request!.person, 'user:1@example.net')
    assert.equal(request!.paused, at(1))
    assert.equal(request!.asked, at(3))
    assert.deepEqual(request!.others, [])
  })

  it('name the others that the same decision covers, the longest waiting first', () => {
    const requests = requestsOf([
      approval(2, 'fra', [item('198.18.0.0/24', 2, 'user:2'), item('192.0.2.0/24', 1, 'user:1')]),
      approval(1, 'ams', [item('192.0.2.0/24', 1, 'user:1')]),
      approval(3, 'lon', [item('198.18.9.0/24', 3, 'user:3')]),
    ])
    assert.deepEqual(
      requests.map(({ team, others }) => [
        team?.name,
        others.map((one) => `${one.team?.name}: ${one.prefixes}`),
      ]),
      [
        ['Team 1', ['Team 2: 1']],
        ['Team 2', ['Team 1: 1']],
        ['Team 3', []],
      ],
    )
  })

  it('tell people of one customer apart, and routes that nobody asked about', () => {
    const requests = requestsOf([
      approval(1, 'ams', [
        item('192.0.2.0/24', 1, 'user:1'),
        item('198.51.100.0/24', 1, 'user:2'),
        item('203.0.113.0/24', null, null),
      ]),
    ])
    assert.deepEqual(
      requests.map(({ person }) => person).toSorted(),
      [null, 'user:1@example.net', 'user:2@example.net'].toSorted(),
    )
  })

  it('tell changed routes from withdrawals', () => {
    const changed = item('192.0.2.0/24', 1, 'user:1')
    const [request] = requestsOf([
      approval(1, 'ams', [{ ...changed, change: 'replace', router: 'r1' }], 2),
      approval(2, 'fra', [changed]),
    ])
    assert.deepEqual(regionsIn(request!, 'changedIn'), ['ams'])
    assert.deepEqual(regionsIn(request!, 'withdrawnIn'), ['fra'])
    assert.equal(request!.isPartial, true)
  })

  it('leave out no approval, not even one without a list', () => {
    const [request] = requestsOf([approval(1, 'ams', []), approval(2, 'fra', [])])
    assert.deepEqual(
      request!.approvals.map(({ id }) => id),
      [1, 2],
    )
    assert.deepEqual(requestsOf([]), [])
  })

  it('know where a prefix stays announced, or that it is not known', () => {
    const prefix = { withdrawnIn: ['ams', 'fra'] }
    assert.deepEqual(remainingIn(prefix, ['ams', 'fra', 'nyc']), ['nyc'])
    assert.deepEqual(remainingIn(prefix, ['ams']), [])
    assert.equal(remainingIn(prefix, undefined), undefined)
  })
})
