// The saved views of a list, kept in this browser for each person (decision 052).
import { useUser } from '../api/use-session.ts'
import type { Views } from './saved-views.ts'
import { storedChoice, useStoredChoice, type StoredChoice } from './stored-choice.ts'

const stores = new Map<string, StoredChoice<Views>>()
function storeOf(list: string, person: number | undefined): StoredChoice<Views> {
  const key = `pharos-views-${person ?? 0}-${list}`
  const store = stores.get(key) ?? storedChoice<Views>(key, [])
  stores.set(key, store)
  return store
}

/** Returns the views of the person in the order in which they were saved, and a function that replaces them. */
export function useSavedViews(list: string): readonly [Views, (views: Views) => void] {
  const store = storeOf(list, useUser()?.id)
  return [useStoredChoice(store), store.set]
}
