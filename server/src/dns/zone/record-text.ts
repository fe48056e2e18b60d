// Records of a request: from presentation format to record data, with the help that people need. Pure.
import { isIPv4, isIPv6 } from 'node:net'
import type { DomainName, ZoneName } from '../../net/dns/name.ts'
import { compareOctets, root } from '../../net/dns/name.ts'
import { parseRdata, RdataError, splitTokens } from '../../net/dns/rdata/rdata.ts'
import { isQuoted, type RdataToken } from '../../net/dns/token.ts'
import { recordType } from '../../net/dns/type.ts'

export type RecordError = {
  readonly type: string
  readonly msg: string
  readonly ctx?: Readonly<Record<string, unknown>>
}

const textTypes = new Set<number>([recordType.TXT, recordType.SPF])

/**
 * Parses one record of a set in the zone. TXT without quotes is one text, also with spaces and semicolons. Returns an error for a name of
 * several labels without a trailing dot: in a zone file it would be relative to the zone, which is hardly ever meant.
 */
export function parseRecord(type: number, given: string, zone: ZoneName): Uint8Array | RecordError {
  if (/[\r\n]/.test(given.trim()))
    return {
      type: 'line_break',
      msg: 'has a line break. Remove it, or write it as \\010 in a text with quotes.',
    }
  const text = octetsOf(textTypes.has(type) ? quoted(given.replace(/[\r\n]+$/, '')) : given)
  try {
    const rdata = parse(type, text, zone)
    const relative = findRelativeName(type, text, rdata, zone)
    return relative === undefined
      ? rdata
      : {
          type: 'trailing_dot',
          msg: `has the name ${relative} without a trailing dot, so that it would be relative to the zone. Write ${relative}.`,
          ctx: { suggestion: text.replace(relative, `${relative}.`) },
        }
  } catch (error) {
    if (!(error instanceof RdataError)) throw error
    return { type: error.reason, msg: `${error.message}${hintFor(type, given)}`, ctx: { field: error.field } }
  }
}

function hintFor(type: number, text: string): string {
  if (type === recordType.A && isIPv6(text.trim())) return ' This is an IPv6 address: create an AAAA record.'
  if (type === recordType.AAAA && isIPv4(text.trim())) return ' This is an IPv4 address: create an A record.'
  return ''
}

export const isRecordError = (parsed: Uint8Array | RecordError): parsed is RecordError =>
  !(parsed instanceof Uint8Array)

const parse = (type: number, text: string, origin: DomainName): Uint8Array =>
  parseRdata(type, text, { origin, splitsStrings: true })

/** One character for each octet of UTF-8. */
const octetsOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/** A text without quotes is literal; quoted text and the generic form of RFC 3597 stay as they are. */
function quoted(text: string): string {
  const trimmed = text.trim()
  if (trimmed.startsWith('"') || trimmed.startsWith('\\#')) return text
  return `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`
}

/**
 * Returns the first word that is a relative name of several labels: adding a dot would change its meaning. Most records
 * have no such word and are the same in any zone.
 */
function findRelativeName(type: number, text: string, rdata: Uint8Array, zone: ZoneName): string | undefined {
  if (isAbsolute(type, text, rdata)) return undefined
  const words = splitTokens(text)
  return words.find((word, place) => {
    if (isQuoted(word) || word.endsWith('.') || !/(?<!\\)\./.test(word)) return false
    const absolute = tryParse(type, words, place, zone)
    return absolute !== undefined && compareOctets(absolute, rdata) !== 0
  })
}

const isAbsolute = (type: number, text: string, rdata: Uint8Array): boolean =>
  compareOctets(parse(type, text, root), rdata) === 0

function tryParse(
  type: number,
  words: readonly RdataToken[],
  place: number,
  zone: ZoneName,
): Uint8Array | undefined {
  const text = words
    .map((word, at) => (at === place ? `${word}.` : isQuoted(word) ? `${word}"` : word))
    .join(' ')
  try {
    return parse(type, text, zone)
  } catch (error) {
    if (error instanceof RdataError) return undefined
    throw error
  }
}
