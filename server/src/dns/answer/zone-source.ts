// The port from which the primary reads what it serves and transfers. Implementations: rows of the database, and memory.
import type { ZoneName } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import type { Serial } from '../../net/dns/serial.ts'

/** One step of IXFR, without the SOA records at its ends. */
export type Transfer = {
  readonly from: Serial
  readonly to: Serial
  readonly removed: readonly SignedRrset[]
  readonly added: readonly SignedRrset[]
}

export interface ZoneSource {
  find(zone: ZoneName): { readonly serial: Serial; readonly soa: SignedRrset } | undefined
  /** Returns the sets of the zone, from one snapshot. */
  records(zone: ZoneName): AsyncIterable<SignedRrset>
  /** Returns the steps from this serial to the current one. Undefined if the journal does not reach back: the zone is sent whole. */
  changes(zone: ZoneName, from: Serial): AsyncIterable<Transfer> | undefined
}
