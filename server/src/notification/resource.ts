// The record that a notification is about. Pure.
import type { Notification } from '@pharos/contract/messages/notification'
import type { NotificationKind } from '@pharos/contract/messages/notification-text'

type Resource = Notification['resource']

/** Returns the record, which the recipient can read; null if there is not one. */
export function resourceOf(kind: NotificationKind, attrs: Readonly<Record<string, unknown>>): Resource {
  const of = (type: NonNullable<Resource>['type'], id: unknown): Resource =>
    id === undefined ? null : { type, id: String(id) }
  switch (kind) {
    case 'attack':
    case 'attack_ended':
      return of('event', attrs['event_id'])
    case 'check_failed':
    case 'announcement_blocked':
    case 'announcement_error':
    case 'unexpected_origin':
    case 'not_visible':
    case 'other_path':
    case 'letter_decided':
    case 'letter_expiring':
      return of('announcement', attrs['announcement_id'])
    case 'port_down':
    case 'optic_warning':
    case 'bgp_session_down':
      return of('port', attrs['port_id'])
    case 'shield_changed':
      return of('shield_list', attrs['list_id'])
    case 'alert':
      return of('alert_rule', attrs['alert_rule_id'])
    case 'letter_needed':
      return of('cross_connect', attrs['cross_connect_id'])
    case 'letter_to_review':
      return of('letter', attrs['letter_id'])
    case 'approval_opened':
      return of('approval', attrs['approval'])
    case 'changes_paused':
    case 'token_expiring':
    case 'staff_access':
    case 'sampling_implausible':
      return null
  }
}
