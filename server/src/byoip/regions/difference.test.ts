// The differences between the rows of a region and its routers, as staff see them after a restore.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { differencesOf } from './difference.ts'
import { planRoutes, type PlanRow } from './plan.ts'
import type { Route } from './speaker.ts'

const prefix = parsePrefix('192.0.2.0/24')
const asn = 64500

const rowOf = (rest: Partial<PlanRow> = {}): PlanRow => ({
  announcementId: 5,
  teamId: 3,
  regionId: 1,
  prefix,
  originAsn: 64496,
  checkedOrigin: 64496,
  desired: true,
  requested: false,
  state: 'announced',
  reason: null,
  attrs: null,
  announcedOrigin: null,
  changedMs: null,
  changedEntry: null,
  limitMs: null,
  ...rest,
})
const routeOf = (rest: Partial<Route> = {}): Route => ({
  prefix,
  asPath: [64496],
  nextHop: '0.0.0.0',
  communities: [],
  largeCommunities: [],
  ...rest,
})

function compare(
  rows: readonly PlanRow[],
  routers: Readonly<Record<string, { readonly has?: readonly Route[]; readonly had?: readonly Route[] }>>,
  drained: readonly string[] = [],
) {
  return differencesOf(
    Object.entries(routers).map(([name, { has = [], had = [] }]) => ({
      name,
      plan: planRoutes({ regionId: 1, asn, routes: {}, drained: drained.includes(name) }, rows, has),
      known: new Map<Prefix, Route>(had.map((route) => [route.prefix, route])),
    })),
  )
}

const via = 'AS64496 via 0.0.0.0'

describe('the differences of a region', () => {
  it('are none if rows and routers agree, also about routes that a restart has lost', () => {
    assert.deepEqual(compare([rowOf()], { r1: { has: [routeOf()] } }), { routes: [], blackholes: [] })
    assert.deepEqual(compare([rowOf()], { r1: { had: [routeOf()] } }).routes, [])
    assert.deepEqual(compare([rowOf({ desired: false })], { r1: {} }).routes, [])
  })

  it('name a prefix that was disabled after the backup: it would be announced', () => {
    const [one, ...others] = compare([rowOf()], { r1: {}, r2: {} }).routes
    assert.deepEqual(others, [])
    assert.deepEqual(one, {
      subject: prefix,
      kind: 'add',
      teamId: 3,
      database: { announcement_id: 5, route: via },
      network: null,
      adoptable: true,
    })
  })

  it('name a prefix that was enabled after the backup: it would be withdrawn, also if a restart has lost it', () => {
    for (const router of [{ has: [routeOf()] }, { had: [routeOf()] }]) {
      const [one] = compare([rowOf({ desired: false })], { r1: router }).routes
      assert.equal(one?.kind, 'remove')
      assert.deepEqual(one.network, { routes: { r1: via } })
      assert.equal(one.adoptable, true)
    }
  })

  it('can adopt neither a route without an announcement nor one with another origin', () => {
    const [unknown] = compare([], { r1: { has: [routeOf()] } }).routes
    assert.deepEqual([unknown?.kind, unknown?.database, unknown?.adoptable], ['remove', null, false])
    const [other] = compare([rowOf()], { r1: { has: [routeOf({ asPath: [64497] })] } }).routes
    assert.deepEqual([other?.kind, other?.adoptable], ['change', false])
    assert.deepEqual(other?.network, { routes: { r1: 'AS64497 via 0.0.0.0' } })
    const [former] = compare([rowOf({ desired: false })], {
      r1: { has: [routeOf({ asPath: [64497] })] },
    }).routes
    assert.equal(former?.adoptable, false)
  })

  it('leave out drained routers and invalid rows', () => {
    assert.deepEqual(compare([rowOf()], { r1: { has: [routeOf()] }, r2: {} }, ['r2']).routes, [])
    assert.deepEqual(compare([rowOf({ checkedOrigin: null })], { r1: { has: [routeOf()] } }).routes, [])
  })

  it('list black holes apart', () => {
    const host = parsePrefix('192.0.2.7/32')
    const row = rowOf({ announcementId: null, blackholeId: 9, prefix: host })
    const { routes, blackholes } = compare([rowOf(), row], { r1: { has: [routeOf()] } })
    assert.deepEqual(routes, [])
    assert.deepEqual(
      blackholes.map(({ subject, kind, adoptable }) => [subject, kind, adoptable]),
      [[host, 'add', true]],
    )
  })
})
