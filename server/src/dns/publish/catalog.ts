// The catalog zone (RFC 9432, version 2): which zones name servers transfer. A zone leaves it only if its row is
// deleted, and many removals in one run need approval by staff: a name server stops serving a removed zone within
// milliseconds. Pure.
import { createHash } from 'node:crypto'
import {
  nameFromWire,
  nameToWire,
  parseName,
  prependLabel,
  type DomainName,
  type ZoneName,
} from '../../net/dns/name.ts'
import { removalsMax } from '../../approval/budget.ts'
import type { Rrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'

export type CatalogZone = {
  readonly id: number
  readonly name: ZoneName
  /** Null for a zone of the operator. */
  readonly teamId: number | null
  readonly created: Date
  /** Null for a zone that stays. */
  readonly deleted: Date | null
}

export type CatalogPlan = {
  readonly added: readonly Rrset[]
  readonly removed: readonly Rrset[]
  /** Deleted zones that are not in the catalog after the plan. */
  readonly withdrawn: readonly number[]
  /** The removals that need an approval; undefined if all are allowed. */
  readonly held:
    | {
        readonly reason: 'many_removals' | 'catalog_empty'
        readonly zones: readonly Pick<CatalogZone, 'id' | 'name' | 'deleted'>[]
      }
    | undefined
}

/**
 * Returns the label of a zone. It depends on the creation, so that a zone that is deleted and created again is a new member: name servers drop
 * the old copy, whatever its serial was (RFC 9432 section 5.4).
 */
export function memberLabel({ id, created }: Pick<CatalogZone, 'id' | 'created'>): string {
  return createHash('sha256').update(`${id} ${created.toISOString()}`).digest('hex').slice(0, 32)
}

const ttl = 0

function memberSet(catalog: ZoneName, zone: CatalogZone): Rrset {
  const name = prependLabel(memberLabel(zone), prependLabel('zones', catalog))
  return { name, type: recordType.PTR, ttl, rdata: [nameToWire(zone.name)] }
}

/**
 * Plans the members. `members` are the published PTR records; `zones` all zones that have ever been published, deleted ones included;
 * `recentRemovals` the numbers of zones withdrawn in the last 10 minutes, by team. `isApproved`: staff approved the removal since the zone was deleted.
 */
export function planCatalog(
  catalog: ZoneName,
  members: readonly Rrset[],
  zones: readonly CatalogZone[],
  recentRemovals: ReadonlyMap<number | null, number>,
  isApproved: (zoneId: number) => boolean,
): CatalogPlan {
  const present = new Map(members.map((set) => [set.name, set]))
  const wanted = zones.filter((zone) => zone.deleted === null).map((zone) => memberSet(catalog, zone))
  const added = wanted.filter(({ name }) => !present.has(name))
  const targets = new Set(wanted.map(targetOf))
  const deleted = zones.filter((zone) => zone.deleted !== null)
  const gone = deleted.flatMap((zone): Leaving[] => {
    const set = present.get(memberSet(catalog, zone).name)
    return set ? [{ zone, set }] : []
  })
  // A zone that was created again stays: its old member makes room for the new one.
  const replaced = gone.filter(({ set }) => targets.has(targetOf(set)))
  const leaving = gone.filter(({ set }) => !targets.has(targetOf(set)))
  const counted = zones.filter((zone) => present.has(memberSet(catalog, zone).name))
  const held = heldOf(
    leaving.filter(({ zone }) => !isApproved(zone.id)),
    leaving.length === present.size + added.length - replaced.length,
    counted,
    recentRemovals,
  )
  const staying = new Set(held?.zones.map(({ id }) => id))
  const removed = [...replaced, ...leaving].filter(({ zone }) => !staying.has(zone.id))
  return {
    added,
    removed: removed.map(({ set }) => set),
    withdrawn: deleted.filter(({ id }) => !staying.has(id)).map(({ id }) => id),
    held,
  }
}

type Leaving = { readonly zone: CatalogZone; readonly set: Rrset }

/**
 * Returns the removals that need an approval: all removals of a team above its limit, and the latest removals of other
 * teams above the total limit. One team does not delay the others.
 */
function heldOf(
  leaving: readonly Leaving[],
  isEmptied: boolean,
  members: readonly CatalogZone[],
  recentRemovals: ReadonlyMap<number | null, number>,
): CatalogPlan['held'] {
  if (leaving.length === 0) return undefined
  const zonesOf = (held: readonly Leaving[]) =>
    held.map(({ zone: { id, name, deleted } }) => ({ id, name, deleted })).sort((a, b) => a.id - b.id)
  if (isEmptied) return { reason: 'catalog_empty', zones: zonesOf(leaving) }
  const counts = new Map<number | null, number>()
  for (const { teamId } of members) counts.set(teamId, (counts.get(teamId) ?? 0) + 1)
  let total = recentRemovals.values().reduce((sum, count) => sum + count, 0)
  const limitOfAll = removalsMax(members.length + total)
  const held: Leaving[] = []
  const groups = [...Map.groupBy(leaving, ({ zone }) => zone.teamId)].sort(
    ([, a], [, b]) => firstOf(a) - firstOf(b),
  )
  for (const [teamId, group] of groups) {
    const recent = recentRemovals.get(teamId) ?? 0
    const isWithin = recent + group.length <= removalsMax((counts.get(teamId) ?? 0) + recent)
    if (isWithin && total + group.length <= limitOfAll) total += group.length
    else held.push(...group)
  }
  return held.length > 0 ? { reason: 'many_removals', zones: zonesOf(held) } : undefined
}

const firstOf = (group: readonly Leaving[]): number =>
  Math.min(...group.map(({ zone }) => zone.deleted!.getTime()))

const targetOf = ({ rdata: [target] }: Rrset): DomainName => nameFromWire(target!)

/** Servers keep the members they know while the primary is down, as long as a 31-bit number can say. */
const expire = 2_147_483_646

/**
 * Returns the sets of a catalog zone without members. Resolvers do not query it, so its name server is `invalid.` (RFC
 * 9432 section 4.1).
 */
export function catalogApex(catalog: ZoneName): Rrset[] {
  const nobody = nameToWire(parseName('invalid.'))
  const times = Buffer.alloc(20)
  for (const [at, seconds] of [0, 3600, 600, expire, 0].entries()) times.writeUInt32BE(seconds, 4 * at)
  return [
    {
      name: catalog,
      type: recordType.SOA,
      ttl,
      rdata: [new Uint8Array(Buffer.concat([nobody, nobody, times]))],
    },
    { name: catalog, type: recordType.NS, ttl, rdata: [nobody] },
    { name: versionName(catalog), type: recordType.TXT, ttl, rdata: [Uint8Array.of(1, 50)] },
  ]
}

const versionName = (catalog: ZoneName): DomainName => prependLabel('version', catalog)
