// The time that ages, windows up to now and running attacks are measured against.
import { useEffect, useState } from 'react'

/** Ages and windows: their texts change by the minute. */
const minuteMs = 60_000

/** Returns the current time in milliseconds since 1970, updated at the interval while it is needed. */
export function useNow(isRunning = true, everyMs = minuteMs): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!isRunning) return undefined
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [isRunning, everyMs])
  return now
}
