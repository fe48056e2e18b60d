// Chooses rules against an attack: as few as possible that together match most of it, and as little of the normal traffic as possible.
// Pure. Cells are traffic by the set of candidates that it meets, so that overlaps count once.
import type { NewShieldRule } from '@pharos/contract/shield'

/** The conditions of a candidate in the vocabulary of a rule. */
export type Candidate = Pick<
  NewShieldRule,
  'protocol' | 'source' | 'source_port' | 'destination_port' | 'packet_length' | 'tcp_flags' | 'fragment'
>

/** `mask`: bit i is set if the traffic meets candidate i. Bytes of the attack's window, and usual bytes of as long a time. */
export type Cell = { readonly mask: number; readonly attack: number; readonly normal: number }

/** Candidates are bits of a number that JSON carries exactly. */
export const candidatesMax = 48

export type Chosen = {
  readonly index: number
  /** Of all bytes of the attack and of the normal traffic, whatever earlier rules match. */
  readonly attackShare: number
  /** Null if nothing is known of the normal traffic. */
  readonly normalShare: number | null
  readonly attackBytes: number
  readonly normalBytes: number
}

export type Choice = {
  readonly rules: readonly Chosen[]
  /** Of all rules together. */
  readonly attackShare: number
  readonly normalShare: number | null
}

/** A rule that adds less than this part of the attack is not worth its place, nor a broader rule that is better by less. */
const gainMin = 0.01
const rulesMax = 10

const meets = ({ mask }: Cell, index: number): boolean => Math.floor(mask / 2 ** index) % 2 === 1
const total = (cells: readonly Cell[], of: (cell: Cell) => number): number =>
  cells.reduce((sum, cell) => sum + of(cell), 0)

/** Traffic of the attack beyond the usual. */
const excessOf = ({ attack, normal }: Cell): number => Math.max(0, attack - normal)

/**
 * Chooses greedily: the candidate with the largest difference of shares, of what is left of the excess and of the normal traffic,
 * until `coverage` of the excess is matched. A candidate that would match more of the normal traffic than of the attack is never
 * chosen. An earlier candidate is chosen unless a later one is better by `gainMin`.
 */
export function chooseRules(cells: readonly Cell[], candidates: number, coverage: number): Choice {
  const all = {
    excess: total(cells, excessOf),
    attack: total(cells, ({ attack }) => attack),
    normal: total(cells, ({ normal }) => normal),
  }
  const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)
  const normalShareOf = (part: number): number | null => (all.normal === 0 ? null : part / all.normal)
  const rules: Chosen[] = []
  let left = cells
  while (rules.length < rulesMax && share(total(left, excessOf), all.excess) > 1 - coverage) {
    let best: { index: number; score: number } | undefined
    for (let index = 0; index < candidates; index++) {
      const met = left.filter((cell) => meets(cell, index))
      const gain = share(total(met, excessOf), all.excess)
      const score =
        gain -
        share(
          total(met, ({ normal }) => normal),
          all.normal,
        )
      if (gain >= gainMin && score > 0 && (!best || score >= best.score + gainMin)) best = { index, score }
    }
    if (!best) break
    const { index } = best
    const met = cells.filter((cell) => meets(cell, index))
    const [attackBytes, normalBytes] = [
      total(met, ({ attack }) => attack),
      total(met, ({ normal }) => normal),
    ]
    rules.push({
      index,
      attackBytes,
      normalBytes,
      attackShare: share(attackBytes, all.attack),
      normalShare: normalShareOf(normalBytes),
    })
    left = left.filter((cell) => !meets(cell, index))
  }
  const matched = cells.filter((cell) => rules.some(({ index }) => meets(cell, index)))
  return {
    rules,
    attackShare: share(
      total(matched, ({ attack }) => attack),
      all.attack,
    ),
    normalShare: normalShareOf(total(matched, ({ normal }) => normal)),
  }
}

/** The most frequent values of a property in the attack. `band`: the length of most of its packets. */
export type Frequent = {
  readonly kind: 'source_port' | 'destination_port' | 'protocol' | 'source' | 'flags' | 'fragment'
  readonly protocol: number
  /** The port, the flags, or the network of the sender; of other kinds empty. */
  readonly value: string
  readonly low: number
  readonly high: number
}

const protocolText: Readonly<Record<number, string>> = {
  6: 'tcp',
  17: 'udp',
  1: 'icmp',
  58: 'icmp',
  47: 'gre',
  50: 'esp',
  51: 'ah',
}
const flagNames = ['fin', 'syn', 'rst', 'psh', 'ack', 'urg', 'ece', 'cwr']

/**
 * Returns the candidates of these properties, the most specific first, so that it is chosen among equals: with the length of most
 * packets, where that says something, and without it.
 */
export function candidatesOf(frequent: readonly Frequent[]): Candidate[] {
  const found = new Map<string, Candidate>()
  const add = (candidate: Candidate): void => void found.set(JSON.stringify(candidate), candidate)
  for (const one of frequent) {
    const conditions = conditionsOf(one)
    if (one.low > 0 || one.high < 65_535) add({ ...conditions, packet_length: rangeText(one.low, one.high) })
    add(conditions)
  }
  const specificity = (candidate: Candidate): number => Object.keys(candidate).length
  return [...found.values()].slice(0, candidatesMax).toSorted((a, b) => specificity(b) - specificity(a))
}

const rangeText = (low: number, high: number): string => (low === high ? String(low) : `${low}-${high}`)

function conditionsOf({ kind, protocol, value }: Frequent): Candidate {
  const named = { protocol: protocolText[protocol] ?? String(protocol) }
  switch (kind) {
    case 'source_port':
      return { ...named, source_port: value }
    case 'destination_port':
      return { ...named, destination_port: value }
    case 'source':
      return { source: value }
    case 'flags':
      return { ...named, tcp_flags: flagsText(Number(value)) }
    case 'fragment':
      return { fragment: 'yes' }
    case 'protocol':
      return named
  }
}

/** Exactly these of SYN, ACK, RST and FIN: other flags vary within a flood. */
function flagsText(bits: number): string {
  const told = [1, 4, 2, 0]
  return told.map((at) => `${(bits >> at) & 1 ? '' : '!'}${flagNames[at]}`).join(',')
}
