// A loop that runs on a timer and on notifications of other processes, as a part of a role.
import type { WakeName } from '../db/wake.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Shared } from './shared.ts'

export type LoopSettings = {
  readonly name: string
  /** The notification that triggers a run; without one only the timer does. */
  readonly wakeName?: WakeName
  readonly intervalMs: number
  /** From a notification to the run, so that many of them cause one: for what is not urgent. */
  readonly delayMs?: number
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
  { name, wakeName, intervalMs, delayMs, run }: LoopSettings,
): LoopComponent {
  const loop = createLoop({ name, intervalMs, run, log, metrics })
  let unsubscribe = () => {}
  let delayed: NodeJS.Timeout | undefined
  const wakeLater = (): void => {
    delayed ??= setTimeout(() => {
      delayed = undefined
      loop.wake()
    }, delayMs)
  }
  return {
    name,
    start() {
      if (wakeName) unsubscribe = waker.on(wakeName, delayMs === undefined ? () => loop.wake() : wakeLater)
      loop.start()
    },
    stop() {
      unsubscribe()
      clearTimeout(delayed)
      return loop.stop()
    },
    wake: () => loop.wake(),
  }
}
