// Derives tasks from answers of the API: description, who has to act, and the page. Pure.
import type { Announcement } from '@pharos/contract/byoip/announcement'
import type { Zone } from '@pharos/contract/dns/zone'
import type { CrossConnect } from '@pharos/contract/inventory/cross-connect'
import type { Port } from '@pharos/contract/inventory/port'
import type { SecondFactor } from '@pharos/contract/session/second-factor'
import type { Token } from '@pharos/contract/team/token'
import type { OpticWarning } from '@pharos/contract/inventory/transceiver'
import type { Webhook } from '@pharos/contract/messages/webhook'
import { linkOptions, type LinkOptions } from '@tanstack/react-router'
import { blockedStatuses } from '../announcements/blocked-statuses.ts'
import { namesOf, openChecks } from '../announcements/check-view.ts'
import type { StateColor } from '../ui/status.tsx'
import { ago } from '../ui/time-text.ts'
import { words } from './words.ts'

const { toDo: texts } = words

/** The answers so far; undefined: not requested, or not answered yet. */
export type Known = {
  readonly secondFactor?: SecondFactor | undefined
  /** Announcements with any of `blockedStatuses`, with their checks. */
  readonly failed?: Counted<Announcement> | undefined
  /** Zones with an error, and zones whose name is not cleared. */
  readonly troubledZones?: Counted<Zone> | undefined
  /** Zones whose DS record is missing at the parent, or whose DNSSEC has failed. */
  readonly dnssecZones?: Counted<Zone> | undefined
  readonly invited?: Counted<unknown> | undefined
  readonly unverified?: Counted<{ readonly domain: string }> | undefined
  readonly webhooks?: Counted<Webhook> | undefined
  /** Ordered by expiry, the first to expire first. */
  readonly tokens?: Counted<Token> | undefined
  /** Cross connects for which the team has to act. */
  readonly crossConnects?: Counted<CrossConnect> | undefined
  /** Ports with early warnings of their modules. */
  readonly opticPorts?: Counted<Port> | undefined
}

type Counted<T> = { readonly results: readonly T[]; readonly count: number }

export type Task = {
  readonly text: string
  /** The text is a prefix, a host or a name of a machine. */
  readonly isMono?: boolean
  readonly detail?: string
  readonly color: StateColor
  readonly who: 'you' | 'provider'
  readonly verb: string
  readonly to: LinkOptions
}

const dayMs = 86_400_000
const soonDays = 14
const fewCodes = 3

const urgency: readonly StateColor[] = ['bad', 'warn', 'info', 'idle', 'ok']

/** Returns the user's tasks, the most urgent first, then tasks of others. */
export function tasksOf(known: Known, now = Date.now()): readonly Task[] {
  const tasks = [
    ...announcementTasks(known),
    ...zoneTasks(known),
    ...crossConnectTasks(known),
    ...portTasks(known),
    ...accountTasks(known),
    ...webhookTasks(known),
    ...tokenTasks(known, now),
    ...teamTasks(known),
  ]
  return tasks.toSorted(
    (a, b) =>
      Number(a.who !== 'you') - Number(b.who !== 'you') ||
      urgency.indexOf(a.color) - urgency.indexOf(b.color),
  )
}

function announcementTasks({ failed }: Known): readonly Task[] {
  if (!failed) return []
  const each = failed.results.map(announcementTask)
  const more = failed.count - each.length
  if (more <= 0) return each
  return [
    ...each,
    {
      text: texts.moreBlocked(more),
      detail: texts.moreBlockedDetail,
      color: 'warn',
      who: 'you',
      verb: texts.view,
      to: linkOptions({ to: '/announcements', search: { status: [...blockedStatuses] } }),
    },
  ]
}

function announcementTask(announcement: Announcement): Task {
  const { id, cidr, status, details, validations = [], state_messages: messages = [] } = announcement
  const common = {
    text: cidr,
    isMono: true,
    to: linkOptions({ to: '/announcements/$id', params: { id: String(id) } }),
  }
  const { you, provider } = openChecks(validations)
  if (status === 'suspended') {
    const isByChecks = details?.suspended_by === 'validation'
    return {
      ...common,
      detail: isByChecks ? texts.suspendedByChecks : texts.suspended(details?.suspended_reason ?? undefined),
      color: 'bad',
      who: isByChecks && you.length > 0 ? 'you' : 'provider',
      verb: isByChecks && you.length > 0 ? texts.fix : texts.view,
    }
  }
  if (you.length > 0)
    return { ...common, detail: texts.failing(namesOf(you)), color: 'warn', who: 'you', verb: texts.fix }
  if (provider.length > 0)
    return {
      ...common,
      detail: texts.waits(namesOf(provider)),
      color: 'info',
      who: 'provider',
      verb: texts.view,
    }
  const message = messages.find(({ severity }) => severity !== 'info') ?? messages[0]
  const detail = message?.message ?? texts.checksFailed
  // The provider has to repair an error on a router.
  return status === 'error'
    ? { ...common, detail, color: 'bad', who: 'provider', verb: texts.view }
    : { ...common, detail, color: 'warn', who: 'you', verb: texts.fix }
}

/** The primary servers of a secondary zone and the registrar are the customer's own. */
const ownProblems = new Set([
  'zone_not_transferred',
  'zone_expired',
  'zone_dnssec_error',
  'zone_delegation_lost',
  'zone_aliases_unserved',
])
const tabs: Readonly<Record<string, 'servers' | 'dnssec'>> = {
  zone_servers_behind: 'servers',
  zone_refused: 'servers',
  zone_absent: 'servers',
  zone_delegation_lost: 'servers',
  zone_dnssec_error: 'dnssec',
}

function zoneTasks({ troubledZones, dnssecZones }: Known): readonly Task[] {
  const troubled = (troubledZones?.results ?? []).map(
    ({ id, name, status, state_messages: messages }): Task => {
      const color = status === 'error' ? 'bad' : 'warn'
      const tag = messages?.[0]?.tag ?? ''
      const isYours = ownProblems.has(tag)
      return {
        text: name,
        isMono: true,
        detail:
          texts.zoneProblems[tag] ??
          (status === 'error' ? texts.zoneError : texts.zoneProblems['zone_claimed']!),
        color,
        who: isYours ? 'you' : 'provider',
        verb: isYours ? texts.fix : texts.view,
        to: linkOptions({
          to: '/zones/$id',
          params: { id: String(id) },
          search: tabs[tag] === undefined ? {} : { tab: tabs[tag] },
        }),
      }
    },
  )
  const unsigned = (dnssecZones?.results ?? []).map(({ id, name }): Task => ({
    text: name,
    isMono: true,
    who: 'you',
    detail: texts.dsMissing,
    color: 'warn',
    verb: texts.enterDs,
    to: linkOptions({ to: '/zones/$id', params: { id: String(id) }, search: { tab: 'dnssec' } }),
  }))
  return [
    ...troubled,
    ...moreZones(
      troubledZones,
      linkOptions({ to: '/zones', search: { status: ['error', 'pending_verification'] } }),
    ),
    ...unsigned,
    ...moreZones(dnssecZones, linkOptions({ to: '/zones', search: { dnssec: ['pending_ds'] } })),
  ]
}

function moreZones(zones: Counted<Zone> | undefined, to: LinkOptions): readonly Task[] {
  const more = zones === undefined ? 0 : zones.count - zones.results.length
  return more > 0 ? [{ text: texts.moreZones(more), color: 'warn', who: 'you', verb: texts.view, to }] : []
}

function crossConnectTasks({ crossConnects }: Known): readonly Task[] {
  return (crossConnects?.results ?? []).map(({ id, name }) => ({
    text: name,
    detail: texts.letterMissing,
    color: 'warn',
    who: 'you',
    verb: texts.fix,
    to: linkOptions({ to: '/cross-connects/$id', params: { id: String(id) } }),
  }))
}

/** `Rx power falling 0.05 dB a day, alarm about 15 Jan 2027`. */
function opticsText({
  code,
  metric,
  margin_db,
  step_db,
  per_day,
  limit_reached: until,
}: OpticWarning): string {
  const { levels, ...of } = texts.optics
  const level = levels[metric]
  if (code === 'low_margin' && margin_db !== null) return of.low_margin(level, rounded(margin_db))
  if (code === 'step' && step_db !== null) return of.step(level, rounded(Math.abs(step_db)))
  if (code === 'trend' && per_day !== null) {
    const unit = metric === 'bias' ? 'mA' : 'dB'
    return of.trend(
      level,
      `${rounded(Math.abs(per_day))} ${unit}`,
      until === null ? undefined : dayText(until),
    )
  }
  return texts.light
}

const rounded = (value: number): string => value.toLocaleString('en', { maximumSignificantDigits: 2 })

const dayText = (day: string): string =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day))

function portTasks({ opticPorts }: Known): readonly Task[] {
  const each = (opticPorts?.results ?? []).map(({ id, name, device_name: device, optics }): Task => {
    const warning = optics?.warnings[0]
    const isHere = warning?.cause === 'module'
    return {
      text: `${device} ${name}`,
      isMono: true,
      detail: warning ? opticsText(warning) : texts.light,
      color: 'warn',
      // The provider owns the module in its port.
      who: isHere ? 'provider' : 'you',
      verb: texts.view,
      to: linkOptions({ to: '/ports/$id', params: { id: String(id) } }),
    }
  })
  const more = (opticPorts?.count ?? 0) - each.length
  if (more <= 0) return each
  const rest = { text: texts.morePorts(more), color: 'warn', who: 'you', verb: texts.view } as const
  return [...each, { ...rest, to: linkOptions({ to: '/ports' }) }]
}

function accountTasks({ secondFactor }: Known): readonly Task[] {
  if (!secondFactor) return []
  const { enabled, recovery_codes_left: left } = secondFactor
  const to = linkOptions({ to: '/profile' })
  if (enabled === null)
    return [
      {
        text: texts.secondFactor,
        detail: texts.passwordOnly,
        color: 'info',
        who: 'you',
        verb: texts.setUp,
        to,
      },
    ]
  if (left > fewCodes) return []
  return [
    {
      text: texts.newCodes,
      detail: texts.codesLeft(left),
      color: 'warn',
      who: 'you',
      verb: texts.generate,
      to,
    },
  ]
}

function webhookTasks({ webhooks }: Known): readonly Task[] {
  return (webhooks?.results ?? [])
    .filter(({ enabled, failing_since, disabled_reason }) =>
      enabled ? failing_since !== null : disabled_reason !== 'user',
    )
    .map(({ id, url, enabled }) => ({
      text: new URL(url).host,
      isMono: true,
      detail: enabled ? texts.deliveriesFail : texts.webhookOff,
      color: 'bad',
      who: 'you',
      verb: texts.fix,
      to: linkOptions({ to: '/team/webhooks/$id', params: { id: String(id) } }),
    }))
}

function tokenTasks({ tokens }: Known, now: number): readonly Task[] {
  return (tokens?.results ?? []).flatMap(({ name, expires }): Task[] => {
    if (expires === null) return []
    const left = Date.parse(expires) - now
    if (left <= 0 || left > soonDays * dayMs) return []
    return [
      {
        text: name,
        detail: texts.tokenExpires(ago(expires, now)),
        color: left <= 2 * dayMs ? 'bad' : 'warn',
        who: 'you',
        verb: texts.renew,
        to: linkOptions({ to: '/team/tokens' }),
      },
    ]
  })
}

function teamTasks({ invited, unverified }: Known): readonly Task[] {
  return [
    ...(unverified?.results ?? []).map(({ domain }): Task => ({
      text: domain,
      isMono: true,
      detail: texts.domain,
      color: 'warn',
      who: 'you',
      verb: texts.verify,
      to: linkOptions({ to: '/team/domains' }),
    })),
    ...(invited?.count
      ? [
          {
            text: texts.invitations(invited.count),
            detail: texts.invitationsDetail,
            color: 'idle' as const,
            who: 'you' as const,
            verb: texts.view,
            to: linkOptions({ to: '/team/members', search: { status: 'invited' } }),
          },
        ]
      : []),
  ]
}
