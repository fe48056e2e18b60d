// A rule of a packet filter: conditions, and the action for matching packets. The order of rules is not decided here.
import { type FlowMatch, matchText } from './flow-match.ts'

/**
 * Treatment of a packet; every action is final. A limit lets packets pass up to the rate, in bits or packets per second, and drops
 * the excess.
 */
export type FilterAction =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny' }
  | { readonly kind: 'rate_limit'; readonly bps: number }
  | { readonly kind: 'rate_limit'; readonly pps: number }

export type FilterRule = {
  /** Number under which the packets of the rule are counted. */
  readonly id: number
  readonly match: FlowMatch
  readonly action: FilterAction
}

/** Returns a text that is equal for equal actions. */
export function actionText(action: FilterAction): string {
  if (action.kind !== 'rate_limit') return action.kind
  return 'bps' in action ? `rate_limit ${action.bps} bps` : `rate_limit ${action.pps} pps`
}

/** Returns the action with a rate that FlowSpec can express: octets or packets per second as float32 (RFC 8955 section 7). */
export function roundedAction(action: FilterAction): FilterAction {
  if (action.kind !== 'rate_limit') return action
  return 'bps' in action
    ? { kind: 'rate_limit', bps: Math.fround(action.bps / 8) * 8 }
    : { kind: 'rate_limit', pps: Math.fround(action.pps) }
}

/** Returns a text that is equal for rules with the same id, conditions and action. */
export function filterRuleText({ id, match, action }: FilterRule): string {
  return `${id} ${actionText(action)} ${matchText(match)}`
}
