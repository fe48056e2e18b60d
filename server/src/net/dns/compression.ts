// Name compression (RFC 1035 section 4.1.4): which record data contains names that may be compressed, reading of pointers, and the table of
// names of a message that is written. All other data is copied, as RFC 3597 section 4 demands.
import { MessageError } from './message-error.ts'
import { lowerOctet, nameLengthMax } from './name.ts'
import { recordType as t } from './type.ts'

/**
 * The data of a type up to its last name: numbers are octets to copy, `name` and `string` the following field. The rest
 * is copied.
 */
export type NameLayout = readonly (number | 'name' | 'string')[]

type Compression = { readonly layout: NameLayout; readonly compressed: boolean }

/** RFC 1035 types are compressed when written; the others only read (RFC 3597 section 4). */
const compressions: ReadonlyMap<number, Compression> = new Map<number, Compression>([
  ...[t.NS, t.MD, t.MF, t.CNAME, t.MB, t.MG, t.MR, t.PTR].map((type) => written(type, ['name'])),
  written(t.SOA, ['name', 'name']),
  written(t.MINFO, ['name', 'name']),
  written(t.MX, [2, 'name']),
  onlyRead(t.RP, ['name', 'name']),
  onlyRead(t.AFSDB, [2, 'name']),
  onlyRead(t.RT, [2, 'name']),
  onlyRead(t.SIG, [18, 'name']),
  onlyRead(t.PX, [2, 'name', 'name']),
  onlyRead(t.NXT, ['name']),
  onlyRead(t.SRV, [6, 'name']),
  onlyRead(t.NAPTR, [4, 'string', 'string', 'string', 'name']),
  onlyRead(t.KX, [2, 'name']),
  onlyRead(t.DNAME, ['name']),
])

function written(type: number, layout: NameLayout): [number, Compression] {
  return [type, { layout, compressed: true }]
}

function onlyRead(type: number, layout: NameLayout): [number, Compression] {
  return [type, { layout, compressed: false }]
}

/** Returns the layout by which names in the type's data are decompressed; undefined for types without compression. */
export function readLayout(type: number): NameLayout | undefined {
  return compressions.get(type)?.layout
}

/** Returns the layout by which names of the type's data are compressed; undefined if they must not be. */
export function writeLayout(type: number): NameLayout | undefined {
  const compression = compressions.get(type)
  return compression?.compressed ? compression.layout : undefined
}

/** An uncompressed name in `wire[0, length)`, and the end of the parsed octets in the message. */
export type ReadName = { readonly wire: Uint8Array; length: number; end: number }

export function createReadName(): ReadName {
  return { wire: new Uint8Array(nameLengthMax), length: 0, end: 0 }
}

/**
 * Reads the name at `at` into `into`. Each pointer must point before the part of the name that it ends, so the work is bounded by the length of
 * a name. Throws MessageError.
 */
export function readCompressedName(message: Uint8Array, at: number, end: number, into: ReadName): void {
  const { wire } = into
  let length = 0
  let i = at
  let partStart = at
  let partEnd = end
  let after = -1
  for (;;) {
    if (i >= partEnd) throw new MessageError('truncated', 'a name goes beyond its end')
    const octet = message[i]!
    if (octet < 64) {
      if (i + octet >= partEnd) throw new MessageError('truncated', 'a name goes beyond its end')
      if (length + octet + 1 > nameLengthMax)
        throw new MessageError('name', 'a name has more than 255 octets')
      for (const labelEnd = i + octet; i <= labelEnd;) wire[length++] = message[i++]!
      if (octet === 0) break
      continue
    }
    if (octet < 192) throw new MessageError('name', 'a label has an unknown type')
    if (i + 1 >= partEnd) throw new MessageError('truncated', 'a name goes beyond its end')
    const target = ((octet & 63) << 8) | message[i + 1]!
    if (target >= partStart)
      throw new MessageError('pointer', 'a compression pointer does not point backwards')
    if (after < 0) after = i + 2
    partEnd = partStart
    i = target
    partStart = target
  }
  into.length = length
  into.end = after < 0 ? i : after
}

const slotCount = 2_048

/**
 * The names of a message under construction, by their suffixes. Offsets beyond 16383 cannot be pointed at and are
 * skipped.
 */
export class CompressionTable {
  readonly #message: Uint8Array
  readonly #slots = new Uint16Array(slotCount)
  #count = 0

  constructor(message: Uint8Array) {
    this.#message = message
  }

  /**
   * Compresses the uncompressed name that was written to the message at `at` in place, and returns its end. `keepCase` compares the octets as
   * they are: names in record data come out of a transfer as they went in.
   */
  compress(at: number, keepCase: boolean): number {
    const message = this.#message
    let count = 0
    let end = at
    for (; message[end] !== 0; end += message[end]! + 1) labelStarts[count++] = end
    let hash = 5_381
    let known = 0
    let knownLabels = 0
    for (let label = count - 1; label >= 0; label--) {
      const start = labelStarts[label]!
      hash = hashLabel(message, start, hash)
      if (known >= 0) {
        const found = this.#find(hash, start, keepCase)
        if (found > 0) {
          known = found
          knownLabels = count - label
          continue
        }
        known = -1 - known
      }
      this.#add(hash, start)
    }
    if (knownLabels === 0) return end + 1
    const target = known < 0 ? -1 - known : known
    const cut = labelStarts[count - knownLabels]!
    message[cut] = 192 | (target >> 8)
    message[cut + 1] = target & 255
    return cut + 2
  }

  /** Forgets all names. */
  clear(): void {
    this.#slots.fill(0)
    this.#count = 0
  }

  /** Forgets the names at or after `end`, where a record was taken back. */
  truncate(end: number): void {
    for (let slot = 0; slot < slotCount; slot++) {
      if (this.#slots[slot]! >= end) this.#slots[slot] = removed
    }
  }

  #find(hash: number, start: number, keepCase: boolean): number {
    for (let slot = hash & (slotCount - 1); ; slot = (slot + 1) & (slotCount - 1)) {
      const offset = this.#slots[slot]!
      if (offset === 0) return 0
      if (offset !== removed && this.#same(offset, start, keepCase)) return offset
    }
  }

  #add(hash: number, start: number): void {
    if (start > 0x3fff || this.#count >= slotCount / 2) return
    this.#count++
    let slot = hash & (slotCount - 1)
    while (this.#slots[slot] !== 0) slot = (slot + 1) & (slotCount - 1)
    this.#slots[slot] = start
  }

  /** Compares the possibly compressed name at `offset` with the uncompressed name at `start`. */
  #same(offset: number, start: number, keepCase: boolean): boolean {
    const message = this.#message
    let [i, j] = [offset, start]
    for (;;) {
      let length = message[i]!
      while (length >= 192) {
        i = ((length & 63) << 8) | message[i + 1]!
        length = message[i]!
      }
      if (length !== message[j]) return false
      if (length === 0) return true
      for (let k = 1; k <= length; k++) {
        const [a, b] = [message[i + k]!, message[j + k]!]
        if (a !== b && (keepCase || lowerOctet(a) !== lowerOctet(b))) return false
      }
      i += length + 1
      j += length + 1
    }
  }
}

/** A slot whose name was taken back: no offset, as pointers end at 16383. */
const removed = 0xffff
const labelStarts = new Uint16Array(128)

function hashLabel(message: Uint8Array, start: number, seed: number): number {
  let hash = seed
  for (let i = start; i <= start + message[start]!; i++)
    hash = (Math.imul(hash, 33) ^ lowerOctet(message[i]!)) | 0
  return hash & 0x7fff_ffff
}
