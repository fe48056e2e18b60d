// The port to another primary server, from which a zone is imported once. The driver speaks AXFR.
import type { ZoneName } from '../../net/dns/name.ts'
import type { ResourceRecord } from '../../net/dns/record.ts'

export type TransferOptions = {
  readonly zone: ZoneName
  /** IP address. */
  readonly address: string
  readonly port: number
  /** The id of a row in dns_tsig_keys; the driver opens its secret. */
  readonly tsigKeyId?: number
  /** Records beyond this number end the transfer with an error. */
  readonly recordsMax: number
  readonly signal: AbortSignal
}

export interface TransferSource {
  /**
   * Transfers a zone whole. The first record is SOA, and is not repeated at the end. Rejects with a DriverError; never resolves to a part of
   * the zone.
   */
  transfer(options: TransferOptions): Promise<readonly ResourceRecord[]>
}
