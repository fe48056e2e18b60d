// Lists as a transaction of nft(8), and back from its JSON. A list is a chain; a second chain for each prefix calls the chains of all
// lists that cover it, the most specific first, and a map from disjoint ranges of addresses selects that one. Pure.
import type {
  CompiledList,
  CompiledRule,
  InstalledList,
  RuleHits,
  RuleId,
} from '../../analysis/shield/scrubber.ts'
import { familyOf } from '../../net/address.ts'
import { type Family, widthOf } from '../../net/bits.ts'
import { filterRuleText } from '../../net/filter-rule.ts'
import { icmpOf } from '../../net/flow-match.ts'
import { covers, firstOf, lastOf, lengthOf, type Prefix, prefixBits } from '../../net/prefix.ts'
import { formatBits } from '../../net/bits-text.ts'
import type { Ranges } from '../../net/ranges.ts'
import { fingerprint } from '../../text/fingerprint.ts'

/** A table as it is installed. */
export type InstalledTable = {
  readonly lists: readonly InstalledChain[]
  /** Names of all chains and of all counters. */
  readonly chains: readonly string[]
  readonly counters: ReadonlyMap<RuleId, RuleHits>
}

export type InstalledChain = InstalledList & { readonly ids: readonly RuleId[] }

export const hooks = ['forward', 'prerouting', 'input'] as const
export type Hook = (typeof hooks)[number]

/** Before the chains of the host's own firewall (priority 0), after connection tracking's defragmentation (-400). */
const priority = -150

/**
 * Returns the transaction that makes the lists of these prefixes the given ones, and keeps all others: nft applies all of it or nothing,
 * and counters keep their values. `lists` without rules are removed. Empty if there is nothing to change.
 */
export function transactionOf(
  table: string,
  hook: Hook,
  lists: readonly CompiledList[],
  installed: InstalledTable,
): string {
  const changed = new Map(lists.map((list) => [list.prefix, list]))
  const added = lists.filter(({ rules }) => rules.length > 0)
  const kept = installed.lists.filter(({ prefix }) => !changed.has(prefix))
  const prefixes = [...kept, ...added].map(({ prefix }) => prefix)
  const keptIds = kept.flatMap(({ ids }) => ids)
  const guarded = added.flatMap(({ rules }) => rules.filter(needsGuard).map(({ id }) => id))
  const guards = new Set([...keptIds, ...guarded])
  const removed = installed.chains.filter((name) => {
    const prefix = prefixOfChain(name)
    const guard = guardOfChain(name)
    return prefix ? !prefixes.includes(prefix) : guard !== undefined && !guards.has(guard)
  })
  if (added.length === 0 && removed.length === 0) return ''
  const used = new Set([...keptIds, ...added.flatMap(({ rules }) => rules.map(({ id }) => id))])
  const unused = [...installed.counters.keys()].filter((id) => !used.has(id))
  const missing = [...used].filter((id) => !installed.counters.has(id))
  const inTable = (name: string) => `inet ${table} ${name}`
  return [
    `add table inet ${table}`,
    // Chains come before the maps and rules that name them.
    ...prefixes.flatMap((prefix) =>
      [listChain(prefix), callChain(prefix)].map((name) => `add chain ${inTable(name)}`),
    ),
    ...guarded.map((id) => `add chain ${inTable(guardChain(id))}`),
    ...([4, 6] as const).map(
      (family) =>
        `add map ${inTable(`prefixes${family}`)} { type ipv${family}_addr : verdict; flags interval; }`,
    ),
    `add chain ${inTable('shield')} { type filter hook ${hook} priority ${priority}; policy accept; }`,
    ...missing.map((id) => `add counter ${inTable(counterName(id))}`),
    `flush chain ${inTable('shield')}`,
    `add rule ${inTable('shield')} ip daddr vmap @prefixes4`,
    `add rule ${inTable('shield')} ip6 daddr vmap @prefixes6`,
    ...([4, 6] as const).map((family) => `flush map ${inTable(`prefixes${family}`)}`),
    ...prefixes.flatMap((prefix) => [
      `flush chain ${inTable(callChain(prefix))}`,
      ...coveringFirst(prefix, prefixes).map(
        (outer) => `add rule ${inTable(callChain(prefix))} jump ${listChain(outer)}`,
      ),
    ]),
    ...guarded.map((id) => `flush chain ${inTable(guardChain(id))}`),
    ...added.flatMap(({ prefix, rules }) => [
      `flush chain ${inTable(listChain(prefix))}`,
      ...rules.flatMap((rule) => ruleLines(rule, prefix)).map((line) => `add rule inet ${table} ${line}`),
    ]),
    ...([4, 6] as const).flatMap((family) => elementLines(inTable(`prefixes${family}`), family, prefixes)),
    // All rules first: chains that call each other can only be deleted without them.
    ...removed.map((name) => `flush chain ${inTable(name)}`),
    ...removed.map((name) => `delete chain ${inTable(name)}`),
    ...unused.map((id) => `delete counter ${inTable(counterName(id))}`),
    '',
  ].join('\n')
}

/** The prefix itself and those that cover it, the most specific first. */
function coveringFirst(prefix: Prefix, prefixes: readonly Prefix[]): Prefix[] {
  return prefixes.filter((outer) => covers(outer, prefix)).toSorted((a, b) => lengthOf(b) - lengthOf(a))
}

/** Elements of an interval map must not overlap: the ranges between all first and last addresses. */
function elementLines(map: string, family: Family, prefixes: readonly Prefix[]): string[] {
  const own = prefixes.filter((prefix) => familyOf(prefix) === family)
  if (own.length === 0) return []
  const borders = new Set(own.flatMap((prefix) => [firstOf(prefix), lastOf(prefix) + 1n]))
  const starts = [...borders].toSorted((a, b) => (a < b ? -1 : 1))
  const elements = starts.slice(0, -1).flatMap((first, at) => {
    const innermost = own
      .filter((prefix) => firstOf(prefix) <= first && first <= lastOf(prefix))
      .toSorted((a, b) => lengthOf(b) - lengthOf(a))[0]
    if (!innermost) return []
    const range = `${addressText(first, family)}-${addressText(starts[at + 1]! - 1n, family)}`
    return [`${range} : jump ${callChain(innermost)}`]
  })
  return [`add element ${map} { ${elements.join(', ')} }`]
}

function addressText(value: bigint, family: Family): string {
  const word = (shift: number): number => Number((value >> BigInt(shift)) & 0xffff_ffffn) | 0
  const words = family === 4 ? [word(0), 0, 0, 0] : [word(96), word(64), word(32), word(0)]
  const [w0, w1, w2, w3] = words as [number, number, number, number]
  return formatBits({ family, length: widthOf(family), w0, w1, w2, w3 })
}

/**
 * The rules of nft for a rule, each with its chain. A limit drops the excess, and its second rule accepts what conforms: later rules do
 * not see it.
 *
 * Linux reads ports in every fragment of a packet, where later ones have data (seen with Linux 6.18). A condition excludes these for IPv4.
 * IPv6 has no condition for "no fragment, or the first one": there a chain of its own returns for later fragments.
 */
function ruleLines(rule: CompiledRule, prefix: Prefix): string[] {
  const conditions = conditionsOf(rule, prefix)
  const main = `rule ${rule.id} ${fingerprint(filterRuleText(rule))}`
  const list = listChain(prefix)
  if (!needsGuard(rule)) return verdictLines(rule, [list, ...conditions].join(' '), main)
  const guard = guardChain(rule.id)
  return [
    [list, ...conditions, 'jump', guard, `comment "${main}"`].join(' '),
    `${guard} frag frag-off != 0 return`,
    ...verdictLines(rule, guard, 'verdict'),
  ]
}

function verdictLines({ id, action }: CompiledRule, head: string, comment: string): string[] {
  const counter = `counter name ${counterName(id)}`
  if (action.kind === 'allow') return [`${head} ${counter} accept comment "${comment}"`]
  if (action.kind === 'deny') return [`${head} ${counter} drop comment "${comment}"`]
  return [
    `${head} ${counter} ${limitOf(action)} drop comment "${comment}"`,
    `${head} accept comment "conforming ${id}"`,
  ]
}

function needsGuard({ match }: CompiledRule): boolean {
  return familyOf(match.destination) === 6 && hasTransport(match)
}

/** Whether a condition reads the header of the transport protocol, which only the first fragment has. */
function hasTransport({
  sourcePort,
  destinationPort,
  icmpType,
  icmpCode,
  tcpFlags,
}: CompiledRule['match']): boolean {
  return (sourcePort ?? destinationPort ?? icmpType ?? icmpCode ?? tcpFlags) !== undefined
}

/**
 * Of packets, a tenth of a second may pass at once. Of octets, Linux lets a second's worth and the burst pass: it is one merged packet
 * (GRO), which would never conform otherwise.
 */
function limitOf(limit: Extract<CompiledRule['action'], { kind: 'rate_limit' }>): string {
  if ('pps' in limit) {
    const rate = Math.max(1, Math.floor(limit.pps))
    return `limit rate over ${rate}/second burst ${Math.max(5, Math.ceil(rate / 10))} packets`
  }
  const rate = Math.max(1, Math.floor(limit.bps / 8))
  return `limit rate over ${rate} bytes/second burst 65536 bytes`
}

function conditionsOf({ match }: CompiledRule, prefix: Prefix): string[] {
  const family = familyOf(prefix)
  const ip = family === 4 ? 'ip' : 'ip6'
  const icmp = icmpOf(family) === 1 ? 'icmp' : 'icmpv6'
  const conditions: string[] = []
  const add = (name: string, ranges: Ranges | undefined): void => {
    if (ranges) conditions.push(`${name} ${setOf(ranges)}`)
  }
  if (match.destination !== prefix) conditions.push(`${ip} daddr ${match.destination}`)
  if (match.source) conditions.push(`${ip} saddr ${match.source}`)
  add('meta l4proto', match.protocol)
  add('th sport', match.sourcePort)
  add('th dport', match.destinationPort)
  add(`${icmp} type`, match.icmpType)
  add(`${icmp} code`, match.icmpCode)
  if (match.tcpFlags) {
    const { set, unset } = match.tcpFlags
    conditions.push(`tcp flags & ${hex(set | unset)} == ${hex(set)}`)
  }
  if (family === 4 && hasTransport(match)) conditions.unshift('ip frag-off & 0x1fff == 0')
  add('meta length', match.packetLength)
  add(`${ip} dscp`, match.dscp)
  if (match.fragment !== undefined) {
    const isFragment = match.fragment
    if (family === 4) conditions.push(`ip frag-off & 0x3fff ${isFragment ? '!=' : '=='} 0`)
    else conditions.push(`exthdr frag ${isFragment ? 'exists' : 'missing'}`)
  }
  return conditions
}

function setOf(ranges: Ranges): string {
  const texts = ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
  return texts.length === 1 ? texts[0]! : `{ ${texts.join(', ')} }`
}

function hex(value: number): string {
  return `0x${value.toString(16)}`
}

const counterName = (id: RuleId): string => `rule${id}`
const listChain = (prefix: Prefix): string => `list${chainKey(prefix)}`
const guardChain = (id: RuleId): string => `first${id}`
const callChain = (prefix: Prefix): string => `call${chainKey(prefix)}`

/** Such as `4_cb007100_24`: names of chains have no dots and colons. */
function chainKey(prefix: Prefix): string {
  const { family, length, w0, w1, w2, w3 } = prefixBits(prefix)
  const words = family === 4 ? [w0] : [w0, w1, w2, w3]
  return `${family}_${words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')}_${length}`
}

/** Undefined for a chain of another purpose. */
function prefixOfChain(name: string): Prefix | undefined {
  const parts = /^(?:list|call)([46])_([0-9a-f]{8}|[0-9a-f]{32})_(\d{1,3})$/.exec(name)
  if (!parts) return undefined
  const family = Number(parts[1]) as Family
  const words = parts[2]!.match(/.{8}/g)!.map((word) => Number.parseInt(word, 16) | 0)
  if (words.length !== (family === 4 ? 1 : 4)) return undefined
  const [w0, w1 = 0, w2 = 0, w3 = 0] = words as [number, ...number[]]
  return `${formatBits({ family, length: widthOf(family), w0, w1, w2, w3 })}/${parts[3]}` as Prefix
}

/** Undefined for a chain of another purpose. */
function guardOfChain(name: string): RuleId | undefined {
  const id = /^first(\d+)$/.exec(name)?.[1]
  return id === undefined ? undefined : Number(id)
}

type Json = Readonly<Record<string, unknown>>

/** Reads the JSON of `nft -j list table`. Throws TypeError on another answer. A list that somebody changed has another fingerprint. */
export function readTable(text: string): InstalledTable {
  const { nftables } = JSON.parse(text) as { nftables?: unknown }
  if (!Array.isArray(nftables)) throw new TypeError('not an answer of nft')
  const objects = nftables as readonly Json[]
  const chains = objects.flatMap(({ chain }) => (chain ? [textOf(chain, 'name')] : []))
  const counters = new Map<RuleId, RuleHits>()
  for (const { counter } of objects) {
    const id = counter === undefined ? undefined : /^rule(\d+)$/.exec(textOf(counter, 'name'))?.[1]
    if (id !== undefined)
      counters.set(Number(id), { packets: numberOf(counter, 'packets'), bytes: numberOf(counter, 'bytes') })
  }
  const rules = Map.groupBy(
    objects.flatMap(({ rule }) => (rule ? [rule as Json] : [])),
    (rule) => textOf(rule, 'chain'),
  )
  const lists = chains
    .filter((name) => name.startsWith('list') && prefixOfChain(name) !== undefined)
    .map((name) => readList(prefixOfChain(name)!, name, rules))
    .filter((list) => list !== undefined)
  return { lists, chains, counters }
}

/** Undefined for an empty chain. The comment of a rule has its fingerprint; verdicts and the rules that follow from it must be there. */
function readList(
  prefix: Prefix,
  chain: string,
  byChain: ReadonlyMap<string, readonly Json[]>,
): InstalledChain | undefined {
  const rules = byChain.get(chain) ?? []
  if (rules.length === 0) return undefined
  const fingerprints: string[] = []
  const ids: RuleId[] = []
  for (let at = 0; at < rules.length; at++) {
    const [, number, text] = /^rule (\d+) ([0-9a-f]{16})$/.exec(commentOf(rules[at]!)) ?? []
    if (number === undefined) {
      fingerprints.push('foreign rule')
      continue
    }
    const id = Number(number)
    ids.push(id)
    const isComplete = hasExpression(rules[at]!, 'jump')
      ? isGuard(byChain.get(guardChain(id)) ?? [], id)
      : isVerdict(rules.slice(at), id)
    if (isComplete && hasExpression(rules[at]!, 'limit')) at++
    fingerprints.push(isComplete ? text! : 'changed rule')
  }
  return { prefix, ruleCount: ids.length, fingerprint: fingerprints.join(','), ids }
}

function isGuard(rules: readonly Json[], id: RuleId): boolean {
  const [first, ...rest] = rules
  if (!first || !hasExpression(first, 'return') || rest.length === 0) return false
  return isVerdict(rest, id) && rest.length === (hasExpression(rest[0]!, 'limit') ? 2 : 1)
}

/** Whether it is one rule with a verdict, or a limit with the rule that accepts conforming packets. */
function isVerdict([first, second]: readonly Json[], id: RuleId): boolean {
  if (!first || !(hasExpression(first, 'drop') || hasExpression(first, 'accept'))) return false
  if (!hasExpression(first, 'limit')) return true
  return second !== undefined && commentOf(second) === `conforming ${id}` && hasExpression(second, 'accept')
}

function commentOf(rule: Json): string {
  return typeof rule['comment'] === 'string' ? rule['comment'] : ''
}

function hasExpression(rule: Json, name: string): boolean {
  const expressions = rule['expr']
  return Array.isArray(expressions) && expressions.some((one: Json) => name in one)
}

function textOf(object: unknown, name: string): string {
  const value = (object as Json)[name]
  if (typeof value !== 'string') throw new TypeError(`${name} is missing in an answer of nft`)
  return value
}

function numberOf(object: unknown, name: string): number {
  const value = (object as Json)[name]
  if (typeof value !== 'number') throw new TypeError(`${name} is missing in an answer of nft`)
  return value
}
