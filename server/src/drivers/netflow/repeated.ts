// Datagrams that arrive twice: networks and relays duplicate them, and their flows would count double.

/** Datagrams of an exporter that are compared. */
const kept = 32
const comparedOctets = 64

export type RecentDatagrams = {
  /** Of each of the last datagrams. */
  readonly sequences: Uint32Array
  readonly hashes: Uint32Array
  next: number
  /** At least the largest sequence number: a larger one is no repetition, and needs no search. */
  last: number
}

export const createRecentDatagrams = (): RecentDatagrams => ({
  sequences: new Uint32Array(kept),
  hashes: new Uint32Array(kept),
  next: 0,
  last: 0,
})

/** Place of the sequence number by version; for sFlow with an IPv4 agent address. */
const sequencePlace = (version: number): number => (version === 10 ? 8 : version === 9 ? 12 : 16)

/**
 * Returns whether the length and the first 64 octets, which contain the sequence number, equal one of the last 32
 * datagrams. The header of `view[at, at + length)` must be complete. Always false for exporters without sequence
 * numbers (sequence 0).
 */
export function isRepeated(
  recent: RecentDatagrams,
  view: DataView,
  at: number,
  length: number,
  version: number,
): boolean {
  const place = version === 0 && view.getUint32(at + 4) === 2 ? 28 : sequencePlace(version)
  if (place + 4 > length) return false
  const sequence = view.getUint32(at + place)
  if (sequence === 0) return false
  let hash = length
  const end = at + Math.min(length & ~3, comparedOctets)
  for (let next = at; next < end; next += 4) {
    hash = Math.imul(hash ^ view.getUint32(next), 0x9e_37_79_b1)
    hash ^= hash >>> 15
  }
  hash >>>= 0
  const { sequences, hashes } = recent
  if (sequence > recent.last) recent.last = sequence
  else if (has(recent, sequence, hash)) return true
  sequences[recent.next] = sequence
  hashes[recent.next] = hash
  recent.next = (recent.next + 1) % kept
  // After a restart of the exporter its numbers are small again.
  if (recent.next === 0) recent.last = Math.max(...sequences)
  return false
}

function has({ sequences, hashes }: RecentDatagrams, sequence: number, hash: number): boolean {
  for (let i = 0; i < kept; i++) if (sequences[i] === sequence && hashes[i] === hash) return true
  return false
}
