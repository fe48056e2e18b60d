// Packets of sFlow towards the networks of open events: selects the packets that the receiving thread captures,
// requests them, and queues them for the database. They become two files: some minutes after the start, and after the
// end.
import type { Db } from '../db/postgres.ts'
import {
  listOpenEvents,
  saveEventPackets,
  type EventPackets,
  type OpenEvent,
} from '../events/attachment/save-packets.ts'
import { parsePrefix, prefixBits } from '../net/prefix.ts'
import type { ToReceiver, WantedPackets } from './messages.ts'
import { watchesMax, type PacketWatch } from './packet-samples.ts'

/** Events that are open for longer were forgotten by their detector. */
const watchedMs = 86_400_000
/** Packets since the event was noticed, in the first file. */
const startMs = 3 * 60_000
/** Files that wait for the database. */
const filesMax = 2 * watchesMax

type Watches = Omit<Extract<ToReceiver, { kind: 'watches' }>, 'kind'>

export type WaitingPackets = {
  /** Returns whether there was room. */
  add(packets: EventPackets): boolean
  /** Stores queued packets. Rejects if the database does not answer; they stay queued. */
  save(db: Db): Promise<void>
  /** Returns the networks to capture, and the captures that the receiving thread returns now. */
  watch(db: Db, now: Date): Promise<Watches>
  /** The receiving thread starts again without captured packets. */
  forget(): void
}

export function createEventPackets(): WaitingPackets {
  /** Events whose packets are captured, and whether the packets of the start were requested. */
  const watched = new Map<string, { readonly sinceMs: number; hasStart: boolean }>()
  const waiting: EventPackets[] = []
  return {
    add(packets) {
      if (waiting.length >= filesMax) return false
      waiting.push(packets)
      return true
    },
    async save(db) {
      for (let packets = waiting[0]; packets !== undefined; packets = waiting[0]) {
        await saveEventPackets(db, packets)
        waiting.shift()
      }
    },
    async watch(db, now) {
      const open = await listOpenEvents(db, new Date(now.getTime() - watchedMs), watchesMax)
      const isOpen = new Set(open.map(({ eventId }) => eventId))
      const wanted: WantedPackets[] = [...watched.keys()]
        .filter((eventId) => !isOpen.has(eventId))
        .map((eventId) => ({ eventId, part: 'end' }))
      for (const { eventId } of wanted) watched.delete(eventId)
      for (const { eventId } of open) {
        const state = watched.get(eventId) ?? { sinceMs: now.getTime(), hasStart: false }
        watched.set(eventId, state)
        if (state.hasStart || now.getTime() - state.sinceMs < startMs) continue
        state.hasStart = true
        wanted.push({ eventId, part: 'start' })
      }
      return { wanted, watches: open.map(watchOf) }
    },
    forget() {
      watched.clear()
    },
  }
}

export function watchOf({ eventId, network }: OpenEvent): PacketWatch {
  const { family, length, w0, w1, w2, w3 } = prefixBits(parsePrefix(network))
  return family === 4
    ? { eventId, words: [0, 0, 0xffff, w0], bits: 96 + length }
    : { eventId, words: [w0, w1, w2, w3], bits: length }
}
