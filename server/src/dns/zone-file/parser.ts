// Interprets the entries of a zone file: directives, owners, TTLs, types. $INCLUDE is refused: a file of a client must not name files of the server.
import { NameError, nameFromWire, nameLengthMax, nameToWire, readName } from '../../net/dns/name.ts'
import type { DomainName } from '../../net/dns/name.ts'
import {
  RdataError,
  adviseRdata,
  parseRdataTokens,
  splitTokens,
  targetOf,
} from '../../net/dns/rdata/rdata.ts'
import { ttlMax } from '../../net/dns/record.ts'
import { isQuoted } from '../../net/dns/token.ts'
import type { RdataToken } from '../../net/dns/token.ts'
import { findTtl } from '../../net/dns/ttl.ts'
import { findClass, findType, isZoneType, recordClass, recordType } from '../../net/dns/type.ts'
import { EntryReader } from './entry.ts'
import { expandTemplate, parseRange, parseTemplate } from './generate.ts'
import { EntryFailure, problemMessages } from './problem.ts'
import type { ZoneFileProblem, ZoneFileWarning, ZoneFileWarningCode } from './problem.ts'

export type ZoneFileRecord = {
  readonly name: DomainName
  readonly type: number
  /** Seconds, 0 to 2147483647. */
  readonly ttl: number
  readonly rdata: Uint8Array
  /** Line of the start of its entry, from 1. */
  readonly line: number
}

export type ZoneFileOptions = {
  /** The name of the zone: the first origin. */
  readonly origin: DomainName
  /** Used for records without a TTL if neither $TTL nor a record before gives one. */
  readonly defaultTtl?: number
  readonly octetsMax?: number
  readonly recordsMax?: number
}

export type ZoneFile = {
  readonly records: readonly ZoneFileRecord[]
  /** If not empty, the records are incomplete. Parsing ends after 1,000 problems. */
  readonly problems: readonly ZoneFileProblem[]
  /** The first 1,000. */
  readonly warnings: readonly ZoneFileWarning[]
  readonly warningCount: number
}

/** `rdataOctets`: of all records. $GENERATE, or a long origin and short names, makes a small file large. */
export const zoneFileLimits = {
  octets: 5_000_000,
  records: 50_000,
  rdataOctets: 32_000_000,
  problems: 1_000,
} as const

export class ZoneFileParser {
  readonly #reader: EntryReader
  readonly #recordsMax: number
  readonly #defaultTtl: number | undefined
  readonly #records: ZoneFileRecord[] = []
  readonly #problems: ZoneFileProblem[] = []
  readonly #warnings: ZoneFileWarning[] = []
  #warningCount = 0
  #origin: Uint8Array
  #originName: DomainName
  #owner: DomainName | undefined
  #ownerText = ''
  /** $TTL. */
  #zoneTtl: number | undefined
  /** The last TTL that a record stated (RFC 1035), or the minimum of SOA. */
  #lastTtl: number | undefined
  #rdataOctets = 0
  #isStopped = false

  constructor(octets: Uint8Array, options: ZoneFileOptions) {
    const {
      origin,
      defaultTtl,
      octetsMax = zoneFileLimits.octets,
      recordsMax = zoneFileLimits.records,
    } = options
    const isTooLarge = octets.length > octetsMax
    const text = Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1')
    this.#reader = new EntryReader(isTooLarge ? '' : text)
    this.#recordsMax = recordsMax
    this.#defaultTtl = defaultTtl
    this.#originName = origin
    this.#origin = nameToWire(origin)
    if (isTooLarge)
      this.#report(
        new EntryFailure(
          'file_too_large',
          `The file has more than ${octetsMax} octets. Split it, or transfer the zone.`,
        ),
      )
  }

  /** Parses up to `count` entries, a $GENERATE as one; false at the end. */
  parseEntries(count: number): boolean {
    const { entry } = this.#reader
    for (let left = count; left > 0; left--) {
      if (this.#isStopped || !this.#reader.next()) return false
      try {
        if (entry.error) throw new EntryFailure(entry.error, problemMessages[entry.error])
        const first = entry.tokens[0]!
        if (!entry.isIndented && first.charCodeAt(0) === 36) this.#parseDirective(first, entry.tokens)
        else this.#parseRecord(entry.tokens, entry.isIndented)
      } catch (error) {
        if (!(error instanceof EntryFailure)) throw error
        this.#report(error)
      }
    }
    return true
  }

  result(): ZoneFile {
    return {
      records: this.#records,
      problems: this.#problems,
      warnings: this.#warnings,
      warningCount: this.#warningCount,
    }
  }

  #report({ code, message, field }: EntryFailure): void {
    const place = { line: this.#reader.entry.line, text: this.#reader.textOfEntry(120) }
    this.#problems.push({ code, ...place, message, ...(field !== undefined && { field }) })
    if (this.#problems.length >= zoneFileLimits.problems) this.#isStopped = true
  }

  #warn(code: ZoneFileWarningCode, message: string): void {
    if (++this.#warningCount > zoneFileLimits.problems) return
    this.#warnings.push({ code, line: this.#reader.entry.line, text: this.#reader.textOfEntry(120), message })
  }

  #parseDirective(directive: string, tokens: readonly RdataToken[]): void {
    const [, value] = tokens
    switch (directive.toUpperCase()) {
      case '$ORIGIN':
        if (value === undefined || tokens.length > 2)
          throw new EntryFailure('directive', '$ORIGIN has one name. Use the form $ORIGIN example.com.')
        this.#originName = this.#readName(value, 'directive')
        this.#origin = nameToWire(this.#originName)
        this.#ownerText = ''
        return
      case '$TTL': {
        const ttl = value === undefined || tokens.length > 2 ? undefined : findTtl(value)
        if (ttl === undefined)
          throw new EntryFailure(
            'directive',
            '$TTL has one number of seconds, or one with units. Use the form $TTL 3600 or $TTL 1h.',
          )
        this.#zoneTtl = this.#limitTtl(ttl)
        return
      }
      case '$GENERATE':
        return this.#generate(tokens)
      case '$INCLUDE':
        throw new EntryFailure('include', '$INCLUDE is not supported. Insert the file here.')
      default:
        throw new EntryFailure(
          'directive',
          'Unknown directive. Write a name that starts with a dollar sign as \\$.',
        )
    }
  }

  #generate(tokens: readonly RdataToken[]): void {
    if (tokens.length < 5)
      throw new EntryFailure('generate', '$GENERATE has a range, an owner, a type and data.')
    const range = parseRange(tokens[1]!)
    const owner = parseTemplate(tokens[2]!)
    const { ttl, type, next } = this.#readHeader(tokens, 3)
    // The data is one token, quoted if it has spaces, or the rest of the line.
    const data = tokens.slice(next)
    const [only] = data
    const rdata = parseTemplate(
      data.length === 1 && isQuoted(only!) ? only!.slice(1) : data.map(tokenText).join(' '),
    )
    for (let number = range.start; number <= range.stop && !this.#isStopped; number += range.step) {
      const name = this.#readName(expandTemplate(owner, number), 'owner')
      this.#add(name, type, ttl, splitData(expandTemplate(rdata, number)), 0)
    }
  }

  #parseRecord(tokens: readonly RdataToken[], isIndented: boolean): void {
    if (!isIndented) this.#setOwner(tokens[0]!)
    const { ttl, type, next } = this.#readHeader(tokens, isIndented ? 0 : 1)
    const name = this.#owner
    if (name === undefined)
      throw new EntryFailure(
        'owner_missing',
        'The record has no owner: no valid one comes before it. Write the name at the start of the line.',
      )
    this.#add(name, type, ttl, tokens, next)
  }

  #setOwner(token: RdataToken): void {
    if (token === this.#ownerText) return
    this.#owner = undefined
    this.#ownerText = ''
    this.#owner = this.#readName(token, 'owner')
    this.#ownerText = token
  }

  #readName(token: RdataToken, code: 'owner' | 'directive'): DomainName {
    const relative = findPlainName(token, this.#originName)
    if (relative !== undefined) return relative
    if (isQuoted(token)) throw new EntryFailure(code, 'The name is quoted. Write it without quotes.')
    try {
      readName(token, 0, token.length, this.#origin, scratch, 0)
      return nameFromWire(scratch)
    } catch (error) {
      if (error instanceof NameError) throw new EntryFailure(code, `Malformed name: ${error.message}.`)
      throw error
    }
  }

  /** Reads TTL and class in either order, and the type. */
  #readHeader(
    tokens: readonly RdataToken[],
    from: number,
  ): { ttl: number | undefined; type: number; next: number } {
    let ttl: number | undefined
    let hasClass = false
    let at = from
    for (; at < tokens.length; at++) {
      const token = tokens[at]!
      const isNumber = isDigit(token.charCodeAt(0))
      if (isNumber && ttl === undefined) {
        ttl = findTtl(token)
        if (ttl === undefined)
          throw new EntryFailure(
            'ttl',
            'The TTL is not a number of seconds up to 2147483647, or one with units as 1h30m.',
          )
        ttl = this.#withoutAutomatic(this.#limitTtl(ttl))
        continue
      }
      const type = findType(token)
      if (type !== undefined) {
        if (!isZoneType(type))
          throw new EntryFailure(
            'type_refused',
            'The type is obsolete or exists only in messages. Remove the record.',
          )
        if (ttl !== undefined) this.#lastTtl = ttl
        return { ttl, type, next: at + 1 }
      }
      const found = hasClass ? undefined : findClass(token)
      if (found === undefined)
        throw new EntryFailure(
          'type',
          'Unknown record type. Use a mnemonic as in MX, or TYPEnnn \\# length octets.',
        )
      if (found !== recordClass.IN)
        throw new EntryFailure('class', 'Only class IN is supported. Remove the record.')
      hasClass = true
    }
    throw new EntryFailure('type_missing', 'The record type is missing. Use the form name TTL IN type data.')
  }

  /** Returns 0 for a TTL of more than 31 bits (RFC 2181 section 8). */
  #limitTtl(ttl: number): number {
    if (ttl <= ttlMax) return ttl
    this.#warn('ttl_above_max', 'A TTL above 2147483647 is taken as 0 (RFC 2181).')
    return 0
  }

  #add(
    name: DomainName,
    type: number,
    statedTtl: number | undefined,
    tokens: readonly RdataToken[],
    next: number,
  ): void {
    if (this.#records.length >= this.#recordsMax) {
      this.#isStopped = true
      throw new EntryFailure(
        'too_many_records',
        `The file has more than ${this.#recordsMax} records. Split it, or transfer the zone.`,
      )
    }
    let rdata
    try {
      rdata = parseRdataTokens(type, tokens, next, this.#origin)
    } catch (error) {
      throw failureOf(error)
    }
    this.#rdataOctets += rdata.length
    if (this.#rdataOctets > zoneFileLimits.rdataOctets) {
      this.#isStopped = true
      const message = `The records have more than ${zoneFileLimits.rdataOctets} octets of data. Split the file, or transfer the zone.`
      throw new EntryFailure('file_too_large', message)
    }
    const ttl =
      statedTtl ??
      this.#zoneTtl ??
      this.#lastTtl ??
      (type === recordType.SOA ? this.#soaTtl(rdata) : this.#defaultTtl)
    if (ttl === undefined)
      throw new EntryFailure(
        'ttl_missing',
        'The record has no TTL. Add one, or put $TTL 3600 before the records.',
      )
    const advice = adviseRdata(type, rdata)
    if (advice) this.#warn('rdata_advice', advice.message)
    if (this.#isInZoneTwice(type, rdata))
      this.#warn(
        'relative_target',
        'The name at the end has no final dot, so the name of the zone is added to it once more. Add the dot.',
      )
    this.#records.push({ name, type, ttl, rdata, line: this.#reader.entry.line })
  }

  /** Exports of Cloudflare write 1 for a TTL that it chooses, which an import gives its default. */
  #withoutAutomatic(ttl: number): number {
    if (ttl !== 1 || this.#defaultTtl === undefined) return ttl
    this.#warn('ttl_automatic', `The TTL 1 stands for an automatic one. ${this.#defaultTtl} is used.`)
    return this.#defaultTtl
  }

  /** Whether the record points at a name such as `mail.example.com.example.com.`, which is hardly ever meant. */
  #isInZoneTwice(type: number, rdata: Uint8Array): boolean {
    const target = targetOf(type, rdata)
    const zone = this.#originName
    return (
      target !== undefined &&
      zone.length > 1 &&
      (target === `${zone}${zone}` || target.endsWith(`.${zone}${zone}`))
    )
  }

  /** The minimum of SOA, which is then the TTL of records after it too. */
  #soaTtl(rdata: Uint8Array): number {
    const minimum = new DataView(rdata.buffer, rdata.byteOffset).getUint32(rdata.length - 4)
    this.#warn(
      'ttl_from_soa',
      'The SOA record has no TTL; its minimum is used for it and for records without a TTL.',
    )
    this.#lastTtl = this.#limitTtl(minimum)
    return this.#lastTtl
  }
}

const scratch = new Uint8Array(nameLengthMax)

/**
 * Returns the name of a relative token that is already canonical, as almost all owners are; undefined for any other or
 * a long token.
 */
function findPlainName(token: RdataToken, origin: DomainName): DomainName | undefined {
  const isPlain = token.length <= 63 && origin.length > 1 && origin.length < 180 && plain.test(token)
  return isPlain ? (`${token}.${origin}` as DomainName) : undefined
}

const plain = /^[a-z\d_*-]+(?:\.[a-z\d_*-]+)*$/

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function tokenText(token: RdataToken): string {
  return isQuoted(token) ? `${token}"` : token
}

function splitData(text: string): RdataToken[] {
  try {
    return splitTokens(text)
  } catch (error) {
    throw failureOf(error)
  }
}

function failureOf(error: unknown): unknown {
  return error instanceof RdataError ? new EntryFailure('rdata', error.message, error.field) : error
}
