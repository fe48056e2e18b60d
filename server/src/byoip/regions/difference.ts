// The differences between the rows of a region and its routers after a restore: the items that staff decide. Pure.
import type { Difference } from '@pharos/contract/operator/restore'
import type { Prefix } from '../../net/prefix.ts'
import { isBlackhole } from './blackhole-route.ts'
import { routeText } from './guard.ts'
import type { CheckedRow, Plan } from './plan.ts'
import { sameRoute, type Route } from './speaker.ts'

/** The plan of one router, and the routes that it had before the restore: it may have lost them since. */
type ComparedRouter = {
  readonly name: string
  readonly plan: Plan
  readonly known: ReadonlyMap<Prefix, Route>
}

export type RegionDifferences = { readonly routes: Difference[]; readonly blackholes: Difference[] }

type Found = {
  readonly router: string
  readonly prefix: Prefix
  readonly held?: Route
  readonly wanted?: Route
}

/** Drained routers have no routes, whatever the rows contain. */
export function differencesOf(routers: readonly ComparedRouter[]): RegionDifferences {
  const active = routers.filter(({ plan }) => !plan.drained)
  const rows = active[0]?.plan.rows ?? new Map<Prefix, CheckedRow>()
  const routes: Difference[] = []
  const blackholes: Difference[] = []
  for (const [prefix, found] of Map.groupBy(active.flatMap(compareRouter), (one) => one.prefix)) {
    const row = rows.get(prefix)
    const isOfHost = row?.blackholeId !== undefined || found.some(({ held }) => held && isBlackhole(held))
    ;(isOfHost ? blackholes : routes).push(differenceOf(prefix, found, row))
  }
  return { routes, blackholes }
}

function compareRouter({ name, plan, known }: ComparedRouter): Found[] {
  const heldAt = (prefix: Prefix) => plan.observed.get(prefix) ?? known.get(prefix)
  const desired = [...plan.announce, ...plan.change.map(({ to }) => to)]
    .filter(({ prefix }) => plan.rows.has(prefix))
    .map((wanted) => ({ router: name, prefix: wanted.prefix, held: heldAt(wanted.prefix), wanted }))
    .filter(({ held, wanted }) => !held || !sameRoute(held, wanted))
  const quarantined = new Set<string>(plan.quarantined.map(({ row }) => row.prefix))
  const others = new Set([...plan.observed.keys(), ...known.keys()]).difference(quarantined as Set<Prefix>)
  const undesired = [...others]
    .filter((prefix) => !plan.rows.get(prefix)?.desired)
    .map((prefix) => ({ router: name, prefix, held: heldAt(prefix)! }))
  return [...desired.map(({ held, ...one }) => (held ? { ...one, held } : one)), ...undesired]
}

function differenceOf(prefix: Prefix, found: readonly Found[], row: CheckedRow | undefined): Difference {
  const wanted = found.find((one) => one.wanted)?.wanted
  const held = found.filter((one) => one.held)
  const kind = wanted === undefined ? 'remove' : held.length > 0 ? 'change' : 'add'
  return {
    subject: prefix,
    kind,
    teamId: row?.teamId ?? null,
    database: row
      ? {
          announcement_id: row.announcementId,
          ...(row.blackholeId === undefined ? {} : { blackhole_id: row.blackholeId }),
          route: wanted ? routeText(wanted) : null,
        }
      : null,
    network:
      held.length > 0
        ? { routes: Object.fromEntries(held.map((one) => [one.router, routeText(one.held!)])) }
        : null,
    adoptable: isAdoptable(kind, held, row),
  }
}

/** An announcement is enabled or disabled, and a black hole ended. A route without a row, or with another origin, needs more than that. */
function isAdoptable(kind: Difference['kind'], held: readonly Found[], row: CheckedRow | undefined): boolean {
  if (kind === 'add') return true
  if (kind === 'change' || !row || row.blackholeId !== undefined) return false
  const isChecked = row.checkedOrigin === row.originAsn
  return isChecked && held.every((one) => (one.held!.asPath.at(-1) ?? row.originAsn) === row.originAsn)
}
