// LOC (RFC 1876): latitude, longitude and altitude with a size and two precisions, each a digit and a power of ten in centimetres.
import type { FieldKind, Output, TokenReader } from './field.ts'

const equator = 2 ** 31
const degree = 3_600_000
/** Centimetres from the reference spheroid's 100 km below to 0 m. */
const seaLevel = 10_000_000
const sizeMax = 9_000_000_000

/** Default size, horizontal and vertical precision: 1 m, 10 km, 10 m, in centimetres. */
const precisions: readonly [name: string, default_: number][] = [
  ['size', 100],
  ['horizontal precision', 1_000_000],
  ['vertical precision', 1_000],
]

export const locationField: FieldKind = {
  parse(tokens, out) {
    const latitude = parseAngle(tokens, 'latitude', 90, 'N', 'S')
    const longitude = parseAngle(tokens, 'longitude', 180, 'E', 'W')
    tokens.field = 'altitude'
    const altitude = parseMetres(tokens, -seaLevel, 0xffff_ffff - seaLevel)
    out.octet(0)
    for (const [field, centimetres] of precisions) {
      tokens.field = field
      out.octet(encodeSize(tokens.isAtEnd ? centimetres : parseMetres(tokens, 0, sizeMax)))
    }
    writeAngle(latitude, out)
    writeAngle(longitude, out)
    out.uint32(altitude + seaLevel)
  },
  skip(data) {
    data.field = 'version'
    // Other versions are not defined, and Knot refuses a zone with them at transfer.
    if (data.octet() !== 0) throw data.error('range', 'its version is not 0.')
    for (const [field] of precisions) {
      data.field = field
      const octet = data.octet()
      if (octet >> 4 > 9 || (octet & 15) > 9 || (octet > 0 && octet < 16))
        throw data.error('range', 'digit and exponent are at most 9, and 0 has no exponent.')
    }
    for (const [field, max] of [
      ['latitude', 90],
      ['longitude', 180],
    ] as const) {
      data.field = field
      if (Math.abs(data.uint32() - equator) > max * degree)
        throw data.error('range', `at most ${max} degrees.`)
    }
    data.field = 'altitude'
    data.uint32()
  },
  print(data) {
    data.octet()
    const sizes = precisions.map(() => printSize(data.octet()))
    const latitude = printAngle(data.uint32(), 'N', 'S')
    const longitude = printAngle(data.uint32(), 'E', 'W')
    return [latitude, longitude, printMetres(data.uint32() - seaLevel), ...sizes].join(' ')
  },
}

/** Degrees, and optionally minutes and seconds, up to the letter. Returns thousandths of a second, negative in the south and west. */
function parseAngle(
  tokens: TokenReader,
  field: string,
  degreesMax: number,
  positive: string,
  negative: string,
): number {
  tokens.field = field
  let angle = 0
  for (const unit of [degree, 60_000, 1_000]) {
    const text = tokens.word()
    if (unit !== degree && (text === positive || text === negative))
      return checkAngle(tokens, text === negative ? -angle : angle, degreesMax)
    const pattern = unit === 1_000 ? /^(?:\d{1,10}(?:\.\d{0,3})?|\.\d{1,3})$/ : /^\d{1,10}$/
    const value = pattern.test(text) ? Math.round(Number(text) * unit) : -1
    if (value < 0 || (unit !== degree && value >= 60 * unit))
      throw angleError(tokens, degreesMax, positive, negative)
    angle += value
  }
  const letter = tokens.word()
  if (letter !== positive && letter !== negative) throw angleError(tokens, degreesMax, positive, negative)
  return checkAngle(tokens, letter === negative ? -angle : angle, degreesMax)
}

function checkAngle(tokens: TokenReader, angle: number, degreesMax: number): number {
  if (Math.abs(angle) > degreesMax * degree) throw tokens.error('range', `at most ${degreesMax} degrees.`)
  return angle
}

function angleError(tokens: TokenReader, degreesMax: number, positive: string, negative: string): Error {
  return tokens.error(
    'syntax',
    `not degrees up to ${degreesMax}, minutes and seconds below 60, and ${positive} or ${negative}. Use the form 52 22 23.000 ${positive}.`,
  )
}

/** Returns centimetres. The `m` is optional. */
function parseMetres(tokens: TokenReader, min: number, max: number): number {
  const match = /^(-?)(\d{0,10})(?:\.(\d{0,2}))?m?$/.exec(tokens.word())
  const [, sign = '', whole = '', fraction = ''] = match ?? []
  if (!match || whole + fraction === '') throw tokens.error('syntax', 'not metres. Use the form 10.00m.')
  const centimetres = (sign === '-' ? -1 : 1) * (Number(whole) * 100 + Number(fraction.padEnd(2, '0')))
  if (centimetres < min || centimetres > max)
    throw tokens.error('range', `not from ${min / 100} to ${max / 100} metres.`)
  return centimetres
}

function writeAngle(angle: number, out: Output): void {
  out.uint32(equator + angle)
}

/** Rounds down to a digit and a power of ten. */
function encodeSize(centimetres: number): number {
  let exponent = 0
  let digit = centimetres
  for (; digit > 9; exponent++) digit = Math.floor(digit / 10)
  return digit * 16 + exponent
}

function printSize(octet: number): string {
  return printMetres((octet >> 4) * 10 ** (octet & 15))
}

function printMetres(centimetres: number): string {
  const absolute = Math.abs(centimetres)
  return `${centimetres < 0 ? '-' : ''}${Math.floor(absolute / 100)}.${String(absolute % 100).padStart(2, '0')}m`
}

function printAngle(value: number, positive: string, negative: string): string {
  const angle = Math.abs(value - equator)
  const [degrees, minutes] = [Math.floor(angle / degree), Math.floor(angle / 60_000) % 60]
  const seconds = ((angle % 60_000) / 1_000).toFixed(3)
  return `${degrees} ${minutes} ${seconds} ${value < equator ? negative : positive}`
}
