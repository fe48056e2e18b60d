// The parameters of SVCB and HTTPS (RFC 9460): keys in ascending order, each with its own value format. Values of lists
// are escaped twice: once for the list, once as a string.
import { isUtf8 } from 'node:buffer'
import { formatBits, readBits } from '../../bits-text.ts'
import { printText, readAddressBits, readNumber, writeBits } from './basic.ts'
import { parseBase64, printBase64 } from './encoded.ts'
import { Cursor, Output } from './field.ts'
import type { FieldKind, TokenReader } from './field.ts'

const key = {
  mandatory: 0,
  alpn: 1,
  'no-default-alpn': 2,
  port: 3,
  ipv4hint: 4,
  ech: 5,
  ipv6hint: 6,
  dohpath: 7,
  ohttp: 8,
  'tls-supported-groups': 9,
} as const
const keys: ReadonlyMap<string, number> = new Map(Object.entries(key))
/** The names that are printed. Name servers of 2025 do not read the later ones, but all of them `keyNNNNN`. */
const keyNames: ReadonlyMap<number, string> = new Map(
  Object.entries(key)
    .map(([name, number]) => [number, name] as const)
    .filter(([number]) => number <= key.dohpath),
)

/** A value after its string escapes are resolved. */
type Value = {
  readonly parse: (octets: Uint8Array, tokens: TokenReader, out: Output) => void
  /** Reads to the end of the cursor. Throws RdataError. */
  readonly check: (data: Cursor) => void
  /** Returns the octets of the text, before string escapes. */
  readonly print: (data: Cursor) => string
}

const latin1 = (octets: Uint8Array): string =>
  Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1')

const values: ReadonlyMap<number, Value> = new Map<number, Value>([
  [
    key.mandatory,
    {
      parse(octets, tokens, out) {
        const listed = latin1(octets)
          .split(',')
          .map((name) => findKey(name))
        if (listed.some((key) => key === undefined))
          throw tokens.error('syntax', 'mandatory lists an unknown key. Use names or keyNNNNN.')
        for (const key of (listed as number[]).sort((a, b) => a - b)) out.uint16(key)
      },
      check(data) {
        for (let last = 0; data.left > 0;) {
          const listed = data.uint16()
          if (listed <= last)
            throw data.error('meaning', 'mandatory lists a key twice or itself. List every other key once.')
          last = listed
        }
      },
      print: (data) => list(data, () => printKey(data.uint16())),
    },
  ],
  [
    key.alpn,
    {
      parse(octets, tokens, out) {
        for (const id of splitList(octets, tokens)) {
          if (id.length < 1 || id.length > 255)
            throw tokens.error('length', 'an identifier of alpn has 1 to 255 octets.')
          out.octet(id.length)
          out.octets(id)
        }
      },
      check(data) {
        while (data.left > 0) {
          const length = data.octet()
          if (length === 0) throw data.error('length', 'an identifier of alpn has 1 to 255 octets.')
          data.take(length)
        }
      },
      print: (data) => list(data, () => latin1(data.octets(data.octet())).replaceAll(/[\\,]/g, '\\$&')),
    },
  ],
  [key['no-default-alpn'], empty('no-default-alpn')],
  [
    key.port,
    {
      parse(octets, tokens, out) {
        const port = readNumber(latin1(octets), 0xffff)
        if (port < 0) throw tokens.error('range', 'port is not a whole number from 0 to 65535.')
        out.uint16(port)
      },
      check(data) {
        data.take(2)
      },
      print: (data) => String(data.uint16()),
    },
  ],
  [key.ipv4hint, addresses(4)],
  [
    key.ech,
    {
      parse: (octets, tokens, out) => out.octets(parseBase64(latin1(octets), tokens)),
      check: (data) => void data.take(data.left),
      print: (data) => printBase64(data.octets()),
    },
  ],
  [key.ipv6hint, addresses(6)],
  [
    key.dohpath,
    {
      parse: (octets, _tokens, out) => out.octets(octets),
      check(data) {
        // BIND knows the variable only in this expression, and refuses a zone without it at transfer.
        const path = data.octets()
        const text = latin1(path)
        if (!text.startsWith('/') || !text.includes('{?dns}') || !isUtf8(path))
          throw data.error(
            'meaning',
            'dohpath is not a relative template with the variable dns (RFC 9461). Use the form /dns-query{?dns}.',
          )
      },
      print: (data) => latin1(data.octets()),
    },
  ],
])

/** Any other key: octets. */
const opaque: Value = {
  parse: (octets, _tokens, out) => out.octets(octets),
  check: (data) => void data.take(data.left),
  print: (data) => latin1(data.octets()),
}

/** Keys that name servers do not know yet: only their text has rules, so that data from elsewhere is accepted as it is there. */
const laterValues: ReadonlyMap<number, Value> = new Map<number, Value>([
  [key.ohttp, { ...opaque, parse: empty('ohttp').parse }],
  [
    key['tls-supported-groups'],
    {
      ...opaque,
      parse(octets, tokens, out) {
        for (const text of latin1(octets).split(',')) {
          const group = readNumber(text, 0xffff)
          if (group < 0)
            throw tokens.error('range', 'tls-supported-groups is not a list of numbers up to 65535.')
          out.uint16(group)
        }
      },
    },
  ],
])

/** Keys whose value must not be empty: all with a list, and `port`, `ech`, `dohpath`. */
const needsValue = new Set<number>([
  key.mandatory,
  key.alpn,
  key.port,
  key.ipv4hint,
  key.ech,
  key.ipv6hint,
  key.dohpath,
  key['tls-supported-groups'],
])

function empty(name: string): Value {
  const check = (data: Cursor): void => {
    if (data.left > 0) throw data.error('syntax', `${name} has no value. Remove it.`)
  }
  return {
    parse(octets, tokens) {
      if (octets.length > 0) throw tokens.error('syntax', `${name} has no value. Remove it.`)
    },
    check,
    print: () => '',
  }
}

function addresses(family: 4 | 6): Value {
  return {
    parse(octets, tokens, out) {
      for (const text of latin1(octets).split(',')) {
        const bits = readBits(text, text.length, family, family === 4 ? 32 : 128)
        if (!bits)
          throw tokens.error(
            'syntax',
            `ipv${family}hint is not a list of IPv${family} addresses separated by commas.`,
          )
        writeBits(bits, out)
      }
    },
    check(data) {
      while (data.left > 0) data.take(family === 4 ? 4 : 16)
    },
    print: (data) => list(data, () => formatBits(readAddressBits(data, family))),
  }
}

function list(data: Cursor, print: () => string): string {
  const texts: string[] = []
  while (data.left > 0) texts.push(print())
  return texts.join(',')
}

/**
 * Splits at commas; `\,` and `\\` are a comma and a backslash of an item; a backslash before any other character is an
 * error (RFC 9460 appendix A.1).
 */
function splitList(octets: Uint8Array, tokens: TokenReader): Uint8Array[] {
  const items: number[][] = [[]]
  for (let i = 0; i < octets.length; i++) {
    const octet = octets[i]!
    if (octet === 44) items.push([])
    else if (octet !== 92) items.at(-1)!.push(octet)
    else {
      const escaped = octets[++i]
      if (escaped !== 44 && escaped !== 92)
        throw tokens.error(
          'syntax',
          'a backslash in a list stands before a comma or a backslash only. Remove it, or write it as \\\\\\\\.',
        )
      items.at(-1)!.push(escaped)
    }
  }
  return items.map((item) => Uint8Array.from(item))
}

/** Returns the number of a key's name or of `keyNNNNN` without leading zeros; undefined if it is neither. Keys are lower case. */
function findKey(text: string): number | undefined {
  const known = keys.get(text)
  if (known !== undefined) return known
  const match = /^key(0|[1-9]\d{0,4})$/.exec(text)
  return match && Number(match[1]) <= 0xffff ? Number(match[1]) : undefined
}

function printKey(key: number): string {
  return keyNames.get(key) ?? `key${key}`
}

/** `keyNNNNN=` gives the octets of the value as they are on the wire, also for a key that has a name. */
function parseParameter(token: string, tokens: TokenReader): { key: number; value: Uint8Array } {
  const equals = token.indexOf('=')
  const spelled = equals < 0 ? token : token.slice(0, equals)
  const key = findKey(spelled)
  if (key === undefined) throw tokens.error('syntax', 'unknown key. Use a name in lower case, or keyNNNNN.')
  const text = new Output(token.length)
  const start = equals < 0 ? token.length : equals + 1
  const isQuoted = token.charCodeAt(start) === 34
  text.text(token, isQuoted ? start + 1 : start, isQuoted ? token.length - 1 : token.length, tokens)
  const octets = text.wire.slice(0, text.end)
  if (octets.length === 0 && needsValue.has(key))
    throw tokens.error('missing', `${printKey(key)} needs a value.`)
  if (keys.get(spelled) === undefined) return { key, value: octets }
  // The most compact text is `::,`, three octets for 16.
  const out = new Output(8 * octets.length + 16)
  const kind = values.get(key) ?? laterValues.get(key) ?? opaque
  kind.parse(octets, tokens, out)
  return { key, value: out.wire.slice(0, out.end) }
}

export const serviceParameters: FieldKind = {
  parse(tokens, out) {
    const parameters: { key: number; value: Uint8Array }[] = []
    while (!tokens.isAtEnd) parameters.push(parseParameter(tokens.word(), tokens))
    parameters.sort((a, b) => a.key - b.key)
    for (const { key, value } of parameters) {
      out.uint16(key)
      out.uint16(value.length)
      out.octets(value)
    }
  },
  skip(data) {
    const present = new Set<number>()
    let mandatory = new Uint8Array()
    for (let last = -1; data.left > 0;) {
      const number = data.uint16()
      const value = data.octets(data.uint16())
      if (number === last) throw data.error('meaning', `${printKey(number)} is given twice. Remove one.`)
      if (number < last) throw data.error('syntax', 'the keys are not in ascending order.')
      if (value.length === 0 && needsValue.has(number))
        throw data.error('missing', `${printKey(number)} needs a value.`)
      const inner = new Cursor(value)
      inner.field = data.field
      ;(values.get(number) ?? opaque).check(inner)
      if (inner.left > 0) throw data.error('length', `${printKey(number)} is too long.`)
      if (number === key.mandatory) mandatory = Uint8Array.from(value)
      present.add(number)
      last = number
    }
    for (let at = 0; at < mandatory.length; at += 2) {
      const listed = mandatory[at]! * 256 + mandatory[at + 1]!
      if (!present.has(listed))
        throw data.error(
          'meaning',
          `mandatory lists ${printKey(listed)}, which is missing. Add it, or remove it there.`,
        )
    }
    if (present.has(key['no-default-alpn']) && !present.has(key.alpn))
      throw data.error('meaning', 'no-default-alpn needs alpn. Add alpn.')
  },
  print(data) {
    const texts: string[] = []
    while (data.left > 0) {
      const number = data.uint16()
      const value = data.octets(data.uint16())
      const text = Buffer.from((values.get(number) ?? opaque).print(new Cursor(value)), 'latin1')
      texts.push(
        text.length === 0 ? printKey(number) : `${printKey(number)}=${printText(text, 0, text.length)}`,
      )
    }
    return texts.join(' ')
  },
}
