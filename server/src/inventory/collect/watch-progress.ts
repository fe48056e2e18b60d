// Ends a reading that makes no progress, not a long one: a big chassis far away answers for minutes.
import { DriverError } from '../../runtime/driver-error.ts'

export type ProgressLimits = {
  /** Maximum time without any answer. */
  readonly stallMs: number
  /** Maximum time of the whole reading, for a device whose tables never end. */
  readonly totalMs: number
}

const checksPerStall = 12

/**
 * Returns a signal that ends with `unreachable` once `answers` has not grown for `stallMs`, and with `protocol` after `totalMs`. The
 * caller disposes of it after the reading.
 */
export function watchProgress(
  answers: () => number,
  { stallMs, totalMs }: ProgressLimits,
): Disposable & { readonly signal: AbortSignal } {
  const ended = new AbortController()
  const startMs = performance.now()
  let [last, lastMs] = [answers(), startMs]
  const check = () => {
    const now = performance.now()
    const count = answers()
    if (count !== last) [last, lastMs] = [count, now]
    if (now - lastMs >= stallMs) end('unreachable', 'no answer in time')
    else if (now - startMs >= totalMs)
      end('protocol', `not everything was answered within ${totalMs / 60_000} minutes`)
  }
  const end = (kind: 'unreachable' | 'protocol', text: string) => {
    clearInterval(timer)
    ended.abort(new DriverError(kind, text))
  }
  const timer = setInterval(check, Math.ceil(stallMs / checksPerStall))
  return { signal: ended.signal, [Symbol.dispose]: () => clearInterval(timer) }
}
