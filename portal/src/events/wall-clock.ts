// A day and a time as a field takes them, and the moment that they mean in a time zone. Pure.

/** `2026-03-01T14:05`, what a clock in the zone shows at that moment. */
export function wallClock(time: string, timeZone: string): string {
  return new Date(wallMs(new Date(time).getTime(), timeZone)).toISOString().slice(0, 16)
}

/**
 * The moment at which a clock in the zone shows this, ISO 8601 UTC; undefined where it is no time. What the clock shows
 * twice is its first time, what it skips is moved on by as much as it skips.
 */
export function momentOf(wall: string, timeZone: string): string | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(wall)) return undefined
  const wanted = Date.parse(`${wall.slice(0, 16)}Z`)
  if (Number.isNaN(wanted)) return undefined
  const offsets = [wanted - dayMs, wanted + dayMs].map((near) => wallMs(near, timeZone) - near)
  const moments = offsets.map((offset) => wanted - offset)
  const exact = moments.filter((moment) => wallMs(moment, timeZone) === wanted)
  return new Date(exact.length > 0 ? Math.min(...exact) : moments[0]!).toISOString()
}

const dayMs = 86_400_000

/** What the clock shows, read as if it were UTC. */
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
