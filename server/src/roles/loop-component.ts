// A loop that runs on a timer and on notifications of other processes, as a part of a role.
import type { WakeName } from '../db/wake.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Shared } from './shared.ts'

export type LoopSettings = {
  readonly name: string
  /** The notification that triggers a run; without one only the timer does. */
  readonly wakeName?: WakeName
  readonly intervalMs: number
  readonly run: (signal: AbortSignal) => Promise<void>
}

export type LoopComponent = {
  readonly name: string
  start(): void
  /** Resolves once the run in progress has ended. */
  stop(): Promise<void>
  /** Triggers a run. */
  wake(): void
}

export function createLoopComponent(
  { waker, log, metrics }: Pick<Shared, 'waker' | 'log' | 'metrics'>,
  { name, wakeName, intervalMs, run }: LoopSettings,
): LoopComponent {
  const loop = createLoop({ name, intervalMs, run, log, metrics })
  let unsubscribe = () => {}
  return {
    name,
    start() {
      if (wakeName) unsubscribe = waker.on(wakeName, () => loop.wake())
      loop.start()
    },
    stop() {
      unsubscribe()
      return loop.stop()
    },
    wake: () => loop.wake(),
  }
}
