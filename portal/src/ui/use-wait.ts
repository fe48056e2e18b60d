// How long the server asks to be left alone after it has refused, counted down where somebody waits for it.
import { ProblemError } from '@pharos/contract/client'
import { useEffect, useState } from 'react'

/** Seconds left until the same may be asked again, whole ones; 0 where the server asks for no patience. */
export function useWait(error: unknown): number {
  const [until, setUntil] = useState(0)
  const [now, setNow] = useState(0)
  useEffect(() => {
    const seconds = error instanceof ProblemError ? (error.retryAfterSeconds ?? 0) : 0
    if (seconds === 0) {
      setUntil(0)
      return undefined
    }
    const end = Date.now() + seconds * 1000
    setUntil(end)
    setNow(Date.now())
    const timer = setInterval(() => {
      setNow(Date.now())
      if (Date.now() >= end) clearInterval(timer)
    }, 250)
    return () => clearInterval(timer)
  }, [error])
  return Math.max(0, Math.ceil((until - now) / 1000))
}
