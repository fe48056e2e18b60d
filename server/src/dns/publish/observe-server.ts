// One run of observing a name server: sends NOTIFY for changed zones, reads the serials back, and stores the result.
// NOTIFY is a hint that may be lost; only the serial that is read back counts.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db, Trx } from '../../db/postgres.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { isNewer, type Serial } from '../../net/dns/serial.ts'
import type { NameServer } from './name-server.ts'
import {
  listAllZones,
  listRecentZones,
  saveServerObservations,
  saveServer,
  updateStatuses,
  type ExpectedZone,
  type ServerObservation,
  type RefusedZoneChange,
  type ServerRow,
} from './observe.store.ts'

export type ObserveDeps = {
  readonly db: Db
  readonly now: () => Date
  /**
   * Notifies staff of zones that a name server refuses, in the transaction that stores it. The result is called after
   * the commit.
   */
  readonly onRefused: (trx: Trx, zones: readonly RefusedZoneChange[]) => Promise<(() => void) | undefined>
  /** Gets the seconds of changes of zones that all name servers serve now, once for each. */
  readonly onServed?: (seconds: readonly number[]) => void
}

/** When the serials are read after a NOTIFY, and NOTIFY is repeated for zones that are behind. */
const checkAfterMs = [15, 50, 200, 1_000]
/** Zones of one batch of NOTIFY and questions. */
const batchSize = 2_000
/** All zones are compared so often, also without a change. */
const fullMs = 300_000
/** Overlap of two reads in milliseconds: a transaction may commit after a newer one. */
const overlapMs = 10_000

/** Observes one server in the runs of a loop. */
export class ServerObserver {
  readonly #deps: ObserveDeps
  readonly #server: Pick<ServerRow, 'id' | 'name' | 'catalog'>
  readonly #client: NameServer
  #lastFull = -Infinity
  #since = new Date(0)
  #endPause = (): void => {}
  #isInterrupted = false
  /** Ids of zones that did not serve the expected serial in the last run. */
  #behind: readonly number[] = []

  constructor(deps: ObserveDeps, server: Pick<ServerRow, 'id' | 'name' | 'catalog'>, client: NameServer) {
    this.#deps = deps
    this.#server = server
    this.#client = client
  }

  /** Number of zones that were behind in the last run: the next run should be soon. */
  get behind(): number {
    return this.#behind.length
  }

  /** Throws if the database fails; a server that does not answer is stored as such. */
  async run(signal: AbortSignal): Promise<void> {
    const { db, now } = this.#deps
    this.#isInterrupted = false
    const isFull = performance.now() - this.#lastFull >= fullMs
    const began = now()
    const zones = isFull ? await listAllZones(db) : await listRecentZones(db, this.#since, this.#behind)
    // A full run also finds changes on the server itself. Only zones that are behind get NOTIFY.
    const behind: number[] = []
    try {
      if (isFull) await this.#identify()
      for (let at = 0; at < zones.length; at += batchSize)
        behind.push(...(await this.#bringUp(zones.slice(at, at + batchSize), isFull, signal)))
      await saveServer(db, this.#server.id, { error: null })
      if (isFull) this.#lastFull = performance.now()
    } catch (error) {
      if (!(error instanceof DriverError)) throw error
      signal.throwIfAborted()
      await this.#saveFailure(error, zones)
      behind.splice(0, Infinity, ...zones.map(({ id }) => id))
    }
    this.#behind = behind
    this.#since = new Date(began.getTime() - overlapMs)
  }

  /** Ends the wait of a run, so that a slow zone does not delay other changed zones. The caller starts the next run. */
  interrupt(): void {
    this.#isInterrupted = true
    this.#endPause()
  }

  /** Returns whether it was interrupted. */
  async #pause(ms: number, signal: AbortSignal): Promise<boolean> {
    if (this.#isInterrupted) return true
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#endPause = () => resolve(true)
    const isInterrupted = await Promise.race([sleep(ms, false, { signal }), promise])
    this.#endPause = () => {}
    return isInterrupted
  }

  async #identify(): Promise<void> {
    await saveServer(this.#deps.db, this.#server.id, { error: null, identity: await this.#client.probe() })
  }

  /** Returns the ids of the zones that do not serve the expected serial in the end. */
  async #bringUp(zones: readonly ExpectedZone[], asksFirst: boolean, signal: AbortSignal): Promise<number[]> {
    let left = asksFirst ? await this.#check(zones) : zones
    for (const ms of checkAfterMs) {
      if (left.length === 0) return []
      // A server that refuses NOTIFY for a zone may still ask by itself.
      await this.#client.notify(left.map(({ name, serial }) => ({ zone: name, serial }))).catch(ignoreRefusal)
      const isInterrupted = await this.#pause(ms, signal)
      left = await this.#check(left)
      if (isInterrupted) break
    }
    return left.map(({ id }) => id)
  }

  /** Reads and saves the serials; returns the zones that are behind. */
  async #check(zones: readonly ExpectedZone[]): Promise<ExpectedZone[]> {
    const serials = await this.#client.serials(zones.map(({ name }) => name))
    const observed = zones.map((zone) => ({ zone, ...observe(zone, serials.get(zone.name)!) }))
    await this.#save(observed.map(({ zone, serial, state }) => ({ zoneId: zone.id, serial, state })))
    // A server that does not use the catalog serves the zones that it is configured for.
    const isExpected = this.#server.catalog
    return observed
      .filter(({ state }) => state !== 'serving' && (isExpected || state !== 'absent'))
      .map(({ zone }) => zone)
  }

  async #saveFailure(error: DriverError, zones: readonly ExpectedZone[]): Promise<void> {
    await saveServer(this.#deps.db, this.#server.id, { error: error.kind })
    await this.#save(zones.map(({ id }) => ({ zoneId: id, serial: null, state: 'unreachable' })))
  }

  async #save(observations: readonly ServerObservation[]): Promise<void> {
    const { onCommit, servedSeconds } = await this.#deps.db.transaction().execute(async (trx) => {
      const saved = await saveServerObservations(trx, this.#server.id, observations)
      const zoneIds = observations.map(({ zoneId }) => zoneId)
      const { changes, refused, servedSeconds } = await updateStatuses(trx, zoneIds, saved)
      const onCommit = refused.length > 0 ? await this.#deps.onRefused(trx, refused) : undefined
      const at = this.#deps.now().toISOString()
      const messages = changes.flatMap(({ teamId, id, name, serial, before, after }) =>
        teamId === null
          ? []
          : [
              {
                teamId,
                type: 'zone.status_changed' as const,
                data: { zone_id: id, name: name.slice(0, -1), serial, before, after, at },
              },
            ],
      )
      await writeMessages(trx, messages)
      return { onCommit, servedSeconds }
    })
    onCommit?.()
    this.#deps.onServed?.(servedSeconds)
  }
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof DriverError && error.kind === 'refused')) throw error
}

/** A serial above the expected one was published after the rows were read. */
function observe(
  { serial: expected }: ExpectedZone,
  answer: Serial | 'absent' | 'failing',
): { readonly serial: Serial | null; readonly state: ServerObservation['state'] } {
  if (answer === 'absent' || answer === 'failing') return { serial: null, state: answer }
  const isCurrent = answer === expected || isNewer(answer, expected)
  return { serial: answer, state: isCurrent ? 'serving' : 'behind' }
}
