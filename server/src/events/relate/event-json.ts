// Renders an event as the JSON of the API when the event is written, and stores it as text: a page of the list is a
// concatenation of these texts. The detail contains the same text, so that the two cannot differ.
import { eventFlags, eventStatuses } from '@pharos/contract/events/event'
import type { EventFlag, EventStatus, RelatedEvent, Relationship } from '@pharos/contract/events/event'
import type { IncidentDirection } from '@pharos/contract/events/incident'
import type { Location } from '../../inventory/holding/holding.ts'
import type { Event } from '../event/event.ts'

type EventJson = Omit<RelatedEvent, 'relationships'>

/**
 * Returns a JSON object without its closing brace, to which `,"relationships":[...]}` or the fields of the detail are
 * appended.
 */
export function renderEvent(event: Event, target: Location | null): string {
  const json: EventJson = {
    id: event.id,
    flags: [...event.flags],
    status: [...event.status],
    affected_network: event.affectedNetwork ?? '',
    source_timezone: event.sourceTimezone,
    start: event.start.toISOString(),
    end: event.end?.toISOString() ?? null,
    source_key: event.sourceKey,
    source_event_id: event.sourceEventId,
    source_resource_id: event.sourceResourceId,
    source_location_id: event.sourceLocationId,
    source_country: event.sourceCountry,
    source_location: event.sourceLocation,
    target_country: target?.country ?? '',
    target_location: target?.name ?? '',
    classification_key: event.classificationKey,
    description: event.description,
    affected_bps: event.affectedBps,
    affected_pps: event.affectedPps,
  }
  return JSON.stringify(json).slice(0, -1)
}

/** Returns a JSON array. */
export function renderRelationships(relationships: readonly Relationship[]): string {
  return JSON.stringify(relationships)
}

/** Returns the flags of a bit set in team_events.flags. */
export function flagsOf(bits: number): EventFlag[] {
  return eventFlags.filter((_, bit) => (bits & (1 << bit)) !== 0)
}

/** Returns the bit set for team_events.flags: one bit per flag, in the order of the contract. */
export function flagBits(flags: readonly EventFlag[]): number {
  return flags.reduce((bits, flag) => bits | (1 << eventFlags.indexOf(flag)), 0)
}

/** Returns the statuses of a bit set in team_event_facets.status. */
export function statusesOf(bits: number): EventStatus[] {
  return eventStatuses.filter((_, bit) => (bits & (1 << bit)) !== 0)
}

/** Returns the bit set for team_event_facets.status: one bit per status, in the order of the contract. */
export function statusBits(statuses: readonly EventStatus[]): number {
  return statuses.reduce((bits, status) => bits | (1 << eventStatuses.indexOf(status)), 0)
}

/** Returns the direction of an incident by the flags of an event: all its events have the same one. */
export function directionOfFlags(flags: readonly EventFlag[]): IncidentDirection {
  if (flags.includes('OUTGOING')) return 'outgoing'
  return flags.includes('INTERNAL') ? 'internal' : 'incoming'
}
