// The port to the registration data of the address registries (RDAP). Drivers import it by type only. It must not know a token,
// a team or a verdict.
import type { Address } from '../net/address.ts'
import type { Prefix } from '../net/prefix.ts'

/** The registration of a range of addresses: an "ip network" (RFC 9083 section 5.4). */
export type IpNetwork = {
  /** The registry's name of the record, such as `NET-203-0-113-0-1`; empty if missing. */
  readonly handle: string
  readonly first: Address
  readonly last: Address
  /** The lines of the network's own remarks, without remarks of its contacts: others may write there. */
  readonly remarks: readonly string[]
}

export interface RdapSource {
  /**
   * Returns the most specific registration that contains the whole prefix; undefined if there is no registration. Ends
   * within the time of the driver's configuration or when the signal is aborted, and rejects with a `DriverError` then
   * and if the answer cannot be parsed. Does not retry.
   */
  findIpNetwork(prefix: Prefix, signal: AbortSignal): Promise<IpNetwork | undefined>
}
