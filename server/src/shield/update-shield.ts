// Replaces the rule list of a prefix: one new version in one transaction. Scrubbers are changed by their loop alone.
import {
  shieldRulesPerTeam,
  type ShieldRulesAnswer,
  type ShieldRulesUpdate,
  type ShieldWarning,
  type ShieldWhatIf,
} from '@pharos/contract/shield/shield'
import { shieldMeasureTexts, type ShieldReason } from '@pharos/contract/reason/shield-reason'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { runPreparedChange, type ChangeAnswer, type ChangeResult } from '../db/run-change.ts'
import { wake } from '../db/wake.ts'
import { overlaps, type Prefix } from '../net/prefix.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import { actorName, type Operation } from '../operation/operation.ts'
import { errorAt, fail, failWith, invalid, parsePrefixAt } from '../runtime/error.ts'
import { presentAnswer } from './present-shield.ts'
import { listSessionAddresses } from './session-address.store.ts'
import {
  confirmVersion,
  countOtherRules,
  insertList,
  lockList,
  lockShield,
  mayFilter,
  readRules,
  storeVersion,
  type ListRow,
  type NewVersion,
  type RuleRow,
} from './shield-list.store.ts'
import { largestDrop, warningsOfEffect } from './effect-warnings.ts'
import { sameRules, sameText, withIds } from './compare-rules.ts'
import { isApplied, listWarning, parseRules, warningsOf, type ParsedRule } from './shield-rule.ts'
import type { EstimateWhatIf } from './what-if-port.ts'

export type UpdateDeps = {
  readonly postgres: Postgres
  readonly estimate: EstimateWhatIf
  /** Greatest part of the normal traffic that a list may drop without `force`, in percent. */
  readonly dropPercentMax: number
  /** Returns how many scrubbers of the provider get the list, and the parts that they cannot apply. */
  readonly checkScrubbers: CheckScrubbers
  /** Networks that no rule may name, beside the addresses of sessions. */
  readonly safelist: readonly Prefix[]
  readonly now: () => Date
}

export type ListRefusal = {
  /** Place among the rules; undefined: the list as a whole. */
  readonly index?: number
  /** The rule that cannot be evaluated before this rule. Undefined: the rule itself cannot be applied. */
  readonly other?: number
  /** The prefix of another list that cannot be applied together with the team's list for this prefix. */
  readonly otherPrefix?: Prefix
  readonly field?: string
  /** The greatest value of the field. */
  readonly max?: number
  readonly reason: ShieldReason
  readonly detail: string
  readonly scrubber: string
}
export type CheckScrubbers = (
  teamId: number,
  prefix: Prefix,
  rules: readonly ParsedRule[],
) => Promise<{ readonly scrubbers: number; readonly refusals: readonly ListRefusal[] }>

const hourMs = 3_600_000

/** Throws `invalid` with every problem of every rule, `precondition_failed`, `quota_exceeded` and `would_drop`. */
export function updateShieldRules(
  deps: UpdateDeps,
  operation: Operation,
  body: ShieldRulesUpdate,
): Promise<ChangeAnswer<ShieldRulesAnswer>> {
  const prefix = parsePrefixAt(['body', 'prefix'], body.prefix)
  const rules = parseRules(body.rules, prefix)
  const nowMs = deps.now().getTime()
  return runPreparedChange(
    deps.postgres,
    operation,
    async () => ({
      whatIf: await estimateLastHour(deps, operation, prefix, rules, nowMs),
      ...(await deps.checkScrubbers(operation.actor.teamId, prefix, appliedRules(rules, nowMs))),
      safelist: [...deps.safelist, ...(await listSessionAddresses(deps.postgres.front))],
    }),
    (trx, prepared) => update(deps, trx, operation, { ...body, prefix, rules, nowMs, ...prepared }),
  )
}

/** Undefined if no rule drops traffic, unless the estimate is part of the answer. */
async function estimateLastHour(
  { estimate }: UpdateDeps,
  { actor, dryRun }: Operation,
  prefix: Prefix,
  rules: readonly ParsedRule[],
  endMs: number,
): Promise<ShieldWhatIf | undefined> {
  if (!dryRun && !drops(rules, endMs)) return undefined
  const applied = appliedRules(rules, endMs)
  return estimate({ teamId: actor.teamId, prefix, rules: applied, startMs: endMs - hourMs, endMs })
}

const drops = (rules: readonly ParsedRule[], nowMs: number): boolean =>
  rules.some((rule) => rule.action !== 'allow' && isApplied(rule, nowMs))

type Wanted = Omit<ShieldRulesUpdate, 'prefix' | 'rules'> & {
  readonly prefix: Prefix
  readonly rules: readonly ParsedRule[]
  /** One time for all checks: refusals name places among the rules that were applied then. */
  readonly nowMs: number
  readonly whatIf: ShieldWhatIf | undefined
  readonly scrubbers: number
  readonly refusals: readonly ListRefusal[]
  readonly safelist: readonly Prefix[]
}

async function update(
  deps: UpdateDeps,
  trx: Trx,
  operation: Operation,
  wanted: Wanted,
): Promise<ChangeResult<ShieldRulesAnswer>> {
  const { teamId } = operation.actor
  const { prefix, nowMs } = wanted
  await lockShield(trx, teamId)
  const list = await lockList(trx, teamId, prefix)
  const isClearing = wanted.rules.length === 0 && list !== undefined
  if (!isClearing && !(await mayFilter(trx, teamId, prefix)))
    throw invalid(['body', 'prefix'], 'shieldPrefixHeld')
  const version = list?.version ?? 0
  requireMatch(operation.ifMatch, etagOf(version))
  if (wanted.version !== undefined && wanted.version !== version)
    throw fail('precondition_failed', 'etag', { etag: etagOf(version) })
  const stored = list ? await readRules(trx, teamId, list.id) : []
  const before = list && presentAnswer(list, stored)
  const warnings = [
    ...warningsOf(wanted.rules, prefix, nowMs),
    ...(wanted.whatIf ? warningsOfEffect(wanted.whatIf) : []),
    ...warningsOfScrubbers(wanted),
  ]
  if (!sameRules(stored, wanted.rules, prefix)) {
    await requireAllowed(deps, trx, teamId, wanted, list, warnings)
    await store(trx, operation, wanted, list, stored, confirmOf(wanted, list))
  } else {
    if (list?.confirm_by && wanted.confirm_within === undefined) await confirm(trx, operation, list, prefix)
    // The answer has the text as sent; the timer and the approval apply to the meaning of the rules.
    if (!sameText(stored, wanted.rules)) await store(trx, operation, wanted, list, stored, 'kept')
  }
  const changed = await lockList(trx, teamId, prefix)
  const body = {
    ...(changed
      ? presentAnswer(changed, await readRules(trx, teamId, changed.id))
      : { prefix, version: 0, status: 'pending' as const, confirm_by: null, results: [], count: 0 }),
    warnings: [...warnings, ...(drops(wanted.rules, nowMs) ? warningsOfWhatIf(deps, wanted.whatIf) : [])],
    ...(operation.dryRun && wanted.whatIf ? { what_if: wanted.whatIf } : {}),
  }
  return { body, ...(before ? { before } : {}), etag: etagOf(body.version) }
}

async function confirm(trx: Trx, operation: Operation, list: ListRow, prefix: Prefix): Promise<void> {
  await confirmVersion(trx, operation.actor.teamId, list.id)
  const before = { prefix, version: list.version, confirm_by: list.confirm_by }
  const after = { prefix, version: list.version, confirm_by: null }
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'shield.confirm',
    target: `shield:${prefix}`,
    before,
    after,
  })
  await wake(trx, 'shield')
}

/** Throws for rules that differ from the current list. */
async function requireAllowed(
  deps: UpdateDeps,
  trx: Trx,
  teamId: number,
  wanted: Wanted,
  list: ListRow | undefined,
  warnings: readonly ShieldWarning[],
): Promise<void> {
  if (wanted.strict && warnings.length > 0)
    throw failWith(
      'invalid',
      warnings.map(({ loc, detail }) => errorAt(loc, 'shieldWarning', { detail })),
    )
  const count = wanted.rules.length + (await countOtherRules(trx, teamId, list?.id))
  if (wanted.rules.length > 0 && count > shieldRulesPerTeam)
    throw fail('quota_exceeded', 'shieldRules', { limit: shieldRulesPerTeam, count })
  requireForeign(wanted)
  requireApplicable(wanted)
  if (!wanted.force) requireHarmless(deps, wanted)
}

async function store(
  trx: Trx,
  operation: Operation,
  { prefix, rules, force, confirm_within: confirmWithin }: Wanted,
  list: ListRow | undefined,
  stored: readonly RuleRow[],
  confirm: NewVersion['confirm'],
): Promise<void> {
  const { teamId } = operation.actor
  const listId = list?.id ?? (await insertList(trx, teamId, prefix))
  const version = (list?.version ?? 0) + 1
  const actor = actorName(operation.actor)
  const forced = force === true
  const written = withIds(rules, stored, prefix)
  await storeVersion(trx, teamId, { listId, version, cause: 'put', actor, forced, confirm }, written)
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'shield.update',
    target: `shield:${prefix}`,
    before: list ? { prefix, version: list.version, rules: stored.map(auditedRow) } : null,
    after: {
      prefix,
      version,
      forced,
      confirm_within: confirmWithin ?? null,
      rules: rules.map(auditedRule),
    },
  })
  await wake(trx, 'shield')
}

/** An unconfirmed version that is replaced is never restored: the version before it is. */
const confirmOf = ({ confirm_within: seconds }: Wanted, list: ListRow | undefined): NewVersion['confirm'] =>
  seconds === undefined
    ? undefined
    : { seconds, previousVersion: list?.previous_version ?? list?.version ?? 0 }

/**
 * Throws `invalid` for rules that drop or limit and name a network of the safelist. A rule for the whole prefix names
 * no network.
 */
function requireForeign({ rules, safelist }: Wanted): void {
  const errors = rules.flatMap(({ action, match, parsed }, index) => {
    if (action === 'allow') return []
    const named = {
      source: parsed.match.source,
      destination: match.destination === null ? undefined : parsed.match.destination,
    }
    return (['source', 'destination'] as const).flatMap((field) => {
      const network = named[field] && safelist.find((one) => overlaps(one, named[field]!))
      return network ? [errorAt(['body', 'rules', index, field], 'shieldSafelisted', { network })] : []
    })
  })
  if (errors.length > 0) throw failWith('invalid', errors)
}

/** Throws `invalid` with the places of rules that a scrubber of the provider cannot apply. */
function requireApplicable({ rules, refusals, nowMs }: Wanted): void {
  if (refusals.length === 0) return
  const applied = appliedRules(rules, nowMs)
  const placeOf = (at: number) => applied[at]!.index
  throw failWith(
    'invalid',
    refusals.map(({ index, other, otherPrefix, field, max, scrubber, reason: code, detail }) => {
      const place = index === undefined ? [] : [placeOf(index), ...(field === undefined ? [] : [field])]
      const loc = ['body', 'rules', ...place]
      if (otherPrefix !== undefined)
        return errorAt(loc, 'shieldCannotOrderLists', { prefix: otherPrefix, scrubber, code, detail })
      if (max !== undefined) return errorAt(loc, 'shieldRateMax', { max, scrubber, code })
      return other === undefined
        ? errorAt(loc, 'shieldUnsupported', { scrubber, code, detail })
        : errorAt(loc, 'shieldCannotOrder', { other: placeOf(other) })
    }),
  )
}

const appliedRules = (rules: readonly ParsedRule[], nowMs: number) =>
  rules.map((rule, index) => ({ ...rule, index })).filter((rule) => isApplied(rule, nowMs))

/** Throws `would_drop` for a list that drops too much of the normal traffic of the last hour, or of which that is unknown. */
function requireHarmless({ dropPercentMax }: UpdateDeps, { prefix, rules, whatIf, nowMs }: Wanted): void {
  if (!whatIf || !drops(rules, nowMs)) return
  if (whatIf.state === 'unavailable') throw fail('would_drop', 'unknown', { prefix })
  const { percent, measure } = largestDrop(whatIf)
  const what = shieldMeasureTexts[measure]
  if (percent > dropPercentMax)
    throw fail('would_drop', 'share', { prefix, percent, what, max: dropPercentMax })
}

/** A list without a scrubber is stored: the provider may add a scrubber. */
export const warningsOfScrubbers = ({
  rules,
  scrubbers,
}: {
  readonly rules: readonly ParsedRule[]
  readonly scrubbers: number
}): ShieldWarning[] => (rules.length > 0 && scrubbers === 0 ? [listWarning('no_scrubber')] : [])

function warningsOfWhatIf({ dropPercentMax }: UpdateDeps, whatIf: ShieldWhatIf | undefined): ShieldWarning[] {
  if (!whatIf) return []
  if (whatIf.state === 'unavailable') return [listWarning('what_if_unavailable')]
  if (whatIf.state === 'no_flows') return [listWarning('no_flows')]
  const drop = largestDrop(whatIf)
  return drop.percent > dropPercentMax ? [listWarning('drops_normal_traffic', drop)] : []
}

const auditedRow = (row: RuleRow) => ({
  id: row.id,
  sequence: row.sequence,
  enabled: row.enabled,
  action: row.action,
  ...row.match,
  rate_bps: row.rate_bps,
  rate_pps: row.rate_pps,
  expires: row.expires,
})
const auditedRule = ({ parsed: _parsed, match, expires, ...rule }: ParsedRule) => ({
  ...rule,
  ...match,
  expires: expires === null ? null : new Date(expires).toISOString(),
})
