// Date-times and time zones as people write them. ISO 8601 only: `Date.parse` alone would take "1" and "May".

/** The first and last times that can be written: years have four digits in RFC 3339, and PostgreSQL has no year 0. */
export const firstTime = new Date('0001-01-01T00:00:00Z')
export const lastTime = new Date('9999-12-31T23:59:59.999Z')

const pattern = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?([Zz]|[+-]\d\d:?\d\d)?$/

/** Parses a date-time; without an offset it is UTC. Undefined if the text is not a date-time. */
export function parseTime(text: string): Date | undefined {
  const match = pattern.exec(text)
  if (!match) return undefined
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset = 'Z'] = match
  const zone = /^[+-]\d{4}$/.test(offset) ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset.toUpperCase()
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${fraction.slice(0, 4)}${zone}`)
  // 2026-02-31 would roll over to March, and an offset may lead out of the calendar.
  const isWritable = time >= firstTime && time <= lastTime
  return isWritable && isCalendarDay(year!, month!, day!) ? time : undefined
}

function isCalendarDay(year: string, month: string, day: string): boolean {
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day)
}

/** A check costs some 20 us, and the same few names are repeated. */
const asked = new Map<string, boolean>()
const askedMax = 1_000

/** Whether the text is a name of the IANA time zone database. An offset such as +02:00 is not one: it has no daylight saving time. */
export function isTimezone(name: string): boolean {
  const known = asked.get(name)
  if (known !== undefined) return known
  const answer = /^[A-Za-z]/.test(name) && isAccepted(name)
  if (asked.size < askedMax) asked.set(name, answer)
  return answer
}

function isAccepted(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
