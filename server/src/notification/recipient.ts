// Decides who is notified of a message of the outbox, and whether by mail. Pure.
import type { NotificationKind, TeamNotificationKind } from '@pharos/contract/messages/notification-text'
import { hasGrant, type Grant, type Role } from '@pharos/contract/role'
import type { MessageData, MessageType } from '@pharos/contract/messages/webhook-message'
import type { moduleOf } from '../outbox/message.ts'
import type { RecipientSettings } from './settings.ts'

/** A user in one team, or (team null) as an employee of the provider. */
export type Recipient = {
  readonly userId: number
  readonly teamId: number | null
  /** When the user joined: earlier events are not reported. */
  readonly joined: Date
  /** Roles in the team; empty for an employee of the provider. */
  readonly roles: readonly Role[]
  readonly settings: RecipientSettings
}

/** A message of the types that are reported; see `reportedTypes`. */
export type ReportedMessage = {
  [T in MessageType | 'approval.opened']: {
    readonly id: string
    readonly teamId: number | null
    readonly type: T
    readonly at: Date
    readonly data: MessageData<T>
  }
}[
  | Exclude<MessageType, 'announcement.zombie' | `event.${string}` | `zone.${string}` | `service.${string}`>
  | 'approval.opened']

export const reportedTypes: readonly ReportedMessage['type'][] = [
  'incident.started',
  'incident.updated',
  'incident.ended',
  'validation.failed',
  'announcement.status_changed',
  'announcement.unexpected_origin',
  'announcement.not_visible',
  'announcement.other_path',
  'port.status_changed',
  'port.optic_warning',
  'port.bgp_session_changed',
  'cross_connect.status_changed',
  'shield.list_changed',
  'alert.fired',
  'alert.cleared',
  'alert.unknown',
  'team.staff_access',
  'approval.opened',
]

/** The module that a team needs to get the notification; null: no module. */
export const moduleOfKind = {
  attack: 'lighthouse',
  attack_ended: 'lighthouse',
  check_failed: 'ipam',
  announcement_blocked: 'ipam',
  announcement_error: 'ipam',
  unexpected_origin: 'ipam',
  not_visible: 'ipam',
  other_path: 'ipam',
  letter_decided: 'ipam',
  letter_expiring: 'ipam',
  changes_paused: 'ipam',
  port_down: 'inventory',
  optic_warning: 'inventory',
  bgp_session_down: 'inventory',
  letter_needed: 'inventory',
  shield_changed: 'shield',
  // For members with the grant of `grantsWithoutModule`.
  token_expiring: null,
  alert: null,
  staff_access: null,
} as const satisfies Record<TeamNotificationKind, ReturnType<typeof moduleOf> | null>

const grantsWithoutModule: Readonly<Partial<Record<NotificationKind, Grant>>> = {
  token_expiring: 'tokens.manage',
  alert: 'alerts.see',
  staff_access: 'audit.see',
}

/** Something that is reported to everybody in a team, or (team null) to staff. */
export type Occurrence = {
  readonly teamId: number | null
  readonly kind: NotificationKind
  readonly key: string
  readonly at: Date
  /** When it began, if that was before `at`. */
  readonly since?: Date
  readonly attrs: Readonly<Record<string, unknown>>
}

const dayMs = 86_400_000
/** An update of an attack that has ended for longer, or began earlier without an end, such as a review, is no news. */
const newsMs = { ended: dayMs, ongoing: 7 * dayMs }

type Reported<T extends ReportedMessage['type']> = Extract<ReportedMessage, { readonly type: T }>

/** Returns the occurrences in a message. */
export function occurrencesOf(message: ReportedMessage): Occurrence[] {
  const find = occurrences[message.type] as (message: ReportedMessage) => Occurrence[]
  return find(message)
}

const occurrences: { readonly [T in ReportedMessage['type']]: (message: Reported<T>) => Occurrence[] } = {
  'incident.started': (message) => [attackIn(message, 'attack')],
  'incident.updated': (message) => (isNews(message.data, message.at) ? [attackIn(message, 'attack')] : []),
  'incident.ended': (message) => [attackIn(message, 'attack'), attackIn(message, 'attack_ended')],
  'validation.failed'(message) {
    const { name: check, state, note } = message.data
    return [occurrence(message, 'check_failed', { ...announcementAttrs(message.data), check, state, note })]
  },
  'announcement.status_changed'(message) {
    const { before, after } = message.data
    const kind = kindOfStatus(before, after)
    return kind ? [occurrence(message, kind, { ...announcementAttrs(message.data), status: after })] : []
  },
  'announcement.unexpected_origin'(message) {
    const { active, routes } = message.data
    const origins = [...new Set(routes.flatMap(({ asn }) => asn ?? []))]
    const attrs = { ...announcementAttrs(message.data), origins }
    return active ? [occurrence(message, 'unexpected_origin', attrs)] : []
  },
  'announcement.not_visible': (message) => visibilityIn(message, 'not_visible'),
  'announcement.other_path': (message) => visibilityIn(message, 'other_path'),
  'port.status_changed'(message) {
    const { before, after, admin_status: admin } = message.data
    const isDown = before === 'up' && (after === 'down' || after === 'lower_layer_down')
    return isDown && admin !== 'down' ? [occurrence(message, 'port_down', portAttrs(message.data))] : []
  },
  'port.optic_warning'(message) {
    const { state, warning } = message.data
    const attrs = { ...portAttrs(message.data), message: warning.message }
    return state === 'raised' ? [occurrence(message, 'optic_warning', attrs)] : []
  },
  'port.bgp_session_changed'(message) {
    const { peer, peer_asn: asn, reason, message: text } = message.data
    const attrs = { ...portAttrs(message.data), peer, asn, message: text }
    return reason === null ? [] : [occurrence(message, 'bgp_session_down', attrs)]
  },
  'cross_connect.status_changed'(message) {
    const { after, cross_connect_id, name, circuit_id } = message.data
    const attrs = { cross_connect_id, name, circuit_id }
    return after === 'awaiting_loa' ? [occurrence(message, 'letter_needed', attrs)] : []
  },
  'shield.list_changed'(message) {
    const { list_id, prefix, change, detail } = message.data
    const isWanted = change === 'applied' || change === 'expired'
    return isWanted ? [] : [occurrence(message, 'shield_changed', { list_id, prefix, change, detail })]
  },
  'alert.fired': (message) => [alertIn(message, 'fired', { value: message.data.value })],
  // What ends with the change of a rule is known to those who made it.
  'alert.cleared': (message) => (message.data.ending === 'cleared' ? [alertIn(message, 'cleared', {})] : []),
  'alert.unknown': (message) => [alertIn(message, 'unknown', { why: message.data.reason })],
  'team.staff_access'(message) {
    const { staff_access_id, reason, ticket, change } = message.data
    return [occurrence(message, 'staff_access', { staff_access_id, reason, ticket, change })]
  },
  /** A team has its own messages about a zone or a list that waits. */
  'approval.opened'(message) {
    const { id: approval, area, subject, team, item_count: items, teams } = message.data
    const attrs = { approval, area, subject: subject.name, team: team?.name ?? null, items }
    const one = { ...message, id: String(approval) }
    const region = subject.name
    return [
      occurrence({ ...one, teamId: null }, 'approval_opened', attrs),
      ...teams.flatMap(({ team, withdrawal_count: withdrawals }) =>
        team ? [occurrence({ ...one, teamId: team.id }, 'changes_paused', { region, withdrawals })] : [],
      ),
    ]
  },
}

const occurrence = (
  { id, teamId, at }: Pick<ReportedMessage, 'id' | 'teamId' | 'at'>,
  kind: NotificationKind,
  attrs: Occurrence['attrs'],
): Occurrence => ({ teamId, kind, key: id, at, attrs })

const attackIn = (
  message: Reported<'incident.started' | 'incident.updated' | 'incident.ended'>,
  kind: 'attack' | 'attack_ended',
): Occurrence => ({
  ...occurrence(message, kind, attackAttrs(message.data)),
  key: message.data.id,
  since: new Date(message.data.start),
})

function alertIn(
  message: Reported<'alert.fired' | 'alert.cleared' | 'alert.unknown'>,
  change: string,
  attrs: Occurrence['attrs'],
): Occurrence {
  const {
    alert_rule_id,
    name: rule,
    object,
    severity,
    threshold,
    unit,
    comparison,
    portal_path,
  } = message.data
  return occurrence(message, 'alert', {
    alert_rule_id,
    rule,
    object: object.name,
    severity,
    change,
    threshold,
    unit,
    comparison,
    path: portal_path,
    ...attrs,
  })
}

function visibilityIn(
  message: Reported<'announcement.not_visible' | 'announcement.other_path'>,
  kind: 'not_visible' | 'other_path',
): Occurrence[] {
  const { active, collectors_seeing: seeing, collectors_total: total } = message.data
  return active ? [occurrence(message, kind, { ...announcementAttrs(message.data), seeing, total })] : []
}

/** A new announcement whose first checks fail is not blocked: it never passed. */
function kindOfStatus(before: string, after: string): NotificationKind | undefined {
  if (after === 'error') return 'announcement_error'
  const isNew = before === 'pending_validation' || before === 'validating'
  return after === 'suspended' || (after === 'validation_failed' && !isNew)
    ? 'announcement_blocked'
    : undefined
}

type AnnouncementData = {
  readonly announcement_id: number
  readonly cidr: string
  readonly origin_asn: number
}
const announcementAttrs = ({ announcement_id, cidr, origin_asn: asn }: AnnouncementData) => ({
  announcement_id,
  cidr,
  asn,
})

const portAttrs = ({
  port_id,
  name,
  circuit_id,
  device_name: device,
}: MessageData<'port.optic_warning' | 'port.status_changed' | 'port.bgp_session_changed'>) => ({
  port_id,
  name,
  circuit_id,
  device,
})

type AttackData = MessageData<'incident.ended'>

/** An incident that was merged is reported as a part of the other. */
const isNews = ({ start, end, merged_into: merged }: AttackData, at: Date): boolean =>
  merged === null && at.getTime() - Date.parse(end ?? start) < (end === null ? newsMs.ongoing : newsMs.ended)

const attackAttrs = ({ id, network, start, end, ...data }: AttackData) => ({
  event_id: id,
  network,
  class: data.classification_key,
  bps: data.affected_bps,
  pps: data.affected_pps,
  sources: data.sources.length,
  start,
  end,
})

export type NewNotification = Omit<Occurrence, 'teamId' | 'since'> & {
  readonly userId: number
  readonly teamId: number | null
  readonly isMailed: boolean
}

/** Returns the notifications of the occurrences, in order. */
export function notificationsOf(
  occurrences: readonly Occurrence[],
  recipients: readonly Recipient[],
): NewNotification[] {
  const byTeam = Map.groupBy(recipients, ({ teamId }) => teamId)
  return occurrences.flatMap((occurrence) =>
    (byTeam.get(occurrence.teamId) ?? [])
      .filter(
        ({ settings, joined, roles }) =>
          joined <= (occurrence.since ?? occurrence.at) &&
          isReported(occurrence, settings) &&
          sees(occurrence, roles),
      )
      .map(({ userId, settings }) => ({
        ...occurrence,
        userId,
        isMailed: settings.mail && settings.kinds[occurrence.kind],
      })),
  )
}

/** A member gets notifications only about parts with read access. */
function sees({ teamId, kind }: Occurrence, roles: readonly Role[]): boolean {
  if (teamId === null) return true
  const module = moduleOfKind[kind as TeamNotificationKind]
  return hasGrant(roles, module === null ? grantsWithoutModule[kind]! : `${module}.see`)
}

function isReported(
  { kind, attrs }: Occurrence,
  { mail, kinds, attackBps, attackPps }: RecipientSettings,
): boolean {
  if (kind === 'attack_ended') return mail && kinds.attack_ended
  return kind !== 'attack' || reaches(attrs['bps'], attackBps) || reaches(attrs['pps'], attackPps)
}

const reaches = (rate: unknown, threshold: number | null): boolean =>
  threshold !== null && Number(rate) >= threshold
