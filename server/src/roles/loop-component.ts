// A loop that runs on a timer and on notifications of other processes, as a part of a role.
import type { WakeName } from '../db/wake.ts'
import { createLoop, type LoopOptions } from '../runtime/loop.ts'
import type { Shared } from './shared.ts'

export type LoopSettings = {
  readonly name: string
  /** The notification that triggers a run; without one only the timer does. */
  readonly wakeName?: WakeName
  readonly intervalMs: number
  readonly sends: LoopOptions['sends']
  /** From one run to the next, so that many notifications cause few: the first one triggers a run at once. */
  readonly pauseMs?: number
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
  { name, wakeName, intervalMs, pauseMs = 0, sends, run }: LoopSettings,
): LoopComponent {
  const loop = createLoop({ name, intervalMs, sends, run, log, metrics })
  let unsubscribe = () => {}
  let delayed: NodeJS.Timeout | undefined
  let last = -Infinity
  const wakeAfterPause = (): void => {
    const wait = Math.max(0, last + pauseMs - performance.now())
    delayed ??= setTimeout(() => {
      delayed = undefined
      last = performance.now()
      loop.wake()
    }, wait)
  }
  return {
    name,
    start() {
      if (wakeName) unsubscribe = waker.on(wakeName, pauseMs === 0 ? () => loop.wake() : wakeAfterPause)
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
