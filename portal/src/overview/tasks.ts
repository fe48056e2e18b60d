// The tasks that follow from what the API answered, each with a link to the page for it. Pure.
import type { Announcement } from '@pharos/contract/byoip'
import type { SecondFactor } from '@pharos/contract/second-factor'
import type { Token } from '@pharos/contract/token'
import type { Webhook } from '@pharos/contract/webhook'
import { linkOptions, type LinkOptions } from '@tanstack/react-router'

/** The answers so far; undefined: not requested, or not answered yet. */
export type Known = {
  readonly secondFactor?: SecondFactor | undefined
  /** Announcements with one of `failedStatuses`. */
  readonly failed?: Counted<Announcement> | undefined
  readonly invited?: Counted<unknown> | undefined
  readonly unverified?: Counted<{ readonly domain: string }> | undefined
  readonly webhooks?: Counted<Webhook> | undefined
  /** Ordered by expiry, the first to expire first. */
  readonly tokens?: Counted<Token> | undefined
  readonly holds?: Counted<unknown> | undefined
  readonly letters?: Counted<unknown> | undefined
}

type Counted<T> = { readonly results: readonly T[]; readonly count: number }

export type Task = { readonly text: string; readonly detail?: string; readonly to: LinkOptions }

export const failedStatuses = ['validation_failed', 'suspended', 'error'] as const

const dayMs = 86_400_000
const soonDays = 14
const fewCodes = 3

export function tasksOf(known: Known, now = Date.now()): readonly Task[] {
  return [
    ...staffTasks(known),
    ...announcementTasks(known),
    ...accountTasks(known),
    ...webhookTasks(known),
    ...tokenTasks(known, now),
    ...teamTasks(known),
  ]
}

function staffTasks({ holds, letters }: Known): readonly Task[] {
  return [
    ...(holds?.count
      ? [
          {
            text: `Changes in ${countOf(holds.count, 'region need', 'regions need')} approval`,
            detail: 'Stopped by the safety limit',
            to: linkOptions({ to: '/staff/holds' }),
          },
        ]
      : []),
    ...(letters?.count
      ? [
          {
            text: `${countOf(letters.count, 'letter', 'letters')} to review`,
            to: linkOptions({ to: '/staff/letters' }),
          },
        ]
      : []),
  ]
}

function announcementTasks({ failed }: Known): readonly Task[] {
  if (!failed) return []
  const each = failed.results.map(({ id, cidr, state_messages: messages = [] }) => ({
    text: cidr,
    detail:
      messages.find(({ severity }) => severity !== 'info')?.message ??
      messages[0]?.message ??
      'Checks failed',
    to: linkOptions({ to: '/announcements/$id', params: { id: String(id) } }),
  }))
  const more = failed.count - each.length
  if (more <= 0) return each
  return [
    ...each,
    {
      text: `${more} more`,
      detail: 'Cannot be announced',
      to: linkOptions({ to: '/announcements', search: { status: [...failedStatuses] } }),
    },
  ]
}

function accountTasks({ secondFactor }: Known): readonly Task[] {
  if (!secondFactor) return []
  const { enabled, recovery_codes_left: left } = secondFactor
  const to = linkOptions({ to: '/profile' })
  if (enabled === null)
    return [
      {
        text: 'Set up two-factor authentication',
        detail: 'Your account is protected by a password only',
        to,
      },
    ]
  if (left > fewCodes) return []
  return [{ text: 'Generate new recovery codes', detail: `${countOf(left, 'code', 'codes')} left`, to }]
}

function webhookTasks({ webhooks }: Known): readonly Task[] {
  return (webhooks?.results ?? [])
    .filter(({ enabled, failing_since, disabled_reason }) =>
      enabled ? failing_since !== null : disabled_reason !== 'user',
    )
    .map(({ id, url, enabled }) => ({
      text: new URL(url).host,
      detail: enabled ? 'Webhook deliveries are failing' : 'Webhook disabled after repeated failures',
      to: linkOptions({ to: '/team/webhooks/$id', params: { id: String(id) } }),
    }))
}

function tokenTasks({ tokens }: Known, now: number): readonly Task[] {
  return (tokens?.results ?? []).flatMap(({ name, expires }) => {
    const days = expires === null ? Infinity : Math.ceil((new Date(expires).getTime() - now) / dayMs)
    if (days > soonDays || days < 0) return []
    return [
      {
        text: name,
        detail: `API token expires ${days === 0 ? 'today' : `in ${countOf(days, 'day', 'days')}`}`,
        to: linkOptions({ to: '/team/tokens' }),
      },
    ]
  })
}

function teamTasks({ invited, unverified }: Known): readonly Task[] {
  return [
    ...(unverified?.results ?? []).map(({ domain }) => ({
      text: domain,
      detail: 'Domain not verified: TXT record not found',
      to: linkOptions({ to: '/team/domains' }),
    })),
    ...(invited?.count
      ? [
          {
            text: countOf(invited.count, 'pending invitation', 'pending invitations'),
            to: linkOptions({ to: '/team/members', search: { status: 'invited' } }),
          },
        ]
      : []),
  ]
}

const countOf = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`
