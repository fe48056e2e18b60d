// The sealing loop. Any number of processes may run it; one leads, the others wait. It polls a table that is nearly
// always empty, because commits with a NOTIFY are serialized.
import { Leadership } from '../db/leadership.ts'
import type { Postgres } from '../db/postgres.ts'
import type { Component } from '../runtime/component.ts'
import type { Log } from '../runtime/log.ts'
import { createLoop, type Loop } from '../runtime/loop.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { sealAll } from './seal.ts'
import { findHead } from './seal.store.ts'
import { formatHead } from './head.ts'

export type SealerDeps = {
  readonly postgres: Postgres
  readonly ring: KeyRing
  readonly log: Log
  readonly metrics: Metrics
}

const intervalMs = 1_000
const runTimeoutMs = 300_000
const headIntervalMs = 3_600_000

/** Inert until started. */
export function createSealer(deps: SealerDeps): Component {
  return new Sealer(deps)
}

class Sealer implements Component {
  readonly name = 'audit sealer'
  readonly #deps: SealerDeps
  readonly #leadership: Leadership
  readonly #loop: Loop
  #headLoggedAt = -Infinity

  constructor(deps: SealerDeps) {
    const { postgres, log, metrics } = deps
    this.#deps = deps
    this.#leadership = new Leadership(postgres, 'audit')
    this.#loop = createLoop({
      name: 'seal',
      sends: 'nothing',
      intervalMs,
      timeoutMs: runTimeoutMs,
      run: (signal) => this.#run(signal),
      log,
      metrics,
    })
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    await this.#leadership.release()
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { postgres, ring, log } = this.#deps
    if (!(await this.#leadership.hold())) return
    const { missing } = await sealAll(postgres.owner, ring, signal)
    if (missing.length > 0)
      log.error({ entries: missing.slice(0, 100), count: missing.length }, 'audit entries were deleted')
    await this.#logHead()
  }

  /** If the log is stored on another machine, the head shows later whether the end of the chain was truncated. */
  async #logHead(): Promise<void> {
    if (performance.now() - this.#headLoggedAt < headIntervalMs) return
    const head = await findHead(this.#deps.postgres.owner)
    if (!head) return
    this.#deps.log.info({ head: formatHead(head) }, 'head of the audit log')
    this.#headLoggedAt = performance.now()
  }
}
