// Caches recently read messages of detectors, so that reading an event again does not normalise a delivery. It knows no
// team: its callers have checked the access to the message.

export type MessageCache = {
  /** Returns the message as JSON text, or null if the delivery has no message; undefined if it is not cached. */
  find(key: string): string | null | undefined
  save(key: string, message: string | null): void
}

/** A message changes if the settings of its source do, or its delivery is deleted. */
const keptMs = 60_000
const lengthMax = 16 * 1024 * 1024
/** Size of an entry besides its text. */
const entryLength = 200

type Entry = { readonly message: string | null; readonly until: number; readonly length: number }

/** Evicts the oldest messages first. */
export function createMessageCache(now = () => performance.now()): MessageCache {
  const entries = new Map<string, Entry>()
  let length = 0
  const remove = (key: string, entry: Entry) => {
    entries.delete(key)
    length -= entry.length
  }
  return {
    find(key) {
      const entry = entries.get(key)
      return entry && entry.until > now() ? entry.message : undefined
    },
    save(key, message) {
      const before = entries.get(key)
      if (before) remove(key, before)
      const entry = { message, until: now() + keptMs, length: entryLength + (message?.length ?? 0) }
      entries.set(key, entry)
      length += entry.length
      for (const [oldest, old] of entries) {
        if (length <= lengthMax && old.until > now()) break
        remove(oldest, old)
      }
    },
  }
}
