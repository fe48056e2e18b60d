// The labels of a chart's time axis, as short as their distance allows. Pure.

const minuteMs = 60_000
const dayMs = 86_400_000
/** The shortest step between two months. */
const monthMs = 28 * dayMs

/** Returns `14:05` for each time, with the day below the first of a day; days or months alone if the steps are that long. */
export function axisTimes(times: readonly number[], stepMs: number, timeZone: string): string[] {
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone })
  if (stepMs >= monthMs) return monthsOf(times, timeZone)
  if (stepMs >= dayMs) return times.map((time) => day.format(time))
  const clock = new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    ...(stepMs < minuteMs ? { second: '2-digit' as const } : {}),
    timeZone,
  })
  let before = ''
  return times.map((time) => {
    const today = day.format(time)
    const text = today === before ? clock.format(time) : `${clock.format(time)}\n${today}`
    before = today
    return text
  })
}

/** The year is below the first month and each January. */
function monthsOf(times: readonly number[], timeZone: string): string[] {
  const month = new Intl.DateTimeFormat('en-GB', { month: 'short', timeZone })
  const year = new Intl.DateTimeFormat('en-GB', { year: 'numeric', timeZone })
  let before = ''
  return times.map((time) => {
    const now = year.format(time)
    const text = now === before ? month.format(time) : `${month.format(time)}\n${now}`
    before = now
    return text
  })
}
