// The custom time ranges that the user applied last, kept in this browser for each person, as the other choices of its display.
import { useUser } from '../api/use-session.ts'
import { storedChoice, useStoredChoice, type StoredChoice } from './stored-choice.ts'
import { withRecent, type TimeRange } from './time-range.ts'

type Ranges = readonly TimeRange[]

const stores = new Map<number, StoredChoice<Ranges>>()
function storeOf(person: number): StoredChoice<Ranges> {
  const store = stores.get(person) ?? storedChoice<Ranges>(`pharos-ranges-${person}`, [])
  stores.set(person, store)
  return store
}

/** Returns the last ranges, the newest first, and a function that adds one. */
export function useRecentRanges(): readonly [Ranges, (used: TimeRange) => void] {
  const store = storeOf(useUser()?.id ?? 0)
  return [useStoredChoice(store), ({ from, to }) => store.set(withRecent(store.get(), { from, to }))]
}
