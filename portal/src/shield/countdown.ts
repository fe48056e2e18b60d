// Time until an end, counting down.
import { useEffect, useState } from 'react'

/** Returns the whole seconds until a time, counting down; 0 once it is over. */
export function useSecondsUntil(time: string): number {
  const secondsNow = () => Math.max(0, Math.ceil((Date.parse(time) - Date.now()) / 1000))
  const [left, setLeft] = useState(secondsNow)
  useEffect(() => {
    setLeft(secondsNow())
    const timer = setInterval(() => setLeft(secondsNow()), 500)
    return () => clearInterval(timer)
  }, [time])
  return left
}

/** Returns `4:05`. */
export const clockText = (seconds: number): string => {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  const rest = String(seconds % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}
