// Keeps zones of one owner that are above and below each other consistent: the zone above delegates to the zone below with NS, DS and glue, names that
// the zone below answers for move into it, and all of it is one transaction. Zones of other owners are neither read nor written.
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Trx } from '../../db/postgres.ts'
import { countLabels, isAtOrBelow, type DomainName } from '../../net/dns/name.ts'
import { recordType, typeName } from '../../net/dns/type.ts'
import type { Operation } from '../../operation/operation.ts'
import { fail } from '../../runtime/error.ts'
import { changeContent, type PlacedDesired, type ZoneChangeOptions } from './change-content.ts'
import { delegationSets, dsRecordsOf, isAddressSet, isAtCut, serversOf } from './delegation-sets.ts'
import { planWildcardsAbove } from './plan-wildcards.ts'
import { auditedSets, presentDifference } from './present-zone.ts'
import {
  ancestorNames,
  listChildZones,
  listZonesAmong,
  lockParentZone,
  markManaged,
  readAtOrBelow,
  readDsFacts,
  readManagedBelow,
  type ChildZone,
} from './related-zone.store.ts'
import { readNames } from './zone-change.store.ts'
import { isEmpty, setId, type DesiredSet, type StoredSet, type ZoneDifference } from './zone-change.ts'
import { shownZoneName } from './zone-name.ts'
import { withoutLimits, type Zone } from './zone.ts'

/** A zone above or below that changed with another one. */
export type OtherZone = { readonly zone: Zone; readonly difference: ZoneDifference }

type Options = Pick<ZoneChangeOptions, 'author' | 'now' | 'announce'>

/** Sets that a new zone takes over from the closest zone above. */
export type Takeover = {
  readonly parent: Zone | undefined
  /** The sets of the zone above at and below the new zone. */
  readonly stored: readonly StoredSet[]
  /** The sets of the zone above that move into the new zone. */
  readonly moved: readonly PlacedDesired[]
}

/**
 * Locks the zone above, and returns the sets that move from it into the zone. Sets that the zone already has stay as
 * they are. Throws `conflict` with the names that would vanish: a secondary zone neither takes over nor gives away
 * sets, and the name of a zone has no CNAME.
 */
export async function planTakeover(
  trx: Trx,
  zone: Pick<Zone, 'teamId' | 'name' | 'kind'>,
  own: readonly Pick<StoredSet, 'name' | 'type'>[],
): Promise<Takeover> {
  const parent = await lockParentZone(trx, zone)
  if (!parent) return { parent, stored: [], moved: [] }
  const stored = await readAtOrBelow(trx, parent.id, zone.name)
  const children = await listChildZones(trx, zone)
  const servers = new Set(
    stored
      .filter((set) => set.name === zone.name && set.type === recordType.NS)
      .flatMap((set) => serversOf(set)),
  )
  const isDelegation = (set: StoredSet): boolean =>
    (set.name === zone.name && isAtCut(set)) || children.some(({ name }) => isAtOrBelow(set.name, name))
  const taken = stored.filter((set) => !isDelegation(set))
  const lost = taken.filter((set) => {
    if (zone.kind === 'secondary' || parent.kind === 'secondary')
      return !(isAddressSet(set) && servers.has(set.name))
    return set.name === zone.name && set.type === recordType.CNAME
  })
  if (lost.length > 0) throw namesLost(parent, zone, lost)
  const ids = new Set(own.map(setId))
  const moved = taken
    .filter((set) => !ids.has(setId(set)))
    .map(({ name, type, ttl, rdata, source, comment }): PlacedDesired => ({
      name,
      type,
      ttl,
      rdata,
      // Glue becomes an address of the zone.
      source: source === 'system' ? 'user' : source,
      comment,
      loc: ['body', 'name'],
    }))
  return { parent, stored, moved: zone.kind === 'secondary' || parent.kind === 'secondary' ? [] : moved }
}

/** Names that an error lists. */
const namesShown = 20

function namesLost(parent: Zone, child: Pick<Zone, 'name'>, sets: readonly StoredSet[]) {
  return fail('conflict', 'namesWouldVanish', {
    zone: shownZoneName(child.name),
    parent: shownZoneName(parent.name),
    names: sets.slice(0, namesShown).map(({ name, type }) => `${name} ${typeName(type)}`),
    count: sets.length,
  })
}

/**
 * Returns the delegations from a zone to its child zones. Also returns, without records, stored sets below these
 * delegations, which are not answered, and delegations to zones that were deleted in the meantime.
 */
export async function planDelegations(trx: Trx, zone: Zone): Promise<PlacedDesired[]> {
  if (zone.kind === 'secondary') return []
  const desired = new Map<string, PlacedDesired>()
  const remove = (sets: readonly StoredSet[]): void => {
    for (const set of sets) desired.set(setId(set), placed({ ...set, rdata: [], source: 'system' }))
  }
  remove(await readManagedBelow(trx, zone))
  for (const child of await listChildZones(trx, zone)) {
    remove(await readAtOrBelow(trx, zone.id, child.name))
    for (const set of await readDelegation(trx, child)) desired.set(setId(set), placed(set))
  }
  return [...desired.values()]
}

const placed = (set: DesiredSet): PlacedDesired => ({ ...set, loc: ['body', 'name'] })

async function readDelegation(trx: Trx, child: ChildZone): Promise<DesiredSet[]> {
  const apex = await readNames(trx, child.id, [child.name])
  const inside = serversOf(apex.find(({ type }) => type === recordType.NS)).filter((name) =>
    isAtOrBelow(name, child.name),
  )
  const glue = await readAddresses(trx, child, inside)
  return delegationSets(child.name, apex, glue, dsRecordsOf(await readDsFacts(trx, child.id)))
}

/** Returns the sets of names at and below a zone, each from the zone of the same owner that answers for it. */
async function readAddresses(trx: Trx, child: ChildZone, names: readonly DomainName[]): Promise<StoredSet[]> {
  const above = names.flatMap((name) => [name, ...ancestorNames(name)])
  const zones = (await listZonesAmong(trx, child.teamId, [...new Set(above)]))
    .filter(({ name }) => isAtOrBelow(name, child.name))
    .toSorted((a, b) => countLabels(b.name) - countLabels(a.name))
  const found: StoredSet[] = []
  for (const zone of zones) {
    const own = names.filter((name) => zones.find((one) => isAtOrBelow(name, one.name)) === zone)
    if (own.length > 0) found.push(...(await readNames(trx, zone.id, own)))
  }
  return found
}

/** Updates the delegations of zones further above, if their servers have addresses at or below the zone. */
export async function updateFurtherAbove(
  trx: Trx,
  zone: Pick<Zone, 'teamId' | 'name'>,
  options: Options,
): Promise<OtherZone[]> {
  const above = (await listZonesAmong(trx, zone.teamId, ancestorNames(zone.name))).toSorted(
    (a, b) => countLabels(b.name) - countLabels(a.name),
  )
  const others: OtherZone[] = []
  for (const one of above) {
    const ns = (await readNames(trx, one.id, [one.name])).find(({ type }) => type === recordType.NS)
    if (serversOf(ns).some((server) => isAtOrBelow(server, zone.name)))
      others.push(...(await updateOne(trx, one, options)))
  }
  return others
}

/** Writes the delegation of a zone into the zone above, and removes the sets there that moved into the zone. */
export async function delegateNewZone(
  trx: Trx,
  zone: Zone,
  { parent, stored }: Takeover,
  options: Options,
): Promise<OtherZone[]> {
  if (!parent) return []
  const others = await write(trx, parent, zone, stored, zone.kind === 'primary' ? stored : [], options)
  return [...others, ...(await updateFurtherAbove(trx, zone, options))]
}

/** Updates the delegation of a zone in the zone above from its current NS records, addresses and keys. */
export async function updateDelegation(trx: Trx, zone: Zone, options: Options): Promise<OtherZone[]> {
  if (zone.claimed === null || zone.deleted !== null) return []
  const others = await updateOne(trx, zone, options)
  return [...others, ...(await updateFurtherAbove(trx, zone, options))]
}

async function updateOne(trx: Trx, zone: ChildZone, options: Options): Promise<OtherZone[]> {
  const parent = await lockParentZone(trx, zone)
  if (!parent) return []
  const stored = await readAtOrBelow(trx, parent.id, zone.name)
  return write(trx, parent, zone, stored, stored.filter(isManaged), options)
}

const isManaged = ({ source }: StoredSet): boolean => source === 'system'

/** `replaced` are the stored sets that go unless the delegation has them. */
async function write(
  trx: Trx,
  parent: Zone,
  child: ChildZone,
  stored: readonly StoredSet[],
  replaced: readonly StoredSet[],
  options: Options,
): Promise<OtherZone[]> {
  // The records of a secondary zone are transferred, and published as they are.
  if (parent.kind === 'secondary') return []
  const delegation = await readDelegation(trx, child)
  const { hasManagedDs } = await readDsFacts(trx, child.id)
  const isWanted = new Set(delegation.map(setId))
  const isKept = (set: StoredSet): boolean =>
    isWanted.has(setId(set)) || (set.name === child.name && set.type === recordType.DS && !hasManagedDs)
  const desired = [
    ...delegation,
    ...(await planWildcardsAbove(trx, { parent, stored }, child.name)),
    ...replaced
      .filter((set) => !isKept(set))
      .map((set): DesiredSet => ({ ...set, rdata: [], source: 'system' })),
  ]
  const others = await change(trx, parent, desired, options)
  await markManaged(
    trx,
    parent.id,
    stored.filter((set) => isWanted.has(setId(set))),
  )
  return others
}

/**
 * Deletes the delegation of a deleted zone in the zone above, which then delegates to the child zones itself. Throws
 * `delegated` if there is no zone above and resolvers would no longer find the child zones.
 */
export async function removeDelegation(
  trx: Trx,
  zone: Zone,
  force: boolean,
  options: Options,
): Promise<OtherZone[]> {
  if (zone.claimed === null) return []
  const children = await listChildZones(trx, zone)
  const parent = await lockParentZone(trx, zone)
  if (!parent) {
    if (children.length === 0 || force) return []
    throw fail('delegated', 'childZones', {
      zone: shownZoneName(zone.name),
      zones: children.slice(0, namesShown).map(({ name }) => shownZoneName(name)),
    })
  }
  if (parent.kind === 'secondary') return []
  const desired = new Map<string, DesiredSet>()
  for (const set of await readAtOrBelow(trx, parent.id, zone.name))
    if (isManaged(set) || (set.name === zone.name && isAtCut(set)))
      desired.set(setId(set), { ...set, rdata: [], source: 'system' })
  for (const child of children)
    for (const set of await readDelegation(trx, child)) desired.set(setId(set), set)
  const others = await change(trx, parent, [...desired.values()], options)
  return [...others, ...(await updateFurtherAbove(trx, zone, options))]
}

async function change(
  trx: Trx,
  zone: Zone,
  desired: readonly DesiredSet[],
  { author, ...options }: Options,
): Promise<OtherZone[]> {
  const changed = await changeContent(trx, zone, desired.map(placed), {
    ...options,
    author: { actor: author.actor, what: 'zone.delegation' },
    settings: { default_ttl: 3600, minimum_ttl: 0 },
    limits: withoutLimits,
  })
  return isEmpty(changed.difference) ? [] : [{ zone: changed.zone, difference: changed.difference }]
}

/** Returns other zones in the form of answers. */
export const presentOthers = (others: readonly OtherZone[]) =>
  others.map(({ zone, difference }) => ({
    zone_id: zone.id,
    name: shownZoneName(zone.name),
    version: zone.version,
    ...presentDifference(zone, difference),
  }))

/** Returns other zones for the plan of an operation whose answer has no field for them. */
export const besideOthers = (others: readonly OtherZone[]) =>
  others.length === 0 ? {} : { beside: { before: {}, after: { other_zones: presentOthers(others) } } }

/** Writes an audit entry for each of the other zones. */
export async function auditOthers(
  trx: Trx,
  operation: Operation,
  others: readonly OtherZone[],
): Promise<void> {
  await writeAudit(
    trx,
    ...others.map(({ zone, difference: { added, changed, removed } }) => ({
      ...auditOf(operation),
      action: 'zone.delegation',
      target: `zone:${zone.id}`,
      before: auditedSets(zone, [...removed, ...changed.map(({ before }) => before)]),
      after: auditedSets(zone, [...added, ...changed.map(({ after }) => after)]),
    })),
  )
}
