// Follows the primaries of one secondary zone: asks for the serial, transfers newer content, and publishes it unchanged
// under the serial of the primary. A transfer that loses more than half of the names needs approval by staff; until
// then the old copy is served.
import type { Db, Trx } from '../../db/postgres.ts'
import { isAtOrBelow, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import {
  collectRrsets,
  recordsOf,
  type ResourceRecord,
  type Rrset,
  type SignedRrset,
} from '../../net/dns/record.ts'
import { isNewer, type Serial } from '../../net/dns/serial.ts'
import { recordClass, recordType, typeName } from '../../net/dns/type.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { serialOf } from '../serve/served-zones.ts'
import { readServedSets } from '../serve/served.store.ts'
import { isGeneratedType } from '../sign/authority.ts'
import type { ServedChange } from '../sign/served-index.ts'
import { updateDelegation } from '../zone/delegate-zone.ts'
import { findRefusal } from '../zone-file/check-zone.ts'
import { planDifference, setId, type DesiredSet } from '../zone/zone-change.ts'
import { readAllSets, writeDifference } from '../zone/zone-change.store.ts'
import { lockZone } from '../zone/zone.store.ts'
import {
  transferLeaseSeconds,
  saveFollowed,
  saveFollowProblem,
  type DueSecondary,
  type FollowFailure,
  type PrimaryOfZone,
} from './follow.store.ts'
import { closeApproval, Guarded, isApprovedOrAsked, planRemovals } from './approval-area.ts'
import { savePublishProblem, savePublication } from './publish.store.ts'
import type { TransferResult, ZonePrimary } from './zone-primary.ts'

export type FollowDeps = {
  readonly db: Db
  readonly connect: (primary: PrimaryOfZone) => ZonePrimary
  readonly now: () => Date
}

/** All transfers of one attempt: after the lease another process follows the zone. The rest of the lease is for the database. */
const transferSecondsMax = transferLeaseSeconds - 60
/** A transfer with more records is refused. */
const recordsMax = 1_000_000
/** Before the first transfer there is no SOA with a retry time. */
const firstRetrySeconds = 60
/** Zones of few names shrink by half on an ordinary day. */
const guardedNamesMin = 10

/**
 * Queries the primaries in order until one answers, or, after a NOTIFY, until one has a newer serial: any of them may
 * have sent it. Stores the result.
 */
export async function followZone(deps: FollowDeps, zone: DueSecondary, signal: AbortSignal): Promise<void> {
  const { db } = deps
  const served = (await Array.fromAsync(readServedSets(db, [zone.id]))).map(({ set }) => set)
  const soa = served.find(({ name, type }) => type === recordType.SOA && name === zone.name)
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(transferSecondsMax * 1_000)])
  let failure: FollowFailure = { reason: 'no_primaries' }
  let isKnownCurrent = false
  for (const address of zone.primaries) {
    try {
      const primary = deps.connect(address)
      const serial = await primary.serial(zone.name)
      const isCurrent = soa !== undefined && !isNewer(serial, serialOf(soa))
      const transferred = isCurrent ? undefined : await transfer(deps, zone, served, primary, deadline)
      if (transferred) return await finish(db, zone.id, transferred, true)
      isKnownCurrent = true
      if (!zone.isNotified) break
    } catch (error) {
      // The other process stores the transfer, and when the zone is due.
      if (error instanceof Overtaken) return
      if (error instanceof Guarded) return await wait(db, zone.id, soa, null)
      if (!(error instanceof DriverError)) throw error
      const [refused] = error.refused
      failure = refused
        ? { reason: 'invalid_record', record: refused.subject, note: refused.reason }
        : { reason: error.kind }
    }
  }
  if (isKnownCurrent && soa) await finish(db, zone.id, soa, false)
  else await wait(db, zone.id, soa, failure)
}

/** Another process has followed the zone since its copy was read. */
class Overtaken extends Error {}

/** The SOA has the interval of queries, and the time after which the data expires without a contact. */
async function finish(db: Db, zoneId: number, soa: Rrset, isTransferred: boolean): Promise<void> {
  const { refresh, expire } = timesOf(soa)
  await saveFollowed(db, zoneId, {
    serial: serialOf(soa),
    error: null,
    dueSeconds: refresh,
    expireSeconds: expire,
    isTransferred,
  })
  await saveFollowProblem(db, zoneId, null)
}

/** Null while staff decide about a shrunk zone. */
async function wait(
  db: Db,
  zoneId: number,
  soa: Rrset | undefined,
  failure: FollowFailure | null,
): Promise<void> {
  const dueSeconds = soa ? timesOf(soa).retry : firstRetrySeconds
  // While staff decide, the primary has answered with its zone: the copy does not expire.
  const expireSeconds = failure === null && soa ? timesOf(soa).expire : undefined
  await saveFollowed(db, zoneId, {
    error: failure?.reason ?? 'held',
    dueSeconds,
    ...(expireSeconds !== undefined && { expireSeconds }),
  })
  if (failure !== null) await saveFollowProblem(db, zoneId, failure)
}

/** Seconds. A primary with extreme values is queried at most every minute and at least daily. */
function timesOf({ rdata: [soa] }: Rrset): { refresh: number; retry: number; expire: number } {
  const octets = Buffer.from(soa!)
  const at = (field: number): number => octets.readUInt32BE(octets.length - 20 + 4 * field)
  const bounded = (seconds: number): number => Math.min(86_400, Math.max(60, seconds))
  return { refresh: bounded(at(1)), retry: bounded(at(2)), expire: at(3) }
}

/**
 * Returns the new SOA; undefined if the transferred zone is not newer. Throws DriverError, Overtaken, and Guarded if
 * staff must approve.
 */
async function transfer(
  deps: FollowDeps,
  zone: DueSecondary,
  served: readonly SignedRrset[],
  primary: ZonePrimary,
  signal: AbortSignal,
): Promise<SignedRrset | undefined> {
  const soa = served.find(({ name, type }) => type === recordType.SOA && name === zone.name)
  const [from] = soa ? recordsOf(soa) : []
  const result = await primary.transfer(zone.name, { ...(from && { from }), recordsMax, signal })
  const sets = signedSets(zone.name, contentOf(served, result))
  const after = sets.find(({ name, type }) => type === recordType.SOA && name === zone.name)
  if (!after || after.rdata.length !== 1) throw new DriverError('protocol', 'the transfer has not one SOA')
  if (soa && !isNewer(serialOf(after), serialOf(soa))) return undefined
  requireServable(zone.name, sets)
  await guardShrink(deps.db, zone.id, served, sets)
  await deps.db.transaction().execute((trx) => save(trx, deps, zone, served, soa, sets, serialOf(after)))
  return after
}

/** Throws DriverError for the first record that a name server would refuse with the whole zone, which would keep the former copy without a limit. */
function requireServable(zone: ZoneName, sets: readonly SignedRrset[]): void {
  const cuts = new Set(
    sets.filter(({ name, type }) => type === recordType.NS && name !== zone).map(({ name }) => name),
  )
  for (const set of sets) {
    const reason = findRefusal(set, cuts.has(set.name))
    if (reason === undefined) continue
    const subject = `${set.name} ${typeName(set.type)}`
    throw new DriverError('refused', `the zone has an invalid record: ${subject}`, {
      refused: [{ subject, reason }],
    })
  }
}

const keyOf = ({ name, type, rdata }: Pick<ResourceRecord, 'name' | 'type' | 'rdata'>): string =>
  `${type} ${name} ${Buffer.from(rdata).toString('latin1')}`

/** Returns the records of the zone after the transfer. */
function contentOf(served: readonly SignedRrset[], result: TransferResult): Iterable<ResourceRecord> {
  if (result.kind === 'whole') return result.records
  const records = new Map(served.flatMap(recordsWithSignatures).map((record) => [keyOf(record), record]))
  for (const { removed, added } of result.steps) {
    for (const record of removed) records.delete(keyOf(record))
    for (const record of added) records.set(keyOf(record), record)
  }
  return records.values()
}

const recordsWithSignatures = (set: SignedRrset): ResourceRecord[] => [
  ...recordsOf(set),
  ...recordsOf({ ...set, type: recordType.RRSIG, rdata: set.rrsig }),
]

/** Collects sets with their signatures, without records of other zones. */
function signedSets(zone: ZoneName, records: Iterable<ResourceRecord>): SignedRrset[] {
  const own = [...records].filter(
    ({ name, class: recordClassOf }) => recordClassOf === recordClass.IN && isAtOrBelow(name, zone),
  )
  const signatures = Map.groupBy(
    own.filter(({ type }) => type === recordType.RRSIG),
    ({ name, rdata }) => setId({ name, type: (rdata[0]! << 8) | rdata[1]! }),
  )
  return collectRrsets(own.filter(({ type }) => type !== recordType.RRSIG)).map((set) => ({
    ...set,
    rrsig: (signatures.get(setId(set)) ?? []).map(({ rdata }) => rdata),
  }))
}

async function guardShrink(
  db: Db,
  zoneId: number,
  before: readonly SignedRrset[],
  after: readonly SignedRrset[],
): Promise<void> {
  const namesOf = (sets: readonly SignedRrset[]): Set<DomainName> => new Set(sets.map(({ name }) => name))
  const [former, current] = [namesOf(before), namesOf(after)]
  const slot = { kind: 'shrink', zoneId } as const
  if (former.size < guardedNamesMin || 2 * current.size >= former.size)
    return void (await closeApproval(db, slot))
  const removed = [...former].filter((name) => !current.has(name)).sort()
  if (await isApprovedOrAsked(db, slot, planRemovals(slot, 'transfer_shrinks', removed))) return
  await savePublishProblem(db, zoneId, 'zone_held', { removals: removed.length })
  throw new Guarded()
}

/**
 * Writes the record sets with a version, and publishes them. Throws Overtaken if the published content is no longer
 * `served`.
 */
async function save(
  trx: Trx,
  { now }: FollowDeps,
  { id, teamId }: DueSecondary,
  served: readonly SignedRrset[],
  soa: SignedRrset | undefined,
  sets: readonly SignedRrset[],
  serial: Serial,
): Promise<void> {
  const zone = await lockZone(trx, teamId, { id })
  if (!zone || zone.deleted !== null) return
  if (!soa && zone.publishedVersion > 0) throw new Overtaken()
  const stored = await readAllSets(trx, id)
  const wanted = sets.filter(({ type }) => !isGeneratedType(type))
  const desired = new Map<string, DesiredSet>(
    stored.map(({ name, type, ttl, source }) => [
      setId({ name, type }),
      { name, type, ttl, rdata: [], source },
    ]),
  )
  for (const set of wanted) desired.set(setId(set), { ...set, source: 'user' })
  const difference = planDifference(stored, [...desired.values()], now())
  const author = { actor: 'operator', what: 'zone.transfer' }
  const followed = await writeDifference(trx, zone, difference, author)
  const isSaved = await savePublication(trx, {
    zone: { id, serial: soa ? serialOf(soa) : ((zone.serial as Serial | null) ?? undefined) },
    serial,
    version: followed.version,
    changes: changesOf(served, sets),
    hasStep: served.length > 0,
    resigned: null,
    now: now().getTime() / 1000,
  })
  if (!isSaved) throw new Overtaken()
  await updateDelegation(trx, followed, { author, now: now() })
}

function changesOf(served: readonly SignedRrset[], sets: readonly SignedRrset[]): ServedChange[] {
  const former = new Map(served.map((set) => [setId(set), set]))
  const changes = sets.map((after): ServedChange => {
    const before = former.get(setId(after))
    former.delete(setId(after))
    return before ? { before, after } : { after }
  })
  return [...changes, ...[...former.values()].map((before) => ({ before }))]
}
