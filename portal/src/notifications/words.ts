// The texts of personal notifications: the bell, its list and the page.
import type { NotificationKind } from '@pharos/contract/messages/notification-text'

/** The subject of a notification, as a label. */
const kinds: Record<NotificationKind, string> = {
  attack: 'Attack',
  attack_ended: 'Attack ended',
  check_failed: 'Check failed',
  announcement_blocked: 'Announcement blocked',
  announcement_error: 'Announcement error',
  unexpected_origin: 'Unexpected origin',
  not_visible: 'Not visible',
  other_path: 'Other path',
  letter_decided: 'Letter decided',
  letter_expiring: 'Letter expires',
  changes_paused: 'Changes paused',
  port_down: 'Port down',
  optic_warning: 'Module warning',
  bgp_session_down: 'BGP session down',
  shield_changed: 'Shield rules',
  letter_needed: 'Letter needed',
  alert: 'Alert',
  staff_access: 'Provider in your team',
  token_expiring: 'Credential expires',
  approval_opened: 'Approval needed',
  letter_to_review: 'Letter to review',
  sampling_implausible: 'Implausible sampling rate',
}

const unread = (count: number): string => `${count} unread`

export const words = {
  title: 'Notifications',
  note: 'What happened in this team in the last 90 days.',
  kinds,
  unread,
  bell: (count: number | undefined): string =>
    count === undefined || count === 0 ? 'Notifications' : `Notifications, ${unread(count)}`,
  readAll: 'Mark all as read',
  allRead: 'All notifications are marked as read.',
  settings: 'Settings',
  all: 'All notifications',
  close: 'Close notifications',
  latest: 'Latest notifications',
  isUnread: 'Unread',
  isRead: 'Read',
  noneTitle: 'No notifications yet',
  none: 'Attacks, failed checks and other changes that need your attention appear here.',
  things: ['notification', 'notifications'],
  what: 'Notification',
  kind: 'Kind',
  when: 'Time',
  state: 'State',
} as const
