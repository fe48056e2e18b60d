// Times as a person reads them: in the zone that they chose (that of the browser unless they did), or in UTC, one click
// away; the other is in the tooltip. The choice is this browser's: the API keeps no zone of a user.
import { Text } from '@mantine/core'
import { Hint } from './hint.tsx'
import { stored, useStored } from './stored.ts'
import { ago, isZone, shortName, splitAtTimes, timeIn } from './time-text.ts'

export { ago, daysUntil, formatDuration, isZone } from './time-text.ts'

/** Which of the two the pages show times in: one's own zone, or UTC. */
export type Zone = 'local' | 'utc'

const shownZone = stored<Zone>('pharos-zone', 'local')
const homeZone = stored('pharos-home-zone', '')

/** Its caller is shown anew when the switch is turned, and when another zone becomes one's own. */
export function useZone(): [Zone, (zone: Zone) => void] {
  useStored(homeZone)
  return [useStored(shownZone), shownZone.set]
}

/** The IANA name that was chosen as one's own; empty: the browser's, whatever that is today. */
export const useHomeZone = (): [string, (zone: string) => void] => [useStored(homeZone), homeZone.set]

let zoneOfBrowser: string | undefined
/** Asked once: to ask takes as long as to write some dozen times. */
export const browserZone = (): string => (zoneOfBrowser ??= Intl.DateTimeFormat().resolvedOptions().timeZone)

/** The IANA name of the zone that times are shown in. */
export function zoneName(zone: Zone): string {
  if (zone === 'utc') return 'UTC'
  const home = homeZone.get()
  return home !== '' && isZone(home) ? home : browserZone()
}

/** With its zone beside it wherever that is not the one of the clock on the wall. */
export function formatTime(time: string, zone: Zone): string {
  const name = zoneName(zone)
  const text = timeIn(time, name)
  return name === browserZone() && zone === 'local' ? text : `${text} ${shortName(name, time)}`
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

/** A sentence of the server: the times in it are shown as all others are. */
export function WithTimes({ text }: { text: string }) {
  return splitAtTimes(text).map((part, at) => (at % 2 === 1 ? <Time key={at} at={part} /> : part))
}
