// The words on the time axis of a plot: as short as the distance between them allows, in the zone of the page. Pure.

const minuteMs = 60_000
const dayMs = 86_400_000

/** `14:05` each, with the day below the first and wherever another day begins; days alone where they are that far apart. */
export function axisTimes(times: readonly number[], stepMs: number, timeZone: string): string[] {
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone })
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
