// Tables of nft(8), from its JSON. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { RuleHits, RuleId } from '../../shield/scrubber.ts'
import { familyOf } from '../../net/address.ts'
import type { Family } from '../../net/bits.ts'
import { firstOf, lastOf, parsePrefix, parsePrefixOrAddress, type Prefix } from '../../net/prefix.ts'
import {
  callChain,
  entryChain,
  guardChain,
  type Hook,
  type InstalledChain,
  type InstalledTable,
  type ListLayout,
  listLayoutOf,
  listChain,
  prefixMap,
  prefixOfChain,
  priority,
} from './table.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Reads the JSON of `nft -j list table`. Throws TypeError on another answer. A list that somebody changed, or that packets do not reach
 * from the hook, has another fingerprint.
 */
export function readTable(text: string, hook: Hook): InstalledTable {
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
  const prefixes = chains
    .filter((name) => name.startsWith('list'))
    .map((name) => prefixOfChain(name))
    .filter((prefix) => prefix !== undefined)
  // Any flag: nft 1.0.6 prints other memory in place of its name.
  const isDormant = objects.some(({ table }) => (table as Json | undefined)?.['flags'] !== undefined)
  const isEntered = isEntry(objects, rules.get(entryChain) ?? [], hook)
  const layout = listLayoutOf(prefixes)
  const isMapped = { 4: isMap(objects, 4, layout), 6: isMap(objects, 6, layout) }
  const isReached = (prefix: Prefix): boolean =>
    !isDormant &&
    isEntered &&
    isMapped[familyOf(prefix)] &&
    isCall(rules.get(callChain(prefix)) ?? [], prefix, layout)
  const lists = prefixes
    .map((prefix) => readList(prefix, rules))
    .filter((list) => list !== undefined)
    .map((list) =>
      isReached(list.prefix) ? list : { ...list, fingerprint: `not reached,${list.fingerprint}` },
    )
  return { lists, chains, counters, isEntered, isDormant }
}

/** Returns whether the entry chain and its rules match the ones that a transaction writes. */
function isEntry(objects: readonly Json[], rules: readonly Json[], hook: Hook): boolean {
  const chain = objects
    .map(({ chain }) => chain as Json | undefined)
    .find((one) => one?.['name'] === entryChain)
  if (!chain) return false
  const { type, hook: at, prio, policy } = chain
  const expressions = ([4, 6] as const).map((family) => {
    const payload = { protocol: family === 4 ? 'ip' : 'ip6', field: 'daddr' }
    return [{ vmap: { key: { payload }, data: `@${prefixMap(family)}` } }]
  })
  return isDeepStrictEqual(
    [type, at, prio, policy, rules.map(({ expr }) => expr)],
    ['filter', hook, priority, 'accept', expressions],
  )
}

/** Whether the map leads each address to the chain of its innermost prefix. */
function isMap(objects: readonly Json[], family: Family, layout: ListLayout): boolean {
  const map = objects
    .map(({ map }) => map as Json | undefined)
    .find((one) => one?.['name'] === prefixMap(family))
  const elements = (map?.['elem'] ?? []) as readonly unknown[]
  const held = elements.map(elementText)
  const wanted = layout
    .rangesOf(family)
    .map(({ first, last, prefix }) => `${first}-${last} ${callChain(prefix)}`)
  return isDeepStrictEqual(held.toSorted(), wanted.toSorted())
}

/** Returns any text for a foreign element. */
function elementText(element: unknown): string {
  try {
    const [key, verdict] = element as [unknown, Json]
    const [first, last] = rangeOfKey(key)
    return `${first}-${last} ${textOf(verdict['jump'], 'target')}`
  } catch {
    return 'foreign element'
  }
}

/** An address, a prefix or a range, which nft distinguishes. */
function rangeOfKey(key: unknown): readonly [bigint, bigint] {
  if (typeof key === 'string') return [firstOf(parsePrefixOrAddress(key)), firstOf(parsePrefixOrAddress(key))]
  const { prefix, range } = key as Json
  if (prefix !== undefined) {
    const whole = parsePrefix(`${textOf(prefix, 'addr')}/${numberOf(prefix, 'len')}`)
    return [firstOf(whole), lastOf(whole)]
  }
  const [first, last] = range as [string, string]
  return [firstOf(parsePrefixOrAddress(first)), firstOf(parsePrefixOrAddress(last))]
}

/** Whether the rules call the lists that cover the prefix, the most specific first. */
function isCall(rules: readonly Json[], prefix: Prefix, layout: ListLayout): boolean {
  const wanted = layout.coveringFirst(prefix).map((outer) => [{ jump: { target: listChain(outer) } }])
  return isDeepStrictEqual(
    rules.map(({ expr }) => expr),
    wanted,
  )
}

/** Undefined for an empty chain. The comment of a rule has its fingerprint; verdicts and the rules that follow from it must be there. */
function readList(prefix: Prefix, byChain: ReadonlyMap<string, readonly Json[]>): InstalledChain | undefined {
  const rules = byChain.get(listChain(prefix)) ?? []
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
