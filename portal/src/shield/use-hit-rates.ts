// How fast the counters of rules rise while a page shows them.
import type { ShieldRule } from '@pharos/contract/shield/shield'
import { useEffect, useMemo, useState } from 'react'
import { ratesOf, readingsAfter, type Readings } from './hit-rates.ts'

/**
 * Returns packets per second by the id of a rule as text, once its counter has been read twice. `receivedMs` is the time of the answer
 * with these rules: an answer that is equal to the one before counts as well.
 */
export function useHitRates(rules: readonly ShieldRule[], receivedMs: number): ReadonlyMap<string, number> {
  const [readings, setReadings] = useState<Readings>(() => new Map())
  useEffect(() => setReadings((before) => readingsAfter(before, rules, receivedMs)), [receivedMs])
  return useMemo(() => ratesOf(readings), [readings])
}
