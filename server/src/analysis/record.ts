// An event as the API prints it, made when it is written and stored as text: a page of the list is then nothing but
// these texts joined. The detail prints the same record, so that the two can never differ.
import { eventFlags } from '@pharos/contract/analysis'
import type { EventFlag, RelatedEvent, Relationship } from '@pharos/contract/analysis'
import type { Location } from '../inventory/holding.ts'
import type { Event } from './event.ts'

type Record = Omit<RelatedEvent, 'relationships'>

/** A JSON object without its closing brace: what follows is `,"relationships":[...]}` or the parts of the detail. */
export function renderRecord(event: Event, target: Location | null): string {
  const record: Record = {
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
  return JSON.stringify(record).slice(0, -1)
}

/** A JSON array. */
export function renderRelationships(relationships: readonly Relationship[]): string {
  return JSON.stringify(relationships)
}

/** The flags of team_events.flags. */
export function flagsOf(bits: number): EventFlag[] {
  return eventFlags.filter((_, bit) => (bits & (1 << bit)) !== 0)
}

/** The flags as one number, a bit for each in the order of the contract: team_events.flags. */
export function flagBits(flags: readonly EventFlag[]): number {
  return flags.reduce((bits, flag) => bits | (1 << eventFlags.indexOf(flag)), 0)
}
