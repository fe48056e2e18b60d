import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { removalsMax } from '../../approval/budget.ts'
import { itemKey } from '../../approval/coverage.ts'
import { createSandboxSpeaker } from '../../drivers/sandbox/speaker.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { damp, dampedUntil } from './damping.ts'
import {
  changeKey,
  guardPlans,
  changesForRouter,
  withdrawalOf,
  withdrawalsOfTeamMax,
  type Decision,
  type GuardContext,
  type GuardResult,
} from './guard.ts'
import { planRoutes, type Plan, type PlanRouter, type PlanRow } from './plan.ts'
import { changesForRouters } from './region-run.ts'
import { sameRoute, selfNextHop, type Route } from './speaker.ts'
import { routerOf } from './testing.ts'

const region: PlanRouter = { regionId: 1, asn: 64500, routes: {} }
const now = new Date('2026-03-01T12:00:00Z')
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000)
const prefixAt = (at: number) =>
  parsePrefix(at % 2 === 0 ? `10.0.${at}.0/24` : `2001:db8:${at.toString(16)}::/48`)

function rowOf(prefix: string, rest: Partial<PlanRow> = {}): PlanRow {
  const row = {
    announcementId: 1,
    teamId: 7,
    regionId: 1,
    originAsn: 64496,
    checkedOrigin: rest.originAsn ?? 64496,
    desired: true,
    requested: false,
    reason: null,
    attrs: null,
    announcedOrigin: null,
    changedMs: null,
    changedEntry: null,
    limitMs: null,
  }
  return { ...row, prefix, state: 'withdrawn', ...rest }
}

function routeAt(prefix: string, rest: Partial<Route> = {}): Route {
  const canonical = parsePrefix(prefix)
  const plain = { asPath: [64496], nextHop: selfNextHop(canonical), communities: [], largeCommunities: [] }
  return { prefix: canonical, ...plain, ...rest }
}

type Context = Omit<GuardContext, 'routes'>
const calm: Context = { recent: [], decisions: [] }
/** Returns the guard's decision for a region with one router, and the routes to send to it. */
function guardWith(plan: Plan, context: GuardContext) {
  const one = { router: 'r1', plan }
  const guarded = guardPlans([one], context)
  return { ...guarded, sends: changesForRouter(one, guarded) }
}
/** Guards the plan as a full run does: it covers every route of the region. */
const guardPlan = (plan: Plan, context: Context) =>
  guardWith(plan, { ...context, routes: plan.observed.size })
/** Returns so many earlier withdrawals of other prefixes of another team. */
const recently = (count: number): GuardContext['recent'] =>
  Array.from({ length: count }, (_, at) => ({ prefix: prefixAt(100 + at), teamId: 8 }))
type Guarded = Pick<GuardResult, 'approval'>
const reasonOf = ({ approval }: Guarded) => approval?.findings[0]?.reason
const withdrawalsOf = ({ approval }: Guarded) =>
  approval?.items.filter(({ change }) => change === 'withdraw').map(({ value }) => value)
const changesOf = ({ approval }: Guarded) => approval?.items.filter(({ change }) => change === 'replace')
const withdrawalKey = (prefix: Prefix) => itemKey(withdrawalOf(prefix))
const prefixesOf = (routes: readonly { prefix: Prefix }[]) => routes.map(({ prefix }) => prefix)

describe('the plan', () => {
  it('announces with the origin as path, and with an empty path if the origin is the ASN of the speaker', () => {
    const rows = [rowOf('10.0.0.0/24'), rowOf('10.0.2.0/24', { originAsn: 64500 }), rowOf('2001:db8::/48')]
    const { announce } = planRoutes(region, rows, [])
    assert.deepEqual(
      announce.map(({ prefix, asPath, nextHop }) => [prefix, asPath, nextHop]),
      [
        ['10.0.0.0/24', [64496], '0.0.0.0'],
        ['10.0.2.0/24', [], '0.0.0.0'],
        ['2001:db8::/48', [64496], '::'],
      ],
    )
  })

  it('sets the next hops and communities of the region', () => {
    const routes = { nextHop4: '192.0.2.1', nextHop6: '2001:db8::1', communities: ['64500:1'] }
    const { announce } = planRoutes({ ...region, routes }, [rowOf('10.0.0.0/24'), rowOf('2001:db8::/48')], [])
    assert.deepEqual(
      announce.map(({ nextHop, communities }) => [nextHop, communities]),
      [
        ['192.0.2.1', ['64500:1']],
        ['2001:db8::1', ['64500:1']],
      ],
    )
  })

  it('distinguishes a change of any attribute from an announcement, and never withdraws the route first', () => {
    for (const rest of [
      { asPath: [64499] },
      { asPath: [] },
      { nextHop: '192.0.2.9' },
      { communities: ['64500:9'] },
      { largeCommunities: ['64500:1:9'] },
    ]) {
      const present = routeAt('10.0.0.0/24', rest)
      const plan = planRoutes(region, [rowOf('10.0.0.0/24')], [present])
      assert.deepEqual([plan.announce, plan.withdraw, plan.keep], [[], [], []])
      assert.deepEqual(plan.change, [{ prefix: present.prefix, from: present, to: routeAt('10.0.0.0/24') }])
    }
  })

  it('compares with the last announced route as well, if the router has lost it', () => {
    const rows = [rowOf('10.0.0.0/24', { announcedOrigin: 64499 })]
    assert.deepEqual(
      planRoutes(region, rows, []).change[0]?.from,
      routeAt('10.0.0.0/24', { asPath: [64499] }),
    )
    const same = [rowOf('10.0.0.0/24', { announcedOrigin: 64496 })]
    const applied = { asn: 64500, nextHop4: '192.0.2.9' }
    const moved = planRoutes({ ...region, applied }, same, [])
    assert.equal(moved.change[0]?.from.nextHop, '192.0.2.9')
    assert.deepEqual(prefixesOf(planRoutes(region, same, []).announce), ['10.0.0.0/24'])
    const marked = { ...region, applied: { asn: 64500, communities: ['64500:9'], largeCommunities: [] } }
    assert.deepEqual(planRoutes(marked, same, []).change[0]?.from.communities, ['64500:9'])
  })

  it('counts a withdrawal that was caused by the restart of a router', () => {
    const rows = [rowOf('10.0.0.0/24', { desired: false, announcedOrigin: 64496 })]
    const plan = planRoutes(region, rows, [])
    assert.deepEqual([plan.withdraw, [...plan.lost.values()]], [['10.0.0.0/24'], [routeAt('10.0.0.0/24')]])
    const gone = planRoutes(region, [rowOf('10.0.0.0/24', { desired: false })], [])
    assert.deepEqual([gone.withdraw, gone.lost.size], [[], 0])
  })

  it('announces the last known route of an invalid row again', () => {
    const row = rowOf('10.0.0.0/24', { checkedOrigin: 64499, announcedOrigin: 64499 })
    const plan = planRoutes(region, [row], [])
    assert.equal(plan.quarantined[0]?.problem, 'origin_unchecked')
    assert.deepEqual(plan.announce, [routeAt('10.0.0.0/24', { asPath: [64499] })])
    assert.deepEqual(planRoutes(region, [row], plan.announce).announce, [])
  })

  it('announces nothing on a router that is drained', () => {
    const rows = [rowOf('10.0.0.0/24'), rowOf('10.0.2.0/24')]
    const plan = planRoutes({ ...region, drained: true }, rows, [routeAt('10.0.2.0/24')])
    assert.deepEqual([plan.announce, plan.change, plan.withdraw], [[], [], []])
  })

  it('withdraws a prefix whose row is not desired, and no prefix without a row', () => {
    const rows = [rowOf('10.0.0.0/24', { desired: false })]
    const plan = planRoutes(region, rows, [routeAt('10.0.0.0/24'), routeAt('10.0.2.0/24')])
    assert.deepEqual([plan.withdraw, plan.unexplained], [['10.0.0.0/24'], ['10.0.2.0/24']])
  })

  const bad: [string, Partial<Record<keyof PlanRow, unknown>>][] = [
    ['of another region', { regionId: 2 }],
    ['of no region', { regionId: null }],
    ['without a prefix', { prefix: null }],
    ['with host bits', { prefix: '10.0.0.1/24' }],
    ['of the default route', { prefix: '0.0.0.0/0' }],
    ['of the IPv6 default route', { prefix: '::/0' }],
    ['without a desired state', { desired: null }],
    ['with AS 0', { originAsn: 0 }],
    ['with a text for an origin', { originAsn: '64496' }],
    ['without an announcement', { announcementId: null }],
  ]
  for (const [what, rest] of bad) {
    it(`quarantines a row ${what}, and plans the others`, () => {
      const row = { ...rowOf('10.0.0.0/24', { desired: false }), ...rest } as PlanRow
      const rows = [row, rowOf('10.0.2.0/24'), rowOf('10.0.4.0/24', { desired: false })]
      const plan = planRoutes(region, rows, [routeAt('10.0.0.0/24'), routeAt('10.0.4.0/24')])
      assert.deepEqual(
        plan.quarantined.map((one) => one.row),
        [row],
      )
      assert.deepEqual([prefixesOf(plan.announce), plan.withdraw], [['10.0.2.0/24'], ['10.0.4.0/24']])
    })
  }

  it('uses neither of two rows for one prefix, in any notation', () => {
    const rows = [rowOf('2001:db8::/48'), rowOf('2001:DB8:0::/48', { desired: false })]
    const plan = planRoutes(region, rows, [routeAt('2001:db8::/48')])
    assert.deepEqual([plan.quarantined.length, plan.withdraw, plan.unexplained], [2, [], []])
  })

  it('results in the desired state when it is applied, and then in an empty plan', () => {
    fc.assert(
      fc.property(anyRows, anyRoutes, (rows, routes) => {
        const plan = planRoutes(region, rows, routes)
        const after = applied(plan.observed, plan.announce, plan.withdraw)
        for (const row of plan.rows.values()) assert.equal(after.has(row.prefix), row.desired)
        for (const prefix of plan.unexplained) assert.equal(after.get(prefix), plan.observed.get(prefix))
        const again = planRoutes(region, rows, [...after.values()])
        assert.deepEqual([again.announce, again.withdraw], [[], []])
        assert.deepEqual(again.unexplained.toSorted(), plan.unexplained.toSorted())
      }),
    )
  })

  it('changes nothing without a row', () => {
    fc.assert(
      fc.property(anyRows, anyRoutes, (rows, routes) => {
        const plan = planRoutes(region, rows, routes)
        const desired = new Map(rows.map((row) => [row.prefix, row.desired]))
        for (const { prefix } of plan.announce) assert.equal(desired.get(prefix), true)
        for (const prefix of plan.withdraw) assert.equal(desired.get(prefix), false)
        const routed = new Set([...plan.withdraw, ...plan.unexplained, ...plan.keep])
        for (const prefix of routed) assert.ok(plan.observed.has(prefix))
        for (const prefix of plan.keep) assert.ok(sameRoute(plan.observed.get(prefix)!, routeAt(prefix)))
      }),
    )
  })
})

describe('damping', () => {
  const hourMs = 3_600_000

  it('delays a prefix until the change that used up the hour is an hour old', () => {
    const limitMs = ago(13).getTime()
    assert.deepEqual(dampedUntil({ limitMs }, now), new Date(limitMs + hourMs))
    assert.equal(dampedUntil({ limitMs }, new Date(limitMs + hourMs)), undefined)
    assert.equal(dampedUntil({ limitMs: null }, now), undefined)
  })

  it('never delays a route that a router has shown since it was enabled', () => {
    const limitMs = ago(13).getTime()
    const { plan, waiting } = damp(
      planRoutes(region, [rowOf('10.0.0.0/24', { limitMs, announcedOrigin: 64496, state: 'announced' })], []),
      now,
    )
    assert.deepEqual([prefixesOf(plan.announce), waiting.size], [['10.0.0.0/24'], 0])
  })

  it('delays a route that was disabled and enabled again before a run saw it gone', () => {
    const limitMs = ago(13).getTime()
    const seenBefore = { limitMs, announcedOrigin: 64496 }
    for (const [rest, isDamped] of [
      [{ state: 'announcing', reason: null }, true],
      [{ state: 'announcing', reason: 'damped' }, true],
      [{ state: 'announcing', reason: 'no_neighbor' }, false],
      [{ state: 'announced', reason: null }, false],
    ] as const) {
      const { waiting } = damp(
        planRoutes(region, [rowOf('10.0.0.0/24', { ...seenBefore, ...rest })], []),
        now,
      )
      assert.equal(waiting.size === 1, isDamped, JSON.stringify(rest))
    }
  })

  it('delays announcements of absent routes only', () => {
    const limitMs = ago(13).getTime()
    const rows = [
      rowOf('10.0.0.0/24', { limitMs }),
      rowOf('10.0.2.0/24', { limitMs, desired: false }),
      rowOf('10.0.4.0/24', { limitMs }),
      rowOf('10.0.6.0/24'),
    ]
    const other = routeAt('10.0.4.0/24', { communities: ['64500:9'] })
    const { plan, waiting } = damp(planRoutes(region, rows, [routeAt('10.0.2.0/24'), other]), now)
    assert.deepEqual([...waiting.keys()], ['10.0.0.0/24'])
    assert.deepEqual(prefixesOf(plan.announce), ['10.0.6.0/24'])
    assert.deepEqual(prefixesOf(plan.change), ['10.0.4.0/24'])
    assert.deepEqual(plan.withdraw, ['10.0.2.0/24'])
  })
})

describe('the guard', () => {
  const routes = (count: number) => Array.from({ length: count }, (_, at) => routeAt(prefixAt(at)))
  const planOf = (count: number, off: number, rest: readonly PlanRow[] = []) =>
    planRoutes(
      region,
      // Of many teams, so that the budget of the region applies.
      [...routes(count).map(({ prefix }, at) => rowOf(prefix, { desired: at >= off, teamId: at })), ...rest],
      routes(count),
    )

  it('takes the budget from the routes of the region, also if the plan covers only a few', () => {
    const few = planOf(4, 4)
    assert.equal(guardWith(few, { ...calm, routes: 80 }).withdraw.length, 4)
    assert.equal(guardWith(few, { ...calm, routes: 79 }).withdraw.length, 0)
    assert.equal(reasonOf(guardWith(few, { ...calm, routes: 79 })), 'too_many_withdrawals')
  })

  it('does not count a withdrawal again that had no effect, unless the row was changed since', () => {
    const changedMs = ago(30).getTime()
    const attrs = { disabled: '2026-03-01T11:30:00.000Z' }
    const lingering: PlanRow = {
      ...rowOf(prefixAt(0), { desired: false, changedMs }),
      state: 'withdrawing',
      reason: 'withdrawal_sent',
      attrs,
    }
    const planned = (row: PlanRow) => planRoutes(region, [row], routes(1))
    const context = { ...calm, recent: recently(3) }
    assert.deepEqual(guardPlan(planned(lingering), context).withdraw, [
      { prefix: prefixAt(0), teamId: 7, counted: false },
    ])
    for (const rest of [{ changedMs: changedMs + 1 }, { state: 'announced' as const }, { reason: null }])
      assert.equal(guardPlan(planned({ ...lingering, ...rest }), context).withdraw.length, 0)
  })

  it('passes the withdrawal of the last prefix of a small region', () => {
    const guarded = guardPlan(planOf(1, 1), calm)
    assert.deepEqual(guarded.withdraw, [{ prefix: prefixAt(0), teamId: 0, counted: true }])
    assert.equal(guarded.approval, undefined)
  })

  it('allows three, or 5 % of the region', () => {
    assert.deepEqual([0, 3, 60, 79, 80, 10_000].map(removalsMax), [3, 3, 3, 3, 4, 500])
    assert.equal(guardPlan(planOf(50, 3), calm).withdraw.length, 3)
    assert.equal(guardPlan(planOf(100, 5), calm).withdraw.length, 5)
  })

  it('stops all withdrawals if they are over budget, and still announces', () => {
    const guarded = guardPlan(planOf(50, 4, [rowOf('192.0.2.0/24')]), calm)
    assert.deepEqual(guarded.withdraw, [])
    assert.deepEqual(prefixesOf(guarded.sends.announce), ['192.0.2.0/24'])
    assert.equal(reasonOf(guarded), 'too_many_withdrawals')
    assert.deepEqual(withdrawalsOf(guarded), [0, 1, 2, 3].map(prefixAt))
  })

  it('counts the withdrawals of the last ten minutes', () => {
    assert.equal(guardPlan(planOf(50, 1), { ...calm, recent: recently(2) }).withdraw.length, 1)
    assert.equal(guardPlan(planOf(50, 1), { ...calm, recent: recently(3) }).withdraw.length, 0)
  })

  it('counts a prefix once, however often it was withdrawn', () => {
    const again = Array.from({ length: 9 }, () => ({ prefix: prefixAt(0), teamId: 0 }))
    assert.equal(guardPlan(planOf(20, 1), { ...calm, recent: again }).withdraw.length, 1)
  })

  it('passes withdrawals that were requested by name, without a limit', () => {
    const rows = routes(20).map(({ prefix }) => rowOf(prefix, { desired: false, requested: true }))
    const guarded = guardPlan(planRoutes(region, rows, routes(20)), { ...calm, recent: recently(3) })
    assert.deepEqual([guarded.withdraw.length, guarded.approval], [20, undefined])
    assert.ok(guarded.withdraw.every(({ counted }) => !counted))
  })

  it('stops requested withdrawals too while many rows are invalid', () => {
    const rows = routes(20).map(({ prefix }) => rowOf(prefix, { desired: false, requested: true }))
    const bad = Array.from({ length: 4 }, () => rowOf('10.9.9.9/24'))
    const guarded = guardPlan(planRoutes(region, [...rows, ...bad], routes(20)), calm)
    assert.deepEqual([guarded.withdraw, guarded.held.size], [[], 20])
  })

  it('limits a team to half of the budget of the region, without blocking other teams', () => {
    assert.deepEqual([0, 60, 80, 10_000].map(withdrawalsOfTeamMax), [2, 2, 2, 250])
    const rows = routes(20).map(({ prefix }, at) =>
      rowOf(prefix, { desired: at > 3, teamId: at < 3 ? 1 : 2 }),
    )
    const guarded = guardPlan(planRoutes(region, rows, routes(20)), calm)
    assert.deepEqual(
      [prefixesOf(guarded.withdraw), [...guarded.held]],
      [[prefixAt(3)], [0, 1, 2].map(prefixAt)],
    )
  })

  it('announces held routes again on a router that was restarted', () => {
    const gone = planRoutes(
      region,
      routes(20).map(({ prefix }, at) =>
        rowOf(prefix, { desired: at > 3, announcedOrigin: 64496, teamId: at }),
      ),
      [],
    )
    const open = guardWith(gone, { ...calm, routes: 20 })
    assert.deepEqual([open.withdraw, open.sends.announce.length, open.sends.withdraw], [[], 20, []])
    const rejected = guardWith(gone, { ...calm, routes: 20, decisions: [decided(false, 1, 0, 1, 2, 3)] })
    assert.deepEqual([rejected.approval, rejected.sends.announce.length], [undefined, 20])
    const approved = guardWith(gone, { ...calm, routes: 20, decisions: [decided(true, 1, 0, 1, 2, 3)] })
    assert.deepEqual([approved.approval, approved.sends.announce.length], [undefined, 16])
  })

  it('keeps a route without a row over a restart, and no longer once its withdrawal was approved', () => {
    const kept = { ...region, kept: [routeAt(prefixAt(1), { communities: ['64500:7'] })] }
    const open = guardPlan(planRoutes(kept, [rowOf(prefixAt(0))], []), calm)
    assert.deepEqual(
      [reasonOf(open), open.sends.announce],
      ['unexplained_routes', [routeAt(prefixAt(0)), ...kept.kept]],
    )
    const approved = guardPlan(planRoutes(kept, [], []), { ...calm, decisions: [decided(true, 1, 1)] })
    assert.deepEqual([approved.approval, approved.sends.announce], [undefined, []])
  })

  it('stops changes of origin or next hop over budget, also after a restart', () => {
    const nextHop4 = '192.0.2.9'
    const moved = { ...region, routes: { nextHop4 }, applied: { asn: 64500 } }
    const few = (count: number) =>
      Array.from({ length: count }, (_, at) => rowOf(prefixAt(2 * at), { announcedOrigin: 64496 }))
    const present = (count: number) => Array.from({ length: count }, (_, at) => routeAt(prefixAt(2 * at)))
    const three = guardPlan(planRoutes(moved, few(3), present(3)), calm)
    assert.deepEqual(
      [three.approval, three.sends.announce.map(({ nextHop }) => nextHop)],
      [undefined, [nextHop4, nextHop4, nextHop4]],
    )
    const plan = planRoutes(moved, few(4), present(4))
    const four = guardPlan(plan, calm)
    assert.deepEqual(
      [reasonOf(four), changesOf(four)?.length, four.sends.announce],
      ['too_many_changes', 4, []],
    )
    assert.deepEqual(changesOf(four)?.[0], {
      change: 'replace',
      router: 'r1',
      value: prefixAt(0),
      from: 'AS64496 via 0.0.0.0',
      to: 'AS64496 via 192.0.2.9',
    })
    const restarted = guardWith(planRoutes(moved, few(4), []), { ...calm, routes: 4 })
    assert.deepEqual(restarted.sends.announce, present(4))
    const covered = new Set(plan.change.map((change) => changeKey('r1', change)))
    const decision = { ...decided(true, 1), reason: 'too_many_changes' as const, covered }
    const approved = guardPlan(plan, { ...calm, decisions: [decision] })
    assert.deepEqual([approved.approval, approved.sends.announce.length], [undefined, 4])
    const rejected = guardPlan(plan, { ...calm, decisions: [{ ...decision, approved: false }] })
    assert.deepEqual([rejected.approval, rejected.sends.announce], [undefined, []])
    const other = planRoutes({ ...moved, routes: { nextHop4: '192.0.2.8' } }, few(4), present(4))
    assert.equal(reasonOf(guardPlan(other, { ...calm, decisions: [decision] })), 'too_many_changes')
  })

  it('stops changed communities over budget, also after a restart, and an approval covers exactly these', () => {
    const rows = (count: number) =>
      routes(count).map(({ prefix }) => rowOf(prefix, { announcedOrigin: 64496 }))
    for (const communities of [{ communities: ['64500:9'] }, { largeCommunities: ['64500:1:9'] }]) {
      const tagged = {
        ...region,
        routes: communities,
        applied: { asn: 64500, communities: [], largeCommunities: [] },
      }
      const three = guardPlan(planRoutes(tagged, rows(3), routes(3)), calm)
      assert.deepEqual([three.approval, three.sends.announce.length], [undefined, 3])
      const plan = planRoutes(tagged, rows(4), routes(4))
      const four = guardPlan(plan, calm)
      assert.deepEqual(
        [reasonOf(four), changesOf(four)?.length, four.sends.announce],
        ['too_many_changes', 4, []],
      )
      const [text] = Object.values(communities).flat()
      assert.deepEqual(
        [changesOf(four)?.[0]?.from, changesOf(four)?.[0]?.to],
        ['AS64496 via 0.0.0.0', `AS64496 via 0.0.0.0 with ${text}`],
      )
      const restarted = guardWith(planRoutes(tagged, rows(4), []), { ...calm, routes: 4 })
      assert.deepEqual(restarted.sends.announce, routes(4))
      const covered = new Set(plan.change.map((change) => changeKey('r1', change)))
      const decision = { ...decided(true, 1), reason: 'too_many_changes' as const, covered }
      assert.equal(guardPlan(plan, { ...calm, decisions: [decision] }).sends.announce.length, 4)
      const other = planRoutes({ ...tagged, routes: { communities: ['64500:8'] } }, rows(4), routes(4))
      assert.equal(reasonOf(guardPlan(other, { ...calm, decisions: [decision] })), 'too_many_changes')
    }
  })

  it('empties a drained router while changes are held, and rows invalid, once the others carry the routes', () => {
    const invalid = rowOf(prefixAt(8), { checkedOrigin: 64499 })
    const rows = [...routes(5).map(({ prefix }) => rowOf(prefix)), invalid]
    const present = [...routes(5), routeAt(prefixAt(8))]
    const moved = { ...region, routes: { nextHop4: '192.0.2.9', nextHop6: '2001:db8::9' } }
    const neighbor = { address: '192.0.2.254', asn: 64501, state: 'established', families: [4, 6] } as const
    const sendsTo = (others: readonly Route[]) => {
      const plans = [
        { router: 'r1', plan: planRoutes({ ...moved, drained: true }, rows, present) },
        { router: 'r2', plan: planRoutes(moved, rows, others) },
      ]
      const guarded = guardPlans(plans, { ...calm, routes: 6 })
      assert.equal(changesOf(guarded)?.length, 5)
      const views = plans.map(({ router, plan }) => {
        const observed = plan.observed
          .values()
          .map((route) => ({ ...route, isBest: true }))
          .toArray()
        return {
          router: routerOf(createSandboxSpeaker({ region: router })),
          asn: 64500,
          daemon: router,
          observed,
          neighbors: [neighbor],
        }
      })
      return changesForRouters({ views, plans, waiting: new Map(), guarded }, 1)
    }
    const [drained, other] = sendsTo(present)
    assert.deepEqual(drained!.drain.toSorted(), prefixesOf(present).toSorted())
    assert.deepEqual([other!.announce, other!.withdraw, other!.drain], [[], [], []])
    const missing = present.filter(({ prefix }) => prefix !== prefixAt(8))
    assert.deepEqual(sendsTo(missing)[0]!.drain.toSorted(), prefixesOf(missing).toSorted())
  })

  it('stops every change that adds a reserved community, and none that keeps or removes one', () => {
    const rows = [rowOf(prefixAt(0)), rowOf(prefixAt(2))]
    const added = { ...region, routes: { communities: ['64500:1', '65535:65281'] } }
    const guarded = guardPlan(planRoutes(added, rows, [routeAt(prefixAt(0)), routeAt(prefixAt(2))]), calm)
    assert.deepEqual(guarded.approval?.findings, [
      { reason: 'reserved_communities', attrs: { communities: ['65535:65281 (NO_EXPORT)'] } },
    ])
    assert.deepEqual([changesOf(guarded)?.length, guarded.sends.announce], [2, []])
    const present = { communities: ['65535:65281'] }
    const had = [routeAt(prefixAt(0), present), routeAt(prefixAt(2), present)]
    for (const router of [added, region]) {
      const { approval, sends } = guardPlan(planRoutes(router, rows, had), calm)
      assert.deepEqual([approval, sends.announce.length], [undefined, 2])
    }
  })

  it('always stops the withdrawal of a route without a row', () => {
    const guarded = guardPlan(planRoutes(region, [rowOf(prefixAt(0))], routes(2)), calm)
    assert.deepEqual(guarded.withdraw, [])
    assert.deepEqual([reasonOf(guarded), withdrawalsOf(guarded)], ['unexplained_routes', [prefixAt(1)]])
  })

  it('stops everything if the region has no rows', () => {
    const guarded = guardPlan(planRoutes(region, [], routes(2)), calm)
    assert.deepEqual([guarded.withdraw, reasonOf(guarded)], [[], 'no_rows'])
    assert.equal(guardPlan(planRoutes(region, [], []), calm).approval, undefined)
  })

  it('reports one invalid row and passes the others; many invalid rows stop all', () => {
    const bad = (count: number) => Array.from({ length: count }, () => rowOf('10.9.9.9/24'))
    const one = guardPlan(planOf(20, 1, bad(1)), calm)
    assert.deepEqual([one.withdraw.length, reasonOf(one), withdrawalsOf(one)], [1, 'invalid_rows', []])
    const many = guardPlan(planOf(20, 1, bad(4)), calm)
    assert.deepEqual([many.withdraw, withdrawalsOf(many)], [[], [prefixAt(0)]])
  })

  it('does not ask again about invalid rows that staff have acknowledged', () => {
    const acknowledged = { ...decided(true, 1), reason: 'invalid_rows' as const }
    const guarded = guardPlan(planOf(20, 1, [rowOf('10.9.9.9/24')]), { ...calm, decisions: [acknowledged] })
    assert.deepEqual([guarded.withdraw.length, guarded.approval], [1, undefined])
  })

  const decided = (approved: boolean, minutes: number, ...places: number[]): Decision => ({
    approved,
    reason: 'too_many_withdrawals',
    covered: new Set(places.map((at) => withdrawalKey(prefixAt(at)))),
    decided: ago(minutes),
    entry: null,
  })

  it('orders decisions and changes by their audit entries, whatever the clock says', () => {
    const rows = (changedEntry: number) => [
      ...Array.from({ length: 20 }, (_, at) => rowOf(prefixAt(at + 1))),
      rowOf(prefixAt(0), { desired: false, changedMs: ago(-60).getTime(), changedEntry }),
    ]
    const guarded = (changedEntry: number, decisions: readonly Decision[]) =>
      guardPlan(planRoutes(region, rows(changedEntry), routes(21)), {
        ...calm,
        decisions,
        recent: recently(30),
      })
    const approved = { ...decided(true, 1, 0), entry: 11 }
    const rejected = { ...decided(false, 5, 0), entry: 12 }
    // The clock was set back by an hour after the row was changed.
    assert.deepEqual(prefixesOf(guarded(10, [approved]).withdraw), [prefixAt(0)])
    assert.deepEqual(prefixesOf(guarded(12, [approved]).withdraw), [])
    for (const both of [
      [approved, rejected],
      [rejected, approved],
    ])
      assert.deepEqual(prefixesOf(guarded(10, both).withdraw), [])
  })

  it('passes exactly the approved withdrawals', () => {
    const guarded = guardPlan(planOf(20, 5), {
      ...calm,
      decisions: [decided(true, 1, 0, 1, 2, 3)],
      recent: recently(3),
    })
    assert.deepEqual(prefixesOf(guarded.withdraw), [0, 1, 2, 3].map(prefixAt))
    assert.ok(guarded.withdraw.every((one) => !one.counted))
    assert.deepEqual(withdrawalsOf(guarded), [prefixAt(4)])
  })

  it('passes the withdrawal of an unexplained route that was approved by name', () => {
    const plan = planRoutes(region, [rowOf(prefixAt(0))], routes(3))
    const guarded = guardPlan(plan, { ...calm, decisions: [decided(true, 1, 1)] })
    assert.deepEqual(guarded.withdraw, [{ prefix: prefixAt(1), teamId: null, counted: false }])
    assert.deepEqual(withdrawalsOf(guarded), [prefixAt(2)])
  })

  it('keeps rejected withdrawals without asking again', () => {
    const guarded = guardPlan(planOf(20, 5), { ...calm, decisions: [decided(false, 1, 0, 1, 2, 3, 4)] })
    assert.deepEqual([guarded.withdraw, guarded.approval], [[], undefined])
    assert.deepEqual([...guarded.declined], [0, 1, 2, 3, 4].map(prefixAt))
  })

  it('applies the newest decision, and none from before the last change of the row', () => {
    const newest = { ...calm, decisions: [decided(true, 2, 0), decided(false, 1, 0)] }
    assert.deepEqual([...guardPlan(planOf(20, 1), newest).declined], [prefixAt(0)])
    const rows = [rowOf(prefixAt(0), { desired: false, changedMs: ago(1).getTime() }), rowOf(prefixAt(1))]
    const plan = planRoutes(region, rows, routes(2))
    const full = { ...calm, recent: recently(3) }
    assert.equal(guardPlan(plan, { ...full, decisions: [decided(true, 2, 0)] }).withdraw.length, 0)
    assert.equal(guardPlan(plan, { ...calm, decisions: [decided(false, 2, 0)] }).withdraw.length, 1)
    assert.equal(guardPlan(plan, { ...full, decisions: [decided(true, 0, 0)] }).withdraw.length, 1)
  })

  it('classifies every withdrawal once, and never passes more than the budget', () => {
    fc.assert(
      fc.property(anyRows, anyRoutes, anyContext, (rows, routes, context) => {
        const plan = planRoutes(region, rows, routes)
        const guarded = guardPlan(plan, context)
        const held = withdrawalsOf(guarded) ?? []
        const accounted = [...prefixesOf(guarded.withdraw), ...held, ...guarded.declined]
        assert.deepEqual(accounted.toSorted(), [...plan.withdraw, ...plan.unexplained].toSorted())
        const counted = guarded.withdraw.filter((one) => one.counted)
        const distinct = new Set([...prefixesOf(counted), ...context.recent.map(({ prefix }) => prefix)])
        if (counted.length > 0) assert.ok(distinct.size <= removalsMax(routes.length))
        for (const { prefix } of counted) assert.equal(plan.rows.get(prefix)?.desired, false)
        const named = (approved: boolean) => context.decisions.filter((one) => one.approved === approved)
        for (const { prefix } of guarded.withdraw.filter((one) => !one.counted)) {
          assert.ok(named(true).some(({ covered }) => covered.has(withdrawalKey(prefix))))
        }
        const isHeld = plan.change.length > removalsMax(routes.length)
        const changed = isHeld ? [] : plan.change.map(({ to }) => to)
        assert.deepEqual(guarded.sends.announce, [...plan.announce, ...changed])
        assert.equal(changesOf(guarded)?.length ?? 0, isHeld ? plan.change.length : 0)
        // A router that has lost everything gets exactly the routes back that must not be withdrawn.
        const lost = planRoutes(
          region,
          rows.map((row) => ({ ...row, announcedOrigin: 64496 })),
          [],
        )
        const after = guardWith(lost, { ...context, routes: routes.length })
        const back = new Set(prefixesOf(after.sends.announce))
        const gone = new Set(prefixesOf(after.withdraw))
        for (const { prefix } of rows)
          assert.equal(back.has(parsePrefix(prefix)), !gone.has(parsePrefix(prefix)))
      }),
    )
  })
})

function applied(
  observed: ReadonlyMap<Prefix, Route>,
  announce: readonly Route[],
  withdraw: readonly Prefix[],
) {
  const after = new Map(observed)
  for (const route of announce) after.set(route.prefix, route)
  for (const prefix of withdraw) after.delete(prefix)
  return after
}

const anyPrefix = fc.integer({ min: 0, max: 15 }).map(prefixAt)
const anyRows = fc.uniqueArray(
  fc
    .record({ prefix: anyPrefix, desired: fc.boolean() })
    .map(({ prefix, desired }) => rowOf(prefix, { desired })),
  { selector: ({ prefix }) => prefix },
)
const anyRoutes = fc.uniqueArray(
  fc
    .record({ prefix: anyPrefix, other: fc.boolean() })
    .map(({ prefix, other }) => routeAt(prefix, other ? { communities: ['64500:9'] } : {})),
  { selector: ({ prefix }) => prefix },
)
const anyContext = fc.record({
  recent: fc.integer({ min: 0, max: 5 }).map(recently),
  decisions: fc.array(
    fc.record({
      approved: fc.boolean(),
      reason: fc.constant('too_many_withdrawals' as const),
      covered: fc.array(anyPrefix).map((prefixes) => new Set(prefixes.map(withdrawalKey))),
      decided: fc.integer({ min: 0, max: 10 }).map(ago),
      entry: fc.option(fc.integer({ min: 1, max: 20 })),
    }),
    { maxLength: 3 },
  ),
})
