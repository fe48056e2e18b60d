// Converts between a moment and the local date and time of an input field, in a time zone. Pure.

const firstMs = Date.UTC(1970, 0, 1)
const lastMs = Date.UTC(9999, 0, 1) - 1

/** Returns the moment, ISO 8601 UTC; undefined outside of the years 1970 to 9998, which have four digits in every time zone. */
export const momentAt = (ms: number): string | undefined =>
  ms >= firstMs && ms <= lastMs ? new Date(ms).toISOString() : undefined

/** Returns the local date and time in the zone, `2026-03-01T14:05`, of a moment in the years of `momentAt`. */
export function wallClock(time: string, timeZone: string): string {
  return new Date(wallMs(new Date(time).getTime(), timeZone)).toISOString().slice(0, 16)
}

/**
 * Returns the moment of a local time in the zone, ISO 8601 UTC; undefined if it is not a time in the years of `momentAt`. A local
 * time that occurs twice means the first; a skipped time moves forward by the skipped amount.
 */
export function momentOf(wall: string, timeZone: string): string | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(wall)) return undefined
  const wanted = Date.parse(`${wall.slice(0, 16)}Z`)
  // The local time of the first and the last moment is less than a day away from it.
  if (!(wanted >= firstMs - dayMs && wanted <= lastMs + dayMs)) return undefined
  const offsets = [wanted - dayMs, wanted + dayMs].map((near) => wallMs(near, timeZone) - near)
  const moments = offsets.map((offset) => wanted - offset)
  const exact = moments.filter((moment) => wallMs(moment, timeZone) === wanted)
  return momentAt(exact.length > 0 ? Math.min(...exact) : moments[0]!)
}

const dayMs = 86_400_000

/** Returns the local time, read as if it were UTC. */
function wallMs(moment: number, timeZone: string): number {
  const parts = formatIn(timeZone).formatToParts(moment)
  const part = (type: string) => parts.find((one) => one.type === type)!.value
  const text = `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}Z`
  return Date.parse(text)
}

const formats = new Map<string, Intl.DateTimeFormat>()

function formatIn(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known) return known
  const two = '2-digit'
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
    hourCycle: 'h23',
  })
  formats.set(timeZone, made)
  return made
}
