// The port for the addresses that a name has in the public DNS. The roles choose its driver.

export type ResolvedAddress = {
  readonly address: string
  /** Seconds for which the answer may be kept. */
  readonly ttl: number
}

export type AddressResolver = {
  /**
   * Returns the addresses of a name; empty if the name or such a record does not exist. Rejects with a DriverError, `unreachable` if no server
   * answered.
   */
  resolveAddresses(name: string, family: 4 | 6, signal: AbortSignal): Promise<readonly ResolvedAddress[]>
}
