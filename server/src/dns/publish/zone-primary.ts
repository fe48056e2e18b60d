// The port to a primary of a secondary zone: its serial, and the zone as a whole or as differences.
import type { ZoneName } from '../../net/dns/name.ts'
import type { ResourceRecord } from '../../net/dns/record.ts'
import type { Serial } from '../../net/dns/serial.ts'

/** Records that leave and join the zone in one step of IXFR, the SOA records included. */
export type TransferredStep = {
  readonly removed: readonly ResourceRecord[]
  readonly added: readonly ResourceRecord[]
}

export type TransferResult =
  | { readonly kind: 'whole'; readonly records: readonly ResourceRecord[] }
  | { readonly kind: 'steps'; readonly steps: readonly TransferredStep[] }

export interface ZonePrimary {
  /** Returns the serial; throws DriverError if the server does not answer, or not with authority. */
  serial(zone: ZoneName): Promise<Serial>
  /**
   * Transfers the zone: the changes after the record `from`, its SOA, if the server has them, otherwise the whole zone
   * with one SOA. Never resolves to a part. Throws DriverError; `refused` also if the zone has more than `recordsMax`
   * records.
   */
  transfer(
    zone: ZoneName,
    options: { readonly from?: ResourceRecord; readonly recordsMax: number; readonly signal: AbortSignal },
  ): Promise<TransferResult>
}
