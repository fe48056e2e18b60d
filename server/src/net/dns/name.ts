// Domain names (RFC 1035 section 3.1): text with escapes, wire format, and the order of RFC 4034. A `DomainName` is canonical text: absolute,
// lower case, one spelling per name, so names are compared and keyed as strings. Compression pointers are read in `message.ts`.

declare const brand: unique symbol
declare const zoneBrand: unique symbol
/** For example `www.example.com.`; the root is `.`. Only `parseName` and the functions of this file create it. */
export type DomainName = string & { readonly [brand]: 'DomainName' }
/** The name of a zone's apex. */
export type ZoneName = DomainName & { readonly [zoneBrand]: 'ZoneName' }

export type NameErrorReason =
  | 'empty'
  | 'relative'
  | 'label_length'
  | 'name_length'
  | 'escape'
  | 'character'
  | 'wire'

/** `message` is public text with advice and never repeats the input. */
export class NameError extends Error {
  readonly reason: NameErrorReason

  constructor(reason: NameErrorReason, message: string) {
    super(message)
    this.name = 'NameError'
    this.reason = reason
  }
}

/** Octets of the longest name in wire format, the root label included (RFC 1035 section 2.3.4). */
export const nameLengthMax = 255
const labelLengthMax = 63

export const root = '.' as ZoneName

const dot = 46
const backslash = 92

/** Octets that are not written as themselves: BIND's set, which every server reads. */
const special = new Set([...'".;()@$\\'].map((character) => character.charCodeAt(0)))

/** The presentation of each octet of a label, in its case. */
const presentation: readonly string[] = Array.from({ length: 256 }, (_, octet) => {
  if (octet <= 32 || octet >= 127) return `\\${String(octet).padStart(3, '0')}`
  return special.has(octet) ? `\\${String.fromCharCode(octet)}` : String.fromCharCode(octet)
})
const lowerPresentation: readonly string[] = presentation.map((text, octet) =>
  octet >= 65 && octet <= 90 ? text.toLowerCase() : text,
)

/** Returns the octet with an ASCII letter in lower case. DNS knows no other case (RFC 4343). */
export function lowerOctet(octet: number): number {
  return octet >= 65 && octet <= 90 ? octet + 32 : octet
}

/**
 * Parses presentation format into a canonical name. A name without a trailing dot is relative to `origin`, and absolute
 * without an origin: `example.com` is `example.com.`. `@` is the origin. Throws NameError.
 */
export function parseName(text: string, origin?: DomainName): DomainName {
  if (text === '@' && origin === undefined)
    throw new NameError('relative', 'the name is "@", which has no meaning here; write the name')
  const wire = scratch
  const end = readName(text, 0, text.length, nameToWire(origin ?? root), wire, 0)
  return printWire(wire, 0, end, lowerPresentation) as DomainName
}

/** Parses the name of a zone: as `parseName`, without an origin. */
export function parseZoneName(text: string): ZoneName {
  return parseName(text) as ZoneName
}

const scratch = new Uint8Array(nameLengthMax)

/**
 * Reads the name in `text[start, end)` and writes it uncompressed, in its case, to `wire` at `at`, which has `nameLengthMax` octets left.
 * Returns the end of the name in `wire`. A relative name gets `origin` (wire format); without one it is an error. Throws NameError.
 */
export function readName(
  text: string,
  start: number,
  end: number,
  origin: Uint8Array | undefined,
  wire: Uint8Array,
  at: number,
): number {
  const length = end - start
  if (length === 0) throw new NameError('empty', 'the name is empty; write "." for the root')
  if (length === 1) {
    const code = text.charCodeAt(start)
    if (code === dot) {
      wire[at] = 0
      return at + 1
    }
    if (code === 64) return appendOrigin(origin, wire, at, at)
  }
  let label = at
  let to = at + 1
  let i = start
  while (i < end) {
    let octet = text.charCodeAt(i++)
    if (octet === dot) {
      if (to === label + 1)
        throw new NameError('empty', 'the name has an empty label: two dots follow each other')
      wire[label] = to - label - 1
      label = to++
      if (to - at > nameLengthMax) throw tooLong()
      continue
    }
    if (octet === backslash) {
      octet = readEscape(text, i, end)
      if (octet < 0)
        throw new NameError('escape', 'an escape is \\DDD with a number up to 255, or \\ and one character')
      i += isDigit(text.charCodeAt(i)) ? 3 : 1
    } else if (octet <= 32 || octet >= 127) {
      throw new NameError(
        'character',
        'a name has only printable ASCII characters; write other octets as \\DDD, and international names as xn-- labels',
      )
    }
    if (to - label > labelLengthMax) throw new NameError('label_length', 'a label has at most 63 octets')
    if (to - at >= nameLengthMax) throw tooLong()
    wire[to++] = octet
  }
  if (to === label + 1) {
    wire[label] = 0
    return to
  }
  wire[label] = to - label - 1
  return appendOrigin(origin, wire, to, at)
}

function appendOrigin(origin: Uint8Array | undefined, wire: Uint8Array, to: number, at: number): number {
  if (origin === undefined) throw new NameError('relative', 'the name is relative; end it with a dot')
  if (to + origin.length - at > nameLengthMax) throw tooLong()
  for (let i = 0; i < origin.length; i++) wire[to + i] = origin[i]!
  return to + origin.length
}

function tooLong(): NameError {
  return new NameError('name_length', 'a name has at most 255 octets')
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

/**
 * Returns the octet of the escape whose backslash is before `i`, or -1. It takes three characters of `text[i, end)` if the first one is a
 * digit, otherwise one.
 */
export function readEscape(text: string, i: number, end: number): number {
  if (i >= end) return -1
  const first = text.charCodeAt(i)
  if (!isDigit(first)) return first <= 255 ? first : -1
  if (i + 2 >= end) return -1
  const [second, third] = [text.charCodeAt(i + 1), text.charCodeAt(i + 2)]
  if (!isDigit(second) || !isDigit(third)) return -1
  const octet = (first - 48) * 100 + (second - 48) * 10 + third - 48
  return octet <= 255 ? octet : -1
}

/** Returns the end of the uncompressed name at `at`; -1 if it is malformed, compressed or goes beyond `end`. */
export function skipName(wire: Uint8Array, at: number, end: number): number {
  let i = at
  while (i < end) {
    const length = wire[i]!
    if (length > labelLengthMax) return -1
    i += length + 1
    if (i - at > nameLengthMax) return -1
    if (length === 0) return i <= end ? i : -1
  }
  return -1
}

/** Converts an uncompressed name at `at` into a canonical name. Throws NameError. */
export function nameFromWire(wire: Uint8Array, at = 0): DomainName {
  return printWire(wire, at, checkedEnd(wire, at), lowerPresentation) as DomainName
}

/** Prints an uncompressed name at `at` in its own case, with a trailing dot. Throws NameError. */
export function printName(wire: Uint8Array, at = 0): string {
  return printWire(wire, at, checkedEnd(wire, at), presentation)
}

function checkedEnd(wire: Uint8Array, at: number): number {
  const end = skipName(wire, at, wire.length)
  if (end < 0) throw new NameError('wire', 'not a name in wire format')
  return end
}

function printWire(wire: Uint8Array, at: number, end: number, table: readonly string[]): string {
  if (end === at + 1) return '.'
  let text = ''
  for (let i = at; i < end - 1;) {
    const labelEnd = i + 1 + wire[i]!
    for (i++; i < labelEnd; i++) text += table[wire[i]!]!
    text += '.'
  }
  return text
}

/** Returns the name in wire format. */
export function nameToWire(name: DomainName): Uint8Array {
  const wire = new Uint8Array(nameLengthMax)
  return wire.slice(0, writeName(name, wire, 0))
}

/** Writes the name in wire format to `wire` at `at`, which has `nameLengthMax` octets left. Returns its end. */
export function writeName(name: DomainName, wire: Uint8Array, at: number): number {
  if (name.length === 1) {
    wire[at] = 0
    return at + 1
  }
  let label = at
  let to = at + 1
  for (let i = 0; i < name.length; i++) {
    let octet = name.charCodeAt(i)
    if (octet === dot) {
      wire[label] = to - label - 1
      label = to++
      continue
    }
    if (octet === backslash) {
      octet = readEscape(name, i + 1, name.length)
      i += isDigit(name.charCodeAt(i + 1)) ? 3 : 1
    }
    wire[to++] = octet
  }
  wire[label] = 0
  return to
}

/** Returns the labels in presentation format, leftmost first; an empty list for the root. */
export function labelsOf(name: DomainName): string[] {
  const labels: string[] = []
  for (let start = name === root ? 1 : 0; start < name.length;) {
    const end = labelEnd(name, start)
    labels.push(name.slice(start, end))
    start = end + 1
  }
  return labels
}

/** Returns the position of the dot that ends the label at `start`. */
function labelEnd(name: string, start: number): number {
  for (let i = start; ; i++) {
    const code = name.charCodeAt(i)
    if (code === backslash) i++
    else if (code === dot) return i
  }
}

/** Returns the number of labels without the root, as in the Labels field of RRSIG except for a wildcard. */
export function countLabels(name: DomainName): number {
  let count = 0
  for (let at = name === root ? 1 : 0; at < name.length; at = labelEnd(name, at) + 1) count++
  return count
}

/** Returns the name without its leftmost label; undefined for the root. */
export function parentOf(name: DomainName): DomainName | undefined {
  if (name === root) return undefined
  const end = labelEnd(name, 0) + 1
  return (end === name.length ? root : name.slice(end)) as DomainName
}

/** Returns whether the name is a proper subdomain of `ancestor`. */
export function isBelow(name: DomainName, ancestor: DomainName): boolean {
  if (ancestor === root) return name !== root
  const start = name.length - ancestor.length
  if (start < 2 || name.charCodeAt(start - 1) !== dot || !name.endsWith(ancestor)) return false
  // An escaped dot belongs to a label: in canonical text its backslash is the last of an odd number.
  let backslashes = 0
  for (let i = start - 2; i >= 0 && name.charCodeAt(i) === backslash; i--) backslashes++
  return backslashes % 2 === 0
}

/** Returns whether the name is `ancestor` or below it. */
export function isAtOrBelow(name: DomainName, ancestor: DomainName): boolean {
  return name === ancestor || isBelow(name, ancestor)
}

/** The name of a record set as the API shows it: relative to the zone, `@` for the zone itself. */
export function relativeName(name: DomainName, zone: DomainName): string {
  if (name === zone) return '@'
  return zone === root ? name : name.slice(0, -zone.length - 1)
}

/** Returns whether the leftmost label is `*` (RFC 4592). */
export function isWildcard(name: DomainName): boolean {
  return name.charCodeAt(0) === 42 && name.charCodeAt(1) === dot
}

/** Returns the name with a label in presentation format before it. Throws NameError, also if it becomes too long. */
export function prependLabel(label: string, name: DomainName): DomainName {
  return parseName(name === root ? `${label}.` : `${label}.${name}`)
}

/** Reused: a publication makes a key for every set. */
const keyScratch = new Uint8Array(2 * nameLengthMax)
const labelStarts = new Uint8Array(128)

/**
 * Returns a key whose plain octet order is the canonical order of RFC 4034 section 6.1, also as PostgreSQL's `bytea`: the labels from right to
 * left in lower case, each ended by 0x00, with the octets 0x00 and 0x01 written as 01 01 and 01 02. The key of the root is empty, and the
 * names below a name are those whose key starts with its key.
 */
export function nameKey(name: DomainName): Uint8Array {
  const end = writeName(name, scratch, 0)
  const key = keyScratch
  let labels = 0
  for (let at = 0; at < end - 1; at += scratch[at]! + 1) labelStarts[labels++] = at
  let to = 0
  for (let i = labels - 1; i >= 0; i--) {
    const start = labelStarts[i]!
    for (let at = start + 1; at <= start + scratch[start]!; at++) {
      const octet = lowerOctet(scratch[at]!)
      if (octet <= 1) key[to++] = 1
      key[to++] = octet <= 1 ? octet + 1 : octet
    }
    key[to++] = 0
  }
  return key.slice(0, to)
}

/** Returns the name of a key. Throws NameError if it is not one. */
export function nameFromKey(key: Uint8Array): DomainName {
  const labels: string[] = []
  let label = ''
  for (let i = 0; i < key.length; i++) {
    const octet = key[i]!
    if (octet === 0) {
      labels.push(label)
      label = ''
    } else if (octet === 1) label += presentation[key[++i]! - 1] ?? '.'
    else label += presentation[octet]!
  }
  if (label !== '') throw new NameError('wire', 'not the key of a name')
  return parseName(`${labels.reverse().join('.')}.`)
}

/** Compares in the canonical order of RFC 4034 section 6.1: a parent before its subdomains, labels from right to left. */
export function compareNames(a: DomainName, b: DomainName): number {
  if (a === b) return 0
  return compareOctets(nameKey(a), nameKey(b))
}

/** Compares two octet strings as unsigned octets, the shorter one first. */
export function compareOctets(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = a[i]! - b[i]!
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
