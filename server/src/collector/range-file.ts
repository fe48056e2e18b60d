// Reads files of AS numbers and countries by address, as operators download them: TSV of iptoasn.com, CSV of DB-IP and
// of others, and MMDB. No file is shipped: licences forbid it or require attribution by the publisher.
import { readFile, stat } from 'node:fs/promises'
import { PrefixError } from '../net/prefix-error.ts'
import { parseAddress } from '../net/address.ts'
import { lastBits, type Bits } from '../net/bits.ts'
import { hostPrefix, parsePrefix, prefixBits } from '../net/prefix.ts'
import { cleanText } from '../events/event/json.ts'
import { createAddressRanges, type AddressRange, type AddressRanges } from './address-ranges.ts'
import { readMmdb } from './mmdb.ts'
import { toCountryNumber, type RangeSink } from './range-sink.ts'

export type AddressTables = {
  readonly asns: AddressRanges
  /** Values as in `toCountryNumber`. */
  readonly countries: AddressRanges
  /** By AS number; the first name of each. */
  readonly asNames: ReadonlyMap<number, string>
}

/** A file that cannot be read, or that has no ranges; the message is for operators. */
export class RangeFileError extends Error {}

export const noAddressTables: AddressTables = {
  asns: createAddressRanges([], []),
  countries: createAddressRanges([], []),
  asNames: new Map(),
}

/** Throws RangeFileError. Half a million lines take about a second. */
export async function readAddressTables(paths: readonly string[]): Promise<AddressTables> {
  const collected = createCollected()
  for (const path of paths) {
    const before = collected.count()
    const content = await readFile(path).catch((error: Error) => {
      throw new RangeFileError(`${path} cannot be read: ${error.message}`)
    })
    try {
      if (/\.mmdb$/i.test(path)) readMmdb(content, collected.sink)
      else readRangeLines(content.toString('utf8'), collected.sink)
    } catch (error) {
      throw new RangeFileError(`${path}: ${(error as Error).message}`)
    }
    if (collected.count() === before)
      throw new RangeFileError(`${path} has no ranges with an AS number or a country`)
  }
  return collected.tables()
}

/** Returns a text that changes when a file does. `readAddressTables` reports missing files. */
export async function versionOfFiles(paths: readonly string[]): Promise<string> {
  const versions = paths.map((path) =>
    stat(path).then(
      ({ mtimeMs, size }) => `${path} ${mtimeMs} ${size}`,
      () => `${path} missing`,
    ),
  )
  return (await Promise.all(versions)).join('\n')
}

function createCollected() {
  const asns = { ipv4: [] as AddressRange<number>[], ipv6: [] as AddressRange<bigint>[] }
  const countries = { ipv4: [] as AddressRange<number>[], ipv6: [] as AddressRange<bigint>[] }
  const add = (to: typeof asns, family: 4 | 6, first: bigint, last: bigint, value: number): void => {
    if (value === 0) return
    if (family === 4) to.ipv4.push({ first: Number(first), last: Number(last), value })
    else to.ipv6.push({ first, last, value })
  }
  const asNames = new Map<number, string>()
  const sink: RangeSink = {
    add(family, first, last, asn, country) {
      add(asns, family, first, last, asn)
      add(countries, family, first, last, country)
    },
    name(asn, name) {
      if (name !== '' && !asNames.has(asn)) asNames.set(asn, cleanText(name, nameMax))
    },
  }
  return {
    sink,
    count: () => asns.ipv4.length + asns.ipv6.length + countries.ipv4.length + countries.ipv6.length,
    tables: (): AddressTables => ({
      asns: createAddressRanges(asns.ipv4, asns.ipv6),
      countries: createAddressRanges(countries.ipv4, countries.ipv6),
      asNames,
    }),
  }
}

const nameMax = 100

/**
 * One range per line: a prefix, or the first and the last address as text or, for IPv4, as numbers; then an AS number,
 * a country, or both in this order, and the name of the AS or any other text. Separated by tabs or commas. Skips lines
 * without a range, such as a heading.
 */
export function readRangeLines(text: string, sink: RangeSink): void {
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const fields = splitLine(line)
    const range = rangeOf(fields)
    if (range === undefined) continue
    let [asn, country] = [0, 0]
    for (const field of fields.slice(range.fields, range.fields + 3)) {
      const found = /^(?:AS)?(\d{1,10})$/.exec(field)
      if (found && asn === 0 && country === 0) asn = Number(found[1])
      else if (country === 0) country = toCountryNumber(field)
    }
    if (asn > 0xffffffff || (asn === 0 && country === 0)) continue
    sink.add(range.family, range.first, range.last, asn, country)
    const values = range.fields + Number(asn > 0) + Number(country > 0)
    if (asn > 0) sink.name(asn, nameIn(line, fields.slice(values)))
  }
}

/** A quoted field may contain separators; only names do, which come last. */
function splitLine(line: string): string[] {
  const fields = line.includes('\t') ? line.split('\t', 12) : line.split(',', 12)
  return fields.map((field) => field.trim().replace(/^"(.*)"$/, '$1'))
}

/** The text after the values; of a file with commas, all of it. */
const nameIn = (line: string, [first = '', ...rest]: readonly string[]): string =>
  line.includes('\t') ? first : [first, ...rest].join(', ').replaceAll('"', '').trim()

type Range = {
  readonly family: 4 | 6
  readonly first: bigint
  readonly last: bigint
  readonly fields: number
}

function rangeOf([start = '', end = '']: readonly string[]): Range | undefined {
  try {
    if (start.includes('/')) {
      const bits = prefixBits(parsePrefix(start))
      return { family: bits.family, first: numberOf(bits), last: numberOf(lastBits(bits)), fields: 1 }
    }
    const [first, last] = [addressBits(start), addressBits(end)]
    if (first === undefined || last === undefined || first.family !== last.family) return undefined
    return { family: first.family, first: numberOf(first), last: numberOf(last), fields: 2 }
  } catch (error) {
    if (error instanceof PrefixError) return undefined
    throw error
  }
}

function addressBits(text: string): Bits | undefined {
  if (/^\d{1,10}$/.test(text)) return { family: 4, w0: Number(text) | 0, w1: 0, w2: 0, w3: 0, length: 32 }
  if (!/^[0-9a-f.:]{2,45}$/i.test(text)) return undefined
  return prefixBits(hostPrefix(parseAddress(text)))
}

function numberOf({ family, w0, w1 }: Bits): bigint {
  return family === 4 ? BigInt(w0 >>> 0) : (BigInt(w0 >>> 0) << 32n) | BigInt(w1 >>> 0)
}
