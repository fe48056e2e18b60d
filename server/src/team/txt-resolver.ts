// The port through which DNS is asked for a text. What is behind it is wired by the roles.

export type TxtResolver = {
  /**
   * The TXT records of a name, the strings of each joined; empty where the name, or such a record, does not exist. Rejects
   * with a DriverError, `unreachable` where nobody answered.
   */
  resolveTxt(name: string, signal: AbortSignal): Promise<readonly string[]>
}
