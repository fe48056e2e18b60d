// An independent implementation of the text and time formats of the published OpenAPI document.

const blanks = new Set('\u034F\u115F\u1160\u17B4\u17B5\u3164\uFFA0')
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Checks the formats `line` and `paragraphs`, as the introduction of the document defines them. */
export function isReadable(text: string, lines: boolean): boolean {
  let before = ''
  for (const character of text) {
    const isJoiner = character === '\u200c' || character === '\u200d'
    const isBreak = lines && /[\t\n\r]/.test(character)
    if (isJoiner && !(before > '\u024f')) return false
    if (!isJoiner && !isBreak && (unseen.test(character) || blanks.has(character))) return false
    before = isJoiner ? '' : character
  }
  return true
}

/** Checks ISO 8601, extended format, within the years 1 to 9999 of UTC; the time and the offset are optional. */
export function isTime(text: string): boolean {
  const match =
    /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?::(\d\d(?:\.\d{1,9})?))?)?(?:[Zz]|([+-])(\d\d):?(\d\d))?$/.exec(
      text,
    )
  if (!match) return false
  const [, day, minutes = '00:00', seconds = '00', sign = '+', zoneHours = '00', zoneMinutes = '00'] = match
  const date = new Date(`${day}T00:00:00Z`)
  const isDay = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day!)
  const isClock = minutes <= '23:59' && minutes.slice(3) <= '59' && Number(seconds) < 60
  if (!isDay || !isClock || zoneHours > '23' || zoneMinutes > '59') return false
  const offsetMinutes = (sign === '-' ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes))
  const year = new Date(Date.parse(`${day}T${minutes}:00Z`) - offsetMinutes * 60_000).getUTCFullYear()
  return year >= 1 && year <= 9999
}
