// Fields of single types: APL items, gateways of IPSECKEY and AMTRELAY, HIP, locators of ILNP, EUI, CAA tags, X.25 addresses.
import { formatBits, readBits } from '../../bits-text.ts'
import { isQuoted } from '../token.ts'
import { ipv4, ipv6, laterName, parseNumber, readAddressBits, string, writeBits } from './basic.ts'
import { hexDigit, parseBase64, parseHex, printBase64, printHex } from './encoded.ts'
import { Cursor, Output } from './field.ts'
import type { FieldKind, TokenReader } from './field.ts'

/** Octets of an address by the family number of APL. */
const families: Readonly<Record<number, { family: 4 | 6; octets: number }>> = {
  1: { family: 4, octets: 4 },
  2: { family: 6, octets: 16 },
}

/**
 * Items of APL (RFC 3123), possibly empty: `1:192.0.2.0/24 !2:2001:db8::/32`. Zero octets at the end of an address are
 * not stored.
 */
export const addressPrefixes: FieldKind = {
  parse(tokens, out) {
    while (!tokens.isAtEnd) {
      const match = /^(!?)(\d{1,5}):([^/]{1,45})\/(\d{1,3})$/.exec(tokens.word())
      const known = match ? families[Number(match[2])] : undefined
      const bits = known && readBits(match![3]!, match![3]!.length, known.family, known.octets * 8)
      const length = Number(match?.[4])
      if (!known || !bits || length > known.octets * 8)
        throw tokens.error('syntax', 'not a prefix. Use the form 1:192.0.2.0/24 or !2:2001:db8::/32.')
      const address = new Output(16)
      writeBits(bits, address)
      while (address.end > 0 && address.wire[address.end - 1] === 0) address.end--
      out.uint16(Number(match![2]))
      out.octet(length)
      out.octet((match![1] === '!' ? 0x80 : 0) | address.end)
      out.octets(address.wire.subarray(0, address.end))
    }
  },
  skip(data) {
    while (data.left > 0) {
      const known = families[data.uint16()]
      const length = data.octet()
      const address = data.octets(data.octet() & 0x7f)
      // Knot writes another family to its file, and cannot read it back.
      if (!known) throw data.error('range', 'an address family other than 1 and 2.')
      if (length > known.octets * 8 || address.length > known.octets)
        throw data.error('range', 'a prefix is too long.')
      if (address.at(-1) === 0)
        throw data.error('syntax', 'an address ends with zero octets. Leave them out.')
    }
  },
  print(data) {
    const items: string[] = []
    while (data.left > 0) {
      const number = data.uint16()
      const { family, octets } = families[number]!
      const length = data.octet()
      const flags = data.octet()
      const address = new Uint8Array(octets)
      address.set(data.octets(flags & 0x7f))
      items.push(
        `${flags >= 0x80 ? '!' : ''}${number}:${formatBits(readAddressBits(new Cursor(address), family))}/${length}`,
      )
    }
    return items.join(' ')
  },
}

/**
 * A gateway by its type, which precedes it: absent, IPv4, IPv6 or a name (RFC 4025 section 2.5, RFC 8777 section
 * 4.2.4). `mask`: the bits of the type.
 */
function gateway(mask: number): FieldKind {
  const kindOf = (wire: Uint8Array): FieldKind | undefined => [none, ipv4, ipv6, laterName][wire[1]! & mask]
  return {
    parse(tokens, out) {
      const kind = kindOf(out.wire)
      if (!kind) throw tokens.error('range', 'its type is not 0 to 3.')
      kind.parse(tokens, out)
    },
    skip(data) {
      const kind = kindOf(data.wire)
      if (!kind) throw data.error('range', 'its type is not 0 to 3.')
      kind.skip(data)
    },
    print(data) {
      return kindOf(data.wire)!.print(data)
    },
  }
}

const none: FieldKind = {
  parse(tokens) {
    if (tokens.word() !== '.')
      throw tokens.error('meaning', 'type 0 has no gateway. Write ".", or change the type.')
  },
  skip: () => undefined,
  print: () => '.',
}

export const ipseckeyGateway = gateway(0xff)
export const relay = gateway(0x7f)

/** The D bit of AMTRELAY and the type of its relay, which share an octet. */
export const relayType: FieldKind = {
  parse(tokens, out) {
    const discovery = parseNumber(tokens, 1)
    tokens.field = 'relay type'
    out.octet(discovery * 0x80 + parseNumber(tokens, 0x7f))
  },
  skip: (data) => void data.take(1),
  print(data) {
    const octet = data.octet()
    return `${octet >> 7} ${octet & 0x7f}`
  },
}

const algorithmWithoutKey = 'algorithm 0 has no key. Remove the key, or change the algorithm.'

/** The key of IPSECKEY; absent for algorithm 0 (RFC 4025 section 2.4). */
export const ipseckeyKey: FieldKind = {
  parse(tokens, out) {
    if (tokens.isAtEnd && out.wire[2] === 0 && out.wire[1] !== 0) return
    if (!tokens.isAtEnd && out.wire[2] === 0) throw tokens.error('extra', algorithmWithoutKey)
    out.octets(parseBase64(tokens.rest(), tokens))
  },
  skip(data) {
    // BIND refuses a record with neither at transfer.
    if (data.left === 0 && (data.wire[2] !== 0 || data.wire[1] === 0))
      throw data.error('missing', 'missing. Add the key, or a gateway and algorithm 0.')
    // Knot writes such a record to its file, and cannot read it back.
    if (data.left > 0 && data.wire[2] === 0) throw data.error('extra', algorithmWithoutKey)
    data.take(data.left)
  },
  print: (data) => printBase64(data.octets()),
}

/** HIP (RFC 8005): algorithm, host identity tag, key and rendezvous servers; the lengths come first on the wire. */
export const hostIdentity: FieldKind = {
  parse(tokens, out) {
    tokens.field = 'algorithm'
    const algorithm = parseNumber(tokens, 255)
    tokens.field = 'host identity tag'
    const tag = parseHex(tokens.word(), tokens)
    if (tag.length < 1 || tag.length > 255) throw tokens.error('length', '1 to 255 octets.')
    tokens.field = 'public key'
    const key = parseBase64(tokens.word(), tokens)
    if (key.length < 1) throw tokens.error('missing', 'empty. Add the key.')
    out.octet(tag.length)
    out.octet(algorithm)
    out.uint16(key.length)
    out.octets(tag)
    out.octets(key)
    tokens.field = 'rendezvous server'
    while (!tokens.isAtEnd) out.name(tokens.word(), tokens)
  },
  skip(data) {
    const tagLength = data.octet()
    data.octet()
    const keyLength = data.uint16()
    if (tagLength === 0 || keyLength === 0)
      throw data.error('missing', 'the host identity tag or the key is empty.')
    data.take(tagLength + keyLength)
    while (data.left > 0) laterName.skip(data)
  },
  print(data) {
    const tagLength = data.octet()
    const algorithm = data.octet()
    const keyLength = data.uint16()
    const texts = [String(algorithm), printHex(data.octets(tagLength)), printBase64(data.octets(keyLength))]
    while (data.left > 0) texts.push(laterName.print(data))
    return texts.join(' ')
  },
}

/** 64 bits as four groups of hexadecimal digits (NID and L64, RFC 6742). */
export const locator64: FieldKind = {
  parse(tokens, out) {
    const token = tokens.word()
    if (!/^[\da-f]{1,4}(?::[\da-f]{1,4}){3}$/i.test(token))
      throw tokens.error('syntax', 'not four groups of hexadecimal digits. Use the form 2001:0db8:1140:1000.')
    for (const group of token.split(':')) out.uint16(Number.parseInt(group, 16))
  },
  skip: (data) => void data.take(8),
  print: (data) => Array.from({ length: 4 }, () => data.uint16().toString(16).padStart(4, '0')).join(':'),
}

function eui(octets: 6 | 8): FieldKind {
  return {
    parse(tokens, out) {
      const token = tokens.word()
      const isWell = token.length === 3 * octets - 1
      for (let i = 0; i < octets; i++) {
        const [high, low] = [hexDigit(token.charCodeAt(3 * i)), hexDigit(token.charCodeAt(3 * i + 1))]
        if (!isWell || high < 0 || low < 0 || (i > 0 && token[3 * i - 1] !== '-'))
          throw tokens.error(
            'syntax',
            `not ${octets} pairs of hexadecimal digits with hyphens. Use the form 00-00-5e-00-53-2a.`,
          )
        out.octet(high * 16 + low)
      }
    },
    skip: (data) => void data.take(octets),
    print: (data) =>
      Array.from(data.octets(octets), (octet) => octet.toString(16).padStart(2, '0')).join('-'),
  }
}

export const eui48 = eui(6)
export const eui64 = eui(8)

/** The tag of CAA (RFC 8659 section 4.1): letters and digits. */
export const tag: FieldKind = {
  parse(tokens, out) {
    const token = tokens.word()
    if (token.length > 255 || !/^[a-z\d]+$/i.test(token)) throw tagError(tokens)
    out.octet(token.length)
    out.text(token, 0, token.length, tokens)
  },
  skip(data) {
    const octets = data.octets(data.octet())
    if (octets.length === 0 || !octets.every((octet) => /[a-z\d]/i.test(String.fromCharCode(octet))))
      throw tagError(data)
  },
  print: (data) => String.fromCharCode(...data.octets(data.octet())),
}

function tagError(at: TokenReader | Cursor): Error {
  return at.error('syntax', 'not letters and digits. Use issue, issuewild, iodef or another registered tag.')
}

/** The address of X25 (RFC 1183 section 3.1): digits, of which the first four are the network's number. */
export const x25Address: FieldKind = {
  parse(tokens, out) {
    const token = tokens.next()
    const digits = isQuoted(token) ? token.slice(1) : token
    if (!/^\d{4,255}$/.test(digits)) throw tokens.error('syntax', 'not 4 or more digits.')
    out.octet(digits.length)
    out.text(digits, 0, digits.length, tokens)
  },
  skip(data) {
    const octets = data.octets(data.octet())
    if (octets.length < 4 || octets.some((octet) => octet < 48 || octet > 57))
      throw data.error('syntax', 'not 4 or more digits.')
  },
  print: string.print,
}
