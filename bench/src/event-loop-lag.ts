// The longest delay of the event loop of a running product, from its own metrics.
const metric = /^nodejs_eventloop_lag_max_seconds (\S+)$/m

/** Returns the longest delay in milliseconds since it was last read, by the wall clock. */
export async function readLag(url: string): Promise<number> {
  const answer = await fetch(`${url}/metrics`)
  const [, seconds] = metric.exec(await answer.text()) ?? []
  if (seconds === undefined) throw new Error(`${url}/metrics has no delay of the event loop`)
  return Number(seconds) * 1_000
}
