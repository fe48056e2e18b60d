// Groups events into incidents: events of a team with the same direction whose networks cover each other without a
// longer pause between them, and all events connected through them. The result depends only on the events, not on the
// order of their deliveries. Pure.
import { createPrefixMap } from '../../net/prefix-map.ts'
import { hostPrefix, networkOf, type Prefix } from '../../net/prefix.ts'
import { flagBits } from './event-json.ts'

/** An incident has ended when no event has been ongoing for this time. */
export const pauseMs = 30 * 60_000

const directions = flagBits(['OUTGOING', 'INTERNAL'])

/** Networks and time of an event. */
export type Extent = {
  readonly event_id: string
  readonly start_at: Date
  /** Null while it is ongoing. */
  readonly end_at: Date | null
  /** Flags as in team_events. */
  readonly flags: number
  /** The team's networks; empty: unknown. */
  readonly networks: readonly Prefix[]
}

/** The bits of the flags that are the direction. */
export const directionFlagsOf = (flags: number): number => flags & directions

/** The time at which the events begin that are too late for the incident; null while the event is ongoing. */
export const incidentReachOf = ({ end_at: end }: Pick<Extent, 'end_at'>): Date | null =>
  end && new Date(end.getTime() + pauseMs)

/** Events by id, each in the set of connected events (union by path halving). */
export class ConnectedEvents {
  readonly #parents = new Map<string, string>()

  connect(a: string, b: string): void {
    const [first, second] = [this.#rootOf(a), this.#rootOf(b)]
    if (first !== second) this.#parents.set(second, first)
  }

  /** The sets of connected events with at least two members. */
  sets(): string[][] {
    return [...Map.groupBy(this.#parents.keys(), (id) => this.#rootOf(id)).values()].filter(
      ({ length }) => length > 1,
    )
  }

  #rootOf(id: string): string {
    let at = id
    for (let parent = this.#parents.get(at); parent !== at; parent = this.#parents.get(at)) {
      if (parent === undefined) {
        this.#parents.set(at, at)
        break
      }
      this.#parents.set(at, this.#parents.get(parent)!)
      at = parent
    }
    return at
  }
}

/** Connects the events of one team that are in one incident. */
export function connectEvents(events: readonly Extent[], connections: ConnectedEvents): void {
  if (events.length < 2) return
  const byNetwork = mapOf(events)
  for (const event of events) {
    for (const network of event.networks) {
      byNetwork(network, (other) => {
        if (other !== event && isNear(event, other)) connections.connect(event.event_id, other.event_id)
      })
    }
  }
}

type Visit = (network: Prefix, visit: (event: Extent) => void) => void

/** Visits the events on networks that cover one. Nearly all are on single addresses, which cover themselves only. */
function mapOf(events: readonly Extent[]): Visit {
  const entries = events.flatMap((event) => event.networks.map((network) => [network, event] as const))
  if (entries.every(([network]) => hostPrefix(networkOf(network)) === network)) {
    const byHost = Map.groupBy(entries, ([network]) => network)
    return (network, visit) => byHost.get(network)?.forEach(([, event]) => visit(event))
  }
  const map = createPrefixMap(entries)
  return (network, visit) => map.forEachCovering(network, visit)
}

function isNear(a: Extent, b: Extent): boolean {
  return directionFlagsOf(a.flags) === directionFlagsOf(b.flags) && isBefore(a, b) && isBefore(b, a)
}

/** Whether `a` starts before `b` has been over for the pause. */
const isBefore = ({ start_at: start }: Extent, { end_at: end }: Extent): boolean =>
  end === null || start.getTime() < end.getTime() + pauseMs

export type IncidentMember = Extent & {
  /** The id of the incident that it is in; null: its own. */
  readonly incident: string | null
}

/** An event that is to be in another incident than it is. */
export type Moved = Pick<IncidentMember, 'event_id' | 'incident'>

/**
 * Divides members of one team's incidents into incidents, and returns the changes. The id of the oldest incident
 * remains; an incident without its first event gets the id of its oldest event.
 */
export function divide(members: readonly IncidentMember[]): Moved[] {
  const connections = new ConnectedEvents()
  connectEvents(members, connections)
  const byId = new Map(members.map((member) => [member.event_id, member]))
  const wanted = new Map<string, string>()
  for (const ids of connections.sets()) {
    const set = ids.map((id) => byId.get(id)!)
    const present = new Set(set.map(({ event_id, incident }) => incident ?? event_id))
    const first = oldest(set.filter(({ event_id }) => present.has(event_id))) ?? oldest(set)!
    for (const id of ids) if (id !== first.event_id) wanted.set(id, first.event_id)
  }
  return members.flatMap(({ event_id, incident }) => {
    const next = wanted.get(event_id) ?? null
    return next === incident ? [] : [{ event_id, incident: next }]
  })
}

type Aged = Pick<Extent, 'event_id' | 'start_at'>

/** The event that started first; if there are several, the event with the smallest id. */
export function oldest<E extends Aged>(events: readonly E[]): E | undefined {
  return events.reduce<E | undefined>((first, event) => {
    if (first === undefined) return event
    const age =
      event.start_at.getTime() - first.start_at.getTime() || (event.event_id < first.event_id ? -1 : 1)
    return age < 0 ? event : first
  }, undefined)
}
