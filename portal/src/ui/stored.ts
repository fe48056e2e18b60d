// A choice that this browser keeps, the same in every tab: read once and shared by all that show it. A list shows it some
// hundred times, and none of them may read or listen to the storage for itself.
import { useSyncExternalStore } from 'react'

export type Stored<T> = {
  readonly get: () => T
  readonly set: (value: T) => void
  readonly subscribe: (listener: () => void) => () => void
}

/** What is stored and cannot be read, or is not allowed to be stored, is the default. */
export function stored<T>(key: string, byDefault: T): Stored<T> {
  const listeners = new Set<() => void>()
  let value = read(key, byDefault)
  const tell = () => {
    for (const listener of listeners) listener()
  }
  addEventListener('storage', (event) => {
    // Null: all of it was taken away.
    if (event.key !== key && event.key !== null) return
    value = read(key, byDefault)
    tell()
  })
  return {
    get: () => value,
    set(next) {
      value = next
      try {
        localStorage.setItem(key, JSON.stringify(next))
      } catch {
        // It holds for this tab, then.
      }
      tell()
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

export const useStored = <T>({ subscribe, get }: Stored<T>): T => useSyncExternalStore(subscribe, get)
