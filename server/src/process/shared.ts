// The parts that the roles of one process share.
import type { FlowStore } from '../flow/flow-store.ts'
import type { Irr } from '../registry/irr.ts'
import type { Rpki } from '../registry/rpki.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import type { Waker } from '../db/wake.ts'
import type { Config } from '../runtime/config.ts'
import type { Gate } from '../runtime/gate.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'

export type Shared = {
  readonly config: Config
  readonly postgres: Postgres
  readonly waker: Waker
  readonly log: Log
  readonly metrics: Metrics
  /** Aborted when the process is about to stop. */
  readonly draining: AbortSignal
  readonly rpki: Rpki
  readonly irr: Irr
  /** Whether loops may send: see restore/gate.ts. */
  readonly gate: Gate<Trx>
  /** Opened by its first use; it may be missing. */
  readonly flowStore: FlowStore
}
