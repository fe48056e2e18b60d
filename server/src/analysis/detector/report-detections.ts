// Reports of the detector become deliveries of its source, and go the way of any other detector's from there. While the database is down
// they wait in memory: the newest of each attack, since each contains all that the ones before did.
import { randomUUID } from 'node:crypto'
import type { Postgres } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { insertDelivery } from '../delivery.store.ts'
import { readThresholds } from '../sources/flows.ts'
import type { FlowStore } from '../flow/flow-store.ts'
import type { Detection, DetectorRules } from './detector.ts'
import {
  findDetectorSource,
  listSilentAttacks,
  listTeamIds,
  readBaselines,
  type DetectorSource,
} from './detector.store.ts'
import type { Baseline } from './threshold.ts'

const waitingMax = 10_000
const hourMs = 3_600_000

export type DetectionDeps = {
  readonly postgres: Postgres
  readonly store: FlowStore
  readonly onBaselineFailure: (error: unknown) => void
}

/** Created once per process; `readRules` and `deliver` are runs of loops. */
export class DetectionReporter {
  readonly #deps: DetectionDeps
  readonly #waiting = new Map<string, Detection>()
  #source: DetectorSource | undefined
  #baselines: ReadonlyMap<number, Baseline> = new Map()
  #baselineHour = -1

  constructor(deps: DetectionDeps) {
    this.#deps = deps
  }

  /** Reads the thresholds of the platform file, and once an hour the baselines. Without a source there are no thresholds. */
  async readRules(now: Date): Promise<DetectorRules> {
    const { owner: db } = this.#deps.postgres
    this.#source = await findDetectorSource(db)
    if (!this.#source) return { thresholds: [], teamIds: new Map(), baselines: new Map() }
    const thresholds = readThresholds(this.#source.settings)
    const slugs = new Set(thresholds.flatMap(({ team }) => (team === undefined ? [] : [team])))
    if (thresholds.some(({ ratio }) => ratio !== undefined)) await this.#refreshBaselines(now)
    return { thresholds, teamIds: await listTeamIds(db, [...slugs]), baselines: this.#baselines }
  }

  /** Without the flow store the former baselines stay in use. */
  async #refreshBaselines(now: Date): Promise<void> {
    const hour = Math.floor(now.getTime() / hourMs)
    if (hour === this.#baselineHour) return
    try {
      this.#baselines = await readBaselines(this.#deps.store, now)
      this.#baselineHour = hour
    } catch (error) {
      this.#deps.onBaselineFailure(error)
    }
  }

  add(detections: readonly Detection[]): void {
    for (const detection of detections) {
      if (this.#waiting.size < waitingMax || this.#waiting.has(detection.id)) {
        this.#waiting.set(detection.id, detection)
      }
    }
  }

  /** Stores what waits as deliveries. Returns their number; rejects, and keeps them, if the database does not answer. */
  async deliver(): Promise<number> {
    const source = this.#source
    const detections = [...this.#waiting.values()]
    if (!source || detections.length === 0) return 0
    await this.#insert(source.key, detections)
    // A newer report of the same attack may have come meanwhile.
    for (const one of detections) if (this.#waiting.get(one.id) === one) this.#waiting.delete(one.id)
    return detections.length
  }

  /** Ends attacks that no collector reports any more: it was stopped, or lost the traffic. */
  async endSilent(now: Date): Promise<number> {
    if (!this.#source) return 0
    const silent = await listSilentAttacks(this.#deps.postgres.owner, this.#source.key)
    const ends = silent.map(({ id, network }) => ({
      id,
      network,
      status: 'ended',
      end: now.toISOString(),
      observed: now.toISOString(),
    }))
    await this.#insert(this.#source.key, ends)
    return ends.length
  }

  async #insert(sourceKey: string, bodies: readonly object[]): Promise<void> {
    if (bodies.length === 0) return
    await this.#deps.postgres.owner.transaction().execute(async (trx) => {
      for (const body of bodies) {
        await insertDelivery(trx, {
          sourceKey,
          deliveryId: randomUUID(),
          contentType: 'application/json',
          body: Buffer.from(JSON.stringify(body)),
        })
      }
      await wake(trx, 'deliveries')
    })
  }
}
