// Examples of personal notifications.
import { example } from '../example.ts'
import {
  getNotificationSettingsRoute,
  listNotificationsRoute,
  readNotificationsRoute,
  updateNotificationSettingsRoute,
  type NotificationSettings,
} from '../messages/notification.ts'
import { eventId, web } from './world.ts'

const settings: NotificationSettings = {
  mail: true,
  digest: 'immediate',
  attack_bps: 1_000_000_000,
  attack_pps: 1_000_000,
  kinds: {
    attack: true,
    attack_ended: true,
    check_failed: true,
    announcement_blocked: true,
    announcement_error: true,
    unexpected_origin: true,
    not_visible: true,
    other_path: true,
    letter_decided: true,
    letter_expiring: true,
    changes_paused: true,
    port_down: true,
    optic_warning: true,
    bgp_session_down: true,
    shield_changed: true,
    letter_needed: true,
    token_expiring: true,
  },
  monthly_report: true,
  staff: null,
}

export const notificationExamples = [
  example(getNotificationSettingsRoute, { response: settings }),
  example(updateNotificationSettingsRoute, {
    body: { ...settings, digest: 'hourly' },
    response: { ...settings, digest: 'hourly' },
  }),
  example(listNotificationsRoute, {
    query: { unread: true },
    response: {
      results: [
        {
          id: 90_211,
          kind: 'attack',
          at: '2026-04-01T09:12:40.000Z',
          text: `Attack on ${web.cidr}: UDP amplification (DNS), peak 9.5 Gbps, 812 kpps`,
          attrs: {
            event_id: eventId,
            network: web.cidr,
            class: 'udp.amplification.dns',
            bps: 9_500_000_000,
            pps: 812_345,
            start: '2026-04-01T09:12:40.000Z',
            end: null,
          },
          resource: { type: 'event', id: eventId },
          read: null,
        },
      ],
      count: 1,
    },
  }),
  example(readNotificationsRoute, { body: { up_to: 90_211 }, response: { unread: 0, newest_id: 90_211 } }),
]
