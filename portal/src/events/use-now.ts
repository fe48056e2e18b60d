// The time that a running attack is measured against.
import { useEffect, useState } from 'react'

/** Returns the current time, updated while the event runs. */
export function useNow(isRunning: boolean, everyMs: number): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!isRunning) return undefined
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [isRunning, everyMs])
  return now
}
