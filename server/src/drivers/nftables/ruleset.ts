// Lists as a transaction of nft(8). Pure.
import type { CompiledList, CompiledRule } from '../../shield/scrubber.ts'
import { familyOf } from '../../net/address.ts'
import type { Family } from '../../net/bits.ts'
import { filterRuleText } from '../../net/filter-rule.ts'
import { icmpOf } from '../../net/flow-match.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Ranges } from '../../net/ranges.ts'
import { fingerprint } from '../../text/fingerprint.ts'
import {
  addressText,
  callChain,
  counterName,
  entryChain,
  guardChain,
  guardOfChain,
  type Hook,
  type InstalledTable,
  type ListLayout,
  listLayoutOf,
  listChain,
  prefixMap,
  prefixOfChain,
  priority,
} from './table.ts'

/**
 * Returns the transaction that replaces the lists of these prefixes and leaves all others: nft applies all of it or
 * rejects it, and counters keep their values. `lists` without rules are removed. Empty without a difference.
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
  const layout = listLayoutOf(prefixes)
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
        `add map ${inTable(prefixMap(family))} { type ipv${family}_addr : verdict; flags interval; }`,
    ),
    // A chain cannot change its hook.
    ...(installed.chains.includes(entryChain) && !installed.isEntered
      ? [`flush chain ${inTable(entryChain)}`, `delete chain ${inTable(entryChain)}`]
      : []),
    `add chain ${inTable(entryChain)} { type filter hook ${hook} priority ${priority}; policy accept; }`,
    ...missing.map((id) => `add counter ${inTable(counterName(id))}`),
    `flush chain ${inTable(entryChain)}`,
    `add rule ${inTable(entryChain)} ip daddr vmap @${prefixMap(4)}`,
    `add rule ${inTable(entryChain)} ip6 daddr vmap @${prefixMap(6)}`,
    ...([4, 6] as const).map((family) => `flush map ${inTable(prefixMap(family))}`),
    ...prefixes.flatMap((prefix) => [
      `flush chain ${inTable(callChain(prefix))}`,
      ...layout
        .coveringFirst(prefix)
        .map((outer) => `add rule ${inTable(callChain(prefix))} jump ${listChain(outer)}`),
    ]),
    ...guarded.map((id) => `flush chain ${inTable(guardChain(id))}`),
    ...added.flatMap(({ prefix, rules }) => [
      `flush chain ${inTable(listChain(prefix))}`,
      ...rules.flatMap((rule) => ruleLines(rule, prefix)).map((line) => `add rule inet ${table} ${line}`),
    ]),
    ...([4, 6] as const).flatMap((family) => elementLines(inTable(prefixMap(family)), family, layout)),
    // All rules first: chains that call each other can only be deleted without them.
    ...removed.map((name) => `flush chain ${inTable(name)}`),
    ...removed.map((name) => `delete chain ${inTable(name)}`),
    ...unused.map((id) => `delete counter ${inTable(counterName(id))}`),
    '',
  ].join('\n')
}

function elementLines(map: string, family: Family, layout: ListLayout): string[] {
  const elements = layout.rangesOf(family).map(({ first, last, prefix }) => {
    const range = `${addressText(first, family)}-${addressText(last, family)}`
    return `${range} : jump ${callChain(prefix)}`
  })
  return elements.length === 0 ? [] : [`add element ${map} { ${elements.join(', ')} }`]
}

/**
 * The rules of nft for a rule, each with its chain. A limit drops the excess, and its second rule accepts conforming
 * packets, so that later rules do not see them.
 *
 * Linux reads ports in every fragment of a packet, although later fragments have data there (seen with Linux 6.18). A
 * condition excludes these for IPv4. IPv6 has no condition for "no fragment, or the first one": there a separate chain
 * returns for later fragments.
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
 * The burst of packets is a tenth of a second. For octets, Linux lets a second's worth and the burst pass: the burst is
 * one merged packet (GRO), which would never conform otherwise.
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
