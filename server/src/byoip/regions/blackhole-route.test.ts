import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { blackholesPerRegion, blackholesPerTeam } from '@pharos/contract/shield/blackhole'
import * as fc from 'fast-check'
import { parsePrefix } from '../../net/prefix.ts'
import { guardPlans, changesForRouter, type GuardContext } from './guard.ts'
import { planRoutes, type Plan, type PlanRouter, type PlanRow } from './plan.ts'
import type { Route } from './speaker.ts'

const region: PlanRouter = { regionId: 1, asn: 64500, routes: { communities: ['64500:120'] } }

const common = {
  regionId: 1,
  originAsn: 64496,
  checkedOrigin: 64496,
  requested: false,
  state: 'withdrawn',
  reason: null,
  attrs: null,
  announcedOrigin: null,
  changedMs: null,
  changedEntry: null,
  limitMs: null,
} as const

const announcement = (prefix: string, rest: Partial<PlanRow> = {}): PlanRow => ({
  ...common,
  announcementId: 1,
  teamId: 7,
  prefix,
  desired: true,
  ...rest,
})

/** The row of a black hole that has ended, or whose announcement is gone, has no origin. */
const blackhole = (id: number, host: string, desired = true, teamId = 7): PlanRow => ({
  ...common,
  announcementId: null,
  blackholeId: id,
  teamId,
  prefix: host,
  desired,
  ...(desired ? {} : { originAsn: 0, checkedOrigin: null }),
})

function routeOf(host: string, rest: Partial<Route> = {}): Route {
  const prefix = parsePrefix(host)
  const nextHop = prefix.includes(':') ? '100::1' : '192.0.2.1'
  const communities = ['64500:120', '65535:666']
  return { prefix, asPath: [64496], nextHop, communities, largeCommunities: [], ...rest }
}

const calm: GuardContext = { routes: 0, recent: [], decisions: [] }
const guard = (plan: Plan, context: GuardContext = calm) => {
  const one = { router: 'r1', plan }
  const guarded = guardPlans([one], context)
  return { ...guarded, sends: changesForRouter(one, guarded) }
}
const prefixesOf = (routes: readonly { readonly prefix: string }[]) => routes.map(({ prefix }) => prefix)

describe('the route of a black hole', () => {
  it('has the origin of the announcement, BLACKHOLE beside the communities of the region, and a discarded next hop', () => {
    const rows = [blackhole(1, '203.0.113.77/32'), blackhole(2, '2001:db8::1/128')]
    const { announce } = planRoutes(
      { ...region, routes: { ...region.routes, nextHop4: '198.51.100.1' } },
      rows,
      [],
    )
    assert.deepEqual(announce, [routeOf('203.0.113.77/32'), routeOf('2001:db8::1/128')])
    const own = { ...region, routes: { discard4: '192.0.2.66', discard6: '100::66' } }
    const hops = planRoutes(own, rows, []).announce.map(({ nextHop }) => nextHop)
    assert.deepEqual(hops, ['192.0.2.66', '100::66'])
    assert.deepEqual(planRoutes(region, rows, announce).announce, [])
  })

  it('is never one of a network', () => {
    const { announce, quarantined } = planRoutes(region, [blackhole(1, '203.0.113.0/24')], [])
    assert.deepEqual([announce, quarantined[0]?.problem], [[], 'host_invalid'])
  })

  it('is not announced with an origin whose checks have not passed', () => {
    const row = { ...blackhole(1, '203.0.113.77/32'), checkedOrigin: 64499 }
    assert.deepEqual(planRoutes(region, [row], []).announce, [])
  })

  it('is not announced beyond the limits of a team and of the region, whatever the database contains', () => {
    const anyRows = fc.uniqueArray(
      fc
        .tuple(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 12 }), fc.boolean())
        .map(([id, teamId, desired]) => blackhole(id, `203.0.113.${id}/32`, desired, teamId)),
      { selector: ({ blackholeId }) => blackholeId, maxLength: 120 },
    )
    fc.assert(
      fc.property(anyRows, (rows) => {
        const { announce, quarantined } = planRoutes(region, rows, [])
        assert.ok(announce.length <= blackholesPerRegion)
        const wanted = rows.filter(({ desired }) => desired)
        assert.equal(announce.length + quarantined.length, wanted.length)
        const teams = Map.groupBy(announce, ({ prefix }) => rows.find((row) => row.prefix === prefix)!.teamId)
        for (const ofTeam of teams.values()) assert.ok(ofTeam.length <= blackholesPerTeam)
        // The limits are used before anything is refused.
        if (quarantined.length > 0 && announce.length < blackholesPerRegion)
          for (const { row } of quarantined) assert.equal(teams.get(row.teamId)?.length, blackholesPerTeam)
      }),
    )
  })
})

describe('the end of a black hole', () => {
  const hosts = Array.from({ length: 30 }, (_, at) => `203.0.113.${at}/32`)
  const ended = hosts.map((host, at) => blackhole(at + 1, host, false, at))
  const full: GuardContext = {
    ...calm,
    recent: [1, 2, 3].map((at) => ({ prefix: `10.0.${at}.0/24`, teamId: 7 })),
  }

  it('is never held, and uses nothing of the budget for withdrawals', () => {
    const plan = planRoutes(
      region,
      ended,
      hosts.map((host) => routeOf(host)),
    )
    const { withdraw, approval, sends } = guard(plan, full)
    assert.deepEqual([withdraw.length, approval, sends.withdraw.length], [30, undefined, 30])
    assert.ok(withdraw.every(({ counted }) => !counted))
  })

  it('passes while many rows are invalid, and while withdrawals of networks are held', () => {
    const bad = Array.from({ length: 4 }, () => announcement('10.9.9.9/24'))
    const off = announcement('10.0.0.0/24', { desired: false })
    const network = routeOf('10.0.0.0/24', { communities: [] })
    const plan = planRoutes(region, [...ended, ...bad, off], [...hosts.map((host) => routeOf(host)), network])
    const { withdraw, held } = guard(plan)
    assert.deepEqual([withdraw.length, [...held]], [30, ['10.0.0.0/24']])
  })

  it('comes at once for a black hole without a row, unless the database shows no row at all', () => {
    const lost = routeOf('203.0.113.77/32')
    const network = routeOf('10.2.0.0/24', { communities: [] })
    const plan = planRoutes(region, [announcement('10.0.0.0/24')], [lost, network])
    assert.deepEqual(
      [prefixesOf(guard(plan).withdraw), [...guard(plan).held]],
      [['203.0.113.77/32'], ['10.2.0.0/24']],
    )
    const empty = guard(planRoutes(region, [], [lost, network]))
    assert.deepEqual([empty.withdraw, empty.held.size], [[], 2])
  })

  it('is not undone by the restart of a router', () => {
    const kept = { ...region, kept: [routeOf('203.0.113.77/32')] }
    assert.deepEqual(guard(planRoutes(kept, ended, [])).sends.announce, [])
  })

  it('leaves exactly the desired black holes on a router, whatever it held', () => {
    const anyHost = fc.integer({ min: 0, max: 9 }).map((at) => hosts[at]!)
    const anyRows = fc.uniqueArray(
      fc.record({ host: anyHost, desired: fc.boolean() }).map(({ host, desired }) => ({ host, desired })),
      { selector: ({ host }) => host },
    )
    const anyRoutes = fc.uniqueArray(
      fc
        .record({ host: anyHost, other: fc.boolean() })
        .map(({ host, other }) => routeOf(host, other ? { nextHop: '192.0.2.9' } : {})),
      { selector: ({ prefix }) => prefix },
    )
    fc.assert(
      fc.property(anyRows, anyRoutes, (wanted, routes) => {
        const rows = wanted.map(({ host, desired }, at) => blackhole(at + 1, host, desired, at))
        const plan = planRoutes(region, [announcement('10.0.0.0/24'), ...rows], routes)
        const { sends } = guard(plan, { ...full, routes: 1_000 })
        const after = new Map(routes.map((route) => [route.prefix, route]))
        for (const route of sends.announce) after.set(route.prefix, route)
        for (const prefix of sends.withdraw) after.delete(prefix)
        after.delete(parsePrefix('10.0.0.0/24'))
        const desired = wanted.filter((row) => row.desired).map(({ host }) => host)
        assert.deepEqual([...after.keys()].toSorted(), desired.toSorted())
        for (const route of after.values()) assert.deepEqual(route, routeOf(route.prefix))
      }),
    )
  })
})
