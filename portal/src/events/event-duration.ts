// How long an event lasted, or has lasted by now.
import type { RelatedEvent } from '@pharos/contract/events/event'
import { formatDuration } from '../ui/time.tsx'

export function durationOf({ start, end }: Pick<RelatedEvent, 'start' | 'end'>, now = Date.now()): string {
  const until = end === null ? now : new Date(end).getTime()
  const ms = Math.max(0, until - new Date(start).getTime())
  // While it is running, fractions of a second would only flicker.
  return formatDuration(end === null ? Math.floor(ms / 1000) * 1000 : ms)
}
