// The health of regions and routers: unknown stays unknown, and never counts as healthy.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AdminRegion, RegionRouter } from './region.ts'
import { healthOfRegions, healthOfRouters, healthOfSessions, regionResult } from './region-health.ts'

const router = (result: boolean | null, state: 'established' | 'active' = 'established'): RegionRouter => ({
  name: 'r1',
  kind: 'gobgp',
  drained: null,
  last_check: null,
  last_check_result: result,
  error: null,
  routes: null,
  neighbors: [
    {
      address: '192.0.2.1',
      asn: 64_496,
      description: null,
      state,
      families: [],
      since: null,
      end: null,
      received: null,
      missing: null,
      checked: null,
    },
  ],
})

const region = (
  result: boolean | null,
  routers: RegionRouter[],
  more: Partial<AdminRegion> = {},
): AdminRegion => ({
  slug: 'ams',
  name: 'Amsterdam',
  open: true,
  quorum: null,
  last_check: null,
  last_check_result: result,
  error: null,
  neighbors_ipv4: true,
  neighbors_ipv6: true,
  routes_missing: 0,
  routers,
  open_approval: null,
  ...more,
})

describe('the health of regions', () => {
  it('is unknown before the first check, also of one router', () => {
    assert.equal(regionResult(region(null, [router(null)])), null)
    assert.equal(regionResult(region(true, [router(true), router(null)])), null)
  })

  it('is a problem without enough sessions of a family, or with a router down that is not drained', () => {
    assert.equal(regionResult(region(true, [router(true)], { neighbors_ipv6: false })), false)
    assert.equal(regionResult(region(true, [router(true), router(false)])), false)
    const drained = { ...router(false), drained: '2026-04-01T09:00:00.000Z' }
    assert.equal(regionResult(region(true, [router(true), drained])), true)
  })

  it('counts every region, router and session once', () => {
    const routers = [router(true), router(true, 'active'), router(false), router(null)]
    assert.deepEqual(healthOfRouters(routers), { ok: 2, bad: 1, unknown: 1 })
    assert.deepEqual(healthOfSessions(routers), { ok: 1, bad: 1, unknown: 2 })
    assert.deepEqual(healthOfRegions([region(true, [router(true)]), region(false, []), region(null, [])]), {
      ok: 1,
      bad: 1,
      unknown: 1,
    })
  })
})
