// A position in the stream: a row of the outbox, its database, and the time it was sent. Event ids contain the
// position, so that a client that reconnects with the last id misses no message. Pure.

export type StreamPosition = {
  /** Identifies the database server and its timeline: transaction ids of another server are not comparable. */
  readonly cluster: string
  /** Ids of the transaction and of its row, as text: they may exceed the safe integers. */
  readonly xid: string
  readonly id: string
  /** All messages up to then were sent; seconds since 1970. */
  readonly at: number
}

export const formatPosition = ({ cluster, xid, id, at }: StreamPosition): string =>
  `${cluster}.${xid}.${id}.${at}`

/** Returns undefined if the text is not a position. */
export function parsePosition(text: string): StreamPosition | undefined {
  const match = /^([0-9a-f]{8})\.(\d{1,19})\.(\d{1,18})\.(\d{1,12})$/.exec(text)
  return match ? { cluster: match[1]!, xid: match[2]!, id: match[3]!, at: Number(match[4]) } : undefined
}

/** The outbox keeps a week; a little less is guaranteed, so that no row is deleted while it is read. */
const keptSeconds = 6.5 * 86_400

export type Horizon = {
  readonly cluster: string
  /** All transactions below have ended: no further message can appear among them. */
  readonly xmin: string
  /** No transaction has this id yet. */
  readonly xmax: string
  /** Seconds since 1970. */
  readonly now: number
}

/** Returns whether the outbox still has all messages after the position. */
export function isKept(position: StreamPosition, { cluster, xmax, now }: Horizon): boolean {
  return (
    position.cluster === cluster && BigInt(position.xid) < BigInt(xmax) && now - position.at < keptSeconds
  )
}

/** The current position: before the first row of any transaction that is still running. */
export const positionAt = ({ cluster, xmin, now }: Horizon): StreamPosition => ({
  cluster,
  xid: xmin,
  id: '0',
  at: now,
})
