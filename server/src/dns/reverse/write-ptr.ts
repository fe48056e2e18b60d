// Writes PTR records over any number of zones in one transaction. The zones are locked in the order of their ids, so that two batches cannot wait
// for each other.
import type { ProblemError } from '@pharos/contract/problem'
import { auditOf, writeAudit, type AuditEntry } from '../../db/audit.ts'
import type { Trx } from '../../db/postgres.ts'
import type { Address } from '../../net/address.ts'
import { nameToWire, type DomainName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import { reverseNameOf } from '../../net/reverse-name.ts'
import { outsideLimitAt, type Limits } from '../../operation/limits.ts'
import { actorName, type Operation, type ZoneEditor } from '../../operation/operation.ts'
import type { NewMessage } from '../../outbox/outbox.ts'
import { failWith } from '../../runtime/error.ts'
import { announceChanges, type PlacedDesired } from '../zone/change-content.ts'
import { changeZone } from '../zone/change-zone.ts'
import { admitsPtr, mayAdmitPtr, ptrResources } from '../zone/limit.ts'
import { auditedSets } from '../zone/present-zone.ts'
import { isEmpty, type StoredSet } from '../zone/zone-change.ts'
import { readNames } from '../zone/zone-change.store.ts'
import { lockZone } from '../zone/zone.store.ts'
import { resolveSettings, type DnsDefaults, type Zone } from '../zone/zone.ts'
import type { Holders } from './holder.ts'
import { createReverseZone, placeAddresses, type Placed, type ReverseDeps } from './reverse-zone.ts'

/** A PTR record as it is to be. */
export type PtrWish = {
  readonly loc: ProblemError['loc']
  readonly address: Address
  /** The name of the record, if it is not that of the address: a wildcard. */
  readonly name?: DomainName
  /** Null to delete the record. */
  readonly target: DomainName | null
  /** Null for that of the stored record, or the default of the zone. */
  readonly ttl: number | null
  readonly source: 'user' | 'generated'
  /** Called for a record outside of the author's limits, which is then left out; without it, the change is refused. */
  readonly onOutside?: () => void
  /** Reports whether the wish applies to the stored record; by default it always does. */
  readonly replaces?: (stored: StoredSet | undefined) => boolean
}

export type PtrOutcome = {
  readonly wish: PtrWish
  readonly zone: Zone
  /** The former name; null if there was no record. */
  readonly previous: string | null
  readonly status: 'created' | 'updated' | 'unchanged' | 'deleted' | 'kept'
}

/**
 * Returns the outcomes in the order of the wishes, each of another name, without records that are left out. Throws `invalid`,
 * `zone_claimed` and `resource_limited`.
 */
export async function writePtrs(
  { now }: ReverseDeps,
  trx: Trx,
  operation: Operation<ZoneEditor>,
  holders: Holders,
  wishes: readonly PtrWish[],
  defaults: DnsDefaults,
  what: string,
): Promise<PtrOutcome[]> {
  const { teamId, limits } = operation.actor
  const mayBeAdmitted = ({ address }: PtrWish): boolean =>
    !limits || mayAdmitPtr(limits, address, reverseNameOf(address) as DomainName)
  const isLeftOut = (wish: PtrWish): boolean => wish.onOutside !== undefined && !mayBeAdmitted(wish)
  for (const wish of wishes) if (isLeftOut(wish)) wish.onOutside!()
  const wanted = wishes.filter((wish) => !isLeftOut(wish))
  const all = await placeAddresses(trx, teamId, holders, wanted, (name, owner) =>
    createReverseZone(trx, name, owner, defaults, now()),
  )
  const placed = limits === null ? all : withinLimits(limits, all)
  const byZone = [...Map.groupBy(placed, ({ zone }) => zone.id).values()].sort(
    (a, b) => a[0]!.zone.id - b[0]!.zone.id,
  )
  const outcomes = new Map<PtrWish, PtrOutcome>()
  const written: Written = { messages: [], entries: [] }
  for (const part of byZone) {
    const [{ zone: found }] = part as [Placed<PtrWish>]
    const zone = await lockZone(trx, found.teamId, { id: found.id })
    const options = { author: { actor: actorName(operation.actor), what }, now: now(), defaults }
    for (const outcome of await writeZone(trx, operation, zone!, part, options, written))
      outcomes.set(outcome.wish, outcome)
  }
  if (written.entries.length > 0) {
    await announceChanges(trx, written.messages)
    await writeAudit(trx, ...written.entries)
  }
  return wishes.flatMap((wish) => outcomes.get(wish) ?? [])
}

/** Leaves out records outside of the limits that may be left out. Throws `resource_limited` with every other one. */
function withinLimits(limits: Limits, placed: readonly Placed<PtrWish>[]): Placed<PtrWish>[] {
  const isAdmitted = ({ zone, wish, name }: Placed<PtrWish>): boolean =>
    admitsPtr(limits, { address: wish.address, name: wish.name ?? name, zone })
  const outside = placed.filter((one) => !isAdmitted(one))
  const refused = outside.filter(({ wish }) => wish.onOutside === undefined)
  if (refused.length > 0)
    throw failWith(
      'resource_limited',
      refused.map(({ wish }) => outsideLimitAt(wish.loc, ptrResources(limits))),
    )
  for (const { wish } of outside) wish.onOutside!()
  return placed.filter(isAdmitted)
}

/** Collected during a batch and written once. */
type Written = { readonly messages: NewMessage[]; readonly entries: AuditEntry[] }

type Options = {
  readonly author: { readonly actor: string; readonly what: string }
  readonly now: Date
  readonly defaults: DnsDefaults
}

async function writeZone(
  trx: Trx,
  operation: Operation<ZoneEditor>,
  zone: Zone,
  placed: readonly Placed<PtrWish>[],
  { author, now, defaults }: Options,
  { messages, entries }: Written,
): Promise<PtrOutcome[]> {
  const wishes = placed.map(({ wish, name }) => ({ wish, name: wish.name ?? name }))
  const settings = { ...resolveSettings(zone.settings, defaults), minimum_ttl: 0 }
  const stored = await readNames(
    trx,
    zone.id,
    wishes.map(({ name }) => name),
  )
  const before = new Map(stored.filter(({ type }) => type === recordType.PTR).map((set) => [set.name, set]))
  const applied = wishes.filter(({ wish, name }) => wish.replaces?.(before.get(name)) ?? true)
  const desired = applied.map(({ wish, name }): PlacedDesired => ({
    name,
    type: recordType.PTR,
    ttl: wish.ttl,
    rdata: wish.target === null ? [] : [nameToWire(wish.target)],
    source: wish.source,
    loc: wish.loc,
  }))
  const { zone: changed, difference } = await changeZone(trx, zone, desired, {
    author,
    now,
    settings,
    // A /16 of PTR records is one zone.
    limits: { ...defaults, recordsetsMax: Math.max(defaults.recordsetsMax, ptrZoneMax) },
    announce: (own) => void messages.push(...own),
  })
  if (!isEmpty(difference))
    entries.push({
      ...auditOf(operation),
      action: author.what,
      target: `zone:${zone.id}`,
      before: auditedSets(zone, [...difference.removed, ...difference.changed.map((one) => one.before)]),
      after: auditedSets(zone, [...difference.added, ...difference.changed.map((one) => one.after)]),
    })
  const touched = new Set(
    [...difference.added, ...difference.removed, ...difference.changed.map(({ after }) => after)].map(
      ({ name }) => name,
    ),
  )
  const isApplied = new Set(applied.map(({ wish }) => wish))
  return wishes.map(({ wish, name }) => {
    const earlier = before.get(name)
    const status = isApplied.has(wish) ? statusOf(wish, earlier, touched.has(name)) : 'kept'
    return { wish, zone: changed, previous: earlier?.content.split('\n')[0] ?? null, status }
  })
}

/** Record sets of a zone with one PTR record for each address of a /16, and its SOA and NS records. */
const ptrZoneMax = 65_536 + 1_000

function statusOf(
  { target }: PtrWish,
  before: StoredSet | undefined,
  isTouched: boolean,
): 'created' | 'updated' | 'unchanged' | 'deleted' {
  if (!isTouched) return 'unchanged'
  if (target === null) return 'deleted'
  return before ? 'updated' : 'created'
}
