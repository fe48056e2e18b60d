// Publishes one zone: the versions since the last publication become one serial, signed, in one transaction. Removals follow from
// the journal alone: a publication never computes a removal from absence.
import { analyzeGrown } from '../../db/analyze-grown.ts'
import type { Db } from '../../db/postgres.ts'
import { uniqueRdata, type Rrset, type SignedRrset } from '../../net/dns/record.ts'
import { nextSerial, type Serial } from '../../net/dns/serial.ts'
import { recordType } from '../../net/dns/type.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import { listPublishedAliases } from '../alias/alias.store.ts'
import { withAddresses } from '../alias/publish-aliases.ts'
import { closeApproval, Guarded, isApprovedOrAsked, planRemovals, type ZoneSlot } from './approval-area.ts'
import { serialOf } from '../serve/served-zones.ts'
import { readServedSets, withSnapshot, type StoredStep } from '../serve/served.store.ts'
import { isGeneratedType, withAncestors } from '../sign/authority.ts'
import { isDeleteRequest } from '../sign/dnskey.ts'
import type { ServedChange, ServedIndex } from '../sign/served-index.ts'
import { defaultTimes } from '../sign/signature.ts'
import { signDelta, type RrsetChange } from '../sign/sign-delta.ts'
import { setKey, signZone } from '../sign/sign-zone.ts'
import { checkPublication } from './guard.ts'
import { JournalGap, changeTo, mergeJournal } from './merge-journal.ts'
import {
  findPublishedZone,
  hasExpiring,
  listRecordsets,
  commitPublication,
  savePublishProblem,
  skipVersions,
  type PublishedZone,
  type ZoneProblem,
} from './publish.store.ts'
import { servedRows } from '../sign/served-rows.ts'
import { KeysNotReadable, zoneSigningOf, type ZoneSigning } from './zone-signing.ts'

export type PublishDeps = {
  readonly db: Db
  readonly ring: KeyRing
  /** Signs a whole zone; a thread does it for large ones. */
  readonly signWhole: SignWhole
  readonly now: () => Date
  /** Gets each step after its commit: the name server of the same process need not read it. */
  readonly onStep?: (step: StoredStep) => void
}

export type SignWhole = (
  ...parameters: Parameters<typeof signZone>
) => Promise<Iterable<SignedRrset>> | Iterable<SignedRrset>

/** `created`: the zone was published for the first time. */
export type PublishOutcome = 'created' | 'published' | 'unchanged' | 'held' | 'error' | 'raced'

/**
 * Publishes the new versions of a zone. Throws if the database fails; the next run is the retry. `known` is its row, if
 * it was just read.
 */
export async function publishZone(
  deps: PublishDeps,
  zoneId: number,
  known?: PublishedZone,
): Promise<PublishOutcome> {
  const zone = known ?? (await findPublishedZone(deps.db, zoneId))
  if (!zone) return 'unchanged'
  try {
    return await publish(deps, zone)
  } catch (error) {
    if (error instanceof JournalGap)
      return problem(deps.db, zoneId, 'zone_not_published', { reason: 'journal_gap' })
    if (error instanceof KeysNotReadable)
      return problem(deps.db, zoneId, 'zone_not_signed', { reason: 'keys_not_readable' })
    if (error instanceof Guarded) return 'held'
    throw error
  }
}

async function problem(
  db: Db,
  zoneId: number,
  reason: ZoneProblem,
  attrs: Readonly<Record<string, unknown>>,
): Promise<'error'> {
  await savePublishProblem(db, zoneId, reason, attrs)
  return 'error'
}

async function publish(deps: PublishDeps, zone: PublishedZone): Promise<PublishOutcome> {
  const { db, now } = deps
  const nowSeconds = Math.floor(now().getTime() / 1000)
  const { version, change: desired } = await desiredChange(db, zone)
  const signing = zoneSigningOf(deps.ring, zone, nowSeconds)
  const hasAliases = zone.hasAliases || desired.some(({ type }) => type === recordType.ALIAS)
  const change = hasAliases ? withAddresses(desired, await listPublishedAliases(db, zone.id)) : desired
  const serial = nextSerial(zone.serial, nowSeconds)
  const index = servedRows(db, zone.id)
  const apex = zone.isPublished ? await readApex(zone, index, change) : []
  const isRaised = isSerialRaised(zone, apex)
  const changes = zone.isPublished
    ? await changesOf(deps, { zone, index, apex, isRaised }, change, signing, serial)
    : await firstChanges(deps, zone, change, signing, serial)
  if (!changes) {
    if (zone.isWaiting) await closeApproval(db, slotOf(zone))
    await skipVersions(db, zone.id, version, zone)
    return 'unchanged'
  }
  await guard(db, zone, changes, change)
  const saved = await commitPublication(db, {
    zone,
    serial,
    version,
    changes,
    hasStep: zone.isPublished && !isRaised && changes.length < stepSetsMax,
    resigned: zone.resignRequested,
    aliased: zone.aliasRequested,
    now: nowSeconds,
  })
  if (!saved) return 'raced'
  if (saved.step) deps.onStep?.(saved.step)
  if (changes.length > manySets) await analyzeGrown(db, publishedTables)
  return zone.isPublished ? 'published' : 'created'
}

/**
 * Reads the sets at the apex that signing the change needs. If the serial of the zone's row differs, the publication is
 * not saved.
 */
async function readApex(
  { name }: PublishedZone,
  index: ServedIndex,
  change: readonly RrsetChange[],
): Promise<readonly SignedRrset[]> {
  const names = change.map((set) => set.name)
  return (await index.at(withAncestors(name, names))).get(name) ?? []
}

/** Statements of publications are planned for the number of their rows. */
const publishedTables = [
  'dns_zones',
  'dns_versions',
  'dns_recordsets',
  'dns_served',
  'dns_transfers',
] as const
/** A publication with this many sets may double a small table. */
const manySets = 100

/** A step with more sets is as large as a transfer of the whole zone. */
const stepSetsMax = 20_000

/** Returns the desired content: the whole zone for the first publication, otherwise the changes of the journal. */
async function desiredChange(
  db: Db,
  zone: PublishedZone,
): Promise<{ readonly version: number; readonly change: readonly RrsetChange[] }> {
  if (!zone.isPublished)
    return withSnapshot(db, async (trx) => {
      const version = (await findPublishedZone(trx, zone.id))?.version ?? zone.version
      return { version, change: (await listRecordsets(trx, zone.id)).map(changeTo) }
    })
  const { journal, publishedVersion, version } = zone
  return { version, change: mergeJournal(journal, publishedVersion, version) }
}

async function firstChanges(
  deps: PublishDeps,
  zone: PublishedZone,
  change: readonly RrsetChange[],
  zoneSigning: ZoneSigning,
  serial: Serial,
): Promise<ServedChange[]> {
  const { name } = zone
  const { signing } = zoneSigning
  const isKeySet = isKeySetOf(name)
  const wanted = [
    ...change.filter((set) => !isKeySet(set)),
    ...keyChanges(zone, [], change, zoneSigning),
  ].flatMap(({ after }) => (after ? [after] : []))
  const sets = wanted.map((set) => (isSoaOf(name, set) ? soaWithSerial(set, serial) : set))
  return [...(await deps.signWhole(name, sets, signing))].map((after) => ({ after }))
}

/** Returns the differences, with the SOA at its new serial; undefined without any other difference. */
async function changesOf(
  deps: PublishDeps,
  {
    zone,
    index,
    apex,
    isRaised,
  }: { zone: PublishedZone; index: ServedIndex; apex: readonly SignedRrset[]; isRaised: boolean },
  change: readonly RrsetChange[],
  zoneSigning: ZoneSigning,
  serial: Serial,
): Promise<readonly ServedChange[] | undefined> {
  const { name, id } = zone
  const served = apex.find((set) => isSoaOf(name, set))
  if (!served) throw new Error(`the published zone ${name} has no SOA`)
  const isKeySet = isKeySetOf(name)
  const soa = change.find((set) => isSoaOf(name, set))?.after ?? served
  const wanted = [
    ...change.filter((set) => !isSoaOf(name, set) && !isKeySet(set)),
    ...keyChanges(zone, apex, change, zoneSigning),
  ]
  const whole = [...wanted, changeTo(soaWithSerial(soa, serial))]
  const isDelta = !zone.resignRequested || !(await hasExpiring(deps.db, id, renewalTime(deps.now())))
  const changes =
    (isDelta ? await signDelta(name, index, whole, zoneSigning.signing) : undefined) ??
    (await changesOfWhole(deps, zone, whole, zoneSigning))
  // The new serial alone is no change; a SOA with other values is.
  const isSame = (set: ServedChange): boolean =>
    set.before?.type === recordType.SOA && set.after !== undefined && isSameSoa(set.before, set.after)
  const others = changes.filter((set) => !isSame(set))
  return others.length > 0 || isRaised ? changes : undefined
}

/** Signatures that expire before this time are to be renewed. */
export const renewalTime = (now: Date): Date => new Date(now.getTime() + defaultTimes.renewal * 1000)

const keyTypes: readonly number[] = [recordType.DNSKEY, recordType.CDS, recordType.CDNSKEY]

const isKeySetOf =
  (zone: Rrset['name']) =>
  ({ name, type }: Pick<Rrset, 'name' | 'type'>): boolean =>
    name === zone && keyTypes.includes(type)

/**
 * Key sets at the apex contain the keys of Pharos and other signers' keys, taken from the journal or, without a change,
 * from the published set.
 */
function keyChanges(
  { name }: PublishedZone,
  apex: readonly SignedRrset[],
  change: readonly RrsetChange[],
  { keySets, isOwn }: ZoneSigning,
): RrsetChange[] {
  return keyTypes.flatMap((type): RrsetChange[] => {
    const own = keySets.find((set) => set.type === type)
    const before = apex.find((set) => set.type === type)
    const changed = change.find((set) => set.type === type && set.name === name)
    const others = (changed ? changed.after : before)?.rdata.filter((rdata) => !isOwn(rdata)) ?? []
    // Another signer stays, so the parent must not be asked to delete its DS records.
    const ours = others.length === 0 ? own?.rdata : own?.rdata.filter((rdata) => !isDeleteRequest(rdata))
    const rdata = uniqueRdata([...(ours ?? []), ...others])
    if (rdata.length === 0) return before ? [{ name, type, after: undefined }] : []
    const ttl = (own ?? changed?.after ?? before)!.ttl
    return [{ name, type, after: { name, type, ttl, rdata } }]
  })
}

/** Signs the whole zone as it will be, and keeps the signatures that are still right. */
async function changesOfWhole(
  { db, signWhole }: PublishDeps,
  { id, name }: PublishedZone,
  change: readonly RrsetChange[],
  { signing }: ZoneSigning,
): Promise<ServedChange[]> {
  const served = new Map<string, SignedRrset>()
  for await (const { set } of readServedSets(db, [id])) served.set(setKey(set), set)
  const desired = new Map<string, Rrset>([...served].filter(([, { type }]) => !isGeneratedType(type)))
  for (const { after, ...set } of change) {
    if (after) desired.set(setKey(set), after)
    else desired.delete(setKey(set))
  }
  const changes: ServedChange[] = []
  for (const after of await signWhole(name, desired.values(), signing, served)) {
    const before = served.get(setKey(after))
    served.delete(setKey(after))
    if (!before) changes.push({ after })
    else if (!isSameSet(before, after)) changes.push({ before, after })
  }
  return [...changes, ...[...served.values()].map((before) => ({ before }))]
}

const slotOf = ({ id }: PublishedZone): ZoneSlot => ({ kind: 'publish', zoneId: id })

async function guard(
  db: Db,
  zone: PublishedZone,
  changes: readonly ServedChange[],
  journal: readonly RrsetChange[],
): Promise<void> {
  const refusal = checkPublication(zone.name, changes, journal)
  const slot = slotOf(zone)
  // Only a zone that waits has an approval: others are published in as few round trips as possible.
  if (!refusal && zone.isWaiting) await closeApproval(db, slot)
  if (!refusal) return
  const planned = planRemovals(slot, refusal.reason, refusal.sets)
  if (await isApprovedOrAsked(db, slot, planned, refusal.reason !== 'apex_removed')) return
  await savePublishProblem(db, zone.id, 'zone_held', { removals: refusal.sets.length })
  throw new Guarded()
}

/** Name servers have a newer serial than the published rows: the row of the zone got it when a restore was closed. */
function isSerialRaised({ name, serial }: PublishedZone, apex: readonly SignedRrset[]): boolean {
  const soa = apex.find((set) => isSoaOf(name, set))
  return soa !== undefined && serial !== undefined && serialOf(soa) !== serial
}

const isSoaOf = (zone: Rrset['name'], { name, type }: Pick<Rrset, 'name' | 'type'>): boolean =>
  type === recordType.SOA && name === zone

/** Octets of an SOA after its names: serial, refresh, retry, expire, minimum. */
const soaNumbers = 20

/** Returns the SOA with another serial. */
export function soaWithSerial(soa: Rrset, serial: Serial): Rrset {
  const [first] = soa.rdata
  const rdata = Buffer.from(first!)
  rdata.writeUInt32BE(serial, rdata.length - soaNumbers)
  return { name: soa.name, type: soa.type, ttl: soa.ttl, rdata: [Uint8Array.from(rdata)] }
}

function isSameSoa(a: Rrset, b: Rrset): boolean {
  const zero = 0 as Serial
  return a.ttl === b.ttl && isSameList(soaWithSerial(a, zero).rdata, soaWithSerial(b, zero).rdata)
}

const isSameSet = (a: SignedRrset, b: SignedRrset): boolean =>
  a.ttl === b.ttl && isSameList(a.rdata, b.rdata) && isSameList(a.rrsig, b.rrsig)

function isSameList(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  if (a.length !== b.length) return false
  const texts = (list: readonly Uint8Array[]): string[] =>
    list.map((octets) => Buffer.from(octets).toString('latin1')).sort()
  const [left, right] = [texts(a), texts(b)]
  return left.every((text, at) => text === right[at])
}
