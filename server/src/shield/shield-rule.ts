// A rule of a list as the team wrote it: parsed from a request, compared with stored ones, and warned about. Pure.
import type { NewShieldRule, ShieldAction, ShieldWarning } from '@pharos/contract/shield/shield'
import { shieldWarningText, type ShieldWarningCode } from '@pharos/contract/reason/shield-reason'
import type { ProblemError } from '@pharos/contract/problem'
import { filterRuleText, type FilterAction } from '../net/filter-rule.ts'
import { coversMatch, matchText, type FlowMatch } from '../net/flow-match.ts'
import { parsePrefixOrAddress, type Prefix } from '../net/prefix.ts'
import { errorAt, failWith } from '../runtime/error.ts'
import { parseTime } from '../text/time.ts'
import { parseRuleAction, parseRuleMatch, RuleError } from './rule.ts'

/** The conditions of a rule as they are stored and answered. */
export type StoredRuleMatch = {
  readonly protocol: string
  readonly source: string | null
  readonly source_port: string | null
  readonly destination: string | null
  readonly destination_port: string | null
  readonly tcp_flags: string | null
  readonly icmp_type: number | null
  readonly icmp_code: number | null
  readonly fragment: 'any' | 'yes' | 'no'
  readonly packet_length: string | null
  readonly dscp: number | null
}

/** A rule of a list without its id and observations. */
export type WrittenRule = {
  readonly sequence: number
  readonly enabled: boolean
  readonly action: ShieldAction
  readonly match: StoredRuleMatch
  readonly rate_bps: number | null
  readonly rate_pps: number | null
  readonly comment: string
  /** Milliseconds since 1970. */
  readonly expires: number | null
}

/** A rule of a version; without an id it is new. A rule that returns was created when it was first stored, in ISO 8601. */
export type VersionedRule = WrittenRule & { readonly id?: number; readonly created?: string }

/** With its canonical conditions. */
export type ParsedRule = WrittenRule & {
  readonly parsed: { readonly match: FlowMatch; readonly action: FilterAction }
}

/**
 * Parses the rules of a request for the list of `prefix`. Throws `invalid` with every problem of every rule; each is at
 * `["body","rules",3,"source_port"]`.
 */
export function parseRules(rules: readonly NewShieldRule[], prefix: Prefix): ParsedRule[] {
  const errors: ProblemError[] = []
  const numbered = rules.some(({ sequence }) => sequence !== undefined)
  let last = 0
  const parsed = rules.map((rule, at) => {
    const loc = ['body', 'rules', at]
    const sequence = numbered ? (rule.sequence ?? 0) : (at + 1) * 10
    if (sequence <= last) errors.push(errorAt([...loc, 'sequence'], 'shieldSequence'))
    last = Math.max(last, sequence)
    return parseRule(rule, prefix, sequence, (field, error) =>
      errors.push({ ...error, loc: [...loc, field] }),
    )
  })
  if (errors.length > 0) throw failWith('invalid', errors)
  return parsed as ParsedRule[]
}

type Report = (field: string, error: ProblemError) => void

function parseRule(
  rule: NewShieldRule,
  prefix: Prefix,
  sequence: number,
  report: Report,
): ParsedRule | undefined {
  const stored = storedMatch(rule)
  const { action, rate_bps = null, rate_pps = null } = rule
  const match = attempt(report, () => parseRuleMatch(stored, prefix))
  const parsedAction = attempt(report, () => parseRuleAction({ action, rate_bps, rate_pps }))
  const expires = rule.expires == null ? null : parseTime(rule.expires)!.getTime()
  if (!match || !parsedAction) return undefined
  return {
    sequence,
    enabled: rule.enabled ?? true,
    action,
    match: canonicalNetworks(stored, prefix),
    rate_bps,
    rate_pps,
    comment: rule.comment ?? '',
    expires,
    parsed: { match, action: parsedAction },
  }
}

function attempt<T>(report: Report, parse: () => T): T | undefined {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    report(error.field, { loc: [], msg: error.message, type: error.code })
    return undefined
  }
}

const storedMatch = (rule: NewShieldRule): StoredRuleMatch => ({
  protocol: rule.protocol ?? 'any',
  source: rule.source ?? null,
  source_port: rule.source_port ?? null,
  destination: rule.destination ?? null,
  destination_port: rule.destination_port ?? null,
  tcp_flags: rule.tcp_flags ?? null,
  icmp_type: rule.icmp_type ?? null,
  icmp_code: rule.icmp_code ?? null,
  fragment: rule.fragment ?? 'any',
  packet_length: rule.packet_length ?? null,
  dscp: rule.dscp ?? null,
})

/** One network has one spelling, so that the same rule written differently is the same rule. */
const canonicalNetworks = (match: StoredRuleMatch, prefix: Prefix): StoredRuleMatch => {
  const destination = match.destination === null ? prefix : parsePrefixOrAddress(match.destination)
  return {
    ...match,
    source: match.source === null ? null : parsePrefixOrAddress(match.source),
    destination: destination === prefix ? null : destination,
  }
}

/** Parses a stored rule; undefined if the vocabulary has changed since it was stored. */
export function findStored(
  { match, action, rate_bps, rate_pps }: Pick<WrittenRule, 'match' | 'action' | 'rate_bps' | 'rate_pps'>,
  prefix: Prefix,
): ParsedRule['parsed'] | undefined {
  try {
    return {
      match: parseRuleMatch(match, prefix),
      action: parseRuleAction({ action, rate_bps, rate_pps }),
    }
  } catch (error) {
    if (error instanceof RuleError) return undefined
    throw error
  }
}

/** Returns a text that is equal for rules that keep their id: the same conditions and the same action. */
export const identityOf = ({ parsed }: Pick<ParsedRule, 'parsed'>): string =>
  filterRuleText({ id: 0, ...parsed })

/** Whether a rule is applied at this time. */
export const isApplied = (
  { enabled, expires }: Pick<WrittenRule, 'enabled' | 'expires'>,
  nowMs: number,
): boolean => enabled && (expires === null || expires > nowMs)

/** Returns whether the rule drops or limits all traffic towards the prefix that reaches it. */
const dropsEverything = ({ parsed: { match, action } }: ParsedRule, prefix: Prefix): boolean =>
  action.kind !== 'allow' && matchText(match) === matchText({ destination: prefix })

/** Returns the warnings about rules that are applied, in their order. At most one about each rule and its place. */
export function warningsOf(rules: readonly ParsedRule[], prefix: Prefix, nowMs: number): ShieldWarning[] {
  const warnings: ShieldWarning[] = []
  const applied = rules.map((rule, index) => ({ rule, index })).filter(({ rule }) => isApplied(rule, nowMs))
  for (const [index, { enabled, expires }] of rules.entries())
    if (enabled && expires !== null && expires <= nowMs) warnings.push(warning('expired', index))
  for (const [place, { rule, index }] of applied.entries()) {
    const before = applied
      .slice(0, place)
      .find((one) => coversMatch(one.rule.parsed.match, rule.parsed.match))
    if (before) warnings.push(warning(kindOf(before.rule, rule), index, before.index, before.rule.sequence))
    else if (dropsEverything(rule, prefix)) warnings.push(warning('whole_prefix', index))
  }
  return warnings.toSorted((a, b) => Number(a.loc[2]) - Number(b.loc[2]))
}

function kindOf(before: ParsedRule, rule: ParsedRule): ShieldWarningCode {
  if (matchText(before.parsed.match) !== matchText(rule.parsed.match)) return 'shadowed'
  return identityOf(before) === identityOf(rule) ? 'duplicate' : 'contradicting'
}

function warning(code: ShieldWarningCode, index: number, other?: number, sequence?: number): ShieldWarning {
  const detail = shieldWarningText(code, { other: sequence })
  return { code, loc: ['body', 'rules', index], detail, other: other ?? null }
}

/** A warning about the rule at this place of the request. */
export const ruleWarning = (
  code: ShieldWarningCode,
  index: number,
  attrs: Readonly<Record<string, unknown>>,
): ShieldWarning => ({
  code,
  loc: ['body', 'rules', index],
  detail: shieldWarningText(code, attrs),
  other: null,
})

/** A warning about the whole list. */
export const listWarning = (
  code: ShieldWarningCode,
  attrs: Readonly<Record<string, unknown>> = {},
): ShieldWarning => ({ code, loc: ['body', 'rules'], detail: shieldWarningText(code, attrs), other: null })
