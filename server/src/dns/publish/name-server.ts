// The port to one name server that follows our primary. It must not know a team, a row, or a vendor.
import type { Edns, Message, Question } from '../../net/dns/message.ts'
import type { ZoneName } from '../../net/dns/name.ts'
import type { ResourceRecord } from '../../net/dns/record.ts'
import type { Serial } from '../../net/dns/serial.ts'

export type { Question }

/** The server's own description; a part that it does not answer is missing. */
export type NameServerIdentity = {
  /** CH TXT version.bind. */
  readonly version?: string
  /** CH TXT id.server. */
  readonly id?: string
}

export type AskOptions = {
  /** EDNS with this UDP size and DO; without EDNS if missing. */
  readonly edns?: Pick<Edns, 'udpSize' | 'do'>
  readonly recursionDesired?: boolean
  /** Uses TCP from the start; otherwise only if the answer over UDP is truncated. */
  readonly tcp?: boolean
  /** For the whole question, retries included. */
  readonly timeoutMs?: number
}

/** The answer as a message. Its id, source and question match the request. */
export type SerialAnswer = Message

export interface NameServer {
  /** Returns the identity of the server. Throws DriverError `unreachable` if it does not answer. */
  probe(): Promise<NameServerIdentity>
  /**
   * Returns the serials of just these zones: a number, `absent` (REFUSED or not authoritative) or `failing` (SERVFAIL: expired,
   * broken). Never a part: throws DriverError instead.
   */
  serials(zones: readonly ZoneName[]): Promise<ReadonlyMap<ZoneName, Serial | 'absent' | 'failing'>>
  /**
   * Sends NOTIFY for these zones and resolves when it is acknowledged. It does not confirm the transfer: see `serials`.
   */
  notify(zones: readonly { readonly zone: ZoneName; readonly serial: Serial }[]): Promise<void>
  /** Sends one question like any client, with EDNS and DO on request. Throws DriverError. */
  ask(question: Question, options?: AskOptions): Promise<SerialAnswer>
  /** Returns every record as served (AXFR), where the server allows it. */
  read(zone: ZoneName): AsyncIterable<ResourceRecord>
  /** Calls `onUp` when the server answers after it did not; the result ends that. */
  watch(onUp: () => void): () => void
  /** Rejects running calls. */
  close(): Promise<void>
}
