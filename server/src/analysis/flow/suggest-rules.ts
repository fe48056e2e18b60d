// Suggests rules against an attack from flows: frequent properties become candidates, and a second statement measures them together.
import type { NewShieldRule } from '@pharos/contract/shield'
import { networkOf, prefixAround, type Prefix } from '../../net/prefix.ts'
import { parseAddress } from '../../net/address.ts'
import { parseRuleMatch } from '../shield/rule.ts'
import { asFlowFailure } from './flow-failure.ts'
import type { Statement } from './flow-query.ts'
import type { FlowStore } from './flow-store.ts'
import {
  bandRange,
  cellsStatement,
  frequentStatement,
  type AttackedTraffic,
  type CellRow,
  type FrequentRow,
} from './suggest-query.ts'
import { candidatesOf, chooseRules, type Candidate, type Choice, type Frequent } from './suggest.ts'

export type SuggestedRules = Choice & {
  /** By the index of each rule. */
  readonly candidates: readonly Candidate[]
}

/** The part of the bytes that must be within a band of lengths for the length to say something. */
const bandShareMin = 0.8
/** A property of less than this part of the attack is no candidate. */
const propertyShareMin = 0.02

/**
 * Suggests rules of the list of `prefix` for traffic towards the targets, which are inside it. Undefined if there are no flows of the
 * attack. Throws `unavailable` without the store, and `query_too_expensive`.
 */
export async function suggestRules(
  flowStore: FlowStore,
  traffic: AttackedTraffic,
  prefix: Prefix,
  coverage: number,
): Promise<SuggestedRules | undefined> {
  const run = async <T>({ sql, params, limits }: Statement): Promise<T[]> => {
    try {
      return await flowStore.query<T>(sql, params, limits)
    } catch (error) {
      throw asFlowFailure(error)
    }
  }
  const rows = await run<FrequentRow>(frequentStatement(traffic))
  const all = rows.filter(({ kind }) => kind === 'protocol').reduce((sum, { attack }) => sum + attack, 0)
  if (all === 0) return undefined
  const frequent = rows
    .filter(({ attack, normal }) => attack - normal >= all * propertyShareMin)
    .toSorted((a, b) => b.attack - b.normal - (a.attack - a.normal))
    .map((row) => frequentOf(row, prefix))
  const candidates = candidatesOf(frequent)
  const matches = candidates.map((candidate) => parseRuleMatch(candidate, prefix))
  const cells = await run<CellRow>(cellsStatement(traffic, matches))
  const choice = chooseRules(
    cells.map(({ mask, attack_bytes: attack, normal_bytes: normal }) => ({ mask, attack, normal })),
    candidates.length,
    coverage,
  )
  return { ...choice, candidates }
}

function frequentOf(
  { kind, protocol, value, band, in_band: inBand, attack }: FrequentRow,
  prefix: Prefix,
): Frequent {
  const isTold = inBand >= attack * bandShareMin
  return {
    kind: kind as Frequent['kind'],
    protocol,
    value: kind === 'source' ? sourceOf(value, prefix) : value,
    ...(isTold ? bandRange(band) : { low: 0, high: 65_535 }),
  }
}

/** The store has IPv4 as ::ffff:a.b.c.d. */
function sourceOf(stored: string, prefix: Prefix): string {
  const text = stored.replace(/^::ffff:(?=[0-9.]+$)/, '')
  return prefixAround(parseAddress(text), prefix.includes(':') ? 48 : 24)
}

/** Returns the rule of a candidate. A single target inside the prefix is its destination. */
export function ruleOf(
  candidate: Candidate,
  targets: readonly Prefix[],
  prefix: Prefix,
  action: Pick<NewShieldRule, 'action' | 'rate_bps'>,
  comment: string,
): NewShieldRule {
  const [target] = targets
  const isOne = targets.length === 1 && target !== prefix
  const destination = isOne ? { destination: isHost(target!) ? networkOf(target!) : target! } : {}
  return { ...action, ...candidate, ...destination, comment }
}

const isHost = (prefix: Prefix): boolean => prefix.endsWith(prefix.includes(':') ? '/128' : '/32')
