// Counts of regions, routers and BGP sessions by state, for the page of regions and for the state of the installation. Unknown is never counted as
// healthy, and drained routers are not counted. Pure.
import type { AdminRegion, RegionRouter } from './region.ts'

export type RegionHealth = { readonly ok: number; readonly bad: number; readonly unknown: number }

const healthOf = (results: readonly (boolean | null)[]): RegionHealth => ({
  ok: results.filter((one) => one === true).length,
  bad: results.filter((one) => one === false).length,
  unknown: results.filter((one) => one === null).length,
})

/** A result that is older says nothing about now, whatever the interval of the installation is. */
const staleMs = 1_800_000

/** Returns whether a region is healthy; null if unknown. Missing sessions are a problem. */
export function regionResult(region: AdminRegion, now = Date.now()): boolean | null {
  const { last_check: checked, last_check_result: result, neighbors_ipv4, neighbors_ipv6, routers } = region
  if (checked !== null && now - Date.parse(checked) > staleMs) return null
  if (result !== true) return result
  if (!neighbors_ipv4 || !neighbors_ipv6) return false
  if (routers.some((one) => one.drained === null && one.last_check_result === false)) return false
  return routers.some((one) => one.last_check_result === null) ? null : true
}

export const healthOfRegions = (regions: readonly AdminRegion[], now?: number): RegionHealth =>
  healthOf(regions.map((region) => regionResult(region, now)))

const active = (routers: readonly RegionRouter[]) => routers.filter(({ drained }) => drained === null)

export const healthOfRouters = (routers: readonly RegionRouter[]): RegionHealth =>
  healthOf(active(routers).map((one) => one.last_check_result))

/** The sessions of a router that could not be read are unknown, even if read earlier. */
export const healthOfSessions = (routers: readonly RegionRouter[]): RegionHealth =>
  healthOf(
    active(routers).flatMap(({ last_check_result: result, neighbors }) =>
      neighbors.map(({ state }) => (result === true ? state === 'established' : null)),
    ),
  )
