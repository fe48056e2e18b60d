// The lifetime of a process: its components start in the order of the list, since later ones depend on earlier ones,
// and stop in reverse order. A component that fails to stop, or takes too long, does not prevent the others from
// stopping.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from './log.ts'

export type Component = {
  readonly name: string
  start?(): Promise<void> | void
  stop?(): Promise<void> | void
}

export type Running = {
  /** Stops everything, once; resolves with true if all components ended without error and in time. */
  stop(): Promise<boolean>
}

export type StartOptions = {
  readonly log: Log
  /** Time limit for all components together. */
  readonly stopTimeoutMs: number
}

/** Starts the components one after the other. If one fails, the earlier ones are stopped and its error is thrown. */
export async function startComponents(
  components: readonly Component[],
  options: StartOptions,
): Promise<Running> {
  const started: Component[] = []
  for (const component of components) {
    try {
      await component.start?.()
    } catch (error) {
      await stopAll(started, options)
      throw error
    }
    started.push(component)
    options.log.debug({ component: component.name }, 'started')
  }
  let stopping: Promise<boolean> | undefined
  return { stop: () => (stopping ??= stopAll(started, options)) }
}

/** Even when the time is used up, each further component gets this long: most need far less. */
const leastMs = 250

async function stopAll(started: readonly Component[], options: StartOptions): Promise<boolean> {
  const deadline = performance.now() + options.stopTimeoutMs
  let well = true
  for (const component of started.toReversed()) {
    const leftMs = Math.max(leastMs, deadline - performance.now())
    well = (await stopOne(component, leftMs, options.log)) && well
  }
  return well
}

async function stopOne(component: Component, timeoutMs: number, log: Log): Promise<boolean> {
  const timer = new AbortController()
  const late = sleep(timeoutMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const)
  try {
    const ended = await Promise.race([stop(component), late])
    if (ended !== 'late') return true
    log.error({ component: component.name, timeoutMs }, 'did not stop in time; continuing without it')
  } catch (error) {
    log.error({ component: component.name, error }, 'failed to stop')
  } finally {
    timer.abort()
  }
  return false
}

/** Throwing synchronously and rejecting are the same failure. */
async function stop(component: Component): Promise<void> {
  await component.stop?.()
}
