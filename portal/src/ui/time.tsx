// Times as a person reads them: in the zone that they chose (that of the browser unless they did), or in UTC, one click
// away; the other is in the tooltip. The choice is this browser's: the API keeps no zone of a user.
import { Text } from '@mantine/core'
import { readLocalStorageValue, useLocalStorage } from '@mantine/hooks'
import { Hint } from './hint.tsx'

/** Which of the two the pages show times in: one's own zone, or UTC. */
export type Zone = 'local' | 'utc'

const homeKey = 'pharos-home-zone'
const homeOptions = { key: homeKey, defaultValue: '', getInitialValueInEffect: false } as const

/** Its caller is shown anew when the switch is turned, and when another zone becomes one's own. */
export function useZone(): [Zone, (zone: Zone) => void] {
  useHomeZone()
  const [zone, setZone] = useLocalStorage<Zone>({
    key: 'pharos-zone',
    defaultValue: 'local',
    getInitialValueInEffect: false,
  })
  return [zone, setZone]
}

/** The IANA name that was chosen as one's own; empty: the browser's, whatever that is today. */
export function useHomeZone(): [string, (zone: string) => void] {
  const [home, setHome] = useLocalStorage<string>(homeOptions)
  return [home, setHome]
}

let zoneOfBrowser: string | undefined
/** Asked once: to ask takes as long as to write some dozen times. */
export const browserZone = (): string => (zoneOfBrowser ??= Intl.DateTimeFormat().resolvedOptions().timeZone)

/** The IANA name of the zone that times are shown in. */
export function zoneName(zone: Zone): string {
  if (zone === 'utc') return 'UTC'
  const home = readLocalStorageValue<string>(homeOptions)
  return home !== '' && isZone(home) ? home : browserZone()
}

/** Whether this browser knows a zone of that name. */
export function isZone(name: string): boolean {
  try {
    formatIn(name)
    return true
  } catch {
    return false
  }
}

const formats = new Map<string, Intl.DateTimeFormat>()

function formatIn(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone })
    formats.set(timeZone, format)
  }
  return format
}

/** With its zone beside it wherever that is not the one of the clock on the wall. */
export function formatTime(time: string, zone: Zone): string {
  const name = zoneName(zone)
  const text = formatIn(name).format(new Date(time))
  return name === browserZone() && zone === 'local' ? text : `${text} ${shortName(name, time)}`
}

const nameFormats = new Map<string, Intl.DateTimeFormat>()

/** `UTC`, `CET`, `GMT+8`: as the zone is called at that time. */
function shortName(timeZone: string, time: string): string {
  let format = nameFormats.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'short' })
    nameFormats.set(timeZone, format)
  }
  const parts = format.formatToParts(new Date(time))
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone
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
    <Hint label={() => `${formatTime(at, zone === 'utc' ? 'local' : 'utc')} · ${ago(at)}`}>
      <time dateTime={at}>{formatTime(at, zone)}</time>
    </Hint>
  )
}

const moment = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/

/** A sentence of the server: the times in it are shown as all others are. */
export function WithTimes({ text }: { text: string }) {
  // What a pattern with a group splits by stands at every second place.
  return text.split(moment).map((part, at) => (at % 2 === 1 ? <Time key={at} at={part} /> : part))
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

const dayMs = 86_400_000

/** Days left until then, begun ones too: 0 once it is over. */
export function daysUntil(time: string, now = Date.now()): number {
  return Math.max(0, Math.ceil((new Date(time).getTime() - now) / dayMs))
}

/** `1 h 12 min`, `48 s`, `1.05 s`, `320 ms`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${Number((ms / 1000).toFixed(2))} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}
