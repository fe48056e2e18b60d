// Personal notifications: the settings of a user in the current team, the feed of the portal, and the stream message that
// reports a change of it.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { notificationKinds } from './notification-text.ts'
import { route } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  Time,
} from '../scalar.ts'

export const digests = ['immediate', 'hourly', 'daily'] as const
export type Digest = (typeof digests)[number]

/** The shortest time between two mails of one team to the same user. */
export const mailPauseMinutes = 15

const Mail = Type.Boolean({ description: 'whether mails are sent at all; the feed is independent of it' })
const DigestOf = {
  ...Enumeration('NotificationDigest', digests),
  description:
    `when mails are sent. \`immediate\`: at once, and then at most every ${mailPauseMinutes} minutes with everything since the last ` +
    'mail. `hourly`: at the full hour. `daily`: at 07:00 UTC',
}
const threshold = (unit: string) =>
  Nullable(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000_000_000,
      description: `attacks with a peak of at least this rate are reported, in ${unit}; null: the other threshold decides alone`,
    }),
  )
const mailed = (what: string) => Type.Boolean({ description: `whether mails are sent about ${what}` })

const TeamKinds = Component('NotificationKinds', {
  attack: mailed('attacks above one of the thresholds'),
  attack_ended: mailed('the end of an attack that was mailed'),
  check_failed: mailed('a check that had passed and fails now'),
  announcement_blocked: mailed('announcements that are suspended, or blocked by a failed check'),
  announcement_error: mailed('announcements that have an error on the routers'),
  unexpected_origin: mailed('other networks that announce a prefix of the team'),
  not_visible: mailed('announced prefixes that hardly any other network sees'),
  other_path: mailed('announced prefixes that no other network reaches through the provider'),
  letter_decided: mailed('letters of authorization that were accepted or rejected'),
  letter_expiring: mailed('letters of authorization that expire within 14 days'),
  changes_paused: mailed('withdrawals of the team that wait for approval by the provider'),
  port_down: mailed('ports that were up and are down, unless the provider has disabled them'),
  optic_warning: mailed('early warnings of transceivers'),
  bgp_session_down: mailed('BGP sessions of ports that were established and are not any more'),
  shield_changed: mailed('lists of shield rules that were reverted or removed, or are not applied'),
  letter_needed: mailed('cross connects that wait for a letter of authorization of the team'),
  token_expiring: mailed('API tokens and TSIG keys that expire within 30, 7 or 1 days'),
  alert: Optional(mailed('alert rules that fire, end or have no data. True if it is left out')),
  staff_access: Optional(
    mailed('employees of the provider who enter the team, with their reason. False if it is left out'),
  ),
})
const StaffKinds = Component('StaffNotificationKinds', {
  approval_opened: mailed('changes that need approval; separate from the mails of `operator_alert_emails`'),
  letter_to_review: mailed('letters of authorization to review'),
  sampling_implausible: mailed('exporters whose flows do not match the counters of their interfaces'),
})

export const NotificationSettings = Component('NotificationSettings', {
  mail: Mail,
  digest: DigestOf,
  attack_bps: threshold('bits per second'),
  attack_pps: threshold('packets per second'),
  kinds: TeamKinds,
  monthly_report: Type.Boolean({
    description: 'whether the monthly report of the team is mailed, as PDF; only with `mail`. Off by default',
  }),
  staff: Nullable(
    Component(
      'StaffNotificationSettings',
      { mail: Mail, digest: DigestOf, kinds: StaffKinds },
      { description: 'settings of an employee of the provider, the same in all teams; null for others' },
    ),
  ),
})
export type NotificationSettings = Static<typeof NotificationSettings>

const notificationResources = [
  'event',
  'announcement',
  'letter',
  'approval',
  'port',
  'cross_connect',
  'shield_list',
  'alert_rule',
] as const

export const Notification = Component('Notification', {
  id: { ...Id, description: 'id of the notification; later ones have higher ids' },
  kind: { ...Enumeration('NotificationKind', notificationKinds), description: 'code of what happened' },
  at: { ...Time, description: 'when it happened' },
  text: Type.String({ description: 'what happened, as one line' }),
  attrs: Type.Record(Type.String(), Type.Unknown(), { description: 'attributes of the kind' }),
  resource: Nullable(
    Component('NotificationResource', {
      type: {
        ...Enumeration('NotificationResourceType', notificationResources),
        description: 'what it is about',
      },
      id: Type.String({ description: 'id of that record' }),
    }),
  ),
  read: { ...NullableTime, description: 'when the user marked it as read; null if unread' },
})
export type Notification = Static<typeof Notification>

/** Messages of the stream to one user; webhooks do not get them. */
export const personalMessageTypes = ['notifications.changed'] as const
export type PersonalMessageType = (typeof personalMessageTypes)[number]

const NotificationsChangedData = Component('NotificationsChangedData', {
  unread: Type.Integer({ minimum: 0, description: 'number of unread notifications' }),
  newest_id: Nullable({ ...Id, description: 'id of the newest notification; null if there is none' }),
})
export type NotificationsChangedData = Static<typeof NotificationsChangedData>

const perUser = 'API tokens are not accepted: notifications belong to a user. '

export const getNotificationSettingsRoute = route({
  name: 'getNotificationSettings',
  group: 'Session',
  method: 'GET',
  path: '/v3/session/notifications',
  summary: 'Get notification settings',
  description: `Returns which notifications the user gets in the current team, and which of them by mail. Without saved settings, the defaults. ${perUser}`,
  permission: { credential: 'web' },
  response: NotificationSettings,
  success: 200,
  conditional: true,
})

export const updateNotificationSettingsRoute = route({
  name: 'updateNotificationSettings',
  group: 'Session',
  method: 'PUT',
  path: '/v3/session/notifications',
  summary: 'Replace notification settings',
  description:
    'Replaces the settings of the user in the current team. With `mail: false`, mails that wait are not sent. `staff` is only ' +
    `accepted from employees of the provider; null leaves these settings unchanged. ${perUser}`,
  permission: { credential: 'web' },
  body: NotificationSettings,
  response: NotificationSettings,
  success: 200,
  errors: ['forbidden'],
  conditional: true,
})

export const listNotificationsRoute = route({
  name: 'listNotifications',
  group: 'Session',
  method: 'GET',
  path: '/v3/session/notifications/feed',
  summary: 'List notifications',
  description:
    'What happened in the current team that concerns the user, for 90 days, by default the newest first. With `unread=true`, `count` is the number of ' +
    'unread notifications. An attack is one notification: its attributes change while it lasts. The stream reports changes as ' +
    `\`notifications.changed\`. ${perUser}`,
  permission: { credential: 'web' },
  query: Strict({
    unread: Optional(Type.Boolean({ description: 'only unread notifications, or only read ones' })),
    ordering: Ordering(['id', 'at'], '-id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Notification),
  success: 200,
})

export const readNotificationsRoute = route({
  name: 'readNotifications',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/notifications/read',
  summary: 'Mark notifications as read',
  description: `Marks the notifications of the current team up to an id as read. Returns the state of the feed. ${perUser}`,
  permission: { credential: 'web' },
  body: Strict({ up_to: { ...Id, description: 'id of the newest notification that the user has seen' } }),
  response: NotificationsChangedData,
  success: 200,
})

export const notificationRoutes = [
  getNotificationSettingsRoute,
  updateNotificationSettingsRoute,
  listNotificationsRoute,
  readNotificationsRoute,
]
