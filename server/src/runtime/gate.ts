// The port that decides whether the loops of this process may send. After a restore the database has an older state:
// until staff have decided the differences, the loops send no data (restore/gate.ts).

export type Gate<Within = unknown> = {
  /**
   * Called before each run that sends; `within` reads in the transaction that sends. Rejects if the database does not
   * answer: then the run does not send either.
   */
  mayApply(within?: Within): Promise<boolean>
  /** The last answer, at most a second old, for readers that do not send. `unknown` until the database has answered. */
  readonly state: 'unknown' | 'open' | 'closed'
}

/** Gate of a loop that has effects outside of the database, or causes them in another process. */
export type Sends = {
  readonly gate: Gate
  /** The run while the gate is closed: it reads and plans. Without it there is no run. */
  readonly whileClosed?: (signal: AbortSignal) => Promise<void>
}
