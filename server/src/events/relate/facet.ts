// The facet of an event: the combination of its values that repeat from event to event. A team's events have some hundred
// facets, so filters by these values, and most searches, are decided once per facet. Pure.
import { lengthOf, networkOf } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { flagBits, statusBits } from './event-json.ts'
import type { Event } from '../event/event.ts'

export type Facet = {
  readonly flags: number
  readonly status: number
  readonly classification_key: string
  readonly source_key: string
  /** In lower case, with `networkMark` in place of the affected network; null: varies from event to event. */
  readonly description: string | null
}

/** Occurs in no text: control characters are removed when a delivery is read. */
export const networkMark = '\u0001'

export function facetOf(event: Event): Facet {
  return {
    flags: flagBits(event.flags),
    status: statusBits(event.status),
    classification_key: event.classificationKey,
    source_key: event.sourceKey,
    description: withoutNetwork(event.description.toLowerCase(), event.affectedNetwork),
  }
}

function withoutNetwork(description: string, network: Prefix | null): string {
  if (network === null) return description
  const isHost = lengthOf(network) === (network.includes(':') ? 128 : 32)
  const text = isHost ? networkOf(network) : network
  return description.replace(text, networkMark)
}

/** The longest text of a network: an IPv6 address and its length. */
const networkLengthMax = 43
/** Beyond this number of ways, a text counts as possible in any description with a network. */
const waysMax = 2_000

/** A description before and after its network. */
export type Around = { readonly before: readonly string[]; readonly after: readonly string[] }

/**
 * Returns the ways in which a text can be in a description and have at least one character in its network: the
 * description's text before the network must end with `before[n]`, and the text after it must start with `after[n]`.
 */
export function aroundNetwork(text: string): Around {
  const ways: [string, string][] = []
  for (const { 0: characters, index } of text.matchAll(/[0-9a-f.:/]+/g)) {
    const end = index + characters.length
    for (let from = index; from < end; from++) {
      for (let to = from + 1; to <= Math.min(end, from + networkLengthMax); to++)
        ways.push([text.slice(0, from), text.slice(to)])
    }
  }
  if (ways.length > waysMax) return { before: [''], after: [''] }
  return { before: ways.map(([before]) => before), after: ways.map(([, after]) => after) }
}
