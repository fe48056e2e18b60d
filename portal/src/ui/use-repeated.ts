// Something done again and again while it is wanted, one at a time.
import { useEffect, useEffectEvent } from 'react'

export function useRepeated(isWanted: boolean, everyMs: number, act: () => Promise<unknown>): void {
  const run = useEffectEvent(act)
  useEffect(() => {
    if (!isWanted) return undefined
    let isBusy = false
    const timer = setInterval(() => {
      if (isBusy) return
      isBusy = true
      // Whatever fails is tried again at the next turn.
      void run()
        .catch(() => {})
        .finally(() => (isBusy = false))
    }, everyMs)
    return () => clearInterval(timer)
  }, [isWanted, everyMs])
}
