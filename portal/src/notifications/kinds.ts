// How each kind of notification looks, and the page that it leads to. Pure.
import type { Notification } from '@pharos/contract/messages/notification'
import type { NotificationKind } from '@pharos/contract/messages/notification-text'
import {
  IconAlertCircle,
  IconAlertTriangle,
  IconBan,
  IconBroadcast,
  IconBulb,
  IconFileCheck,
  IconFileSearch,
  IconFileTime,
  IconFileUpload,
  IconGavel,
  IconHourglass,
  IconKey,
  IconPlugConnectedX,
  IconRulerMeasure,
  IconShieldBolt,
  IconShieldCheck,
  IconShieldExclamation,
  IconWorldExclamation,
  IconUserShield,
} from '@tabler/icons-react'
import type { StateColor } from '../ui/status.tsx'

type Look = { readonly icon: typeof IconBan; readonly color: StateColor }

const looks: Record<NotificationKind, Look> = {
  attack: { icon: IconShieldBolt, color: 'bad' },
  attack_ended: { icon: IconShieldCheck, color: 'idle' },
  check_failed: { icon: IconAlertTriangle, color: 'warn' },
  announcement_blocked: { icon: IconBan, color: 'warn' },
  announcement_error: { icon: IconBroadcast, color: 'bad' },
  unexpected_origin: { icon: IconWorldExclamation, color: 'bad' },
  not_visible: { icon: IconWorldExclamation, color: 'bad' },
  other_path: { icon: IconWorldExclamation, color: 'warn' },
  letter_decided: { icon: IconFileCheck, color: 'idle' },
  letter_expiring: { icon: IconFileTime, color: 'warn' },
  changes_paused: { icon: IconHourglass, color: 'warn' },
  port_down: { icon: IconPlugConnectedX, color: 'bad' },
  optic_warning: { icon: IconBulb, color: 'warn' },
  bgp_session_down: { icon: IconPlugConnectedX, color: 'bad' },
  shield_changed: { icon: IconShieldExclamation, color: 'warn' },
  letter_needed: { icon: IconFileUpload, color: 'warn' },
  alert: { icon: IconAlertCircle, color: 'warn' },
  staff_access: { icon: IconUserShield, color: 'info' },
  token_expiring: { icon: IconKey, color: 'warn' },
  approval_opened: { icon: IconGavel, color: 'warn' },
  letter_to_review: { icon: IconFileSearch, color: 'info' },
  sampling_implausible: { icon: IconRulerMeasure, color: 'warn' },
}

const colorOfAlert: Readonly<Record<string, StateColor>> = { info: 'info', warning: 'warn', critical: 'bad' }

/** What has ended is no longer red. */
export function lookOf({ kind, attrs }: Pick<Notification, 'kind' | 'attrs'>): Look {
  const look = looks[kind]
  if (kind === 'attack' && attrs['end']) return { ...look, color: 'idle' }
  if (kind !== 'alert' || attrs['change'] === 'unknown') return look
  return {
    ...look,
    color: attrs['change'] === 'cleared' ? 'idle' : (colorOfAlert[String(attrs['severity'])] ?? look.color),
  }
}

/** Returns the address of the page where the reader sees more, or acts. */
export function pageOf({ resource, attrs }: Pick<Notification, 'resource' | 'attrs'>): string {
  switch (resource?.type) {
    case 'event':
      return `/events/${resource.id}`
    case 'announcement':
      return `/announcements/${resource.id}`
    case 'port':
      return `/ports/${resource.id}`
    case 'shield_list':
      return `/shield/rules?prefix=${encodeURIComponent(String(attrs['prefix']))}`
    case 'cross_connect':
      return `/cross-connects/${resource.id}`
    case 'alert_rule':
      return String(attrs['path'])
    case 'approval':
      return `/staff/inbox?show=approval-${resource.id}`
    case 'letter':
      return '/staff/letters'
    default:
      return '/announcements'
  }
}
