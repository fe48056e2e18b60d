// The port through which the server of DNS reads the zones that it serves and transfers. It must not know where they are stored.
// Implementations: memory, and rows of the database (dns/serve).
import type { DomainName, ZoneName } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import type { Serial } from '../../net/dns/serial.ts'

/**
 * One step of IXFR (RFC 1995). The sets contain only the records and signatures that differ. The first removed set is
 * the SOA of `from`, the first added set is the SOA of `to`.
 */
export type Transfer = {
  readonly from: Serial
  readonly to: Serial
  readonly removed: readonly SignedRrset[]
  readonly added: readonly SignedRrset[]
}

/** A zone as it was at one serial: later changes do not show. `sets` includes the SOA, in any order. */
export type ZoneSnapshot = {
  readonly serial: Serial
  readonly soa: SignedRrset
  readonly sets: AsyncIterable<SignedRrset> | Iterable<SignedRrset>
}

export interface ZoneSource {
  /** Returns the zone's serial and SOA; undefined if it is not served here, 'expired' if its data may no longer be served. */
  find(zone: ZoneName): { readonly serial: Serial; readonly soa: SignedRrset } | 'expired' | undefined
  /** Returns the whole zone; undefined if it is no longer served. */
  open(zone: ZoneName): Promise<ZoneSnapshot | undefined>
  /** Returns the steps from a serial to that of `soa`, in their order; undefined if the journal does not reach back. */
  changes(
    zone: ZoneName,
    from: Serial,
  ): Promise<{ readonly soa: SignedRrset; readonly steps: readonly Transfer[] } | undefined>
}

/** The other side of a request: `key` is the name of the TSIG key that signed it. */
export type RequestPeer = { readonly address: string; readonly key: DomainName | undefined }

/** The content that a peer gets of a zone: with the records of DNSSEC, or without them because it signs the zone itself. */
export type TransferView = 'signed' | 'unsigned'
