// The kinds of personal notifications: a closed list of codes, each with its attributes. Codes and attributes are stored; the texts
// are made here and nowhere else, for mails and for the portal.
import { counted } from '../counted.ts'
import { classificationLabel } from '../events/classification.ts'
import { networkText } from '../network-text.ts'
import { formatRate } from '../rate.ts'
import { alertReasonText, type AlertReason } from '../reason/alert-reason.ts'
import type { ApprovalAreaName } from '../reason/approval-reason.ts'

type Attrs = Readonly<Record<string, unknown>>
type Text = (attrs: Attrs) => string

const peakOf = ({ bps, pps }: Attrs): string =>
  `peak ${formatRate(Number(bps), 'bps')}, ${formatRate(Number(pps), 'pps')}`
const networkOf = ({ network }: Attrs): string =>
  network ? networkText(String(network)) : 'an unknown network'
const originOf = ({ cidr, asn }: Attrs): string => `${String(cidr)} (AS${String(asn)})`
const portOf = ({ name, device, circuit_id }: Attrs): string =>
  `${String(name)} of ${String(device)} (${String(circuit_id)})`
const checkLabels: Readonly<Record<string, string>> = {
  irr: 'routing registry',
  rpki: 'RPKI',
  loa: 'authorization',
  asn: 'ASN',
  size: 'size',
  overlap: 'overlap',
}

/** Value, threshold and unit come from the message; `change` is the part of its type after the dot. */
function alertText({ rule, object, change, value, threshold, unit, comparison, why }: Attrs): string {
  const subject = `${String(rule)}${object === '' ? '' : ` (${String(object)})`}`
  if (change === 'cleared') return `Alert "${subject}" has ended`
  if (change === 'unknown') return `Alert "${subject}" has no data: ${alertReasonText(why as AlertReason)}`
  const limit = `${comparison === 'above' ? 'above' : 'below'} ${quantity(threshold, unit)}`
  return `Alert "${subject}" fires: ${quantity(value, unit)}, ${limit}`
}

const quantity = (value: unknown, unit: unknown): string =>
  `${Number(Number(value).toFixed(1))} ${unit === 'percent' ? '%' : String(unit)}`

const teamTexts = {
  attack: (attrs) =>
    `Attack on ${networkOf(attrs)}: ${classificationLabel(String(attrs['class']))}, ${peakOf(attrs)}${attrs['end'] ? ', ended' : ''}`,
  attack_ended: (attrs) => `The attack on ${networkOf(attrs)} ended: ${peakOf(attrs)}`,
  check_failed: (attrs) =>
    `The ${checkLabels[String(attrs['check'])] ?? String(attrs['check'])} check of ${originOf(attrs)} fails: ${String(attrs['note'])}`,
  announcement_blocked: (attrs) =>
    attrs['status'] === 'suspended'
      ? `The announcement of ${originOf(attrs)} was suspended`
      : `The announcement of ${originOf(attrs)} is blocked: its checks fail`,
  announcement_error: (attrs) => `The announcement of ${originOf(attrs)} has an error on the routers`,
  unexpected_origin: (attrs) =>
    `Another network announces ${String(attrs['cidr'])}: ${(attrs['origins'] as readonly number[]).map((asn) => (asn === 0 ? 'an unknown ASN' : `AS${asn}`)).join(', ')}`,
  not_visible: (attrs) =>
    `Only ${String(attrs['seeing'])} of ${counted(attrs['total'], 'route collector')} see the announced prefix ${originOf(attrs)}`,
  other_path: (attrs) =>
    `No route collector sees the announced prefix ${originOf(attrs)} through the provider`,
  letter_decided: ({ filename, status, reason }) =>
    status === 'accepted'
      ? `The letter of authorization "${String(filename)}" was accepted`
      : `The letter of authorization "${String(filename)}" was rejected: ${String(reason)}`,
  letter_expiring: ({ filename, valid_until }) =>
    `The letter of authorization "${String(filename)}" expires on ${String(valid_until).slice(0, 10)}`,
  changes_paused: ({ region, withdrawals }) =>
    `Changes in region ${String(region)} are paused: ${counted(withdrawals, 'withdrawal', 'withdrawals')} of your team wait for approval by the provider`,
  port_down: (attrs) => `The port ${portOf(attrs)} is down`,
  optic_warning: (attrs) => `The module of port ${portOf(attrs)} has a warning: ${String(attrs['message'])}`,
  bgp_session_down: (attrs) =>
    `The BGP session with ${String(attrs['peer'])}${attrs['asn'] == null ? '' : ` (AS${String(attrs['asn'])})`} on port ${portOf(attrs)} is down: ${String(attrs['message'])}`,
  shield_changed: ({ prefix, change, detail }) =>
    change === 'reverted'
      ? `The shield rules of ${String(prefix)} were reverted to the last confirmed ones`
      : change === 'removed'
        ? `The shield rules of ${String(prefix)} were removed: the team no longer holds the prefix`
        : `The shield rules of ${String(prefix)} are not applied: ${String(detail)}`,
  letter_needed: ({ name, circuit_id }) =>
    `The cross connect ${String(name)} (${String(circuit_id)}) waits for a letter of authorization of your team`,
  token_expiring: ({ type, name, expires }) =>
    `The ${type === 'tsig_key' ? 'TSIG key' : 'API token'} "${String(name)}" expires on ${String(expires).slice(0, 10)}`,
  alert: alertText,
  staff_access: ({ reason, ticket, change }) =>
    `Staff of the provider entered your team ${change ? 'to change something' : 'for reading'}: ${String(reason)}${ticket == null ? '' : ` (${String(ticket)})`}`,
} satisfies Record<string, Text>

const changesOf: Readonly<Record<ApprovalAreaName, string>> = {
  routes: 'routes in',
  dns: 'DNS of',
  shield: 'shield rules of',
  platform: 'the inventory by',
}

/** A ratio with two digits, such as 0.0010 or 1024. */
export const ratioText = (ratio: number): string =>
  ratio >= 10 ? String(Math.round(ratio)) : ratio.toPrecision(2)

const staffTexts = {
  approval_opened: ({ area, subject, team, items }) =>
    `${counted(items, 'change', 'changes')} of ${changesOf[area as ApprovalAreaName]} ${String(subject)} ${Number(items) === 1 ? 'needs' : 'need'} approval${team === null ? '' : ` (team "${String(team)}")`}`,
  letter_to_review: ({ filename, team }) =>
    `The team "${String(team)}" uploaded the letter of authorization "${String(filename)}"`,
  sampling_implausible: ({ exporter, port, ratio }) =>
    `Flows of exporter ${String(exporter)} have ${ratioText(Number(ratio))} times the octets of the interface of port ${String(port)}`,
} satisfies Record<string, Text>

const texts: Readonly<Record<NotificationKind, Text>> = { ...teamTexts, ...staffTexts }

export type TeamNotificationKind = keyof typeof teamTexts
export type StaffNotificationKind = keyof typeof staffTexts
export type NotificationKind = TeamNotificationKind | StaffNotificationKind

export const teamNotificationKinds = Object.keys(teamTexts) as TeamNotificationKind[]
export const staffNotificationKinds = Object.keys(staffTexts) as StaffNotificationKind[]
export const notificationKinds: readonly NotificationKind[] = [
  ...teamNotificationKinds,
  ...staffNotificationKinds,
]

/** Returns the text of a notification for people: one line without a full stop. It may contain text of other users. */
export const notificationText = (kind: NotificationKind, attrs: Attrs): string => texts[kind](attrs)
