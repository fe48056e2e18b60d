// A rule as a line that a person reads: its action, and what it matches. Pure.
import { formatRate } from '../ui/rate.ts'
import type { RuleContent } from './rule-draft.ts'
import { words } from './words.ts'

const { text: texts } = words

/** Returns `Drop` or `Limit to 10 Mbps`. */
export function actionText({ action, rate_bps: bps, rate_pps: pps }: RuleContent): string {
  const name = words.actions[action]
  if (action !== 'rate_limit') return name
  const rate = bps === null ? (pps === null ? undefined : formatRate(pps, 'pps')) : formatRate(bps, 'bps')
  return rate === undefined ? name : `${name} ${texts.limit(rate)}`
}

const isMany = (ports: string) => /[,-]/.test(ports)
const spaced = (list: string) => list.replaceAll(',', ', ')

/** 65535 is the longest IP packet: the text omits this end of the range. */
const lengthText = (length: string): string => {
  const least = /^(\d+)-65535$/.exec(length)?.[1]
  return least === undefined ? texts.length(spaced(length)) : texts.lengthFrom(least)
}

/** Returns `UDP, source port 53, to 203.0.113.77`. */
export function matchText(rule: RuleContent): string {
  const { protocol } = rule
  const named = (words.protocols as Readonly<Record<string, string>>)[protocol]
  const parts = [
    protocol === 'any' ? undefined : (named ?? texts.protocol(protocol)),
    rule.source === null ? undefined : texts.from(rule.source),
    rule.source_port === null
      ? undefined
      : texts.fromPort(spaced(rule.source_port), isMany(rule.source_port)),
    rule.destination === null ? undefined : texts.to(rule.destination),
    rule.destination_port === null
      ? undefined
      : texts.toPort(spaced(rule.destination_port), isMany(rule.destination_port)),
    rule.tcp_flags === null ? undefined : texts.flags(spaced(rule.tcp_flags)),
    rule.icmp_type === null ? undefined : texts.type(rule.icmp_type),
    rule.icmp_code === null ? undefined : texts.code(rule.icmp_code),
    rule.fragment === 'any' ? undefined : rule.fragment === 'yes' ? texts.fragments : texts.noFragments,
    rule.packet_length === null ? undefined : lengthText(rule.packet_length),
    rule.dscp === null ? undefined : texts.dscp(rule.dscp),
  ].filter((part) => part !== undefined)
  if (parts.length === 0) return texts.all
  const text = parts.join(', ')
  return protocol === 'any' ? `${texts.all} ${text}` : text
}

/** Returns `Drop UDP, source port 53`. */
export const ruleText = (rule: RuleContent): string => `${actionText(rule)}: ${matchText(rule)}`
