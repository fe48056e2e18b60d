// Repeats an action at an interval while it is enabled, one run at a time.
import { useEffect, useEffectEvent } from 'react'

export function usePolling(isEnabled: boolean, everyMs: number, act: () => Promise<unknown>): void {
  const run = useEffectEvent(act)
  useEffect(() => {
    if (!isEnabled) return undefined
    let isBusy = false
    const timer = setInterval(() => {
      if (isBusy) return
      isBusy = true
      // A failure is retried at the next turn.
      void run()
        .catch(() => {})
        .finally(() => (isBusy = false))
    }, everyMs)
    return () => clearInterval(timer)
  }, [isEnabled, everyMs])
}
