// A loop that one process at a time runs for all of them. Its lock has no fence, so two concurrent runs must do no harm
// (db/leadership.ts); otherwise use a lease with an epoch, as for a region.
import { Leadership } from './leadership.ts'
import {
  createLoopComponent,
  type LoopComponent,
  type LoopDeps,
  type LoopSettings,
} from './loop-component.ts'
import type { Postgres } from './postgres.ts'

export type LedLoopDeps = LoopDeps & { readonly postgres: Pick<Postgres, 'directConnection'> }

export type LedLoopSettings<Read = void> = LoopSettings<Read> & {
  /** The name of the leadership, if it differs from that of the loop. */
  readonly leadership?: string
  /** Returns whether this process can do the work; if it cannot, it leaves the leadership to another one. */
  readonly canLead?: () => boolean
  /** Stops what continues between two runs. Called if another process leads or the leader is unknown, and before the lock is released. */
  readonly onStandby?: () => Promise<void> | void
}

/** A loop that runs, and reads, in the process that leads it. */
export function createLedLoop<Read = void>(
  deps: LedLoopDeps,
  {
    read,
    run,
    sends,
    leadership: work,
    canLead = () => true,
    onStandby = () => {},
    ...settings
  }: LedLoopSettings<Read>,
): LoopComponent {
  const leadership = new Leadership(deps.postgres, work ?? settings.name)
  async function leave(): Promise<void> {
    await onStandby()
    await leadership.release()
  }
  async function isLeader(): Promise<boolean> {
    if (!canLead()) {
      await leave()
      return false
    }
    let leads = false
    try {
      leads = await leadership.hold()
    } finally {
      if (!leads) await onStandby()
    }
    return leads
  }
  const ifLeader = (work: (signal: AbortSignal) => Promise<void>) => async (signal: AbortSignal) => {
    if (await isLeader()) await work(signal)
  }
  const loop = createLoopComponent<Read | undefined>(deps, {
    ...settings,
    sends:
      sends === 'nothing' || !sends.whileClosed
        ? sends
        : { ...sends, whileClosed: ifLeader(sends.whileClosed) },
    ...(read ? { read: async () => ((await isLeader()) ? read() : undefined) } : {}),
    async run(signal, found) {
      // The process may have become the leader after it read.
      if (await isLeader()) await run(signal, (found ?? (await read?.())) as Read)
    },
  })
  return {
    ...loop,
    async stop() {
      await loop.stop()
      await leave()
    },
  }
}
