// Chooses rules against an attack: as few as possible that together match most of it and spare the usual traffic by
// octets, packets and flows; traffic that cannot be distinguished from usual traffic gets a limit. Pure. Cells are
// traffic by the set of matching candidates, so that overlaps count once.
import type { NewShieldRule } from '@pharos/contract/shield/shield'
import type { SuggestMeasure } from './suggest-query.ts'

/** The conditions of a candidate in the vocabulary of a rule. */
export type Conditions = Pick<
  NewShieldRule,
  | 'protocol'
  | 'source'
  | 'source_port'
  | 'destination_port'
  | 'packet_length'
  | 'tcp_flags'
  | 'icmp_type'
  | 'fragment'
>

export type Candidate = {
  readonly conditions: Conditions
  /** The largest part of the usual traffic that a rule which drops may concern; undefined: it is never dropped. */
  readonly dropMax?: number
  /** Whether the candidate may get a limit. */
  readonly isLimitable: boolean
}

export type Volume = { readonly bytes: number; readonly packets: number; readonly flows: number }
export type Shares = Volume

/**
 * `mask`: bit i is set if the traffic meets candidate i. Sums of the attack's window, and of usual traffic of as long a time that a rule of the
 * candidate would concern.
 */
export type TrafficCell = { readonly mask: number; readonly attack: Volume; readonly normal: Volume }

/** Candidates are bits of a number that JSON carries exactly. */
export const candidatesMax = 48

export type Chosen = {
  readonly index: number
  readonly action: 'deny' | 'rate_limit'
  /** Shares of the whole attack and of the usual traffic, regardless of earlier rules. */
  readonly attackShares: Shares
  /** Null if the usual traffic is unknown. */
  readonly normalShares: Shares | null
  readonly attack: Volume
}

export type Choice = {
  readonly rules: readonly Chosen[]
  /** Shares of all rules together. */
  readonly attackShares: Shares
  readonly normalShares: Shares | null
}

export type ChoiceOptions = {
  readonly measure: SuggestMeasure
  /** The part of the attack after which no further rule is added. */
  readonly coverage: number
  /** Whether usual traffic is known: without it, no traffic is dropped. */
  readonly isUsualKnown: boolean
  /** Whether limits may be added for traffic that no rule drops. */
  readonly mayLimit: boolean
}

/** A rule that adds less than this part of the attack is not worth its place, nor a broader rule that is better by less. */
const gainMin = 0.01
/** A limit concerns usual traffic too: it must be against more. */
const limitGainMin = 0.05
const rulesMax = 10
/** The part of the usual traffic that all rules which drop may concern together. */
const dropTotalMax = 0.01

const measures = ['bytes', 'packets', 'flows'] as const
const meets = ({ mask }: TrafficCell, index: number): boolean => Math.floor(mask / 2 ** index) % 2 === 1
const sumOf = (cells: readonly TrafficCell[], of: 'attack' | 'normal'): Volume => {
  const sum = { bytes: 0, packets: 0, flows: 0 }
  for (const cell of cells) for (const measure of measures) sum[measure] += cell[of][measure]
  return sum
}
const sharesOf = (part: Volume, all: Volume): Shares => {
  const share = (measure: keyof Volume): number =>
    all[measure] === 0 ? 0 : Math.min(1, part[measure] / all[measure])
  return { bytes: share('bytes'), packets: share('packets'), flows: share('flows') }
}
/** A service of few octets is seen by its packets or its flows. */
const largest = ({ bytes, packets, flows }: Shares): number => Math.max(bytes, packets, flows)

/**
 * Chooses greedily: the candidate with the largest difference between its share of the attack by the measure and its
 * largest share of the usual traffic, until the attack without the usual traffic is covered. A candidate becomes a deny
 * rule only if its share of the usual traffic is within `dropMax`; then limits follow. An earlier candidate is chosen
 * unless a later candidate is better by `gainMin`.
 */
export function chooseRules(
  cells: readonly TrafficCell[],
  candidates: readonly Candidate[],
  { measure, coverage, isUsualKnown, mayLimit }: ChoiceOptions,
): Choice {
  const all = { attack: sumOf(cells, 'attack'), normal: sumOf(cells, 'normal') }
  const wanted = coverage * Math.max(0, all.attack[measure] - all.normal[measure])
  const normalShare = (part: readonly TrafficCell[]): number =>
    largest(sharesOf(sumOf(part, 'normal'), all.normal))
  const chosen: { index: number; action: Chosen['action'] }[] = []
  let left = cells
  const isCovered = (): boolean => all.attack[measure] - sumOf(left, 'attack')[measure] >= wanted
  const add = (action: Chosen['action'], gainOf: number, mayChoose: (index: number) => boolean): boolean => {
    let best: { index: number; score: number } | undefined
    for (const index of candidates.keys()) {
      if (!mayChoose(index)) continue
      const met = left.filter((cell) => meets(cell, index))
      const gain = all.attack[measure] === 0 ? 0 : sumOf(met, 'attack')[measure] / all.attack[measure]
      const score = gain - normalShare(met)
      if (
        gain >= gainOf &&
        (action === 'rate_limit' || score > 0) &&
        (!best || score >= best.score + gainMin)
      )
        best = { index, score }
    }
    if (!best) return false
    const { index } = best
    chosen.push({ index, action })
    left = left.filter((cell) => !meets(cell, index))
    return true
  }
  const mayDrop = (index: number): boolean => {
    const { dropMax } = candidates[index]!
    if (dropMax === undefined || !isUsualKnown) return false
    const together = cells.filter(
      (cell) => meets(cell, index) || chosen.some((one) => meets(cell, one.index)),
    )
    return (
      normalShare(cells.filter((cell) => meets(cell, index))) <= dropMax &&
      normalShare(together) <= dropTotalMax
    )
  }
  const mayBeLimited = (index: number): boolean => mayLimit && candidates[index]!.isLimitable
  while (chosen.length < rulesMax && !isCovered() && add('deny', gainMin, mayDrop));
  while (chosen.length < rulesMax && !isCovered() && add('rate_limit', limitGainMin, mayBeLimited));
  const sharesBy = (part: readonly TrafficCell[]) => ({
    attackShares: sharesOf(sumOf(part, 'attack'), all.attack),
    normalShares: isUsualKnown ? sharesOf(sumOf(part, 'normal'), all.normal) : null,
  })
  return {
    rules: chosen.map(({ index, action }) => {
      const met = cells.filter((cell) => meets(cell, index))
      return { index, action, ...sharesBy(met), attack: sumOf(met, 'attack') }
    }),
    ...sharesBy(cells.filter((cell) => chosen.some(({ index }) => meets(cell, index)))),
  }
}

/** The most frequent values of a property in the attack. */
export type Frequent = {
  readonly kind:
    | 'source_port'
    | 'destination_port'
    | 'protocol'
    | 'source'
    | 'flags'
    | 'flags_port'
    | 'icmp_type'
    | 'fragment'
  readonly protocol: number
  /** The port, the flags, the flags and the port, the type, or the flags and the network of the sender; of other kinds empty. */
  readonly value: string
  /** The lengths of most of its packets, from the narrowest range on; empty if they differ too much. */
  readonly lengths: readonly (readonly [low: number, high: number])[]
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

/** The parts of the usual traffic that a rule may concern: with a length, with a port or a protocol alone, and by its sender. */
const spared = 0.01
const unused = 0.001
const absent = 0

/**
 * Returns the candidates of these properties, the most specific first, so that it is chosen among equals: with the lengths of most packets,
 * and without them. A packet that opens a connection is only dropped with a length that no connection has, or from senders that are not usual:
 * any other rule on it, or on the attacked port of TCP, closes the service. Of ICMPv6 only echo is matched, never neighbor discovery.
 */
export function candidatesOf(frequent: readonly Frequent[]): Candidate[] {
  const found = new Map<string, Candidate>()
  const add = (candidate: Candidate): void => void found.set(JSON.stringify(candidate.conditions), candidate)
  for (const one of frequent) {
    const plain = plainOf(one)
    if (!plain) continue
    if (hasLengths(one))
      for (const [low, high] of one.lengths)
        if (!isOpeningText(plain.conditions) || low > openingMax || high < openingMin)
          add({
            conditions: { ...plain.conditions, packet_length: rangeText(low, high) },
            dropMax: spared,
            // A limit on the lengths of TCP takes acknowledgements of every connection.
            isLimitable:
              plain.isLimitable && (one.protocol !== 6 || plain.conditions.tcp_flags !== undefined),
          })
    add(plain)
  }
  // Fragments are rarer than any protocol.
  const specificity = ({ conditions }: Candidate): number =>
    Object.keys(conditions).length + (conditions.fragment === undefined ? 0 : 0.5)
  return [...found.values()].slice(0, candidatesMax).toSorted((a, b) => specificity(b) - specificity(a))
}

const rangeText = (low: number, high: number): string => (low === high ? String(low) : `${low}-${high}`)
/** Packets that open a connection have such lengths; a flood without options has 40. */
const [openingMin, openingMax] = [44, 80]
const isOpeningText = ({ tcp_flags: flags }: Conditions): boolean =>
  flags?.split(',').includes('syn') ?? false
const hasLengths = ({ kind }: Frequent): boolean => kind !== 'source'

function plainOf({ kind, protocol, value }: Frequent): Candidate | undefined {
  // Only the first fragment has ports, and the others are stored with 0: a rule on 0 does not match them.
  if (value === '0' && (kind === 'source_port' || kind === 'destination_port')) return undefined
  const named = { protocol: protocolText[protocol] ?? String(protocol) }
  switch (kind) {
    case 'source_port':
      return { conditions: { ...named, source_port: value }, dropMax: unused, isLimitable: true }
    case 'destination_port': {
      const conditions = { ...named, destination_port: value }
      return protocol === 6
        ? { conditions, isLimitable: true }
        : { conditions, dropMax: unused, isLimitable: true }
    }
    case 'source': {
      const [flags, source] = value.split(' ') as [string, string]
      if (protocol === 58) return undefined
      const withFlags = protocol === 6 ? { tcp_flags: flagsText(Number(flags)) } : {}
      return { conditions: { ...named, ...withFlags, source }, dropMax: absent, isLimitable: false }
    }
    case 'flags':
    case 'flags_port': {
      const [flags, port] = value.split(' ')
      const conditions = {
        ...named,
        tcp_flags: flagsText(Number(flags)),
        ...(port === undefined ? {} : { destination_port: port }),
      }
      return isOpeningText(conditions)
        ? { conditions, isLimitable: true }
        : { conditions, dropMax: unused, isLimitable: true }
    }
    case 'icmp_type':
      if (protocol === 58 && value !== '128' && value !== '129') return undefined
      return { conditions: { ...named, icmp_type: Number(value) }, isLimitable: true }
    case 'fragment':
      return { conditions: { fragment: 'yes' }, dropMax: unused, isLimitable: true }
    case 'protocol':
      if (protocol === 58) return undefined
      return isService(protocol)
        ? { conditions: named, isLimitable: true }
        : { conditions: named, dropMax: unused, isLimitable: true }
  }
}

/** Protocols that are never dropped as a whole. */
const isService = (protocol: number): boolean => protocol === 6 || protocol === 17 || protocol === 1

/** For SYN and RST only the defining flags: floods vary other flags. Others exactly by SYN, ACK, RST and FIN. */
function flagsText(bits: number): string {
  if ((bits & 18) === 2) return 'syn,!ack'
  if ((bits & 6) === 4) return 'rst,!syn'
  return (
    [
      ['syn', 2],
      ['ack', 16],
      ['rst', 4],
      ['fin', 1],
    ] as const
  )
    .map(([name, bit]) => `${bits & bit ? '' : '!'}${name}`)
    .join(',')
}
