// The messages of RIS Live (https://ris-live.ripe.net/manual/): JSON objects with `type` and `data`. The client sends
// `ris_subscribe`, `ris_unsubscribe` and `ping`; the server sends `ris_message`, `ris_error`, `ris_subscribe_ok` and `pong`.
import type { AsPath } from '../../byoip/visibility/visibility-source.ts'
import type { Prefix } from '../../net/prefix.ts'
import {
  addressField,
  asnOf,
  fieldsOf,
  listField,
  pathOf,
  prefixField,
  timeField,
} from '../collectors/fields.ts'

export type RisMessage =
  | {
      readonly kind: 'update'
      readonly collector: string
      readonly at: Date
      readonly path: AsPath | null
      readonly announced: readonly Prefix[]
      readonly withdrawn: readonly Prefix[]
    }
  | { readonly kind: 'peer_down'; readonly collector: string }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'pong' }
  /** Valid, and of no use here, such as a KEEPALIVE of a peer. */
  | { readonly kind: 'other' }

const other = { kind: 'other' } as const

/** Parses a message without invalid elements. Throws a TypeError if it is not a message. */
export function parseRisMessage(text: string, now: Date): RisMessage {
  const fields = fieldsOf(parseJson(text))
  if (typeof fields?.['type'] !== 'string') throw new TypeError('not an object with a type')
  const data = fieldsOf(fields['data'])
  switch (fields['type']) {
    case 'pong':
      return { kind: 'pong' }
    case 'ris_error':
      return { kind: 'error', text: String(data?.['message'] ?? 'no reason given').slice(0, 200) }
    case 'ris_message':
      return data ? bgpMessage(data, now) : other
    default:
      return other
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new TypeError('not JSON', { cause: error })
  }
}

/** The state of a peer is in a message of the type `RIS_PEER_STATE`, in some versions `STATE`. */
function bgpMessage(data: Readonly<Record<string, unknown>>, now: Date): RisMessage {
  const collector = addressField(data['peer'])
  if (collector === undefined) return other
  if (data['type'] === 'UPDATE') return updateOf(data, collector, now)
  if (data['type'] !== 'RIS_PEER_STATE' && data['type'] !== 'STATE') return other
  return data['state'] === 'down' ? { kind: 'peer_down', collector } : other
}

/** Times are seconds with a fraction. A route that a peer originates itself may have no path. */
function updateOf(data: Readonly<Record<string, unknown>>, collector: string, now: Date): RisMessage {
  const neighbor = asnOf(data['peer_asn'])
  const path = pathOf(data['path']) ?? (neighbor === undefined ? null : [neighbor])
  const announced =
    path === null
      ? []
      : listField(data['announcements']).flatMap((one) => prefixesOf(fieldsOf(one)?.['prefixes']))
  const seconds = data['timestamp']
  const at = timeField(typeof seconds === 'number' ? seconds * 1000 : undefined, now)
  return { kind: 'update', collector, at, path, announced, withdrawn: prefixesOf(data['withdrawals']) }
}

const prefixesOf = (value: unknown): Prefix[] => listField(value).flatMap((one) => prefixField(one) ?? [])

const socketOptions = { includeRaw: false, acknowledge: false }

/** A subscription to the updates of a prefix, and of every prefix inside it if `moreSpecific`. */
export const prefixSubscription = (prefix: Prefix, moreSpecific: boolean) => ({
  type: 'UPDATE',
  prefix,
  moreSpecific,
  lessSpecific: false,
  socketOptions,
})

/** A subscription to the states of all peers. */
export const peerStateSubscription = { type: 'RIS_PEER_STATE', socketOptions }

export const clientMessage = (
  type: 'ris_subscribe' | 'ris_unsubscribe' | 'ping',
  data: object | null = null,
): string => JSON.stringify({ type, data })
