// Requests from holds: one per customer and person over all regions, and what a decision covers besides.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HoldDetails, HoldItem } from '@pharos/contract/hold'
import { regionsIn, remainingIn, requestsOf } from './requests.ts'

const at = (minute: number): string => `2026-04-01T09:0${minute}:00.000Z`

const item = (
  cidr: string,
  team: number | null,
  by: string | null,
  more: Partial<HoldItem> = {},
): HoldItem => ({
  cidr,
  team: team === null ? null : { id: team, name: `Team ${team}` },
  announcement_id: team === null ? null : 7,
  action: by === null ? null : 'announcement.update',
  requested_by: by,
  requested_by_name: by === null ? null : `${by}@example.net`,
  requested_by_staff: by === null ? null : false,
  requested_at: by === null ? null : at(1),
  ...more,
})

const hold = (
  id: number,
  region: string,
  items: HoldItem[],
  more: Partial<HoldDetails> = {},
): HoldDetails => ({
  id,
  region,
  reason: 'too_many_withdrawals',
  detail: '',
  withdrawals: items.map(({ cidr }) => cidr),
  changes: [],
  state: 'open',
  created: at(id),
  decided: null,
  decided_by: null,
  items,
  items_truncated: false,
  change_items: [],
  change_items_truncated: false,
  ...more,
})

describe('requests of the inbox', () => {
  it('are one for a customer and person, over all regions', () => {
    const web = item('203.0.113.0/24', 1, 'user:1')
    const mail = item('198.51.100.0/24', 1, 'user:1', { requested_at: at(3) })
    const [request, ...rest] = requestsOf([
      hold(2, 'fra', [web, mail]),
      hold(1, 'ams', [web]),
      hold(3, 'lon', [web]),
      hold(4, 'nyc', [web]),
    ])
    assert.equal(rest.length, 0)
    assert.deepEqual(
      request!.holds.map(({ region }) => region),
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
      hold(2, 'fra', [item('198.18.0.0/24', 2, 'user:2'), item('192.0.2.0/24', 1, 'user:1')]),
      hold(1, 'ams', [item('192.0.2.0/24', 1, 'user:1')]),
      hold(3, 'lon', [item('198.18.9.0/24', 3, 'user:3')]),
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
      hold(1, 'ams', [
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
      hold(1, 'ams', [], { change_items: [changed], change_items_truncated: true }),
      hold(2, 'fra', [changed]),
    ])
    assert.deepEqual(regionsIn(request!, 'changedIn'), ['ams'])
    assert.deepEqual(regionsIn(request!, 'withdrawnIn'), ['fra'])
    assert.equal(request!.isPartial, true)
  })

  it('leave out no hold, not even one without a list', () => {
    const [request] = requestsOf([hold(1, 'ams', []), hold(2, 'fra', [])])
    assert.deepEqual(
      request!.holds.map(({ id }) => id),
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
