// Counts of regions, routers and BGP sessions by state. Unknown is never counted as healthy. Pure.
import type { AdminRegion, RegionRouter } from '@pharos/contract/operator/region'

export type Health = { readonly ok: number; readonly bad: number; readonly unknown: number }

const healthOf = (results: readonly (boolean | null)[]): Health => ({
  ok: results.filter((one) => one === true).length,
  bad: results.filter((one) => one === false).length,
  unknown: results.filter((one) => one === null).length,
})

/** Returns whether a region is healthy; null if unknown. Missing sessions are a problem. */
export function regionResult(region: AdminRegion): boolean | null {
  const { last_check_result: result, neighbors_ipv4, neighbors_ipv6, routers } = region
  if (result !== true) return result
  if (!neighbors_ipv4 || !neighbors_ipv6) return false
  if (routers.some((one) => one.drained === null && one.last_check_result === false)) return false
  return routers.some((one) => one.last_check_result === null) ? null : true
}

export const healthOfRegions = (regions: readonly AdminRegion[]): Health =>
  healthOf(regions.map(regionResult))

export const healthOfRouters = (routers: readonly RegionRouter[]): Health =>
  healthOf(routers.map((one) => one.last_check_result))

/** The sessions of a router that could not be read are unknown, even if read earlier. */
export const healthOfSessions = (routers: readonly RegionRouter[]): Health =>
  healthOf(
    routers.flatMap(({ last_check_result: result, neighbors }) =>
      neighbors.map(({ state }) => (result === true ? state === 'established' : null)),
    ),
  )
