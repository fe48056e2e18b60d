// How fast the counters of rules rise, from two readings of them.
import type { ShieldRule } from '@pharos/contract/shield'
import { useEffect, useRef, useState } from 'react'

/** Returns packets per second by the key of a rule, once its counter has been read twice. */
export function useHitRates(applied: ReadonlyMap<string, ShieldRule>): ReadonlyMap<string, number> {
  const last = useRef(new Map<number, { packets: number; at: number }>())
  const [rates, setRates] = useState<ReadonlyMap<string, number>>(new Map())
  useEffect(() => {
    const now = Date.now()
    const next = new Map<string, number>()
    for (const [key, { id, hits }] of applied) {
      if (!hits) continue
      const before = last.current.get(id)
      if (before && now > before.at)
        next.set(key, Math.max(0, ((hits.packets - before.packets) / (now - before.at)) * 1000))
      last.current.set(id, { packets: hits.packets, at: now })
    }
    setRates(next)
  }, [applied])
  return rates
}
