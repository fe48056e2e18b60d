// Compiles rule lists for a scrubber. For FlowSpec, which derives the order of rules from their conditions, it adds rules so that every
// packet gets the action of the first rule that matches it, or refuses the list with the two rules that cannot be ordered. Pure.
import { familyOf } from '../net/address.ts'
import { type FilterAction, roundedAction } from '../net/filter-rule.ts'
import { coversMatch, type FlowMatch, halvesOfMatch, intersectMatches } from '../net/flow-match.ts'
import {
  compareFlowspec,
  componentOctets,
  componentOctetsMax,
  encodeComponents,
} from '../net/flowspec/nlri.ts'
import { comparePrefixes, covers, halvesOf, lengthOf, overlaps, type Prefix } from '../net/prefix.ts'
import { type ListSize, RuleCapacity } from './rule-capacity.ts'
import type { CompiledList, CompiledRule, RuleId, ScrubberCapabilities } from './scrubber.ts'

/** The rules of a prefix; the first match decides. */
export type OrderedList = { readonly prefix: Prefix; readonly rules: readonly CompiledRule[] }

export type CompileRefusalCode =
  /** FlowSpec cannot evaluate `rules[0]` before `rules[1]`. */
  | 'order_impossible'
  /** Ordering the list takes more than eight times its rules. `rules` are the two at which it was noticed. */
  | 'too_many_added'
  /** The scrubber does not support the family of the prefix. */
  | 'family_unsupported'
  /** The scrubber has no limits in packets per second. */
  | 'packet_rate_unsupported'
  /** A limit exceeds `rateMax` in bits or in packets per second. */
  | 'bit_rate_max'
  | 'packet_rate_max'
  /** With this list the scrubber would have more than `rulesMax` rules. */
  | 'rules_max'
  /** A destination is outside of the prefix, or a source is of the other family. */
  | 'outside_prefix'

export type CompileRefusal = {
  readonly prefix: Prefix
  readonly code: CompileRefusalCode
  /** The rules concerned, by rising place; empty if it is the whole list. */
  readonly rules: readonly RuleId[]
}

/** A rule that matches no packet, because the rule `by` before it matches all of them. */
export type ShadowedRule = { readonly prefix: Prefix; readonly rule: RuleId; readonly by: RuleId }

export type CompileResult = {
  readonly lists: readonly CompiledList[]
  readonly refused: readonly CompileRefusal[]
  readonly shadowed: readonly ShadowedRule[]
  /**
   * Limits that are installed as several rules: each has the full rate, so the traffic that passes may be `count` times as much.
   */
  readonly multiplied: readonly { readonly prefix: Prefix; readonly rule: RuleId; readonly count: number }[]
}

/** Installed rules for each rule of a list. */
const growthMax = 8

/**
 * Compiles all lists of a scrubber, one per prefix. If prefixes nest, the list of the more specific prefix comes first
 * for its packets; a list that cannot be ordered with the lists of more specific prefixes is refused. Lists without
 * rules are omitted. `held` are the installed lists of the scrubber.
 */
export function compileLists(
  lists: readonly OrderedList[],
  can: ScrubberCapabilities,
  held: readonly ListSize[] = [],
): CompileResult {
  const refused: CompileRefusal[] = []
  const shadowed: ShadowedRule[] = []
  const room = new RuleCapacity(can.rulesMax, held)
  const compiler = can.ordering === 'flowspec' ? new FlowspecOrder() : new SequenceOrder()
  // The more specific prefixes first, and the same lists in the same order each time.
  const ordered = lists.toSorted(
    (a, b) => lengthOf(b.prefix) - lengthOf(a.prefix) || comparePrefixes(a.prefix, b.prefix),
  )
  for (const list of ordered) {
    const hidden = shadowedIn(list)
    shadowed.push(...hidden)
    const visible = list.rules.filter(({ id }) => !hidden.some(({ rule }) => rule === id))
    const refusal = unsupported(list, can) ?? compiler.add({ prefix: list.prefix, rules: visible }, room)
    if (refusal) refused.push(refusal)
  }
  const compiled = compiler.lists()
  return { lists: compiled, refused, shadowed, multiplied: compiled.flatMap(multipliedIn) }
}

/** Returns the rules that an earlier rule of the list covers. Several rules together may also cover one: that is not reported. */
function shadowedIn({ prefix, rules }: OrderedList): ShadowedRule[] {
  return rules.flatMap((rule, at) => {
    const by = rules.slice(0, at).find(({ match }) => coversMatch(match, rule.match))
    return by ? [{ prefix, rule: rule.id, by: by.id }] : []
  })
}

function unsupported({ prefix, rules }: OrderedList, can: ScrubberCapabilities): CompileRefusal | undefined {
  const family = familyOf(prefix)
  if (!can.families.includes(family)) return { prefix, code: 'family_unsupported', rules: [] }
  const outside = rules.filter(
    ({ match }) =>
      !covers(prefix, match.destination) || (match.source !== undefined && familyOf(match.source) !== family),
  )
  if (outside.length > 0) return { prefix, code: 'outside_prefix', rules: outside.map(({ id }) => id) }
  for (const [code, isRefused] of rateRefusals(can)) {
    const refused = rules.filter(({ action }) => isRefused(action))
    if (refused.length > 0) return { prefix, code, rules: refused.map(({ id }) => id) }
  }
  return undefined
}

const rateRefusals = ({ packetRate, rateMax }: ScrubberCapabilities) =>
  [
    ['packet_rate_unsupported', (action: FilterAction) => !packetRate && 'pps' in action],
    ['bit_rate_max', (action: FilterAction) => 'bps' in action && action.bps > rateMax.bps],
    ['packet_rate_max', (action: FilterAction) => 'pps' in action && action.pps > rateMax.pps],
  ] as const

function multipliedIn({ prefix, rules }: CompiledList) {
  const limits = rules.filter(({ action }) => action.kind === 'rate_limit')
  return [...Map.groupBy(limits, ({ id }) => id)]
    .filter(([, installed]) => installed.length > 1)
    .map(([rule, installed]) => ({ prefix, rule, count: installed.length }))
}

/** Lists are installed as they are. */
class SequenceOrder {
  readonly #lists: OrderedList[] = []

  add(list: OrderedList, room: RuleCapacity): CompileRefusal | undefined {
    if (!room.reserve(list.prefix, list.rules.length))
      return { prefix: list.prefix, code: 'rules_max', rules: [] }
    if (list.rules.length > 0) this.#lists.push(list)
    return undefined
  }

  lists(): CompiledList[] {
    return this.#lists
  }
}

/** A rule of a list, in the order in which the rules are to be evaluated. */
type Origin = {
  readonly id: RuleId
  readonly place: number
  readonly prefix: Prefix
  readonly action: FilterAction
  readonly match: FlowMatch
  /** The match, divided so that each part fits into one NLRI. */
  readonly parts: readonly FlowMatch[]
}

/** An installed rule: a part of its origin, or of its intersection with a later rule. */
type Piece = { readonly origin: Origin; readonly match: FlowMatch; readonly components: Components }

type Components = readonly (readonly number[])[]

/**
 * FlowSpec evaluates pieces in the order of `compareFlowspec`. Each piece is compared with every rule before its origin that has another
 * action and matches common packets. If the piece is evaluated first, the intersection of both is added with the action of the earlier
 * rule, in a form that is evaluated before the piece. Additions are compared in turn. Their origins are always earlier, so this ends.
 *
 * The result is exact: if the installed piece that decides a packet had another action than the first matching rule, that rule would
 * have got an intersection that contains the packet and is evaluated before the piece.
 */
class FlowspecOrder {
  #origins: Origin[] = []
  #pieces: Piece[] = []

  /** Adds a list whose packets are matched after all lists before. If it returns a refusal, it has no effect. */
  add({ prefix, rules }: OrderedList, room: RuleCapacity): CompileRefusal | undefined {
    const before = this.#origins.filter((origin) => overlaps(origin.prefix, prefix))
    const origins = rules.map(({ id, action, match }, at): Origin => {
      const place = this.#origins.length + at
      return { id, place, prefix, action: roundedAction(action), match, parts: fitting(match) }
    })
    const all = [...before, ...origins]
    const kept: Piece[] = []
    const open = origins.flatMap((origin) => origin.parts.map((match) => pieceOf(origin, match)))
    const piecesMax = open.length + (growthMax - 1) * rules.length
    const known = new PieceIndex(this.#pieces.filter(({ origin }) => overlaps(origin.prefix, prefix)))
    for (const piece of open) known.add(piece)
    for (let piece = open.pop(); piece; piece = open.pop()) {
      const earlier = all.filter(({ place }) => place < piece!.origin.place)
      if (earlier.some((origin) => coversMatch(origin.match, piece!.match))) continue
      for (const origin of earlier) {
        if (sameTreatment(origin, piece.origin)) continue
        for (const part of origin.parts) {
          const common = intersectMatches(part, piece.match)
          if (!common) continue
          if (compareFlowspec(encodeComponents(part), piece.components) < 0) continue
          if (known.isAhead(origin, common, piece)) continue
          if (earlier.some((first) => first.place < origin.place && coversMatch(first.match, common)))
            continue
          const ahead = piecesAhead(origin, common, piece)
          if (!ahead) return { prefix, code: 'order_impossible', rules: [origin.id, piece.origin.id] }
          // Another piece may have needed the same ones.
          open.push(...ahead.filter((added) => known.add(added)))
        }
      }
      kept.push(piece)
      if (kept.length + open.length > piecesMax) {
        const first = open.at(-1)?.origin ?? piece.origin
        return { prefix, code: 'too_many_added', rules: [first.id, piece.origin.id] }
      }
    }
    if (!room.reserve(prefix, kept.length)) return { prefix, code: 'rules_max', rules: [] }
    this.#origins = [...this.#origins, ...origins]
    this.#pieces = [...this.#pieces, ...kept]
    return undefined
  }

  lists(): CompiledList[] {
    const byPrefix = Map.groupBy(this.#pieces, ({ origin }) => origin.prefix)
    return [...byPrefix].map(([prefix, pieces]) => ({
      prefix,
      rules: pieces
        .toSorted((a, b) => compareFlowspec(a.components, b.components))
        .map(({ origin: { id, action }, match }) => ({ id, match, action })),
    }))
  }
}

/** Pieces by origin, to find whether an intersection is already evaluated first. */
class PieceIndex {
  readonly #byOrigin = new Map<Origin, Piece[]>()

  constructor(pieces: readonly Piece[]) {
    for (const piece of pieces) this.add(piece)
  }

  /** Returns false if the origin has an equal piece already. */
  add(piece: Piece): boolean {
    const pieces = this.#byOrigin.get(piece.origin) ?? []
    if (pieces.some(({ components }) => compareFlowspec(components, piece.components) === 0)) return false
    this.#byOrigin.set(piece.origin, [...pieces, piece])
    return true
  }

  isAhead(origin: Origin, common: FlowMatch, piece: Piece): boolean {
    const pieces = this.#byOrigin.get(origin) ?? []
    return pieces.some(
      ({ match, components }) =>
        coversMatch(match, common) && compareFlowspec(components, piece.components) < 0,
    )
  }
}

/** Two limits are never the same: each has its own rate. */
function sameTreatment(a: Origin, b: Origin): boolean {
  return a.action.kind === b.action.kind && a.action.kind !== 'rate_limit'
}

function pieceOf(origin: Origin, match: FlowMatch): Piece {
  return { origin, match, components: encodeComponents(match) }
}

/**
 * Returns `common` as pieces that are evaluated before `piece`, which contains it. A source comes before all conditions on ports, and a
 * longer prefix before a shorter one. Undefined if both prefixes are already addresses.
 */
function piecesAhead(origin: Origin, common: FlowMatch, piece: Piece): Piece[] | undefined {
  const found: Piece[] = []
  for (const part of fitting(common)) {
    for (const raised of raisedAbove(part, piece) ?? [undefined]) {
      const added = raised && pieceOf(origin, raised)
      if (!added || compareFlowspec(added.components, piece.components) >= 0) return undefined
      found.push(added)
    }
  }
  return found
}

function raisedAbove(part: FlowMatch, piece: Piece): readonly FlowMatch[] | undefined {
  if (compareFlowspec(encodeComponents(part), piece.components) < 0) return [part]
  const anywhere = (familyOf(part.destination) === 4 ? '0.0.0.0/0' : '::/0') as Prefix
  const source = part.source ?? anywhere
  if (!piece.match.source) return fitting({ ...part, source })
  const sources = halvesOf(source)
  if (sources) return sources.flatMap((half) => fitting({ ...part, source: half }))
  return halvesOf(part.destination)?.flatMap((destination) => fitting({ ...part, source, destination }))
}

/** Divides the longest set of numbers until every part fits into one NLRI. */
function fitting(match: FlowMatch): FlowMatch[] {
  return componentOctets(match) <= componentOctetsMax ? [match] : halvesOfMatch(match)!.flatMap(fitting)
}
