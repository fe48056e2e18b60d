// The port to one source of the Internet Routing Registries: a whois server, or the dump of a registry in a file. Drivers import it
// by type only. It must not know an announcement, a verdict or a cache.
import type { Asn } from '../net/asn.ts'
import type { Prefix } from '../net/prefix.ts'

/** A route or route6 object (RFC 2622 section 4, RFC 4012 section 3): `origin` may announce `prefix` according to `source`. */
export type RouteObject = {
  readonly prefix: Prefix
  readonly origin: Asn
  /** The registry that contains the object, in capitals: `RADB`, `RIPE`. */
  readonly source: string
}

/** An aut-num object (RFC 2622 section 6). `text`: the RPSL of the object. */
export type AutNumObject = { readonly source: string; readonly text: string }

/** The direct members of an as-set (RFC 2622 section 5.1): ASNs, and names of further sets in capitals. */
export type AsSetMembers = {
  readonly asns: readonly Asn[]
  readonly sets: readonly string[]
}

/**
 * Every call ends within the configured timeout of the driver, or when the signal is aborted, and rejects with a
 * `DriverError` then: `refused` if only this query has no answer (too large, not allowed), `unreachable` and `protocol`
 * if the source as a whole cannot be used now. The source does not retry. "Does not exist" is an answer.
 */
export interface IrrSource {
  /** For operators: as configured, without credentials. */
  readonly name: string
  /** For customers: the kind of source and its registries, without its address, such as `IRR server (RADB,RIPE)`. */
  readonly label: string
  /** Resolves with the objects of exactly this prefix and of every less specific one, in no particular order. */
  routeObjects(prefix: Prefix, signal: AbortSignal): Promise<readonly RouteObject[]>
  /**
   * Resolves with the object of the first regional registry that has it, otherwise of the first other registry: an
   * object that anyone may register must not hide the holder's. Undefined if it does not exist.
   */
  autNum(asn: Asn, signal: AbortSignal): Promise<AutNumObject | undefined>
  /** The name must be parsed by `parseAsSetName`. Undefined if the set does not exist. */
  asSetMembers(name: string, signal: AbortSignal): Promise<AsSetMembers | undefined>
  /** Returns a text that changes with the data of the source; undefined if the source has no such text. */
  serial(signal: AbortSignal): Promise<string | undefined>
  /** Whether the source withholds new data, because they are empty or lost more than 20 %. */
  isSuspicious(): boolean
  /** Problems of a source that answers, for operators: objects that cannot be read, a new file that cannot be used. */
  problems(): readonly string[]
  /** Ends connections and timers; calls reject from then on. */
  close(): Promise<void>
}
