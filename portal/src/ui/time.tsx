// Times as a person reads them: in the zone of the browser, or in UTC, one click away; the other is in the tooltip.
import { Text, Tooltip } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'

export type Zone = 'local' | 'utc'

export const useZone = () =>
  useLocalStorage<Zone>({ key: 'pharos-zone', defaultValue: 'local', getInitialValueInEffect: false })

const style: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeStyle: 'medium' }
const formats: Record<Zone, Intl.DateTimeFormat> = {
  local: new Intl.DateTimeFormat('en-GB', style),
  utc: new Intl.DateTimeFormat('en-GB', { ...style, timeZone: 'UTC' }),
}

export function formatTime(time: string, zone: Zone): string {
  const text = formats[zone].format(new Date(time))
  return zone === 'utc' ? `${text} UTC` : text
}

export function Time({ at, none = '–' }: { at: string | null; none?: string }) {
  const [zone] = useZone()
  if (at === null)
    return (
      <Text span c="dimmed">
        {none}
      </Text>
    )
  return (
    <Tooltip label={`${formatTime(at, zone === 'utc' ? 'local' : 'utc')} · ${ago(at)}`}>
      <time dateTime={at}>{formatTime(at, zone)}</time>
    </Tooltip>
  )
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const steps: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

/** `3 minutes ago`. */
export function ago(time: string, now = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1000
  const [unit, size] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return relative.format(Math.trunc(seconds / size), unit)
}

/** `1 h 12 min`, `48 s`, `320 ms`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}
