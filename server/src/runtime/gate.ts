// The port that decides whether the loops of this process may send. After a restore the database is a different past: until staff
// have decided the differences, nothing leaves (restore/gate.ts).

export type Gate<Within = unknown> = {
  /**
   * Asked before each run that sends; `within` asks in the transaction that sends. Rejects if the database does not answer: then
   * nothing is sent either.
   */
  mayApply(within?: Within): Promise<boolean>
  /** The last answer, at most a second old: for what sends nothing itself. `unknown` until the database has answered. */
  readonly state: 'unknown' | 'open' | 'closed'
}

/** Of a loop that changes something outside of the database, or that makes another process do so. */
export type Sends = {
  readonly gate: Gate
  /** The run while the gate is closed: it reads and plans. Without it there is no run. */
  readonly whileClosed?: (signal: AbortSignal) => Promise<void>
}
