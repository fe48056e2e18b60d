// Times in the user's zone (by default the browser's) or in UTC; the tooltip has the other. The choice is kept in the
// browser: the API has no time zone of a user.
import { LazyTooltip } from './lazy-tooltip.tsx'
import { storedChoice, useStoredChoice } from './stored-choice.ts'
import classes from './list.module.css'
import { ago, isZone, shortName, splitAtTimes, timeIn } from './time-text.ts'

export { ago, daysUntil, formatDuration, isZone, since } from './time-text.ts'

/** The zone of all times on the page: the user's own, or UTC. */
export type Zone = 'local' | 'utc'

const shownZone = storedChoice<Zone>('pharos-zone', 'local')
const homeZone = storedChoice('pharos-home-zone', '')

/** The caller is rendered again when either choice changes. */
export function useZone(): [Zone, (zone: Zone) => void] {
  useStoredChoice(homeZone)
  return [useStoredChoice(shownZone), shownZone.set]
}

/** The IANA name of the user's own zone; empty for the browser's. */
export const useHomeZone = (): [string, (zone: string) => void] => [useStoredChoice(homeZone), homeZone.set]

let zoneOfBrowser: string | undefined
/** Computed once: it takes as long as formatting dozens of times. */
export const browserZone = (): string => (zoneOfBrowser ??= Intl.DateTimeFormat().resolvedOptions().timeZone)

/** Returns the IANA name of the zone for times. */
export function zoneName(zone: Zone): string {
  if (zone === 'utc') return 'UTC'
  const home = homeZone.get()
  return home !== '' && isZone(home) ? home : browserZone()
}

/** Returns the time as text, with its zone unless that is the browser's. */
export function formatTime(time: string, zone: Zone): string {
  const name = zoneName(zone)
  const text = timeIn(time, name)
  return hasZone(zone) ? `${text} ${shortName(name, time)}` : text
}

/** Whether times include their zone: if it differs from the browser's. */
const hasZone = (zone: Zone): boolean => zone === 'utc' || zoneName(zone) !== browserZone()

/** Returns the zone of a column of times, `UTC` or `Berlin`; undefined for that of the browser. An abbreviation would change in summer. */
export function useZoneOfColumn(): string | undefined {
  const [zone] = useZone()
  return hasZone(zone) ? zoneName(zone).split('/').at(-1)!.replaceAll('_', ' ') : undefined
}

export function Time({ at, none = '–' }: { at: string | null; none?: string }) {
  const [zone] = useZone()
  if (at === null) return <span className={classes['dimmed']}>{none}</span>
  const name = zoneName(zone)
  return (
    <LazyTooltip label={() => `${formatTime(at, zone === 'utc' ? 'local' : 'utc')} · ${ago(at)}`}>
      <time dateTime={at}>
        {timeIn(at, name)}
        {hasZone(zone) && <span className={classes['zone']}> {shortName(name, at)}</span>}
      </time>
    </LazyTooltip>
  )
}

/** A text of the server; the times in it are formatted like all others. */
export function WithTimes({ text }: { text: string }) {
  return splitAtTimes(text).map((part, at) => (at % 2 === 1 ? <Time key={at} at={part} /> : part))
}
