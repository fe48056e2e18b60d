// Reads AS numbers with their names and countries from a MaxMind DB file (format 2.0, https://maxmind.github.io/MaxMind-DB/), as ipinfo, DB-IP and others
// offer it. Content is not trusted: offsets, depths and counts are bounded.
import { toCountryNumber, type RangeSink } from './range-sink.ts'

const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
const depthMax = 32
const separatorBytes = 16
/** The tree of IPv4 is reached from ::/96, 6to4, Teredo and others. */
const sharedMax = 8
/** Limit per record: the largest have some hundred. */
const valuesMax = 10_000

type Value =
  | string
  | number
  | bigint
  | boolean
  | Buffer
  | Value[]
  | { readonly [name: string]: Value }
  | undefined

/** Throws an Error if it is not a database of addresses. */
export function readMmdb(file: Buffer, sink: RangeSink): void {
  const at = file.lastIndexOf(marker)
  if (at < 0) throw new Error('it is not a MaxMind DB file')
  const metadata = decode(file, at + marker.length, at + marker.length)
  const nodes = Number(fieldOf(metadata, 'node_count'))
  const bits = Number(fieldOf(metadata, 'record_size'))
  const version = Number(fieldOf(metadata, 'ip_version'))
  const treeBytes = (nodes * bits) / 4
  if (
    ![24, 28, 32].includes(bits) ||
    ![4, 6].includes(version) ||
    !Number.isSafeInteger(nodes) ||
    treeBytes > at
  )
    throw new Error('its tree is not one of IPv4 or IPv6 addresses')
  const data = treeBytes + separatorBytes
  const records = new Map<number, { readonly asn: number; readonly country: number }>()
  const recordAt = (offset: number) => {
    const known = records.get(offset)
    if (known) return known
    const content = decode(file, data + offset, data)
    const record = describe(content)
    records.set(offset, record)
    if (record.asn > 0) sink.name(record.asn, nameOf(content))
    return record
  }
  const width = version === 4 ? 32 : 128
  // Nodes may be shared, as in the IPv4 tree; a damaged tree may have cycles.
  let visitsLeft = nodes * sharedMax + 1
  /** IPv4 is below ::/96 of a tree of IPv6. */
  const walk = (node: number, depth: number, address: bigint): void => {
    if (node === nodes) return
    if (visitsLeft-- === 0) throw new Error('its tree has a loop')
    if (node > nodes) {
      const { asn, country } = recordAt(node - nodes - separatorBytes)
      addRange(sink, width, depth, address, asn, country)
      return
    }
    if (depth >= width) throw new Error('its tree is too deep')
    const [left, right] = recordsOf(file, node, bits)
    walk(left, depth + 1, address)
    walk(right, depth + 1, address | (1n << BigInt(width - 1 - depth)))
  }
  walk(0, 0, 0n)
}

function addRange(
  sink: RangeSink,
  width: number,
  depth: number,
  address: bigint,
  asn: number,
  country: number,
): void {
  if (asn === 0 && country === 0) return
  const last = address | ((1n << BigInt(width - depth)) - 1n)
  if (width === 32) sink.add(4, address, last, asn, country)
  else if (address >> 32n === 0n && depth >= 96)
    sink.add(4, address & 0xffffffffn, last & 0xffffffffn, asn, country)
  // Aliases of IPv4 inside of IPv6 (6to4 and others) lead to the same records.
  else if (address >> 32n !== 0xffffn) sink.add(6, address >> 64n, last >> 64n, asn, country)
}

function recordsOf(file: Buffer, node: number, bits: number): readonly [number, number] {
  const at = (node * bits) / 4
  if (bits === 24) return [file.readUIntBE(at, 3), file.readUIntBE(at + 3, 3)]
  if (bits === 32) return [file.readUInt32BE(at), file.readUInt32BE(at + 4)]
  const middle = file[at + 3]!
  return [((middle >> 4) << 24) | file.readUIntBE(at, 3), ((middle & 15) << 24) | file.readUIntBE(at + 4, 3)]
}

function describe(record: Value): { readonly asn: number; readonly country: number } {
  const asn =
    fieldOf(record, 'autonomous_system_number') ?? fieldOf(record, 'asn') ?? fieldOf(record, 'as_number')
  const country =
    fieldOf(fieldOf(record, 'country'), 'iso_code') ??
    fieldOf(record, 'country_code') ??
    fieldOf(record, 'country')
  const number = Number(typeof asn === 'string' ? asn.replace(/^AS/, '') : asn)
  return {
    asn: Number.isSafeInteger(number) && number > 0 && number <= 0xffffffff ? number : 0,
    country: typeof country === 'string' ? toCountryNumber(country) : 0,
  }
}

/** Name of the AS. */
function nameOf(record: Value): string {
  const name =
    fieldOf(record, 'autonomous_system_organization') ?? fieldOf(record, 'as_name') ?? fieldOf(record, 'name')
  return typeof name === 'string' ? name : ''
}

function fieldOf(value: Value, name: string): Value {
  return typeof value === 'object' && !Array.isArray(value) && !Buffer.isBuffer(value)
    ? value[name]
    : undefined
}

function decode(file: Buffer, at: number, base: number): Value {
  return new Decoder(file, base).decodeAt(at, 0).value
}

type Decoded = { readonly value: Value; readonly end: number }

class Decoder {
  readonly #file: Buffer
  /** Pointers count from here. */
  readonly #base: number
  #valuesLeft = valuesMax

  constructor(file: Buffer, base: number) {
    this.#file = file
    this.#base = base
  }

  decodeAt(start: number, depth: number): Decoded {
    const file = this.#file
    if (this.#valuesLeft-- === 0) throw new Error('a record has too many values')
    if (depth > depthMax) throw new Error('its data is nested too deeply')
    if (start < 0 || start >= file.length) throw new Error('its data is incomplete')
    const control = file[start]!
    let at = start + 1
    let type = control >> 5
    if (type === 1) return this.#followPointer(control, at, depth)
    if (type === 0) type = 7 + file[at++]!
    let size = control & 31
    if (size >= 29) {
      const more = size - 28
      size = [29, 285, 65_821][more - 1]! + file.readUIntBE(at, more)
      at += more
    }
    if (type === 7) return this.#decodeMap(at, size, depth)
    if (type === 11) return this.#decodeList(at, size, depth)
    if (type === 14) return { value: size === 1, end: at }
    const end = at + size
    if (end > file.length) throw new Error('its data is incomplete')
    return { value: scalarOf(file, type, at, size), end }
  }

  #followPointer(control: number, at: number, depth: number): Decoded {
    const bytes = ((control >> 3) & 3) + 1
    const high = bytes === 4 ? 0 : (control & 7) * 2 ** (8 * bytes)
    const pointer = high + this.#file.readUIntBE(at, bytes) + [0, 2048, 526_336, 0][bytes - 1]!
    return { value: this.decodeAt(this.#base + pointer, depth + 1).value, end: at + bytes }
  }

  #decodeMap(start: number, size: number, depth: number): Decoded {
    const value: Record<string, Value> = Object.create(null)
    let at = start
    for (let i = 0; i < size; i++) {
      const key = this.decodeAt(at, depth + 1)
      const item = this.decodeAt(key.end, depth + 1)
      value[String(key.value)] = item.value
      at = item.end
    }
    return { value, end: at }
  }

  #decodeList(start: number, size: number, depth: number): Decoded {
    const value: Value[] = []
    let at = start
    for (let i = 0; i < size; i++) {
      const item = this.decodeAt(at, depth + 1)
      value.push(item.value)
      at = item.end
    }
    return { value, end: at }
  }
}

function scalarOf(file: Buffer, type: number, at: number, size: number): Value {
  if (type === 2) return file.toString('utf8', at, at + size)
  if (type === 3 && size === 8) return file.readDoubleBE(at)
  if (type === 15 && size === 4) return file.readFloatBE(at)
  if (type === 4) return file.subarray(at, at + size)
  if ([5, 6, 8].includes(type)) return size === 0 ? 0 : file.readUIntBE(at, Math.min(size, 6))
  return size === 0 ? 0n : BigInt(`0x${file.toString('hex', at, at + size)}`)
}
