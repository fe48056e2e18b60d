// Messages about incidents. They are derived from the messages about their events after these are committed, so that
// the ingest of events does not wait, and the changes of a batch are one message.
import type { MessageData, MessageType } from '@pharos/contract/messages/webhook-message'
import type { Trx } from '../../db/postgres.ts'
import { writeMessages, type NewMessage } from '../../outbox/outbox.ts'
import { directionOfFlags, flagsOf } from '../relate/event-json.ts'
import {
  deleteReports,
  listReportedIncidents,
  saveReports,
  type IncidentFigures,
  type ReportedIncident,
} from './incident-list.store.ts'

type EventMessage = { readonly teamId: number | null; readonly type: string; readonly data: object }
type IncidentMessageType = Extract<MessageType, `incident.${string}`>

/** Writes the messages that follow from event messages of the outbox; other messages are ignored. */
export async function reportIncidents(trx: Trx, messages: readonly EventMessage[]): Promise<void> {
  const events = messages.flatMap(({ teamId, type, data }) =>
    teamId !== null && type.startsWith('event.')
      ? [{ team_id: teamId, event_id: (data as MessageData<'event.started'>).id }]
      : [],
  )
  if (events.length === 0) return
  const incidents = await listReportedIncidents(trx, events)
  const reported = incidents.map((incident) => ({ incident, types: incidentMessageTypes(incident) }))
  await saveReports(
    trx,
    reported.filter(({ types }) => types.length > 0).map(({ incident }) => figuresOf(incident)),
  )
  await deleteReports(trx, incidents.flatMap(takenOver))
  await writeMessages(
    trx,
    reported.flatMap(({ incident, types }) => [
      ...takenOver(incident).map(({ incident_id }): NewMessage => ({
        teamId: incident.team_id,
        type: 'incident.updated',
        data: { ...dataOf(incident), id: incident_id, merged_into: incident.id },
      })),
      ...types.map((type): NewMessage => ({ teamId: incident.team_id, type, data: dataOf(incident) })),
    ]),
  )
}

/** Returns the messages of an incident, based on the last message. Pure. */
export function incidentMessageTypes(
  incident: Pick<ReportedIncident, 'id' | 'reports' | keyof Figures>,
): IncidentMessageType[] {
  const before = incident.reports.find(({ incident_id }) => incident_id === incident.id)
  if (before === undefined)
    return incident.end_at === null ? ['incident.started'] : ['incident.started', 'incident.ended']
  if (incident.end_at !== null && before.end_at === null) return ['incident.ended']
  return isSame(before, incident) ? [] : ['incident.updated']
}

type Figures = Pick<
  IncidentFigures,
  'start_at' | 'end_at' | 'affected_bps' | 'affected_pps' | 'event_count' | 'sources'
>

const isSame = (a: Figures, b: Figures): boolean =>
  a.start_at.getTime() === b.start_at.getTime() &&
  a.end_at?.getTime() === b.end_at?.getTime() &&
  a.affected_bps === b.affected_bps &&
  a.affected_pps === b.affected_pps &&
  a.event_count === b.event_count &&
  a.sources.join() === b.sources.join()

/** Incidents that were reported, and are now part of this one. */
const takenOver = ({ id, reports }: ReportedIncident): IncidentFigures[] =>
  reports.filter(({ incident_id }) => incident_id !== id)

const figuresOf = ({ id, ...incident }: ReportedIncident): IncidentFigures => ({
  ...incident,
  incident_id: id,
})

const dataOf = (incident: ReportedIncident): MessageData<'incident.started'> => ({
  id: incident.id,
  network: incident.network ?? '',
  direction: directionOfFlags(flagsOf(incident.flags)),
  classification_key: incident.classification_key,
  start: incident.start_at.toISOString(),
  end: incident.end_at?.toISOString() ?? null,
  affected_bps: incident.affected_bps,
  affected_pps: incident.affected_pps,
  sources: [...incident.sources],
  event_count: incident.event_count,
  merged_into: null,
})
