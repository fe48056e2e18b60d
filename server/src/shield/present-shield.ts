// Rules and lists as the API shows them. Pure.
import type { NewShieldRule, ShieldList, ShieldRule, ShieldRulesAnswer } from '@pharos/contract/shield/shield'
import { isShieldFeature, shieldReasonText, type ShieldReason } from '@pharos/contract/reason/shield-reason'
import { parsePrefix, type Prefix } from '../net/prefix.ts'
import type { ListedRule, ListRow, RuleRow } from './shield-list.store.ts'

/** `hits`: null if no scrubber counts the rule, undefined if not requested. */
function presentRule(
  { reason, reason_attrs, match, created, modified, expires, ...row }: RuleRow,
  { prefix, version }: { readonly prefix: Prefix; readonly version: number },
  hits?: ListedRule['hits'],
): ShieldRule {
  return {
    ...row,
    prefix,
    ...match,
    version,
    expires: expires?.toISOString() ?? null,
    status_reason: presentReason(reason, reason_attrs),
    created: created.toISOString(),
    modified: modified.toISOString(),
    ...(hits === undefined ? {} : { hits: hits && { ...hits, last_hit: timeOf(hits.last_hit) } }),
  }
}

export function presentListed({ prefix, version, hits, ...row }: ListedRule, withHits: boolean): ShieldRule {
  return presentRule(row, { prefix: parsePrefix(prefix), version }, withHits ? hits : undefined)
}

/** As sent, without fields set by the server; with a new sequence. */
export function asNewRule({
  enabled,
  action,
  match,
  rate_bps,
  rate_pps,
  comment,
  expires,
}: RuleRow): NewShieldRule {
  return { enabled, action, ...match, rate_bps, rate_pps, comment, expires: expires?.toISOString() ?? null }
}

export const presentList = (row: ListRow): ShieldList => ({
  id: row.id,
  ...presentHead(row),
  rule_count: row.rule_count,
  previous_version: row.previous_version,
  status_reason: presentReason(row.reason, row.reason_attrs),
  created: row.created.toISOString(),
  modified: row.modified.toISOString(),
})

/** Returns the answer of an operation that changes a list, without warnings. */
export function presentAnswer(list: ListRow, rules: readonly RuleRow[]): Omit<ShieldRulesAnswer, 'warnings'> {
  const prefix = parsePrefix(list.prefix)
  const results = rules.map((rule) => presentRule(rule, { prefix, version: list.version }))
  return { ...presentHead(list), results, count: rules.length }
}

const presentHead = (row: Pick<ListRow, 'prefix' | 'version' | 'status' | 'confirm_by'>) => ({
  prefix: parsePrefix(row.prefix) as string,
  version: row.version,
  status: row.status,
  confirm_by: row.confirm_by?.toISOString() ?? null,
})

function presentReason(code: ShieldReason | null, stored: unknown): ShieldRule['status_reason'] {
  if (code === null) return null
  const attrs = (stored ?? {}) as Readonly<Record<string, unknown>>
  const { other, feature } = attrs
  return {
    code,
    detail: shieldReasonText(code, attrs),
    other: typeof other === 'number' ? other : null,
    feature: isShieldFeature(feature) ? feature : null,
  }
}

/** JSON of PostgreSQL has the time with an offset. */
const timeOf = (text: string | null): string | null => (text === null ? null : new Date(text).toISOString())
