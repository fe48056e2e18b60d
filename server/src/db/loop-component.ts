// A loop that runs on a timer and on notifications of other processes, as a part of a role.
import { createLoop, type LoopOptions } from '../runtime/loop.ts'
import type { WakeName, Waker } from './wake.ts'

export type LoopDeps = Pick<LoopOptions, 'log' | 'metrics'> & { readonly waker: Waker }

export type LoopSettings<Read = void> = Pick<
  LoopOptions<Read>,
  'name' | 'intervalMs' | 'timeoutMs' | 'sends' | 'read' | 'run'
> & {
  /** The notification that triggers a run; without it only the timer does. */
  readonly wakeName?: WakeName
  /**
   * Delay from a notification to a run that is not urgent: more urgent loops run first, and many notifications cause
   * few runs.
   */
  readonly delayMs?: number
}

export type LoopComponent = {
  readonly name: string
  start(): void
  /** Resolves once the run in progress has ended. */
  stop(): Promise<void>
  /** Triggers a run. */
  wake(): void
}

export function createLoopComponent<Read = void>(
  { waker, log, metrics }: LoopDeps,
  { wakeName, delayMs = 0, ...settings }: LoopSettings<Read>,
): LoopComponent {
  const loop = createLoop({ ...settings, log, metrics })
  let unsubscribe = () => {}
  let delayed: NodeJS.Timeout | undefined
  const wakeLater = (): void => {
    delayed ??= setTimeout(() => {
      delayed = undefined
      loop.wake()
    }, delayMs)
  }
  return {
    name: settings.name,
    start() {
      if (wakeName) unsubscribe = waker.on(wakeName, delayMs === 0 ? () => loop.wake() : wakeLater)
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
