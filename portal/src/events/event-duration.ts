// How long an event lasted, or has lasted by now.
import type { RelatedEvent } from '@pharos/contract/analysis'
import { formatDuration } from '../ui/time.tsx'

export function durationOf({ start, end }: Pick<RelatedEvent, 'start' | 'end'>, now = Date.now()): string {
  const until = end === null ? now : new Date(end).getTime()
  return formatDuration(Math.max(0, until - new Date(start).getTime()))
}
