// Examples of webhook messages, one per type.
import { checkReasonText } from '../reason/check-reason.ts'
import type { DocumentedMessage } from '../example.ts'
import { messageData, messageOf, type MessageData } from '../messages/webhook-message.ts'
import type { ApprovalItem } from '../operator/approval.ts'
import { alertReasonText } from '../reason/alert-reason.ts'
import { approvalDetail } from '../reason/approval-reason.ts'
import {
  admin,
  alertRule,
  approvalId,
  employee,
  eventId,
  fading,
  teamReference,
  uplink,
  web,
  withdrawnPrefixes,
} from './world.ts'

type MessageType = keyof typeof messageData

const announcement = { announcement_id: web.id, cidr: web.cidr, origin_asn: web.origin_asn }

const event: MessageData<'event.started'> = {
  id: eventId,
  affected_network: '203.0.113.77/32',
  classification_key: 'udp.amplification.dns',
  start: '2026-04-01T03:12:09.120Z',
  end: null,
  affected_bps: 4_100_000_000,
  affected_pps: 350_112,
  flags: ['INCOMING'],
  status: ['EVENT_ONGOING'],
}

const incident: MessageData<'incident.started'> = {
  id: eventId,
  network: event.affected_network,
  direction: 'incoming',
  classification_key: event.classification_key,
  start: event.start,
  end: null,
  affected_bps: event.affected_bps,
  affected_pps: event.affected_pps,
  sources: ['fastnetmon'],
  event_count: 1,
  merged_into: null,
}

const zone = { zone_id: 4711, name: 'lindholm.example' }

const port = {
  port_id: uplink.id,
  name: uplink.name,
  circuit_id: uplink.circuit_id,
  device_name: uplink.device_name,
  service_id: uplink.service_id,
}

const findings = [
  { reason: 'too_many_withdrawals', attrs: { max: 3, team_max: 3, minutes: 10, recent: 0 } },
] as const
const withdrawals = withdrawnPrefixes.map(({ id, cidr }): ApprovalItem => ({
  change: 'withdraw',
  value: cidr,
  router: null,
  from: null,
  to: null,
  team: teamReference,
  announcement_id: id,
  requested: {
    action: 'announcement.update',
    by: `user:${admin.id}`,
    by_name: admin.email,
    by_staff: false,
    at: '2026-04-01T10:02:18.004Z',
  },
}))
const approval: MessageData<'approval.opened'> = {
  id: approvalId,
  area: 'routes',
  subject: { type: 'region', id: 2, name: 'fra' },
  team: null,
  reason: 'too_many_withdrawals',
  reasons: [...findings],
  detail: approvalDetail('routes', findings),
  item_count: withdrawals.length,
  state: 'open',
  created: '2026-04-01T10:02:18.410Z',
  decided: null,
  decided_by: null,
  note: null,
  valid_until: null,
  replaces: null,
  items: withdrawals,
  teams: [{ team: teamReference, withdrawal_count: withdrawals.length }],
}

const firing = {
  alert_rule_id: alertRule.id,
  name: alertRule.name,
  kind: alertRule.condition.kind,
  severity: 'warning',
  object: { type: 'port', id: uplink.id, name: uplink.name },
  threshold: alertRule.condition.above_percent,
  unit: 'percent',
  comparison: 'above',
} as const

const decided = { decided: '2026-04-01T10:09:44.190Z', decided_by: `user:${employee.id}` }

const samples: { readonly [T in MessageType]: { summary: string; timestamp: string; data: MessageData<T> } } =
  {
    'announcement.status_changed': {
      summary: 'The status of an announcement changed',
      timestamp: '2026-04-01T09:21:06.730Z',
      data: {
        ...announcement,
        before: 'partially_announced',
        after: 'announced',
        at: '2026-04-01T09:21:06.730Z',
      },
    },
    'announcement.zombie': {
      summary: 'Other networks still have a route that was withdrawn long ago, or no longer have it',
      timestamp: '2026-04-01T12:40:00.000Z',
      data: {
        ...announcement,
        active: true,
        withdrawn: '2026-04-01T12:04:31.902Z',
        collectors_seeing: 3,
        collectors_total: 341,
        at: '2026-04-01T12:40:00.000Z',
      },
    },
    'announcement.unexpected_origin': {
      summary: 'Another network announces the prefix or a part of it, or no longer does',
      timestamp: '2026-04-01T14:17:20.000Z',
      data: {
        ...announcement,
        active: true,
        routes: [{ cidr: '203.0.113.128/25', asn: 64_511, count: 212 }],
        collectors_total: 341,
        at: '2026-04-01T14:17:20.000Z',
      },
    },
    'announcement.not_visible': {
      summary: 'Hardly any route collector sees an announced prefix, or enough do again',
      timestamp: '2026-04-01T12:40:00.000Z',
      data: {
        ...announcement,
        active: true,
        collectors_seeing: 14,
        collectors_total: 341,
        at: '2026-04-01T12:40:00.000Z',
      },
    },
    'announcement.other_path': {
      summary: 'Route collectors see an announced prefix, but none through the provider, or one does again',
      timestamp: '2026-04-01T12:40:00.000Z',
      data: {
        ...announcement,
        active: true,
        collectors_seeing: 320,
        collectors_total: 341,
        at: '2026-04-01T12:40:00.000Z',
      },
    },
    'validation.failed': {
      summary: 'A check of an announcement failed',
      timestamp: '2026-04-01T11:05:00.204Z',
      data: {
        ...announcement,
        name: 'rpki',
        state: 'missing',
        note: checkReasonText('roa_missing', {}),
        fix: 'Create a ROA\nPrefix: 203.0.113.0/24\nOrigin: AS64496\nmaxLength: 24',
      },
    },
    'event.started': { summary: 'A security event started', timestamp: event.start, data: event },
    'event.updated': {
      summary: 'A security event changed',
      timestamp: '2026-04-01T03:16:20.000Z',
      data: { ...event, affected_bps: 9_500_000_000, affected_pps: 812_345 },
    },
    'event.ended': {
      summary: 'A security event ended',
      timestamp: '2026-04-01T03:31:44.870Z',
      data: {
        ...event,
        end: '2026-04-01T03:31:44.870Z',
        affected_bps: 9_500_000_000,
        affected_pps: 812_345,
      },
    },
    'incident.started': {
      summary: 'An attack started: the first event of an incident',
      timestamp: event.start,
      data: incident,
    },
    'incident.updated': {
      summary: 'The detectors, the peak or the end of an incident changed, or another one took it over',
      timestamp: '2026-04-01T03:13:40.000Z',
      data: { ...incident, sources: ['fastnetmon', 'flows'], event_count: 2, affected_bps: 9_500_000_000 },
    },
    'incident.ended': {
      summary: 'All events of an incident have ended',
      timestamp: '2026-04-01T03:31:44.870Z',
      data: {
        ...incident,
        sources: ['fastnetmon', 'flows'],
        event_count: 2,
        affected_bps: 9_500_000_000,
        end: '2026-04-01T03:31:44.870Z',
      },
    },
    'zone.updated': {
      summary: 'Record sets of a zone changed',
      timestamp: '2026-04-01T09:30:12.004Z',
      data: {
        ...zone,
        version: 18,
        actor: `user:${admin.id}`,
        what: 'recordset.update',
        added_count: 0,
        changed_count: 1,
        removed_count: 0,
        at: '2026-04-01T09:30:12.004Z',
      },
    },
    'zone.status_changed': {
      summary: 'The name servers serve the newest version of a zone, or one of them does not',
      timestamp: '2026-04-01T09:30:12.031Z',
      data: {
        ...zone,
        serial: 1_775_035_812,
        before: 'updating',
        after: 'ok',
        at: '2026-04-01T09:30:12.031Z',
      },
    },
    'zone.dnssec_changed': {
      summary: 'The state of DNSSEC of a zone changed',
      timestamp: '2026-04-02T10:00:00.512Z',
      data: { ...zone, before: 'pending_ds', after: 'active', at: '2026-04-02T10:00:00.512Z' },
    },
    'port.status_changed': {
      summary: 'A port is down',
      timestamp: '2026-04-03T02:12:09.218Z',
      data: { ...port, before: 'up', after: 'down', admin_status: 'up', at: '2026-04-03T02:12:09.218Z' },
    },
    'port.optic_warning': {
      summary: 'The light that a port receives gets weaker from day to day',
      timestamp: '2026-04-05T01:00:03.507Z',
      data: {
        ...port,
        state: 'raised',
        warning: fading,
        at: '2026-04-05T01:00:03.507Z',
      },
    },
    'port.bgp_session_changed': {
      summary: 'A BGP session of a port is down',
      timestamp: '2026-04-05T02:12:09.218Z',
      data: {
        ...port,
        peer: '192.0.2.130',
        peer_asn: 64_496,
        before: 'established',
        after: 'idle',
        reason: 'prefix_limit',
        message: 'More prefixes were announced than the limit allows.',
        at: '2026-04-05T02:12:09.218Z',
      },
    },
    'service.billed': {
      summary: 'A month of a service was closed',
      timestamp: '2026-04-02T00:00:07.441Z',
      data: {
        service_id: uplink.service_id,
        name: 'Transit Amsterdam',
        team: teamReference,
        billing_ref: 'LIND-TR-1',
        period: '2026-03',
        ports: [
          {
            bill_id: 371,
            port_id: uplink.id,
            name: uplink.name,
            circuit_id: uplink.circuit_id,
            billable_bps: 9_101_552_004,
            billable_octets: null,
            overage_bps: 0,
            overage_octets: null,
            currency: 'EUR',
            amount: '4250.00',
            credit_note: null,
          },
        ],
        corrects: null,
        at: '2026-04-02T00:00:07.441Z',
      },
    },
    'alert.fired': {
      summary: 'An alert rule fires',
      timestamp: '2026-03-14T09:30:41.205Z',
      data: {
        ...firing,
        portal_path: '/alerts/14?from=2026-03-14T03:15Z&to=2026-03-14T09:30Z',
        firing_id: 902,
        value: 5.918,
        started: '2026-03-14T09:15:00.000Z',
        at: '2026-03-14T09:30:00.000Z',
      },
    },
    'alert.cleared': {
      summary: 'A firing of an alert rule ended',
      timestamp: '2026-03-14T11:05:40.518Z',
      data: {
        ...firing,
        portal_path: '/alerts/14?from=2026-03-14T03:15Z&to=2026-03-14T11:05Z',
        firing_id: 902,
        started: '2026-03-14T09:15:00.000Z',
        ending: 'cleared',
        at: '2026-03-14T11:05:00.000Z',
      },
    },
    'alert.unknown': {
      summary: 'An alert rule has no data',
      timestamp: '2026-03-15T02:10:40.077Z',
      data: {
        ...firing,
        portal_path: '/alerts/14?from=2026-03-14T19:00Z&to=2026-03-15T02:00Z',
        reason: 'no_data',
        message: alertReasonText('no_data'),
        since: '2026-03-15T01:00:00.000Z',
        at: '2026-03-15T02:00:00.000Z',
      },
    },
    'team.staff_access': {
      summary: 'Staff of the provider entered the team',
      timestamp: '2026-04-01T10:21:40.212Z',
      data: {
        staff_access_id: 12,
        reason: 'The announcement of 203.0.113.0/24 is not visible, as you reported.',
        ticket: 'NOC-4711',
        change: false,
        at: '2026-04-01T10:21:40.212Z',
        expires: '2026-04-01T11:21:40.212Z',
      },
    },
    'shield.list_changed': {
      summary: 'A list of shield rules was not confirmed and is reverted',
      timestamp: '2026-04-01T10:14:33.018Z',
      data: {
        list_id: 71,
        prefix: web.cidr,
        version: 5,
        change: 'reverted',
        reason: null,
        detail: '',
        rule_ids: [],
        at: '2026-04-01T10:14:33.018Z',
      },
    },
    'cross_connect.status_changed': {
      summary: 'A cross connect waits for a letter of the customer',
      timestamp: '2026-04-02T14:20:31.118Z',
      data: {
        cross_connect_id: 61,
        name: 'Cross connect to Lindholm',
        circuit_id: 'XC-AMS-0061',
        service_id: uplink.service_id,
        before: 'reserved',
        after: 'awaiting_loa',
        note: 'Panel C-04 is reserved until 1 May.',
        at: '2026-04-02T14:20:31.118Z',
      },
    },
    'webhook.test': {
      summary: 'A test message, sent on request',
      timestamp: '2026-03-02T09:00:41.118Z',
      data: { webhook_id: 24 },
    },
    'approval.opened': {
      summary: "Changes need approval (the provider's webhook only)",
      timestamp: approval.created,
      data: approval,
    },
    'approval.reminder': {
      summary: "Changes still need approval (the provider's webhook only)",
      timestamp: '2026-04-01T10:32:18.410Z',
      data: approval,
    },
    'approval.decided': {
      summary: "Changes were approved or rejected, or are no longer planned (the provider's webhook only)",
      timestamp: decided.decided,
      data: { ...approval, ...decided, state: 'approved', valid_until: '2026-04-01T10:24:44.190Z' },
    },
  }

export const documentedMessages: readonly DocumentedMessage[] = (Object.keys(samples) as MessageType[]).map(
  (type) => {
    const { summary, timestamp, data } = samples[type]
    return { type, summary, schema: messageOf(type), example: { type, timestamp, data } }
  },
)
