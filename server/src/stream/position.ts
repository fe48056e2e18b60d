// Where a follower of the stream is: after which row of the outbox, in which database, and when it was told so. It stands
// in the ids of the events, so that whoever comes again with the last of them misses nothing. Pure.

export type Position = {
  /** Names the database server and its history: numbers of transactions mean nothing in another one. */
  readonly cluster: string
  /** Of the transaction, and of its row; in text, since they may be larger than a number keeps exact. */
  readonly xid: string
  readonly id: string
  /** Until when nothing was missed, seconds since 1970. */
  readonly at: number
}

export const formatPosition = ({ cluster, xid, id, at }: Position): string => `${cluster}.${xid}.${id}.${at}`

/** Undefined where it is none of ours. */
export function parsePosition(text: string): Position | undefined {
  const match = /^([0-9a-f]{8})\.(\d{1,19})\.(\d{1,18})\.(\d{1,12})$/.exec(text)
  return match ? { cluster: match[1]!, xid: match[2]!, id: match[3]!, at: Number(match[4]) } : undefined
}

/** The outbox keeps a week; a little less is promised, so that nothing is deleted while it is read. */
const keptSeconds = 6.5 * 86_400

export type Horizon = {
  readonly cluster: string
  /** Transactions below are over: nothing can appear among them any more. */
  readonly xmin: string
  /** No transaction has this number yet. */
  readonly xmax: string
  /** Seconds since 1970. */
  readonly now: number
}

/** Whether everything after the position is still there to be read. */
export function isKept(position: Position, { cluster, xmax, now }: Horizon): boolean {
  return (
    position.cluster === cluster && BigInt(position.xid) < BigInt(xmax) && now - position.at < keptSeconds
  )
}

/** From now on: before the first row of a transaction that is not over. */
export const positionAt = ({ cluster, xmin, now }: Horizon): Position => ({
  cluster,
  xid: xmin,
  id: '0',
  at: now,
})
