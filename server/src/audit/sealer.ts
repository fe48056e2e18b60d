// The sealing loop. Any number of processes may run it; one leads, the others wait. It polls a table that is nearly
// always empty, because commits with a NOTIFY are serialized.
import { createLedLoop, type LedLoopDeps } from '../db/led-loop.ts'
import type { Postgres } from '../db/postgres.ts'
import type { Component } from '../runtime/component.ts'
import type { Log } from '../runtime/log.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { sealAll } from './seal.ts'
import { findHead } from './seal.store.ts'
import { formatHead } from './head.ts'

export type SealerDeps = LedLoopDeps & {
  readonly postgres: Postgres
  readonly ring: KeyRing
  readonly log: Log
}

const intervalMs = 1_000
const runTimeoutMs = 300_000
const headIntervalMs = 3_600_000

/** Inert until started. */
export function createSealer(deps: SealerDeps): Component {
  const { postgres, ring, log } = deps
  let headLoggedAt = -Infinity

  /** If the log is stored on another machine, the head shows later whether the end of the chain was truncated. */
  async function logHead(): Promise<void> {
    if (performance.now() - headLoggedAt < headIntervalMs) return
    const head = await findHead(postgres.owner)
    if (!head) return
    log.info({ head: formatHead(head) }, 'head of the audit log')
    headLoggedAt = performance.now()
  }

  return createLedLoop(deps, {
    name: 'seal',
    leadership: 'audit',
    sends: 'nothing',
    intervalMs,
    timeoutMs: runTimeoutMs,
    async run(signal) {
      const { missing } = await sealAll(postgres.owner, ring, signal)
      if (missing.length > 0)
        log.error({ entries: missing.slice(0, 100), count: missing.length }, 'audit entries were deleted')
      await logHead()
    },
  })
}
