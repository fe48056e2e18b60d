// The messages of webhooks: types and contents. Fields may be added; receivers ignore unknown ones.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { eventFlags, eventStatuses } from '../events/event.ts'
import { validationNames } from '../byoip/announcement-checks.ts'
import { BgpResetReasonOf, BgpStateOf } from '../inventory/bgp-session.ts'
import { CreditNote } from '../inventory/bill-price.ts'
import { announcementStatuses } from '../byoip/announcement.ts'
import { crossConnectStatuses } from '../inventory/cross-connect.ts'
import { AdminState, OperState } from '../inventory/device.ts'
import { dnssecStates, Serial } from '../dns/term.ts'
import { zoneStatuses } from '../dns/zone.ts'
import { incidentFigures } from '../events/incident.ts'
import { approvalFields, ApprovalItem } from '../operator/approval.ts'
import {
  Actor,
  AsnNumber,
  Component,
  Id,
  Nullable,
  NullableTime,
  Time,
  Enumeration,
  TeamReference,
  pascalCase,
} from '../scalar.ts'
import { shieldReasonCodes } from '../reason/shield-reason.ts'
import { OpticWarning } from '../inventory/transceiver.ts'
import { SeenRoute } from '../byoip/visibility.ts'
import {
  AlertComparison,
  AlertEndingName,
  AlertKindName,
  AlertObject,
  AlertReasonName,
  AlertSeverityName,
  AlertUnit,
} from '../alert/alert-rule.ts'

export const messageTypes = [
  'announcement.status_changed',
  'announcement.zombie',
  'announcement.unexpected_origin',
  'announcement.not_visible',
  'announcement.other_path',
  'validation.failed',
  'event.started',
  'event.updated',
  'event.ended',
  'incident.started',
  'incident.updated',
  'incident.ended',
  'zone.updated',
  'zone.status_changed',
  'zone.dnssec_changed',
  'port.status_changed',
  'port.optic_warning',
  'port.bgp_session_changed',
  'service.billed',
  'cross_connect.status_changed',
  'shield.list_changed',
  'alert.fired',
  'alert.cleared',
  'alert.unknown',
  'team.staff_access',
] as const

/**
 * `applied`: all scrubbers hold the version; `rejected`: one cannot apply it, or the provider did not approve it; `held`: it waits for
 * the provider; `reverted`: the last confirmed one is back, by request or since it was not confirmed in time; `expired`: rules ended;
 * `removed`: the team no longer holds the prefix.
 */
const shieldListChanges = ['applied', 'rejected', 'held', 'reverted', 'expired', 'removed'] as const
export type ShieldListChange = (typeof shieldListChanges)[number]
export type MessageType = (typeof messageTypes)[number]

/** Messages to the operator's webhook, which the settings configure. Teams get only types that are in `messageTypes` too. */
export const operatorMessageTypes = [
  'approval.opened',
  'approval.reminder',
  'approval.decided',
  'service.billed',
] as const
export type OperatorMessageType = (typeof operatorMessageTypes)[number]

const announcement = {
  announcement_id: { ...Id, description: 'id of the announcement' },
  cidr: Type.String({ description: 'the prefix' }),
  origin_asn: Type.Integer({ minimum: 1, maximum: 4_294_967_295 }),
}

const event = Component('EventMessageData', {
  id: Type.String({ description: 'as in /v3/lighthouse/security/events/related/{event_id}' }),
  affected_network: Type.String({ description: 'CIDR; empty if unknown' }),
  classification_key: Type.String({ description: 'kind of attack' }),
  start: { ...Time, description: 'start of the event' },
  end: { ...NullableTime, description: 'end of the event; null while it is ongoing' },
  affected_bps: Type.Integer({ minimum: 0, description: 'bits per second, the peak so far' }),
  affected_pps: Type.Integer({ minimum: 0, description: 'packets per second, the peak so far' }),
  flags: Type.Array(Enumeration('EventFlag', eventFlags), { description: 'properties of the event' }),
  status: Type.Array(Enumeration('EventStatus', eventStatuses), {
    description: 'state of the event, its mitigation and its review',
  }),
})

const incident = Component('IncidentMessageData', {
  ...incidentFigures,
  merged_into: Nullable(
    Type.String({
      description:
        'id of the incident that has taken this one over, of which all further messages are; null unless this is the last message of this incident',
    }),
  ),
})

const port = {
  port_id: { ...Id, description: 'id of the port' },
  name: Type.String({ description: 'name of the port' }),
  circuit_id: Type.String({ description: 'number of the circuit' }),
  device_name: Type.String({ description: 'name of its device' }),
  service_id: { ...Id, description: 'id of the service that it belongs to' },
}

const zone = {
  zone_id: { ...Id, description: 'id of the zone' },
  name: Type.String({ description: 'name of the zone, without the trailing dot' }),
}

/** Maximum number of changes in a message about an approval. */
export const approvalMessageItemsMax = 20

const approval = Component('ApprovalMessageData', {
  ...approvalFields,
  items: Type.Array(ApprovalItem, { description: `the first ${approvalMessageItemsMax} changes` }),
  teams: Type.Array(
    Component('ApprovalMessageTeam', {
      team: Nullable(TeamReference),
      withdrawal_count: Type.Integer({ minimum: 1 }),
    }),
    {
      description:
        'of routes: the withdrawals by team, most first; null: no announcement explains the route. Otherwise empty',
    },
  ),
})

const seenAnnouncement = {
  ...announcement,
  active: Type.Boolean({ description: 'true: it started; false: it ended' }),
  collectors_seeing: Type.Integer({ minimum: 0, description: 'collectors with the route and its origin' }),
  collectors_total: Type.Integer({ minimum: 0, description: 'known collectors' }),
  at: { ...Time, description: 'time of the change' },
}

const alertRule = {
  alert_rule_id: { ...Id, description: 'id of the rule' },
  name: Type.String({ description: 'name of the rule' }),
  kind: { ...AlertKindName, description: 'kind of its condition' },
  severity: { ...AlertSeverityName, description: 'severity of the rule' },
  object: { ...AlertObject, description: 'what the rule is about' },
  threshold: Type.Number({ description: 'the limit, in `unit`' }),
  unit: { ...AlertUnit, description: 'unit of the values' },
  comparison: { ...AlertComparison, description: 'on which side of the threshold it fires' },
  portal_path: Type.String({
    description: 'path of the chart in the portal, with the time range of the message',
  }),
}

/** `data` of each type. */
export const messageData = {
  'announcement.status_changed': Component('AnnouncementStatusChangedData', {
    ...announcement,
    before: { ...Enumeration('AnnouncementStatus', announcementStatuses), description: 'status before' },
    after: { ...Enumeration('AnnouncementStatus', announcementStatuses), description: 'status after' },
    at: { ...Time, description: 'time of the change' },
  }),
  'announcement.zombie': Component('AnnouncementZombieData', {
    ...announcement,
    active: Type.Boolean({ description: 'true: it started; false: it ended' }),
    withdrawn: { ...NullableTime, description: 'when our routers withdrew the route' },
    collectors_seeing: Type.Integer({ minimum: 0, description: 'collectors that still have the route' }),
    collectors_total: Type.Integer({ minimum: 0, description: 'known collectors' }),
    at: { ...Time, description: 'time of the change' },
  }),
  'announcement.unexpected_origin': Component('AnnouncementUnexpectedOriginData', {
    ...announcement,
    active: Type.Boolean({ description: 'true: it started or its routes changed; false: it ended' }),
    routes: Type.Array(SeenRoute, { description: 'routes of other networks; empty when it ended' }),
    collectors_total: Type.Integer({ minimum: 0, description: 'known collectors' }),
    at: { ...Time, description: 'time of the change' },
  }),
  'announcement.not_visible': Component('AnnouncementNotVisibleData', seenAnnouncement),
  'announcement.other_path': Component('AnnouncementOtherPathData', seenAnnouncement),
  'validation.failed': Component('ValidationFailedData', {
    ...announcement,
    name: { ...Enumeration('ValidationName', validationNames), description: 'the check' },
    state: Enumeration('FailedValidationState', [
      'missing',
      'invalid',
      'mismatch_asn',
      'mismatch_length',
      'expired',
    ]),
    note: Type.String({ description: 'the reason, as a sentence' }),
    fix: Nullable(Type.String({ description: 'literal text of the object or record to create' })),
  }),
  'event.started': event,
  'event.updated': event,
  'event.ended': event,
  'incident.started': incident,
  'incident.updated': incident,
  'incident.ended': incident,
  'zone.updated': Component('ZoneUpdatedData', {
    ...zone,
    version: Type.Integer({
      minimum: 1,
      description: 'the new version; /v3/dns/zones/{zone}/versions/{version} has the difference',
    }),
    actor: { ...Actor, description: 'who made the change' },
    what: Type.String({ description: 'the operation, such as `recordset.update`' }),
    added_count: Type.Integer({ minimum: 0, description: 'new record sets' }),
    changed_count: Type.Integer({ minimum: 0, description: 'changed record sets' }),
    removed_count: Type.Integer({ minimum: 0, description: 'deleted record sets' }),
    at: { ...Time, description: 'time of the change' },
  }),
  'zone.status_changed': Component('ZoneStatusChangedData', {
    ...zone,
    serial: Nullable({ ...Serial, description: 'the published serial' }),
    before: { ...Enumeration('ZoneStatus', zoneStatuses), description: 'status before' },
    after: { ...Enumeration('ZoneStatus', zoneStatuses), description: 'status after' },
    at: { ...Time, description: 'time of the change' },
  }),
  'zone.dnssec_changed': Component('ZoneDnssecChangedData', {
    ...zone,
    before: { ...Enumeration('DnssecState', dnssecStates), description: 'state before' },
    after: { ...Enumeration('DnssecState', dnssecStates), description: 'state after' },
    at: { ...Time, description: 'time of the change' },
  }),
  'port.status_changed': Component('PortStatusChangedData', {
    ...port,
    before: { ...OperState, description: 'state before' },
    after: { ...OperState, description: 'state after' },
    admin_status: AdminState,
    at: { ...Time, description: 'time of the poll that found it' },
  }),
  'port.optic_warning': Component('PortOpticWarningData', {
    ...port,
    state: {
      ...Enumeration('OpticWarningState', ['raised', 'cleared']),
      description: 'a warning is raised after two days of the finding, and cleared after two without it',
    },
    warning: OpticWarning,
    at: { ...Time, description: 'time of the change' },
  }),
  'port.bgp_session_changed': Component(
    'PortBgpSessionChangedData',
    {
      ...port,
      peer: Type.String({ description: 'address of the neighbor' }),
      peer_asn: Nullable({ ...AsnNumber, description: 'ASN of the neighbor; null if not known' }),
      before: { ...BgpStateOf, description: 'state before' },
      after: {
        ...BgpStateOf,
        description:
          'state after; `established` in both if it was reset and established again between two polls',
      },
      reason: Nullable({ ...BgpResetReasonOf, description: 'why it ended; null if it was established' }),
      message: Type.String({ description: 'the reason as text; empty without one' }),
      at: { ...Time, description: 'time of the poll that found it' },
    },
    { description: 'a session was established, or is not any more' },
  ),
  'service.billed': Component('ServiceBilledData', {
    service_id: { ...Id, description: 'id of the service' },
    name: Type.String({ description: 'name of the service' }),
    team: TeamReference,
    billing_ref: Type.String({ description: 'the reference on invoices; empty if it has none' }),
    period: Type.String({ description: 'the month, such as 2026-03' }),
    ports: Type.Array(
      Component('BilledPort', {
        bill_id: { ...Id, description: 'id of the closed bill' },
        port_id: Nullable({ ...Id, description: 'null: all ports of the service together' }),
        name: Type.String({ description: 'name of the port, or of the service' }),
        circuit_id: Type.String({ description: 'number of the circuit; empty for several ports' }),
        billable_bps: Nullable(Type.Integer({ minimum: 0, description: 'the billed rate' })),
        billable_octets: Nullable(Type.Integer({ minimum: 0, description: 'the billed bytes, by volume' })),
        overage_bps: Nullable(Type.Integer({ minimum: 0, description: 'the billed rate above the commit' })),
        overage_octets: Nullable(
          Type.Integer({ minimum: 0, description: 'the billed bytes above the included ones' }),
        ),
        currency: Nullable(Type.String({ description: 'ISO 4217; null without prices' })),
        amount: Nullable(
          Type.String({ description: 'the amount as a decimal number; null if there is none' }),
        ),
        credit_note: Nullable({
          ...CreditNote,
          description:
            'of a correction: what it changes; null if it confirms the figures, and for other bills',
        }),
      }),
    ),
    corrects: Nullable({
      ...Id,
      description: 'id of the bill that was corrected or confirmed; null when the month is closed',
    }),
    at: { ...Time, description: 'when the month was closed, or the bill corrected' },
  }),
  'cross_connect.status_changed': Component('CrossConnectStatusChangedData', {
    cross_connect_id: { ...Id, description: 'id of the cross connect' },
    name: Type.String({ description: 'name of the cross connect' }),
    circuit_id: Type.String({ description: 'number of the circuit' }),
    service_id: { ...Id, description: 'id of the service that it belongs to' },
    before: { ...Enumeration('CrossConnectStatus', crossConnectStatuses), description: 'status before' },
    after: { ...Enumeration('CrossConnectStatus', crossConnectStatuses), description: 'status after' },
    note: Type.String({ description: 'note of the provider; empty if none' }),
    at: { ...Time, description: 'time of the change' },
  }),
  'shield.list_changed': Component('ShieldListChangedData', {
    list_id: { ...Id, description: 'id of the list' },
    prefix: Type.String({ description: 'prefix of the list' }),
    version: Type.Integer({ minimum: 0, description: 'version of the list now' }),
    change: {
      ...Enumeration('ShieldListChange', shieldListChanges),
      description:
        '`applied`: all scrubbers hold the version; `rejected`: one cannot apply it, or the provider did not approve it; `held`: it waits for the provider; `reverted`: the ' +
        'last confirmed version is back, by request or since this one was not confirmed in time; `expired`: rules ended; `removed`: the team no longer holds the prefix',
    },
    reason: Nullable({
      ...Enumeration('ShieldReason', shieldReasonCodes),
      description: 'code of the reason; null if there is none',
    }),
    detail: Type.String({ description: 'the reason as text; empty if there is none' }),
    rule_ids: Type.Array(Id, { description: 'rules that ended, for `expired`' }),
    at: { ...Time, description: 'time of the change' },
  }),
  'alert.fired': Component(
    'AlertFiredData',
    {
      ...alertRule,
      firing_id: { ...Id, description: 'id of the firing; the same when it ends' },
      value: Type.Number({ description: 'the value, in `unit`' }),
      started: { ...Time, description: 'when the value went beyond the limit' },
      at: { ...Time, description: 'when it had been beyond it for long enough' },
    },
    { description: 'a rule fires; there is no other message until the firing ends' },
  ),
  'alert.cleared': Component('AlertClearedData', {
    ...alertRule,
    firing_id: { ...Id, description: 'id of the firing' },
    started: { ...Time, description: 'when the value went beyond the limit' },
    ending: { ...AlertEndingName, description: 'why the firing ended' },
    at: { ...Time, description: 'when it ended' },
  }),
  'alert.unknown': Component(
    'AlertUnknownData',
    {
      ...alertRule,
      reason: { ...AlertReasonName, description: 'code of the reason' },
      message: Type.String({ description: 'the reason as text' }),
      since: { ...Time, description: 'since when there are no data' },
      at: { ...Time, description: 'time of the message' },
    },
    { description: 'a rule has had no data for an hour; once until there are data again' },
  ),
  'team.staff_access': Component('TeamStaffAccessData', {
    staff_access_id: {
      ...Id,
      description: 'id of the access: the credential `staff_access:<id>` of its entries in the audit log',
    },
    reason: Type.String({ description: 'why staff of the provider entered the team' }),
    ticket: Nullable(Type.String({ description: 'number of a ticket of the provider' })),
    change: Type.Boolean({ description: 'whether they may change something' }),
    at: { ...Time, description: 'when it was opened' },
    expires: { ...Time, description: 'when it ends by itself' },
  }),
  'webhook.test': Component('WebhookTestData', { webhook_id: Id }),
  'approval.opened': approval,
  'approval.reminder': approval,
  'approval.decided': approval,
} as const

/** The body of a message of the type. */
export const messageOf = <T extends keyof typeof messageData>(type: T) =>
  Component(`${pascalCase(type)}Message`, {
    type: Type.Literal(type),
    timestamp: Type.String({ format: 'date-time', description: 'time of the change' }),
    data: messageData[type],
  })

export type MessageData<T extends keyof typeof messageData> = Static<(typeof messageData)[T]>
