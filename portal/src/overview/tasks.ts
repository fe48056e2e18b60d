// What waits for a person, out of what the API answered: each with the place where it is done. Pure.
import type { Announcement } from '@pharos/contract/byoip'
import type { SecondFactor } from '@pharos/contract/second-factor'
import type { Token } from '@pharos/contract/token'
import type { Webhook } from '@pharos/contract/webhook'

/** What is known by now; what is undefined was not asked, or has not answered. */
export type Known = {
  readonly secondFactor?: SecondFactor | undefined
  /** Checks that failed, announcements that were stopped. */
  readonly stuck?: Counted<Announcement> | undefined
  readonly invited?: Counted<unknown> | undefined
  readonly unproved?: Counted<{ readonly domain: string }> | undefined
  readonly webhooks?: Counted<Webhook> | undefined
  /** Those that end first come first. */
  readonly tokens?: Counted<Token> | undefined
  readonly holds?: Counted<unknown> | undefined
  readonly letters?: Counted<unknown> | undefined
}

type Counted<T> = { readonly results: readonly T[]; readonly count: number }

export type Task = {
  readonly text: string
  readonly detail?: string
  readonly to: string
  readonly search?: Readonly<Record<string, unknown>>
}

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
            detail: 'paused by the guard',
            to: '/staff/holds',
          },
        ]
      : []),
    ...(letters?.count
      ? [
          {
            text: countOf(letters.count, 'letter waits', 'letters wait'),
            detail: 'to be read and accepted or refused',
            to: '/staff/letters',
          },
        ]
      : []),
  ]
}

function announcementTasks({ stuck }: Known): readonly Task[] {
  if (!stuck) return []
  const each = stuck.results.map(({ id, cidr, state_messages: messages = [] }) => ({
    text: cidr,
    detail:
      messages.find(({ severity }) => severity !== 'info')?.message ??
      messages[0]?.message ??
      'checks failed',
    to: `/announcements/${id}`,
  }))
  const more = stuck.count - each.length
  if (more <= 0) return each
  return [
    ...each,
    {
      text: `${more} more`,
      detail: 'that cannot be announced',
      to: '/announcements',
      search: { status: ['validation_failed', 'suspended', 'error'] },
    },
  ]
}

function accountTasks({ secondFactor }: Known): readonly Task[] {
  if (!secondFactor) return []
  const { enabled, recovery_codes_left: left } = secondFactor
  if (enabled === null)
    return [{ text: 'Set up a second factor', detail: 'a password alone opens your account', to: '/profile' }]
  if (left > fewCodes) return []
  return [
    {
      text: 'Make new recovery codes',
      detail: countOf(left, 'code is left', 'codes are left'),
      to: '/profile',
    },
  ]
}

function webhookTasks({ webhooks }: Known): readonly Task[] {
  return (webhooks?.results ?? [])
    .filter(({ enabled, failing_since, disabled_reason }) =>
      enabled ? failing_since !== null : disabled_reason !== 'user',
    )
    .map(({ url, enabled }) => ({
      text: new URL(url).host,
      detail: enabled ? 'takes no webhooks' : 'is told nothing any more: it took nothing',
      to: '/team/webhooks',
    }))
}

function tokenTasks({ tokens }: Known, now: number): readonly Task[] {
  return (tokens?.results ?? []).flatMap(({ name, expires }) => {
    const days = expires === null ? Infinity : Math.ceil((new Date(expires).getTime() - now) / dayMs)
    if (days > soonDays || days < 0) return []
    return [
      {
        text: name,
        detail:
          days === 0 ? 'this API token ends today' : `this API token ends in ${countOf(days, 'day', 'days')}`,
        to: '/team/tokens',
      },
    ]
  })
}

function teamTasks({ invited, unproved }: Known): readonly Task[] {
  return [
    ...(unproved?.results ?? []).map(({ domain }) => ({
      text: domain,
      detail: 'is not proved: its record is not there',
      to: '/team/domains',
    })),
    ...(invited?.count
      ? [
          {
            text: countOf(invited.count, 'invitation', 'invitations'),
            detail: 'not accepted yet',
            to: '/team/members',
            search: { status: 'invited' },
          },
        ]
      : []),
  ]
}

const countOf = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`
