// The port for TXT queries. The roles choose its driver.

export type TxtResolver = {
  /**
   * Returns the TXT records of a name, the strings of each joined; empty if the name or such a record does not exist. Rejects
   * with a DriverError, `unreachable` if no server answered.
   */
  resolveTxt(name: string, signal: AbortSignal): Promise<readonly string[]>
}
