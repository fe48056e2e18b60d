// A choice kept in this browser's storage, the same in every tab. It is read once and shared: a list shows it hundreds of
// times, and no cell may read the storage itself.
import { useSyncExternalStore } from 'react'

export type StoredChoice<T> = {
  readonly get: () => T
  readonly set: (value: T) => void
  readonly subscribe: (listener: () => void) => () => void
}

/** If the storage cannot be read or written, the choice starts from its default and lasts as long as the tab. */
export function storedChoice<T>(key: string, byDefault: T): StoredChoice<T> {
  const listeners = new Set<() => void>()
  let value = read(key, byDefault)
  const notify = () => {
    for (const listener of listeners) listener()
  }
  addEventListener('storage', (event) => {
    // Null: the whole storage was cleared.
    if (event.key !== key && event.key !== null) return
    value = read(key, byDefault)
    notify()
  })
  return {
    get: () => value,
    set(next) {
      value = next
      try {
        localStorage.setItem(key, JSON.stringify(next))
      } catch {
        // The choice lasts as long as the tab.
      }
      notify()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

function read<T>(key: string, byDefault: T): T {
  try {
    const text = localStorage.getItem(key)
    return text === null ? byDefault : (JSON.parse(text) as T)
  } catch {
    return byDefault
  }
}

export const useStoredChoice = <T>({ subscribe, get }: StoredChoice<T>): T =>
  useSyncExternalStore(subscribe, get)
