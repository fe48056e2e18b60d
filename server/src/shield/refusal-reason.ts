// The reason that is shown for a list which cannot be compiled for a scrubber. Pure.
import type { ShieldFeature, ShieldReason } from '@pharos/contract/reason/shield-reason'
import type { CompileRefusal, CompileRefusalCode } from './compile.ts'
import type { RuleId, ScrubberCapabilities } from './scrubber.ts'

export type RefusalReason = {
  readonly reason: ShieldReason
  /** `rule` and `other` are ids of rules. */
  readonly attrs: Readonly<Record<string, unknown>>
  /** The rules that cannot be applied; empty for the list as a whole. */
  readonly rules: readonly RuleId[]
}

export function reasonOfRefusal(
  { code, rules }: CompileRefusal,
  { rulesMax, rateMax }: ScrubberCapabilities,
): RefusalReason {
  const [rule, other] = rules
  if (code === 'order_impossible' || code === 'too_many_added')
    return {
      reason: 'cannot_order',
      attrs: { rule: rule ?? null, other: other ?? null },
      rules: rule === undefined ? [] : [rule],
    }
  if (code === 'rules_max') return { reason: 'too_many_rules', attrs: { max: rulesMax }, rules: [] }
  if (code === 'bit_rate_max')
    return { reason: 'rate_too_high', attrs: { field: 'rate_bps', max: rateMax.bps }, rules }
  if (code === 'packet_rate_max')
    return { reason: 'rate_too_high', attrs: { field: 'rate_pps', max: rateMax.pps }, rules }
  return { reason: 'unsupported', attrs: { feature: features[code] }, rules }
}

const features: Readonly<
  Record<
    Exclude<
      CompileRefusalCode,
      'order_impossible' | 'too_many_added' | 'rules_max' | 'bit_rate_max' | 'packet_rate_max'
    >,
    ShieldFeature
  >
> = {
  packet_rate_unsupported: 'packet_rate',
  family_unsupported: 'ip_version',
  outside_prefix: 'destination',
}
