// The figures of the first page, each with a comparison and a link to exactly the rows that it counts.
import { Anchor } from '@mantine/core'
import type { AnnouncementCounts } from '@pharos/contract/byoip/announcement'
import { Link, type LinkOptions } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useGrant } from '../api/use-grant.ts'
import { changeText } from '../events/by-day.ts'
import { Figure } from '../ui/figure.tsx'
import { formatRate } from '../ui/rate.ts'
import { formatTime, since, useZone, zoneName } from '../ui/time.tsx'
import { useNow } from '../ui/use-now.ts'
import classes from './overview.module.css'
import type { Attacks } from './use-attacks.ts'
import { words } from './words.ts'

const { figures: texts } = words

/** Data, or the error of the request. */
export type Answer<T> = {
  readonly data: T | undefined
  readonly error: unknown
  readonly refetch: () => Promise<unknown>
}

export const Value = ({ to, children }: { to: LinkOptions; children: ReactNode }) => (
  <Link {...to} className={classes['figureLink']!}>
    {children}
  </Link>
)

export const NoteLink = ({ to, children }: { to: LinkOptions; children: ReactNode }) => (
  <Link {...to} className={classes['noteLink']!}>
    {children}
  </Link>
)

/** While loading a dash; after a failure "Unknown", with Retry. */
export function Pending({ label, answer }: { label: string; answer: Answer<unknown> }) {
  if (!answer.error) return <Figure label={label} value={<span aria-busy>–</span>} />
  return (
    <Figure
      label={label}
      value={undefined}
      note={
        <span className={classes['failed']}>
          {texts.failed}{' '}
          <Anchor
            component="button"
            type="button"
            inherit
            aria-label={`${words.retry}: ${label}`}
            onClick={() => void answer.refetch()}
          >
            {words.retry}
          </Anchor>
        </span>
      }
    />
  )
}

const inCondition = (condition: 'in_sync' | 'out_of_sync' | 'off' | 'blocked'): LinkOptions => ({
  to: '/announcements',
  search: { condition: [condition] },
})

export function Announced({ answer }: { answer: Answer<AnnouncementCounts> }) {
  const canAdd = useGrant('ipam.manage')
  if (!answer.data) return <Pending label={texts.announced} answer={answer} />
  const { total, in_sync, out_of_sync, off, blocked } = answer.data
  const parts = [
    ...(out_of_sync > 0 ? [[texts.outOfSync(out_of_sync), 'out_of_sync'] as const] : []),
    ...(blocked > 0 ? [[texts.blocked(blocked), 'blocked'] as const] : []),
    ...(off > 0 ? [[texts.off(off), 'off'] as const] : []),
  ]
  return (
    <Figure
      label={texts.announced}
      value={<Value to={inCondition('in_sync')}>{in_sync.toLocaleString('en')}</Value>}
      unit={texts.of(total)}
      note={
        total === 0
          ? canAdd && <NoteLink to={{ to: '/announcements/new' }}>{texts.noPrefix}</NoteLink>
          : parts.length === 0
            ? texts.inSync
            : parts.map(([text, condition], at) => (
                <span key={condition}>
                  {at > 0 && ' · '}
                  <NoteLink to={inCondition(condition)}>{text}</NoteLink>
                </span>
              ))
      }
    />
  )
}

export function RecentAttacks({ attacks: { recent, earlier } }: { attacks: Attacks }) {
  const [zone] = useZone()
  if (!recent.data) return <Pending label={texts.attacks} answer={recent} />
  const { count, results } = recent.data
  const [largest] = results
  const change = earlier.data && changeText(earlier.data.count, count)
  return (
    <Figure
      label={texts.attacks}
      value={
        <Value to={{ to: '/events', search: { range: '30d', false_positive: false } }}>
          {count.toLocaleString('en')}
        </Value>
      }
      note={
        <>
          {largest && largest.affected_bps > 0 && (
            <>
              {texts.largest}{' '}
              <NoteLink to={{ to: '/events/$id', params: { id: largest.id } }}>
                {formatRate(largest.affected_bps, 'bps')}
              </NoteLink>{' '}
              <span title={formatTime(largest.start, zone)}>{dayText(largest.start, zoneName(zone))}</span>
            </>
          )}
          {change !== undefined && <div>{change}</div>}
        </>
      }
    />
  )
}

const dayText = (time: string, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone }).format(new Date(time))

export function OngoingAttacks({ attacks: { ongoing, last } }: { attacks: Attacks }) {
  const now = useNow()
  if (!ongoing.data) return <Pending label={texts.ongoing} answer={ongoing} />
  const { count, results } = ongoing.data
  const bps = results[0]?.affected_bps ?? 0
  const ended = last.data?.results[0]?.end
  return (
    <Figure
      label={texts.ongoing}
      value={<Value to={{ to: '/events', search: { ongoing: true } }}>{count.toLocaleString('en')}</Value>}
      {...(count > 0 ? { color: 'bad' as const } : {})}
      note={
        count > 0
          ? bps > 0 && texts.ongoingLargest(formatRate(bps, 'bps'))
          : last.data && (ended ? texts.lastEnded(since(ended, now)) : texts.neverAttacked)
      }
    />
  )
}
