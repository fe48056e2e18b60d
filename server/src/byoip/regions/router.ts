// Routers of regions for the operator: their state, and draining a router before maintenance. This file decides only
// whether a drain is allowed; the reconciler withdraws the routes of a drained router that enough others carry.
import type { AdminRegion, listAdminRegionsRoute } from '@pharos/contract/operator/region'
import { sessionReasonText } from '@pharos/contract/reason/session-reason'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit, type AuditEntry } from '../../db/audit.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../../db/run-change.ts'
import { wake } from '../../db/wake.ts'
import { fail, notFound, type Failure } from '../../runtime/error.ts'
import type { StaffOperation } from '../../operation/operation.ts'
import type { NeighborCheck } from './evidence.ts'
import type { SessionEnd } from './speaker.ts'
import {
  countRegionRoutes,
  listRegionRows,
  lockRegionRow,
  readAllRegionRows,
  saveDrained,
  type AdminRegionRow,
  type RouterRow,
} from './router.store.ts'

export type RouterDeps = {
  readonly db: Db
  /** From checkFreshMs(). */
  readonly freshMs: number
  readonly now: () => Date
}

/** Returns the maximum age at which the last check of a region or router counts: three intervals, at least two minutes. */
export const checkFreshMs = (reconcileIntervalSeconds: number): number =>
  Math.max(120, 3 * reconcileIntervalSeconds) * 1000

/** Returns a page of all regions, and the exact count. */
export async function listAdminRegions(
  { db }: Pick<RouterDeps, 'db'>,
  _operation: unknown,
  query: QueryOf<typeof listAdminRegionsRoute>,
): Promise<{ results: AdminRegion[]; count: number }> {
  const { page, count } = await listRegionRows(db, query)
  return { results: page.map(present), count }
}

export type RegionStatus = AdminRegion & {
  readonly id: number
  /** Desired routes, and the announced part of them. */
  readonly desired: number
  readonly announced: number
}

/** Returns all regions with their counts, by slug. */
export async function readRegionStatuses(db: Db | Trx): Promise<RegionStatus[]> {
  const counts = new Map((await countRegionRoutes(db)).map((one) => [one.id, one]))
  const rows = await readAllRegionRows(db)
  return rows.map((row) => ({ desired: 0, announced: 0, ...present(row), ...counts.get(row.id), id: row.id }))
}

/** The actor of the audit entry. */
type By = Pick<AuditEntry, 'actor'> & Partial<AuditEntry>

/** Drains a router for the caller of an operation; see `setDrained`. */
export const drainRouter = (
  deps: RouterDeps,
  operation: StaffOperation,
  slug: string,
  name: string,
): Promise<ChangeAnswer<AdminRegion>> =>
  runOwnerChange(deps.db, operation, (trx) => saveDrain(trx, deps, auditOf(operation), { slug, name }, true))

/** Undrains a router for the caller of an operation; see `setDrained`. */
export const undrainRouter = (
  deps: RouterDeps,
  operation: StaffOperation,
  slug: string,
  name: string,
): Promise<ChangeAnswer<AdminRegion>> =>
  runOwnerChange(deps.db, operation, (trx) => saveDrain(trx, deps, auditOf(operation), { slug, name }, false))

export type RouterName = { readonly slug: string; readonly name: string }

/**
 * Drains or undrains the router and wakes the reconcilers; no effect if the router is already in that state. Throws
 * `not_found`, and `conflict` if the other routers of the region could not carry the routes.
 */
export const setDrained = (
  deps: RouterDeps,
  by: By,
  router: RouterName,
  isDrained: boolean,
): Promise<AdminRegion> =>
  deps.db.transaction().execute(async (trx) => (await saveDrain(trx, deps, by, router, isDrained)).body)

async function saveDrain(
  trx: Trx,
  deps: RouterDeps,
  by: By,
  { slug, name }: RouterName,
  isDrained: boolean,
): Promise<{ body: AdminRegion; before: AdminRegion }> {
  const region = await lockRegionRow(trx, slug)
  if (!region) throw notFound('region')
  const router = region.routers.find((one) => one.name === name)
  if (!router) throw notFound('router')
  const before = present(region)
  if ((router.drained !== null) === isDrained) return { body: before, before }
  const objection = isDrained ? objectionToDrain(region, name, deps) : undefined
  if (objection) throw objection
  await saveDrained(trx, region.id, name, isDrained)
  await writeAudit(trx, {
    ...by,
    teamId: null,
    action: isDrained ? 'router.drain' : 'router.undrain',
    target: `router:${slug}/${name}`,
    before: { drained: !isDrained },
    after: { drained: isDrained },
  })
  await wake(trx, 'routers')
  return { body: present((await lockRegionRow(trx, slug))!), before }
}

/** Returns the `conflict` if the other routers could not carry the routes of this one; undefined if they could. */
function objectionToDrain(
  { slug, quorum, routers }: Pick<AdminRegionRow, 'slug' | 'quorum' | 'routers'>,
  name: string,
  { freshMs, now }: Pick<RouterDeps, 'freshMs' | 'now'>,
): Failure | undefined {
  const others = routers.filter((router) => router.name !== name && router.drained === null)
  if (others.length === 0) return fail('conflict', 'lastRouter', { router: name, region: slug })
  const needed = quorum ?? others.length
  const oldestMs = now().getTime() - freshMs
  const able = others.filter((router) => isReadable(router, oldestMs) && hasNeighbor(router))
  if (able.length >= needed) return undefined
  const reasons = others
    .filter((router) => !able.includes(router))
    .map((router) =>
      isReadable(router, oldestMs)
        ? `${router.name} has no established BGP session`
        : `${router.name} cannot be read`,
    )
  const found = { region: slug, needed, able: able.length }
  return reasons.length > 0
    ? fail('conflict', 'routersUnable', { ...found, reasons })
    : fail('conflict', 'routersTooFew', found)
}

const isReadable = ({ last_check, last_check_result }: RouterRow, oldestMs: number): boolean =>
  last_check_result === true && last_check !== null && new Date(last_check).getTime() >= oldestMs

const hasNeighbor = ({ neighbors }: RouterRow): boolean =>
  neighbors.some(({ state }) => state === 'established')

function present(row: AdminRegionRow): AdminRegion {
  const { slug, name, open, quorum, last_check, last_check_result, error, open_approval } = row
  return {
    slug,
    name,
    open,
    quorum,
    last_check: last_check?.toISOString() ?? null,
    last_check_result,
    error,
    neighbors_ipv4: row.neighbors4,
    neighbors_ipv6: row.neighbors6,
    routes_missing: row.routes_missing,
    routers: row.routers.map(presentRouter),
    open_approval,
  }
}

function presentRouter(router: RouterRow): AdminRegion['routers'][number] {
  const { name, kind, drained, last_check, last_check_result, error, routes, neighbors, checks } = router
  return {
    name,
    kind,
    last_check_result,
    error,
    routes,
    drained: isoTime(drained),
    last_check: isoTime(last_check),
    neighbors: neighbors.map(({ address, asn, description, state, families, since, end }) => ({
      address,
      asn,
      description: description ?? null,
      state,
      families: families.map((family) => (family === 4 ? 'ipv4' : 'ipv6')),
      since: isoTime(since ?? null),
      end: end ? presentEnd(end) : null,
      ...presentChecks(checks.filter((check) => check.address === address)),
    })),
  }
}

const presentEnd = ({ reason, detail }: SessionEnd) => ({
  reason,
  message: sessionReasonText(reason, detail ?? null),
  detail: detail ?? null,
})

/** Adds up the families of a neighbor: unknown if any family is unknown. */
function presentChecks(checks: readonly NeighborCheck[]) {
  if (checks.length === 0 || checks.some(({ received }) => received === null))
    return { received: null, missing: null, checked: isoTime(checks[0]?.at ?? null) }
  const sumOf = (count: (check: NeighborCheck) => number) =>
    checks.reduce((sum, check) => sum + count(check), 0)
  return {
    received: sumOf(({ received }) => received!),
    missing: sumOf(({ missing }) => missing.length),
    checked: isoTime(checks[0]!.at),
  }
}

const isoTime = (text: string | null): string | null => (text === null ? null : new Date(text).toISOString())
