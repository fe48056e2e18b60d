// Composes the content of a mail from the notifications that wait. Pure.
import { counted } from '@pharos/contract/counted'
import { notificationText, type NotificationKind } from '@pharos/contract/messages/notification-text'
import type { MailContents } from '../mail/mail.ts'
import { defangLine } from '../mail/defang.ts'
import { resourceOf } from './resource.ts'

export type DigestNotifications = {
  readonly kind: NotificationKind
  readonly at: Date
  readonly attrs: Readonly<Record<string, unknown>>
}

export type DigestInput = {
  readonly team: string | null
  /** The newest, oldest first; at least one. */
  readonly shown: readonly DigestNotifications[]
  /** Number of each kind, of all that wait. */
  readonly counts: readonly { readonly kind: NotificationKind; readonly count: number }[]
  /** When the first of them happened. */
  readonly since: Date
  readonly publicUrl: string
  readonly unsubscribe: string
}

/** Limit of the lines of a mail. */
export const digestLinesMax = 50

export function composeDigest(input: DigestInput): MailContents['notifications'] {
  const { team, shown, counts, publicUrl, unsubscribe } = input
  const count = counts.reduce((sum, one) => sum + one.count, 0)
  return {
    team,
    subject: count === 1 && !hasText(shown[0]!) ? lineOf(shown[0]!) : subjectOf(input, count),
    lines: shown.map((one) => `${timeOf(one.at)}  ${lineOf(one)}`),
    count,
    link: `${publicUrl}${pathOf(shown, count)}`,
    settings: `${publicUrl}/profile/notifications`,
    unsubscribe,
  }
}

/** The singular and the plural of each kind. */
const phrases: Readonly<Record<NotificationKind, readonly [string, string]>> = {
  attack: ['attack', 'attacks'],
  attack_ended: ['attack ended', 'attacks ended'],
  check_failed: ['check fails', 'checks fail'],
  announcement_blocked: ['announcement blocked', 'announcements blocked'],
  announcement_error: ['announcement with an error', 'announcements with errors'],
  unexpected_origin: ['prefix announced by another network', 'prefixes announced by other networks'],
  not_visible: ['prefix hardly visible', 'prefixes hardly visible'],
  other_path: ['prefix on another path', 'prefixes on other paths'],
  letter_decided: ['letter decided', 'letters decided'],
  letter_expiring: ['letter expires soon', 'letters expire soon'],
  changes_paused: ['paused change', 'paused changes'],
  port_down: ['port down', 'ports down'],
  optic_warning: ['warning of a module', 'warnings of modules'],
  bgp_session_down: ['BGP session down', 'BGP sessions down'],
  shield_changed: ['change of shield rules', 'changes of shield rules'],
  letter_needed: ['letter needed', 'letters needed'],
  token_expiring: ['credential expires soon', 'credentials expire soon'],
  alert: ['alert', 'alerts'],
  staff_access: ['visit of the provider', 'visits of the provider'],
  approval_opened: ['change needs approval', 'changes need approval'],
  letter_to_review: ['letter to review', 'letters to review'],
  sampling_implausible: ['implausible sampling rate', 'implausible sampling rates'],
}

/** Such as `7 attacks since 10:32 UTC`, or with several kinds `7 attacks and 2 others since 10:32 UTC`. */
function subjectOf({ counts, since }: DigestInput, count: number): string {
  const first = counts.toSorted((a, b) => b.count - a.count)[0]!
  const rest = count - first.count
  const subject = counted(first.count, phrases[first.kind][0], phrases[first.kind][1])
  const others = rest === 0 ? '' : ` and ${counted(rest, 'other')}`
  return count === 1 ? subject : `${subject}${others} since ${timeOf(since).slice(-9)}`
}

const timeOf = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Prefixes come from the database and are not defanged; text of other users is. */
function lineOf({ kind, attrs }: DigestNotifications): string {
  return notificationText(kind, Object.fromEntries(Object.entries(attrs).map(defanged)))
}

const texts: ReadonlySet<string> = new Set([
  'filename',
  'reason',
  'team',
  'note',
  'subject',
  'ticket',
  'rule',
])
/** A subject contains no text of other users. */
const hasText = ({ attrs }: DigestNotifications): boolean =>
  Object.keys(attrs).some((name) => texts.has(name))

const defanged = ([name, value]: readonly [string, unknown]): [string, unknown] => [
  name,
  texts.has(name) && typeof value === 'string' ? defangLine(value) : value,
]

function pathOf(shown: readonly DigestNotifications[], count: number): string {
  const resources = shown.map(({ kind, attrs }) => resourceOf(kind, attrs))
  const [first] = resources
  const all = (type: string) => resources.every((resource) => resource?.type === type)
  if (all('event')) return count === 1 ? `/events/${first!.id}` : '/events'
  if (all('announcement')) return count === 1 ? `/announcements/${first!.id}` : '/announcements'
  if (all('port')) return count === 1 ? `/ports/${first!.id}` : '/ports'
  if (all('cross_connect')) return count === 1 ? `/cross-connects/${first!.id}` : '/cross-connects'
  if (all('alert_rule')) return count === 1 ? String(shown[0]!.attrs['path']) : '/alerts'
  if (all('letter')) return '/staff/letters'
  if (all('approval')) return '/staff/inbox'
  return '/'
}
