// The zones that this process serves. It follows the published rows: while the database is down it answers from memory,
// and a zone leaves only when its row is withdrawn.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '../../db/postgres.ts'
import type { ZoneName } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import { isNewer, type Serial } from '../../net/dns/serial.ts'
import { EncodedZone } from '../answer/encoded-zone.ts'
import { MemoryZone, type ReadableZone } from '../answer/memory-zone.ts'
import type { Zones } from '../answer/zones.ts'
import type { Transfer, ZoneSnapshot, ZoneSource } from '../answer/zone-source.ts'
import type { ServedChange } from '../sign/served-index.ts'
import type { Log } from '../../runtime/log.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import { differenceOf } from '../sign/transfer.ts'
import { decodeSignedRrsets, encodeSignedRrsets } from '../sign/rrset-list.ts'
import {
  lastPosition,
  listServedZones,
  readDatabaseId,
  listStepsAfter,
  listStepsOf,
  readServedSets,
  readSoas,
  withSnapshot,
  type ServedZoneRow,
  type StoredStep,
} from './served.store.ts'
import { readSnapshot, writeSnapshot } from './zone-snapshot.ts'

export type LoadedZone = {
  readonly id: number
  readonly name: ZoneName
  readonly kind: ServedZoneRow['kind']
  serial: Serial
  soa: SignedRrset
  expires: Date | null
  claimed: Date | null
  /** The last step that `content` contains. */
  position: number
  /** Undefined if this process does not answer from memory; encoded until it changes or there is time to decode it. */
  content: ReadableZone | undefined
  /** Steps applied by this process, oldest first. */
  readonly recent: StoredStep[]
}

export type ServedZonesOptions = {
  readonly db: Db
  /** Whether zones are kept in memory, to answer from them; otherwise they are only transferred, from the database. */
  readonly isInMemory: boolean
  readonly now: () => Date
  /** File of the zones between two runs of the process. */
  readonly snapshot?: { readonly file: string; readonly ring: KeyRing; readonly log: Log }
}

const recentMax = 100
/** Sets of the recent steps of a zone: more are read from the database. */
const recentSetsMax = 20_000
const stepsPerQuery = 1_000
/** Record sets decoded per part of a transfer. */
const setsPerPart = 500
const zonesPerLoad = 500
/** Sets that are decoded in one turn of the event loop: a few milliseconds. */
const setsPerTurn = 500
/** Overlap of two reads in milliseconds: a transaction may commit after a newer one. */
const overlapMs = 10_000

/** Inert until `refresh`. */
export class ServedZones implements ZoneSource {
  readonly #options: ServedZonesOptions
  readonly #byName = new Map<ZoneName, LoadedZone>()
  readonly #byId = new Map<number, LoadedZone>()
  #position: number | undefined
  #since: Date | undefined
  /** Resolves after the first complete load. */
  #isLoaded = false
  #generation = 0
  /** Identifies the content of the last snapshot that was written. */
  #written: string | undefined
  #restoredFrom: { readonly database: string | undefined } | undefined

  constructor(options: ServedZonesOptions) {
    this.#options = options
  }

  /** Whether every zone was loaded once: before, a name without a zone is not known to be foreign. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** Another number after a zone was added, replaced or removed. */
  get generation(): number {
    return this.#generation
  }

  get size(): number {
    return this.#byName.size
  }

  get(name: ZoneName): LoadedZone | undefined {
    return this.#byName.get(name)
  }

  /** Loads the zones of a valid snapshot. They are served immediately; the first refresh updates them. */
  async restore(): Promise<void> {
    const { snapshot, isInMemory, now } = this.#options
    if (!snapshot || !isInMemory) return
    try {
      const restored = await readSnapshot(snapshot.ring, snapshot.file, now())
      if (!restored) return
      const { position, zones, database } = restored
      for (const zone of zones) this.#set({ ...zone, position, recent: [] })
      this.#position = position
      this.#restoredFrom = { database }
      this.#isLoaded = true
      snapshot.log.info({ zones: zones.length, file: snapshot.file }, 'zones restored from the snapshot')
    } catch (error) {
      snapshot.log.warn({ file: snapshot.file, err: error }, 'snapshot of zones ignored')
    }
  }

  /**
   * Drops zones that were restored from a snapshot of another database. Returns whether the zones come from a snapshot.
   */
  async #requireSameDatabase(): Promise<boolean> {
    if (!this.#restoredFrom) return false
    const { database } = this.#restoredFrom
    if (database === undefined || (await readDatabaseId(this.#options.db)) !== database) {
      this.#generation += 1
      this.#byName.clear()
      this.#byId.clear()
      this.#position = undefined
      this.#isLoaded = false
      this.#options.snapshot?.log.warn({}, 'snapshot of zones is of another database')
    }
    this.#restoredFrom = undefined
    return true
  }

  /** Writes the snapshot if something was published since the last one. */
  async save(): Promise<void> {
    const { snapshot, isInMemory, db, now } = this.#options
    const state = `${this.#position} ${this.#since?.getTime()}`
    if (!snapshot || !isInMemory || !this.#isLoaded || state === this.#written) return
    await writeSnapshot(db, snapshot.ring, snapshot.file, now())
    this.#written = state
  }

  /** Decodes a zone, with pauses for answers from it. */
  async #decode(zone: LoadedZone): Promise<void> {
    if (!(zone.content instanceof EncodedZone)) return
    const decoded = new MemoryZone(zone.name)
    let count = 0
    for (const set of zone.content.sets()) {
      decoded.apply([{ after: set }])
      if (++count % setsPerTurn === 0) await nextTurn()
    }
    zone.content = decoded
  }

  /** Decodes all encoded zones: answers from decoded zones are faster. */
  async decodeAll(): Promise<void> {
    for (const zone of this.#byId.values()) await this.#decode(zone)
  }

  /** Updates the zones from the rows. `isFull`: compares all zones, otherwise the rows changed since the last call. */
  async refresh(isFull: boolean): Promise<void> {
    const { db } = this.#options
    const isRestored = await this.#requireSameDatabase()
    const since = isFull ? undefined : this.#since
    // Steps first, the most frequent case. A step published before the rows are read is applied afterwards.
    if (this.#position !== undefined) await this.#applySteps(this.#position)
    const rows = await listServedZones(db, since)
    const isBehind = (row: ServedZoneRow): boolean => row.withdrawn === null && this.#isStale(row)
    if (this.#position !== undefined && rows.some(isBehind)) await this.#applySteps(this.#position)
    const stale = rows.filter(isBehind)
    for (let at = 0; at < stale.length; at += zonesPerLoad)
      await this.#load(stale.slice(at, at + zonesPerLoad))
    // The row of a zone that was deleted long ago is gone.
    if (isRestored && isFull) this.#keepOnly(new Set(rows.map(({ id }) => id)))
    for (const row of rows) {
      const zone = this.#byId.get(row.id)
      if (row.withdrawn !== null) this.#remove(row.id)
      else if (zone) Object.assign(zone, { expires: row.expires, claimed: row.claimed })
    }
    this.#position ??= await lastPosition(db)
    const newest = Math.max(0, ...rows.map(({ published }) => published.getTime()))
    if (newest > 0) this.#since = new Date(Math.max(newest - overlapMs, this.#since?.getTime() ?? 0))
    this.#isLoaded = true
  }

  /**
   * Applies a step that this process has published, if it follows the zone's serial. `refresh` reads all other steps
   * and skips this one.
   */
  applyStep(step: StoredStep): void {
    const zone = this.#byId.get(step.zoneId)
    if (zone?.serial === step.from && !(zone.content instanceof EncodedZone)) apply(zone, step)
  }

  find(name: ZoneName): LoadedZone | 'expired' | undefined {
    const zone = this.#byName.get(name)
    return zone && zone.expires && zone.expires < this.#options.now() ? 'expired' : zone
  }

  /** The zones to answer from. */
  get contents(): Zones {
    return {
      has: (name) => this.#byName.has(name),
      get: (name) => {
        const zone = this.find(name)
        return zone === 'expired' ? zone : zone?.content
      },
    }
  }

  async open(name: ZoneName): Promise<ZoneSnapshot | undefined> {
    const zone = this.#byName.get(name)
    if (!zone) return undefined
    if (!zone.content) return this.#openRows(zone)
    // The list is a complete copy and sets are immutable: later changes of the zone do not affect it.
    return { serial: zone.serial, soa: zone.soa, sets: [...zone.content.sets()] }
  }

  async changes(
    name: ZoneName,
    from: Serial,
  ): Promise<{ soa: SignedRrset; steps: readonly Transfer[] } | undefined> {
    const zone = this.#byName.get(name)
    if (!zone) return undefined
    const { soa, serial, position, recent } = zone
    const found =
      chainOf(recent, from, serial) ?? chainOf(await this.#storedSteps(zone.id, position), from, serial)
    return found && { soa, steps: found.map(transferOf) }
  }

  /** The database may be down: then the zone is sent whole. */
  #storedSteps(zoneId: number, position: number): Promise<StoredStep[]> {
    return listStepsOf(this.#options.db, zoneId, position).catch(() => [])
  }

  /**
   * Reads one snapshot of the rows and keeps it encoded until it is sent: a tenth of the memory of record sets. A transaction as long as the
   * transfer would occupy a connection for as long as the peer likes.
   */
  async #openRows({ id }: LoadedZone): Promise<ZoneSnapshot | undefined> {
    return withSnapshot(this.#options.db, async (trx) => {
      const soa = (await readSoas(trx, [id])).get(id)
      if (!soa) return undefined
      const parts: Buffer[] = []
      for await (const sets of inParts(readServedSets(trx, [id]), setsPerPart))
        parts.push(Buffer.from(encodeSignedRrsets(sets.map(({ set }) => set))))
      return { serial: serialOf(soa), soa, sets: decodeParts(parts) }
    })
  }

  async #applySteps(after: number): Promise<void> {
    for (let position = after; ;) {
      const steps = await listStepsAfter(this.#options.db, position, stepsPerQuery)
      for (const step of steps) {
        const zone = this.#byId.get(step.zoneId)
        if (zone?.serial === step.from) await this.#decode(zone)
        // `applyStep` may have been faster.
        if (zone?.serial === step.from) apply(zone, step)
      }
      position = steps.at(-1)?.position ?? position
      this.#position = position
      if (steps.length < stepsPerQuery) return
    }
  }

  #isStale({ id, serial }: ServedZoneRow): boolean {
    const zone = this.#byId.get(id)
    return !zone || (zone.serial !== serial && !isNewer(zone.serial, serial))
  }

  /** Reads whole zones, in a separate database snapshot. */
  async #load(rows: readonly ServedZoneRow[]): Promise<void> {
    const ids = rows.map(({ id }) => id)
    const loaded = await withSnapshot(this.#options.db, async (trx) => {
      const soas = await readSoas(trx, ids)
      const position = await lastPosition(trx)
      const contents = new Map<number, MemoryZone>()
      if (this.#options.isInMemory) {
        const nameOf = new Map(rows.map(({ id, name }) => [id, name]))
        for await (const { zoneId, set } of readServedSets(trx, ids)) {
          const content = contents.get(zoneId) ?? new MemoryZone(nameOf.get(zoneId)!)
          contents.set(zoneId, content)
          content.apply([{ after: set }])
        }
      }
      return { soas, position, contents }
    })
    for (const { id, name, kind, expires, claimed } of rows) {
      const soa = loaded.soas.get(id)
      if (!soa) continue
      const { position } = loaded
      const content = loaded.contents.get(id)
      const serial = serialOf(soa)
      this.#set({ id, name, kind, serial, soa, expires, claimed, position, content, recent: [] })
    }
  }

  #set(zone: LoadedZone): void {
    const former = this.#byName.get(zone.name)
    // A deleted zone is served until it is withdrawn. By then the name may belong to another zone: a new one, or a
    // restored older one.
    if (former?.claimed && zone.claimed && former.claimed > zone.claimed) return
    this.#generation += 1
    if (former) this.#byId.delete(former.id)
    this.#byName.set(zone.name, zone)
    this.#byId.set(zone.id, zone)
  }

  #keepOnly(ids: ReadonlySet<number>): void {
    for (const id of this.#byId.keys()) if (!ids.has(id)) this.#remove(id)
  }

  #remove(id: number): void {
    const zone = this.#byId.get(id)
    if (!zone) return
    this.#generation += 1
    this.#byId.delete(id)
    this.#byName.delete(zone.name)
  }
}

async function* inParts<T>(items: AsyncIterable<T>, length: number): AsyncGenerator<T[]> {
  let part: T[] = []
  for await (const item of items) {
    part.push(item)
    if (part.length < length) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}

/** Each part is released once it was sent. */
function* decodeParts(parts: Buffer[]): Generator<SignedRrset> {
  for (let part = parts.shift(); part; part = parts.shift()) yield* decodeSignedRrsets(part)
}

/** Returns the serial in an SOA record: the first of the five numbers at its end. */
export function serialOf({ rdata: [soa] }: Pick<SignedRrset, 'rdata'>): Serial {
  return Buffer.from(soa!).readUInt32BE(soa!.length - 20) as Serial
}

function apply(zone: LoadedZone, step: StoredStep): void {
  if (zone.content instanceof MemoryZone) zone.content.apply(changesOf(step))
  zone.serial = step.to
  zone.soa = step.added[0]!
  zone.position = step.position
  const { recent } = zone
  recent.push(step)
  let sets = recent.reduce((sum, { removed, added }) => sum + removed.length + added.length, 0)
  while (recent.length > recentMax || (sets > recentSetsMax && recent.length > 1)) {
    const oldest = recent.shift()!
    sets -= oldest.removed.length + oldest.added.length
  }
}

/** Pairs the sets of a step: a changed set is both removed and added. */
function changesOf({ removed, added }: Pick<StoredStep, 'removed' | 'added'>): ServedChange[] {
  const key = ({ name, type }: SignedRrset): string => `${type} ${name}`
  const before = new Map(removed.map((set) => [key(set), set]))
  const changes: ServedChange[] = added.map((after) => {
    const found = before.get(key(after))
    before.delete(key(after))
    return found ? { before: found, after } : { after }
  })
  return [...changes, ...[...before.values()].map((before) => ({ before }))]
}

/** Returns the steps that lead from one serial to another without a gap; undefined if they do not. */
function chainOf(steps: readonly StoredStep[], from: Serial, to: Serial): StoredStep[] | undefined {
  const first = steps.findIndex((step) => step.from === from)
  if (first < 0) return undefined
  const chain: StoredStep[] = []
  let serial = from
  for (const step of steps.slice(first)) {
    if (step.from !== serial) return undefined
    chain.push(step)
    serial = step.to
    if (serial === to) return chain
  }
  return undefined
}

/** The SOA first on both sides, as IXFR has it. */
function transferOf({ from, to, removed, added }: StoredStep): Transfer {
  const { removed: left, added: joined } = differenceOf(
    changesOf({ removed: removed.slice(1), added: added.slice(1) }),
  )
  return { from, to, removed: [removed[0]!, ...left], added: [added[0]!, ...joined] }
}
