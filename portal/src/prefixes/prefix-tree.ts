// The team's address space as a tree: every network that something is about, below the smallest one that contains it. Pure.

/** The addresses of a network: the first one, and how many there are. */
export type Range = { readonly version: 4 | 6; readonly first: bigint; readonly size: bigint }

export type Network<T> = { readonly cidr: string; readonly of: T }

export type PrefixNode<T> = {
  readonly cidr: string
  readonly range: Range
  readonly depth: number
  /** What is about exactly this network. */
  readonly of: readonly T[]
  readonly children: readonly PrefixNode<T>[]
}

/** Reads a CIDR or an address as the API writes it; undefined for other text. */
export function rangeOf(cidr: string): Range | undefined {
  const [address = '', length] = cidr.split('/')
  const version = address.includes(':') ? 6 : 4
  const bits = version === 6 ? 128 : 32
  const first = version === 6 ? parseV6(address) : parseV4(address)
  const free = bits - (length === undefined ? bits : Number(length))
  return first === undefined || !(free >= 0) ? undefined : { version, first, size: 1n << BigInt(free) }
}

function parseV4(address: string): bigint | undefined {
  const octets = address.split('.').map(Number)
  if (octets.length !== 4 || !octets.every((one) => one >= 0 && one <= 255)) return undefined
  return octets.reduce((all, one) => all * 256n + BigInt(one), 0n)
}

const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'))

/** RFC 5952 writes no IPv4 address in the last groups of these networks. */
function parseV6(address: string): bigint | undefined {
  const [head = '', tail, ...more] = address.split('::')
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')]
  const gap = 8 - before.length - after.length
  if (more.length > 0 || (tail === undefined ? gap !== 0 : gap < 1)) return undefined
  const groups = [...before, ...Array<string>(gap).fill('0'), ...after]
  if (!groups.every((one) => /^[0-9a-f]{1,4}$/i.test(one))) return undefined
  return BigInt(`0x${groups.map((one) => one.padStart(4, '0')).join('')}`)
}

/** Returns the network of a zone of reverse DNS; undefined for other names, and for parts of an octet (RFC 2317). */
export function networkOfZone(name: string): string | undefined {
  const labels = name.toLowerCase().replace(/\.$/, '').split('.')
  const [kind, top] = labels.splice(-2)
  if (top !== 'arpa') return undefined
  if (kind === 'in-addr' && labels.length <= 4 && labels.every((one) => /^\d{1,3}$/.test(one))) {
    const octets = [...labels.toReversed(), ...Array<string>(4 - labels.length).fill('0')]
    return `${octets.join('.')}/${labels.length * 8}`
  }
  if (kind !== 'ip6' || labels.length > 32 || !labels.every((one) => /^[0-9a-f]$/.test(one))) return undefined
  const digits = labels.toReversed().join('').padEnd(32, '0')
  return `${digits.match(/.{4}/g)!.join(':')}/${labels.length * 4}`
}

export const contains = (outer: Range, inner: Range): boolean =>
  outer.version === inner.version &&
  outer.first <= inner.first &&
  inner.first + inner.size <= outer.first + outer.size

const compare = (a: Range, b: Range): number =>
  a.version - b.version ||
  Number(a.first - b.first > 0n) - Number(a.first - b.first < 0n) ||
  Number(b.size > a.size) - Number(b.size < a.size)

type Building<T> = PrefixNode<T> & { readonly of: T[]; readonly children: Building<T>[] }

/** Returns the roots in numeric order, IPv4 first. Networks that cannot be read are left out. */
export function treeOf<T>(networks: readonly Network<T>[]): readonly PrefixNode<T>[] {
  const read = networks
    .map(({ cidr, of }) => ({ cidr, of, range: rangeOf(cidr) }))
    .filter((one): one is typeof one & { range: Range } => one.range !== undefined)
    .toSorted((a, b) => compare(a.range, b.range))
  const roots: Building<T>[] = []
  const open: Building<T>[] = []
  for (const { cidr, of, range } of read) {
    while (open.length > 0 && !contains(open.at(-1)!.range, range)) open.pop()
    const parent = open.at(-1)
    if (parent && parent.range.size === range.size) {
      parent.of.push(of)
      continue
    }
    const node: Building<T> = { cidr, range, depth: open.length, of: [of], children: [] }
    ;(parent?.children ?? roots).push(node)
    open.push(node)
  }
  return roots
}

/** A part of a network, as shares of its size. */
export type Part<T> = { readonly node: PrefixNode<T>; readonly start: number; readonly share: number }

/** Returns where the networks within lie that are about something of `isShown`, the largest ones only. */
export function partsOf<T>(root: PrefixNode<T>, isShown: (of: T) => boolean): readonly Part<T>[] {
  const shareOf = (size: bigint) => Number((size * 1_000_000n) / root.range.size) / 1_000_000
  const within = (node: PrefixNode<T>): readonly Part<T>[] =>
    node.of.some(isShown)
      ? [{ node, start: shareOf(node.range.first - root.range.first), share: shareOf(node.range.size) }]
      : node.children.flatMap(within)
  return within(root)
}

/** The tree as rows in its order. */
export const rowsOf = <T>(
  roots: readonly PrefixNode<T>[],
  isOpen: (node: PrefixNode<T>) => boolean,
): readonly PrefixNode<T>[] =>
  roots.flatMap((node) => [node, ...(isOpen(node) ? rowsOf(node.children, isOpen) : [])])
