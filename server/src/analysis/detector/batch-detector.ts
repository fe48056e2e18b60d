// The detector in the batch thread of the collector: it sees every batch before it is stored, and its time is that of the flows. While nothing
// arrives, a timer lets time pass, so that attacks end with the traffic.
import type { FlowColumns } from '../flow/flow-columns.ts'
import { Detector, type Detection, type DetectorRules, type Owners } from './detector.ts'

/** Flows of this second and the last one may still come. */
const delaySeconds = 2

export class BatchDetector {
  readonly #send: (detections: readonly Detection[]) => void
  /** Its table takes 44 MB: without thresholds there is none. */
  #detector: Detector | undefined
  #owners: Owners | undefined

  constructor(send: (detections: readonly Detection[]) => void) {
    this.#send = send
  }

  setRules(rules: DetectorRules): void {
    if (rules.thresholds.length > 0) this.#detector ??= new Detector()
    this.#detector?.setRules(rules)
  }

  observe(columns: FlowColumns, owners: Owners): void {
    this.#owners = owners
    if (!this.#detector || columns.length === 0) return
    this.#detector.add(columns, owners)
    this.#advance(columns.time[columns.length - 1]!)
  }

  /** Called about once a second with Unix seconds. */
  tick(now: number): void {
    this.#advance(Math.floor(now) - delaySeconds)
  }

  #advance(second: number): void {
    if (!this.#detector || !this.#owners) return
    const detections = this.#detector.advance(second, this.#owners)
    if (detections.length > 0) this.#send(detections)
  }
}
