// Plays recorded deliveries relative to the current time. A recording has one JSON object per line: an attack with its
// source, its start in seconds before now, a body, and messages that are merged into this body. demo/README.md describes it.
import type { PastDelivery } from './demo.store.ts'

type Recording = {
  readonly id: string
  /** The key of the source. */
  readonly source: string
  /** Start in seconds before now. */
  readonly ago: number
  readonly body: object
  readonly messages: readonly {
    readonly id: string
    /** Seconds after the start. */
    readonly after: number
    readonly body: object
  }[]
}

/** Returns the deliveries of a recording in order of arrival, all before `now`. */
export function playRecording(text: string, now: Date): PastDelivery[] {
  const recordings = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Recording)
  return recordings
    .flatMap((recording) => deliveriesOf(recording, now))
    .filter(({ received }) => received <= now)
    .toSorted((a, b) => a.received.getTime() - b.received.getTime())
}

function deliveriesOf({ id, source, ago, body, messages }: Recording, now: Date): PastDelivery[] {
  const start = now.getTime() - ago * 1000
  return messages.map((message) => ({
    sourceKey: source,
    deliveryId: `${id}-${message.id}`,
    received: new Date(start + message.after * 1000),
    body: resolve(merge(body, message.body), Math.round(start / 1000)) as object,
  }))
}

function merge(base: unknown, more: unknown): unknown {
  if (!isMap(base) || !isMap(more)) return more
  const merged = Object.entries(more).map(([name, value]) => [name, merge(base[name], value)])
  return { ...base, ...Object.fromEntries(merged) }
}

/** Replaces `$unix` by a time in Unix seconds, and `$each` with `$items` by a list of maps with common fields. */
function resolve(value: unknown, startUnix: number): unknown {
  if (Array.isArray(value)) return value.map((one) => resolve(one, startUnix))
  if (!isMap(value)) return value
  if (typeof value['$unix'] === 'number') return startUnix + value['$unix']
  if (Array.isArray(value['$items']))
    return value['$items'].map((one) => resolve(merge(value['$each'], one), startUnix))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolve(one, startUnix)]))
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
