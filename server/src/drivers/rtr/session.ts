// The state machine of one session with an RTR cache, on the router's side (RFC 8210 section 8): which query is sent,
// which PDUs are valid next, and the result of a complete answer. No sockets and no clocks. A set or a delta is
// returned only as a whole, at End of Data.
//
// It starts with a Reset Query and never continues the history of another connection, although RFC 8210 section 8.2
// allows it: the only evidence that the history is the same are 16 bits that caches choose freely. stayrtr 0.5,
// restarted within a second, has the same session and serial 0 again; to a Serial Query it answers without changes,
// although its VRPs differ.
import { createRoaTable } from '../../registry/objects/roa-table.ts'
import type { RoaTable } from '../../registry/objects/roa-table.ts'
import type { VrpBits } from '../../registry/objects/vrp.ts'
import { encodeResetQuery, encodeSerialQuery, errorCodes, RtrError } from './pdu.ts'
import type { DecodedPdu, RtrIntervals, RtrPdu, RtrVersion } from './pdu.ts'

/** The last position in the cache's history: a Serial Query continues from it. */
export type RtrPosition = { readonly version: RtrVersion; readonly session: number; readonly serial: number }

/**
 * The result of the cache's answer.
 * - `set`: the complete set. `delta`: the net change since the last position.
 * - `no_data`: the cache has no data yet (error 2, which does not end the session); it must be queried again later.
 * - `other_version`: the cache speaks this version only; a new connection can use it.
 * - `ended`: the cache reported an error that ends the session.
 */
export type RtrOutcome =
  | {
      readonly kind: 'set'
      readonly table: RoaTable
      readonly position: RtrPosition
      readonly intervals?: RtrIntervals
    }
  | {
      readonly kind: 'delta'
      readonly withdrawn: readonly VrpBits[]
      readonly announced: readonly VrpBits[]
      readonly position: RtrPosition
      readonly intervals?: RtrIntervals
    }
  | { readonly kind: 'no_data' }
  | { readonly kind: 'other_version'; readonly version: RtrVersion }
  | { readonly kind: 'ended'; readonly code: number; readonly text: string }

export type RtrSessionOptions = {
  /** The version to try; if it is 1 and the cache answers in 0, the session continues in 0 (RFC 8210 section 7). */
  readonly version: RtrVersion
  readonly vrpsMax: number
  /** For the tables, see createRoaTable. */
  readonly seed?: number
  readonly send: (octets: Uint8Array) => void
}

type Loading =
  | { readonly kind: 'set'; readonly session: number; readonly table: RoaTable }
  | {
      readonly kind: 'delta'
      readonly session: number
      readonly withdrawn: RoaTable
      readonly announced: RoaTable
    }

/** Throws RtrError from `receive` when the cache breaks the protocol; the session is over then. */
export class RtrSession {
  readonly #options: RtrSessionOptions
  #version: RtrVersion
  /** False until the cache has answered once: until then it may choose the version. */
  #negotiated = false
  /** The last position and the table that was returned with it. */
  #held: { readonly table: RoaTable; readonly position: RtrPosition } | undefined
  #query: 'set' | 'delta' | undefined
  #loading: Loading | undefined
  /** The newest serial of a Serial Notify that was received during an answer. */
  #notified: number | undefined

  constructor(options: RtrSessionOptions) {
    this.#options = options
    this.#version = options.version
  }

  get version(): RtrVersion {
    return this.#version
  }

  /** Whether no PDU that reveals the cache's version has been received. */
  get wasSilent(): boolean {
    return !this.#negotiated
  }

  /** Whether an answer is pending. */
  get isWaiting(): boolean {
    return this.#query !== undefined || this.#loading !== undefined
  }

  /** Requests the changes, or the complete set without a table or with `full`. No effect while an answer is pending. */
  query({ full = false } = {}): void {
    if (this.isWaiting) return
    this.#notified = undefined
    const position = full ? undefined : this.#held?.position
    this.#query = position ? 'delta' : 'set'
    this.#options.send(
      position
        ? encodeSerialQuery(this.#version, position.session, position.serial)
        : encodeResetQuery(this.#version),
    )
  }

  /** Processes the next PDU. Returns the result that it completes, or undefined. */
  receive({ pdu, version, octets }: DecodedPdu): RtrOutcome | undefined {
    if (pdu.type === 'serial_notify') return this.#notify(pdu.session, pdu.serial, version, octets)
    const other = this.#settleVersion(pdu, version, octets)
    if (other) return other
    switch (pdu.type) {
      case 'prefix':
        return this.#applyPrefix(pdu.announced, pdu.vrp, octets)
      case 'router_key':
        if (!this.#loading) throw unexpected(pdu, octets)
        return undefined
      case 'cache_response':
        return this.#begin(pdu, octets)
      case 'end_of_data':
        return this.#finish(pdu, octets)
      case 'cache_reset':
        if (this.#query !== 'delta') throw unexpected(pdu, octets)
        this.#query = undefined
        this.query({ full: true })
        return undefined
      case 'error_report':
        return this.#report(pdu.code, pdu.text)
      case 'serial_query':
      case 'reset_query':
        throw unexpected(pdu, octets)
    }
  }

  /** RFC 8210 section 7: the cache answers in its version, or rejects ours, and a new connection must use its version. */
  #settleVersion(pdu: RtrPdu, version: number, octets: Uint8Array): RtrOutcome | undefined {
    const isLower = !this.#negotiated && version === 0 && this.#version === 1
    if (pdu.type === 'error_report') {
      const refused = pdu.code === errorCodes.unsupportedVersion && isLower
      return refused ? { kind: 'other_version', version: 0 } : undefined
    }
    if (isLower) this.#version = 0
    this.#negotiated = true
    if (version !== this.#version)
      throw new RtrError(
        errorCodes.unexpectedVersion,
        `version ${version} in a session of version ${this.#version}`,
        octets.slice(),
      )
    return undefined
  }

  /** Ignored until the version is negotiated, whatever its version. */
  #notify(session: number, serial: number, version: number, octets: Uint8Array): undefined {
    if (!this.#negotiated) return
    if (version !== this.#version)
      throw new RtrError(
        errorCodes.unexpectedVersion,
        `version ${version} in a session of version ${this.#version}`,
        octets.slice(),
      )
    const position = this.#held?.position
    if (position && position.session !== session) throw sessionChanged(position.session, session, octets)
    if (this.isWaiting) this.#notified = serial
    else if (position?.serial !== serial) this.query()
  }

  #begin(pdu: Extract<RtrPdu, { type: 'cache_response' }>, octets: Uint8Array): undefined {
    const query = this.#query
    if (!query) throw unexpected(pdu, octets)
    const { session } = pdu
    const position = this.#held?.position
    if (query === 'delta' && position && position.session !== session)
      throw sessionChanged(position.session, session, octets)
    this.#query = undefined
    const { seed = 0 } = this.#options
    this.#loading =
      query === 'set'
        ? { kind: 'set', session, table: createRoaTable([], seed) }
        : { kind: 'delta', session, withdrawn: createRoaTable([], seed), announced: createRoaTable([], seed) }
  }

  #applyPrefix(announced: boolean, vrp: VrpBits, octets: Uint8Array): undefined {
    const loading = this.#loading
    if (!loading) throw unexpected({ type: 'prefix' }, octets)
    const isChange =
      loading.kind === 'set'
        ? applyToSet(loading.table, announced, vrp)
        : applyToDelta(loading, this.#held!.table, announced, vrp)
    if (!isChange) {
      throw announced
        ? new RtrError(errorCodes.duplicateAnnouncement, 'a VRP that was announced before', octets.slice())
        : new RtrError(errorCodes.withdrawalOfUnknown, 'a VRP that was never announced', octets.slice())
    }
    this.#checkSize(loading)
  }

  /** Bounds the memory that a cache can use. */
  #checkSize(loading: Loading): void {
    const { vrpsMax } = this.#options
    const size =
      loading.kind === 'set'
        ? loading.table.size
        : Math.max(
            loading.withdrawn.size,
            this.#held!.table.size + loading.announced.size - loading.withdrawn.size,
          )
    if (size > vrpsMax) throw new RtrError(errorCodes.internalError, `more than ${vrpsMax} VRPs`)
  }

  #finish(pdu: Extract<RtrPdu, { type: 'end_of_data' }>, octets: Uint8Array): RtrOutcome {
    const loading = this.#loading
    if (!loading) throw unexpected(pdu, octets)
    const { session, serial, intervals } = pdu
    if (session !== loading.session) throw sessionChanged(loading.session, session, octets)
    this.#loading = undefined
    const position: RtrPosition = { version: this.#version, session, serial }
    const table = loading.kind === 'set' ? loading.table : this.#held!.table
    this.#held = { table, position }
    const notified = this.#notified
    if (notified !== undefined && notified !== serial) this.query()
    const end = { position, ...(intervals ? { intervals } : {}) }
    return loading.kind === 'set'
      ? { kind: 'set', table, ...end }
      : { kind: 'delta', withdrawn: vrpsOf(loading.withdrawn), announced: vrpsOf(loading.announced), ...end }
  }

  #report(code: number, text: string): RtrOutcome {
    if (code !== errorCodes.noDataAvailable) return { kind: 'ended', code, text }
    this.#query = undefined
    this.#loading = undefined
    return { kind: 'no_data' }
  }
}

/** Returns whether the PDU changes the set, as RFC 8210 section 5.6 requires. */
function applyToSet(table: RoaTable, announced: boolean, vrp: VrpBits): boolean {
  return announced ? table.add(vrp) : table.remove(vrp)
}

/** The same for a delta, which is kept as a net change: a VRP that is announced and withdrawn again is removed. */
function applyToDelta(
  { withdrawn, announced }: { readonly withdrawn: RoaTable; readonly announced: RoaTable },
  held: RoaTable,
  isAnnounced: boolean,
  vrp: VrpBits,
): boolean {
  const exists = announced.has(vrp) || (held.has(vrp) && !withdrawn.has(vrp))
  if (exists === isAnnounced) return false
  if (isAnnounced) return withdrawn.remove(vrp) || announced.add(vrp)
  return announced.remove(vrp) || withdrawn.add(vrp)
}

function vrpsOf(table: RoaTable): VrpBits[] {
  const vrps: VrpBits[] = []
  for (let place = table.scan(0, Infinity, (vrp) => vrps.push(vrp)); place !== 0;)
    place = table.scan(place, Infinity, (vrp) => vrps.push(vrp))
  return vrps
}

function unexpected({ type }: Pick<RtrPdu, 'type'>, octets: Uint8Array): RtrError {
  return new RtrError(
    errorCodes.corruptData,
    `${type.replaceAll('_', ' ')} in the wrong order`,
    octets.slice(),
  )
}

/** RFC 8210 section 5.1: the side that detects it ends the session. */
function sessionChanged(before: number, after: number, octets: Uint8Array): RtrError {
  return new RtrError(errorCodes.corruptData, `session ${before} became ${after}`, octets.slice())
}
