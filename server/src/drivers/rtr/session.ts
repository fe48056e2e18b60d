// One conversation with an RTR cache, from the router's side (RFC 8210 section 8): what is asked, what may come next, and what
// a finished answer amounts to. No sockets and no clocks. A set or a delta is handed out only as a whole, at End of Data.
//
// It starts with a Reset Query and never continues the history of another connection, although RFC 8210 section 8.2 allows it:
// that the history is the same is said by 16 bits that caches choose as they like. stayrtr 0.5 that was restarted within a
// second has the same session and serial 0 again; asked for changes, it answers that there are none, with other VRPs.
import { createRoaTable } from '../../registry/objects/roa-table.ts'
import type { RoaTable } from '../../registry/objects/roa-table.ts'
import type { VrpBits } from '../../registry/objects/vrp.ts'
import { encodeResetQuery, encodeSerialQuery, errorCodes, RtrError } from './pdu.ts'
import type { DecodedPdu, RtrIntervals, RtrPdu, RtrVersion } from './pdu.ts'

/** Where the cache's history was left: a Serial Query continues from it. */
export type RtrPosition = { readonly version: RtrVersion; readonly session: number; readonly serial: number }

/**
 * What the cache's answer came to.
 * - `set`: everything it has. `delta`: what has changed since the last position, in net.
 * - `no_data`: it has nothing yet (error 2, the only one that ends nothing); it is to be asked again later.
 * - `other_version`: it speaks that version only; a new connection in it can start.
 * - `ended`: it reported an error that ends the session.
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
  /** The version that is tried; where it is 1 and the cache answers in 0, it goes on in 0 (RFC 8210 section 7). */
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
  /** False until the cache has answered once: until then it may still choose the version. */
  #negotiated = false
  /** What the cache has said here so far; the table is the one that was handed out. */
  #held: { readonly table: RoaTable; readonly position: RtrPosition } | undefined
  #asked: 'set' | 'delta' | undefined
  #loading: Loading | undefined
  /** The newest serial that the cache spoke of while an answer was under way. */
  #notified: number | undefined

  constructor(options: RtrSessionOptions) {
    this.#options = options
    this.#version = options.version
  }

  get version(): RtrVersion {
    return this.#version
  }

  /** Whether not one PDU has come that says which version the cache speaks. */
  get wasSilent(): boolean {
    return !this.#negotiated
  }

  /** Whether the cache owes an answer. */
  get isWaiting(): boolean {
    return this.#asked !== undefined || this.#loading !== undefined
  }

  /** Asks for what has changed, or for everything where nothing is held or `full`. Nothing while an answer is under way. */
  ask({ full = false } = {}): void {
    if (this.isWaiting) return
    this.#notified = undefined
    const position = full ? undefined : this.#held?.position
    this.#asked = position ? 'delta' : 'set'
    this.#options.send(
      position
        ? encodeSerialQuery(this.#version, position.session, position.serial)
        : encodeResetQuery(this.#version),
    )
  }

  /** Takes the next PDU; what it completes, or undefined. */
  receive({ pdu, version, octets }: DecodedPdu): RtrOutcome | undefined {
    if (pdu.type === 'serial_notify') return this.#notify(pdu.session, pdu.serial, version, octets)
    const other = this.#settleVersion(pdu, version, octets)
    if (other) return other
    switch (pdu.type) {
      case 'prefix':
        return this.#take(pdu.announced, pdu.vrp, octets)
      case 'router_key':
        if (!this.#loading) throw unexpected(pdu, octets)
        return undefined
      case 'cache_response':
        return this.#begin(pdu, octets)
      case 'end_of_data':
        return this.#finish(pdu, octets)
      case 'cache_reset':
        if (this.#asked !== 'delta') throw unexpected(pdu, octets)
        this.#asked = undefined
        this.ask({ full: true })
        return undefined
      case 'error_report':
        return this.#report(pdu.code, pdu.text)
      case 'serial_query':
      case 'reset_query':
        throw unexpected(pdu, octets)
    }
  }

  /** RFC 8210 section 7: the cache answers in its version, or refuses ours, and a new connection has to start in its own. */
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

  /** Until the version is settled it is ignored, whatever its version. */
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
    else if (position?.serial !== serial) this.ask()
  }

  #begin(pdu: Extract<RtrPdu, { type: 'cache_response' }>, octets: Uint8Array): undefined {
    const asked = this.#asked
    if (!asked) throw unexpected(pdu, octets)
    const { session } = pdu
    const position = this.#held?.position
    if (asked === 'delta' && position && position.session !== session)
      throw sessionChanged(position.session, session, octets)
    this.#asked = undefined
    const { seed = 0 } = this.#options
    this.#loading =
      asked === 'set'
        ? { kind: 'set', session, table: createRoaTable([], seed) }
        : { kind: 'delta', session, withdrawn: createRoaTable([], seed), announced: createRoaTable([], seed) }
  }

  #take(announced: boolean, vrp: VrpBits, octets: Uint8Array): undefined {
    const loading = this.#loading
    if (!loading) throw unexpected({ type: 'prefix' }, octets)
    const isNews =
      loading.kind === 'set'
        ? takeIntoSet(loading.table, announced, vrp)
        : takeIntoDelta(loading, this.#held!.table, announced, vrp)
    if (!isNews) {
      throw announced
        ? new RtrError(errorCodes.duplicateAnnouncement, 'a VRP that was announced before', octets.slice())
        : new RtrError(errorCodes.withdrawalOfUnknown, 'a VRP that was never announced', octets.slice())
    }
    this.#checkSize(loading)
  }

  /** Bounds the memory that a cache can take. */
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
    if (notified !== undefined && notified !== serial) this.ask()
    const end = { position, ...(intervals ? { intervals } : {}) }
    return loading.kind === 'set'
      ? { kind: 'set', table, ...end }
      : { kind: 'delta', withdrawn: vrpsOf(loading.withdrawn), announced: vrpsOf(loading.announced), ...end }
  }

  #report(code: number, text: string): RtrOutcome {
    if (code !== errorCodes.noDataAvailable) return { kind: 'ended', code, text }
    this.#asked = undefined
    this.#loading = undefined
    return { kind: 'no_data' }
  }
}

/** Whether it was news, which it has to be (RFC 8210 section 5.6). */
function takeIntoSet(table: RoaTable, announced: boolean, vrp: VrpBits): boolean {
  return announced ? table.add(vrp) : table.remove(vrp)
}

/** The same for a delta, which is kept in net: what is announced and withdrawn again leaves nothing. */
function takeIntoDelta(
  { withdrawn, announced }: { readonly withdrawn: RoaTable; readonly announced: RoaTable },
  held: RoaTable,
  isAnnounced: boolean,
  vrp: VrpBits,
): boolean {
  const isThere = announced.has(vrp) || (held.has(vrp) && !withdrawn.has(vrp))
  if (isThere === isAnnounced) return false
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
  return new RtrError(errorCodes.corruptData, `${type.replaceAll('_', ' ')} out of turn`, octets.slice())
}

/** RFC 8210 section 5.1: whoever notices it ends the session. */
function sessionChanged(before: number, after: number, octets: Uint8Array): RtrError {
  return new RtrError(errorCodes.corruptData, `session ${before} became ${after}`, octets.slice())
}
