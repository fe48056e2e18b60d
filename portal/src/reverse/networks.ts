// The networks whose addresses can be named, in parts that fit on a page; and lines of addresses and names as people paste them. Pure.

const bitsOfPart = 24
/** Parts of one prefix at most: a /14. */
const partsMax = 1024

/** Returns the 32 bits of an IPv4 address; undefined for other texts. */
export function parseV4(text: string): number | undefined {
  const octets = text.split('.')
  if (octets.length !== 4 || !octets.every((one) => /^\d{1,3}$/.test(one) && Number(one) <= 255))
    return undefined
  return octets.reduce((bits, octet) => bits * 256 + Number(octet), 0)
}

export const printV4 = (bits: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(bits / 2 ** shift) % 256).join('.')

/** Returns the parts: IPv4 prefixes as /24s, or whole if they are smaller; IPv6 prefixes as they are. Sorted, each once. */
export function partsOf(cidrs: readonly string[]): string[] {
  const v4 = cidrs
    .flatMap((cidr) => {
      const [address = '', length] = cidr.split('/')
      const bits = parseV4(address)
      return bits === undefined ? [] : [{ bits, length: Number(length ?? 32) }]
    })
    .toSorted((a, b) => a.length - b.length || a.bits - b.bits)
  const seen = new Map<string, number>()
  for (const { bits, length } of v4) {
    if (length <= bitsOfPart) {
      const parts = Math.min(2 ** (bitsOfPart - length), partsMax)
      for (let at = 0; at < parts; at++)
        seen.set(`${printV4(bits + at * 256)}/${bitsOfPart}`, bits + at * 256)
      continue
    }
    const around = `${printV4(bits - (bits % 256))}/${bitsOfPart}`
    if (!seen.has(around)) seen.set(`${printV4(bits)}/${length}`, bits)
  }
  const sorted = [...seen].toSorted(([, a], [, b]) => a - b).map(([cidr]) => cidr)
  return [...sorted, ...new Set(cidrs.filter((cidr) => cidr.includes(':')))]
}

/** Returns the addresses of an IPv4 part, in order; empty for an IPv6 prefix. */
export function addressesOf(cidr: string): string[] {
  const [address = '', length = '32'] = cidr.split('/')
  const bits = parseV4(address)
  if (bits === undefined || Number(length) < bitsOfPart) return []
  return Array.from({ length: 2 ** (32 - Number(length)) }, (_, at) => printV4(bits + at))
}

export type Line = { readonly line: number; readonly ip: string; readonly ptrdname: string | null }

/** Reads lines `address name`; `-` removes the name. `wrong` are the numbers of lines that cannot be read, from 1. */
export function parseLines(text: string): { lines: Line[]; wrong: number[] } {
  const lines: Line[] = []
  const wrong: number[] = []
  text.split('\n').forEach((raw, at) => {
    const words = raw
      .replace(/#.*$/, '')
      .split(/[\s,;]+/)
      .filter((word) => word !== '')
    if (words.length === 0) return
    const [ip = '', name = ''] = words
    if (words.length !== 2) wrong.push(at + 1)
    else lines.push({ line: at + 1, ip, ptrdname: name === '-' ? null : name })
  })
  return { lines, wrong }
}

/** Returns the first names that a pattern gives in an IPv4 network; undefined if the browser cannot tell. */
export function sampleNames(
  cidr: string,
  pattern: string,
  most = 3,
): readonly (readonly [ip: string, name: string])[] | undefined {
  const [address = '', length = '32'] = cidr.trim().split('/')
  const bits = parseV4(address)
  if (bits === undefined || pattern.trim() === '' || !/^\d{1,2}$/.test(length) || Number(length) > 32)
    return undefined
  if (/\{(?!ip-dashed\}|[a-d]\}|n\})/.test(pattern)) return undefined
  const size = 2 ** (32 - Number(length))
  return Array.from({ length: Math.min(most, size) }, (_, at) => {
    const ip = printV4(bits + at)
    const octets = ip.split('.')
    const name = pattern
      .trim()
      .replaceAll('{ip-dashed}', octets.join('-'))
      .replace(/\{([a-d])\}/g, (_all, letter: string) => octets['abcd'.indexOf(letter)]!)
      .replaceAll('{n}', String(at))
    return [ip, name] as const
  })
}
