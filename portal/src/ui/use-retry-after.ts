// The seconds that the server asks to wait after a refusal (`Retry-After`), counted down.
import { ProblemError } from '@pharos/contract/client'
import { useEffect, useState } from 'react'

/** Returns the whole seconds left until the request may be repeated; 0 if the server did not ask to wait. */
export function useRetryAfter(error: unknown): number {
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
