// How the record sets of one zone change: read the stored sets, plan the difference, check the resulting zone, write it
// with its version, and wake the publish loop. The caller has locked the zone. change-zone.ts changes the parent zone.
import type { ZoneSettings } from '@pharos/contract/dns/settings'
import type { ProblemError } from '@pharos/contract/problem'
import type { Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { isAtOrBelow, isBelow, parentOf, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import { targetOf } from '../../net/dns/rdata/rdata.ts'
import type { Rrset } from '../../net/dns/record.ts'
import { recordType, typeName } from '../../net/dns/type.ts'
import { writeMessages, type NewMessage } from '../../outbox/outbox.ts'
import { errorAt, fail, failWith, invalid } from '../../runtime/error.ts'
import { checkZone, type ZoneFinding } from '../zone-file/check-zone.ts'
import { ancestorNames, listZonesAmong, readDsFacts, type ChildZone } from './related-zone.store.ts'
import {
  isEmpty,
  planDifference,
  setId,
  type DesiredSet,
  type StoredSet,
  type ZoneDifference,
} from './zone-change.ts'
import {
  applyTo,
  countType,
  readBelow,
  readNames,
  readSetsOfType,
  readWithAbove,
  saveComments,
  writeDifference,
  type ZoneChangeAuthor,
} from './zone-change.store.ts'
import { shownZoneName } from './zone-name.ts'
import type { Zone, ZoneLimits } from './zone.ts'

/** A desired set with its place in the request, for errors. The TTL null keeps that of the stored set, or is the default of the zone. */
export type PlacedDesired = Omit<DesiredSet, 'ttl'> & {
  readonly ttl: number | null
  readonly loc: ProblemError['loc']
  /** Place of the name and the type in the request, if it has fields for them. */
  readonly idLoc?: ProblemError['loc']
}

export type ZoneChangeOptions = {
  readonly author: ZoneChangeAuthor
  readonly now: Date
  readonly settings: Pick<ZoneSettings, 'default_ttl' | 'minimum_ttl'>
  readonly limits: ZoneLimits
  /**
   * Rejects record sets at or below a delegation, and a delegation above record sets: this zone would no longer answer
   * for them.
   */
  readonly isAnsweredOnly?: boolean
  /**
   * Sends the messages of the change; by default `announceChanges`. A change of many zones collects the messages and
   * sends them in one batch.
   */
  readonly announce?: (messages: readonly NewMessage[]) => Promise<void> | void
}

/** Writes the messages of changed zones to the outbox, and wakes the publish loop. */
export async function announceChanges(trx: Trx, messages: readonly NewMessage[]): Promise<void> {
  await writeMessages(trx, messages)
  await wake(trx, 'dns')
}

/** The stored sets and zones on which a change of some names depends. */
export type ZoneExcerpt = {
  /** All sets of the names. */
  readonly stored: readonly StoredSet[]
  /** The NS and DNAME sets of the names above them. */
  readonly above: readonly StoredSet[]
  /** Zones of the same owner at and above the names, below the zone. */
  readonly children: readonly ChildZone[]
  /** Zones of the same owner above the zone. */
  readonly parents: readonly ChildZone[]
}

/** Reads the excerpt for these names in one round trip. The caller has locked the zone. */
export async function readExcerpt(
  trx: Trx,
  zone: Zone,
  desired: readonly Pick<PlacedDesired, 'name' | 'source'>[],
): Promise<ZoneExcerpt> {
  const names = new Set(desired.map(({ name }) => name))
  const above = namesAbove(zone.name, desired)
  // Sets that Pharos writes itself may be there.
  const requested = desired.filter(({ source }) => source !== 'system')
  const [sets, zones] = await Promise.all([
    readWithAbove(trx, zone.id, names, above),
    listZonesAmong(trx, zone.teamId, [...namesUnder(zone.name, requested), ...ancestorNames(zone.name)]),
  ])
  return {
    stored: sets.filter(({ name }) => names.has(name)),
    above: sets.filter(({ name, type }) => above.has(name) && hidesBelow.has(type)),
    children: zones.filter(({ name }) => isBelow(name, zone.name)),
    parents: zones.filter(({ name }) => !isBelow(name, zone.name)),
  }
}

const hidesBelow = new Set<number>([recordType.NS, recordType.DNAME])

export type ZoneChanged = {
  readonly zone: Zone
  readonly difference: ZoneDifference
  /** The excerpt before the change. */
  readonly excerpt: ZoneExcerpt
}

/**
 * Replaces the sets of the zone with the desired sets. Without a difference it writes no row and returns the zone as it
 * was. Throws `invalid` with every set that the resulting zone must not have, and `quota_exceeded`. `known` is the
 * excerpt for the names of the change, if the caller has read it.
 */
export async function changeContent(
  trx: Trx,
  zone: Zone,
  desired: readonly PlacedDesired[],
  options: ZoneChangeOptions,
  known?: ZoneExcerpt,
): Promise<ZoneChanged> {
  const excerpt = known ?? (await readExcerpt(trx, zone, desired))
  const { stored } = excerpt
  const difference = planDifference(stored, resolveTtls(stored, desired, options.settings), options.now)
  const placeOf: Places = (set) => desired.find((one) => setId(one) === setId(set))
  requireApexNs(zone, difference, placeOf)
  await requireOwnNames(trx, zone, desired, difference, excerpt)
  await requireMeaning(trx, zone, excerpt, difference, placeOf, options)
  return { zone: await saveDifference(trx, zone, difference, options), difference, excerpt }
}

/** Throws `invalid` for a TTL below the lowest one, unless the stored set has it already. */
function resolveTtls(
  stored: readonly StoredSet[],
  desired: readonly PlacedDesired[],
  { default_ttl: byDefault, minimum_ttl: minimum }: ZoneChangeOptions['settings'],
): DesiredSet[] {
  const before = new Map(stored.map((set) => [setId(set), set.ttl]))
  const tooLow = desired.filter(
    ({ ttl, rdata, source, ...set }) =>
      ttl !== null &&
      ttl < minimum &&
      source === 'user' &&
      rdata.length > 0 &&
      before.get(setId(set)) !== ttl,
  )
  if (tooLow.length > 0)
    throw failWith(
      'invalid',
      tooLow.map(({ loc }) => errorAt([...loc, 'ttl'], 'ttlTooLow', { minimum })),
    )
  return desired.map((set) => ({ ...set, ttl: set.ttl ?? before.get(setId(set)) ?? byDefault }))
}

/** Writes a difference that was checked. */
async function saveDifference(
  trx: Trx,
  zone: Zone,
  difference: ZoneDifference,
  { author, limits, announce = (messages) => announceChanges(trx, messages) }: ZoneChangeOptions,
): Promise<Zone> {
  const { added, removed, commented } = difference
  if (isEmpty(difference)) {
    if (commented.length > 0) await saveComments(trx, zone, difference)
    return zone
  }
  const count = zone.recordsetCount + added.length - removed.length
  if (added.length > removed.length && count > limits.recordsetsMax)
    throw fail('quota_exceeded', 'recordSets', { limit: limits.recordsetsMax, count })
  await requireAliasQuota(trx, zone, difference, limits.aliasesMax)
  const next = await writeDifference(trx, zone, difference, author)
  await announce(zone.teamId === null ? [] : [updatedMessage(zone.teamId, next, difference, author)])
  return next
}

/** Each ALIAS record is a question every few minutes. Throws `quota_exceeded`. */
async function requireAliasQuota(
  trx: Trx,
  zone: Zone,
  { added, removed }: ZoneDifference,
  aliasesMax: number,
): Promise<void> {
  const countOf = (sets: readonly StoredSet[]): number =>
    sets.filter(({ type }) => type === recordType.ALIAS).length
  const more = countOf(added) - countOf(removed)
  if (more <= 0) return
  const count = (await countType(trx, zone, recordType.ALIAS)) + more
  if (count > aliasesMax) throw fail('quota_exceeded', 'aliases', { limit: aliasesMax, count })
}

const updatedMessage = (
  teamId: number,
  { id, name, version, touched }: Zone,
  { added, changed, removed }: ZoneDifference,
  { actor, what }: ZoneChangeAuthor,
): NewMessage => ({
  teamId,
  type: 'zone.updated',
  data: {
    zone_id: id,
    name: shownZoneName(name),
    version,
    actor,
    what,
    added_count: added.length,
    changed_count: changed.length,
    removed_count: removed.length,
    at: touched.toISOString(),
  },
})

type Places = (set: Pick<Rrset, 'name' | 'type'>) => Pick<PlacedDesired, 'loc' | 'idLoc'> | undefined

/** Throws `invalid` if the zone would lose its NS records, which every published zone needs. */
function requireApexNs({ name }: Zone, { removed }: ZoneDifference, placeOf: Places): void {
  const ns = removed.find((set) => set.type === recordType.NS && set.name === name)
  if (ns) throw invalid(placeOf(ns)?.loc ?? ['body'], 'apexNsKept')
}

/**
 * Throws `invalid` for sets of a request at or below a zone of the same owner, which answers instead: only Pharos
 * writes there, and its sets are not deleted.
 */
async function requireOwnNames(
  trx: Trx,
  zone: Zone,
  desired: readonly PlacedDesired[],
  { added, changed, removed }: ZoneDifference,
  { children }: ZoneExcerpt,
): Promise<void> {
  if (children.length === 0) return
  const places = new Map(desired.filter(({ source }) => source !== 'system').map((one) => [setId(one), one]))
  const managed = removed.filter(({ source, name }) => source === 'system' && name !== zone.name)
  const sets = [...added, ...changed.map(({ after }) => after), ...managed].filter((set) =>
    places.has(setId(set)),
  )
  const errors: ProblemError[] = []
  for (const set of sets) {
    const child = closestOf(children, set.name)
    if (
      !child ||
      (set.name === child.name && set.type === recordType.DS && !(await hasManagedDs(trx, child)))
    )
      continue
    const { loc, idLoc } = places.get(setId(set))!
    errors.push(errorAt(idLoc ? [...idLoc, 'name'] : loc, 'inChildZone', { zone: shownZoneName(child.name) }))
  }
  if (errors.length > 0) throw failWith('invalid', errors)
}

const hasManagedDs = async (trx: Trx, { id }: ChildZone): Promise<boolean> =>
  (await readDsFacts(trx, id)).hasManagedDs

/** Returns the zone with the longest name at or above the name. */
const closestOf = (zones: readonly ChildZone[], name: DomainName): ChildZone | undefined =>
  zones
    .filter((zone) => isAtOrBelow(name, zone.name))
    .reduce<ChildZone | undefined>((a, b) => (a && a.name.length > b.name.length ? a : b), undefined)

/** The names of the sets and their ancestors, without the apex. */
function namesUnder(zone: ZoneName, sets: readonly Pick<Rrset, 'name'>[]): Set<DomainName> {
  const names = new Set([...sets.map(({ name }) => name), ...namesAbove(zone, sets)])
  names.delete(zone)
  return names
}

async function requireMeaning(
  trx: Trx,
  zone: Zone,
  { stored, above }: ZoneExcerpt,
  difference: ZoneDifference,
  placeOf: Places,
  { isAnsweredOnly = false }: Pick<ZoneChangeOptions, 'isAnsweredOnly'>,
): Promise<void> {
  const written = [...difference.added, ...difference.changed.map(({ after }) => after)]
  if (written.length === 0) return
  const isNewCut = (set: Rrset): boolean =>
    isAnsweredOnly && isCut(zone, set) && difference.added.some((one) => setId(one) === setId(set))
  const names = namesAbove(zone.name, written)
  const cuts = written.filter((set) => set.type === recordType.DNAME || isNewCut(set))
  const neighbours = [
    ...above.filter(({ name }) => names.has(name)),
    ...(await readBelow(
      trx,
      zone.id,
      cuts.map(({ name }) => name),
    )),
  ]
  // An address below a delegation may be that of a server of any delegation.
  if (isAnsweredOnly && [...neighbours, ...written].some((set) => isCut(zone, set)))
    neighbours.push(...(await readSetsOfType(trx, zone.id, recordType.NS)))
  const aliases = await readAliases(trx, zone, written)
  const after = applyTo([...neighbours, ...aliases, ...stored], difference)
  const errors = checkZone(zone.name, after.values()).filter(
    ({ isError, code }) => isError || (isAnsweredOnly && code === 'occluded'),
  )
  const concerned = new Set(written.map(setId))
  // Sets that were below a delegation before are no objection to a change of its servers.
  const causes = new Set(written.filter((set) => !isCut(zone, set) || isNewCut(set)).map(setId))
  const found = errors.filter(
    (one) =>
      concerned.has(setId(one)) ||
      (one.other && (one.code === 'occluded' ? causes : concerned).has(setId(one.other))),
  )
  if (found.length > 0)
    throw failWith(
      'invalid',
      found.map((one) => errorOf(one, placeOf)),
    )
}

const isCut = (zone: Zone, { name, type }: Pick<Rrset, 'name' | 'type'>): boolean =>
  type === recordType.NS && name !== zone.name

/** A longer chain of aliases is not followed: resolvers stop earlier. */
const chainMax = 20

/** Returns the stored aliases that the sets lead to: a loop is found only with all of its aliases. */
async function readAliases(trx: Trx, zone: Zone, written: readonly StoredSet[]): Promise<StoredSet[]> {
  const found: StoredSet[] = []
  const known = new Set(written.map(({ name }) => name))
  let aliases = written.filter(isAlias)
  for (let step = 0; aliases.length > 0 && step < chainMax; step++) {
    const targets = aliases.flatMap(({ type, rdata }) => rdata.map((one) => targetOf(type, one)!))
    const next = targets.filter((name) => !known.has(name) && isAtOrBelow(name, zone.name))
    for (const name of next) known.add(name)
    aliases = next.length === 0 ? [] : (await readNames(trx, zone.id, new Set(next))).filter(isAlias)
    found.push(...aliases)
  }
  return found
}

const isAlias = ({ type }: Rrset): boolean => type === recordType.CNAME || type === recordType.ALIAS

/** Returns the ancestors of the sets in the zone, where a delegation or a DNAME would hide them. */
function namesAbove(zone: ZoneName, sets: readonly Pick<Rrset, 'name'>[]): Set<DomainName> {
  const names = new Set<DomainName>()
  for (const { name } of sets)
    for (
      let above = parentOf(name);
      above !== undefined && (above === zone || isBelow(above, zone));
      above = parentOf(above)
    ) {
      if (names.has(above)) break
      names.add(above)
    }
  return names
}

/** The field of a record set that an error is about. */
const fieldOf: Partial<Record<ZoneFinding['code'], 'name' | 'type' | 'records'>> = {
  out_of_zone: 'name',
  below_dname: 'name',
  cname_and_other: 'type',
  soa_below_apex: 'type',
  ds_at_apex: 'type',
  occluded: 'name',
  several_in_set: 'records',
  set_too_large: 'records',
  data_refused: 'records',
  cname_loop: 'records',
  alias_and_address: 'type',
}

function locOf(code: ZoneFinding['code'], place: ReturnType<Places>): ProblemError['loc'] | undefined {
  const field = fieldOf[code]
  if (!place?.idLoc || !field) return place?.loc
  return [...(field === 'records' ? place.loc : place.idLoc), field]
}

function errorOf(finding: ZoneFinding, placeOf: Places): ProblemError {
  const { code, name, type, other, message } = finding
  const loc = locOf(code, placeOf(finding)) ?? (other && locOf(code, placeOf(other))) ?? ['body']
  const ctx = {
    recordset: `${name} ${typeName(type)}`,
    ...(other ? { other: `${other.name} ${typeName(other.type)}` } : {}),
  }
  return { loc, msg: message, type: code, ctx }
}
