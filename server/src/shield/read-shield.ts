// Lists the rules and the lists of a team, and estimates the effect of a list on past flows without storing it.
import type {
  simulateShieldRoute,
  listShieldListsRoute,
  listShieldRulesRoute,
  ShieldList,
  ShieldRule,
} from '@pharos/contract/shield/shield'
import type { BodyOf, ResponseOf, QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../db/postgres.ts'
import type { Operation } from '../operation/operation.ts'
import { invalid, parsePrefixAt } from '../runtime/error.ts'
import { windowOf } from '../timeseries/buckets.ts'
import { warningsOfEffect } from './effect-warnings.ts'
import { mayFilter, listListRows, listRuleRows, readListVersion } from './shield-list.store.ts'
import { isApplied, parseRules, warningsOf } from './shield-rule.ts'
import { warningsOfScrubbers, type CheckScrubbers } from './update-shield.ts'
import type { EstimateWhatIf } from './what-if-port.ts'
import { etagOf } from '../operation/etag.ts'
import { presentList, presentListed } from './present-shield.ts'

export type SimulateDeps = {
  readonly postgres: Postgres
  readonly estimate: EstimateWhatIf
  readonly checkScrubbers: CheckScrubbers
  readonly now: () => Date
}

const hourMs = 3_600_000
const spanMaxMs = 24 * hourMs

/** Throws `invalid` as the update does, and for a window that is too long or ends before it starts. */
export async function simulateShield(
  { postgres, estimate, checkScrubbers, now }: SimulateDeps,
  { actor: { teamId } }: Operation,
  body: BodyOf<typeof simulateShieldRoute>,
): Promise<ResponseOf<typeof simulateShieldRoute>> {
  const prefix = parsePrefixAt(['body', 'prefix'], body.prefix)
  const rules = parseRules(body.rules, prefix)
  const nowMs = now().getTime()
  const window = windowOf(body.start, body.end, 'body')
  const endMs = window.end?.getTime() ?? nowMs
  const startMs = window.start?.getTime() ?? endMs - hourMs
  // The default of the end may be before the start.
  if (endMs < startMs) throw invalid(['body', 'end'], 'beforeStart')
  if (endMs - startMs > spanMaxMs) throw invalid(['body', 'end'], 'shieldSimulateSpan')
  if (!(await postgres.inTeam(teamId, (trx) => mayFilter(trx, teamId, prefix))))
    throw invalid(['body', 'prefix'], 'shieldPrefixHeld')
  const applied = rules.map((rule, index) => ({ ...rule, index })).filter((rule) => isApplied(rule, nowMs))
  const whatIf = await estimate({ teamId, prefix, rules: applied, startMs, endMs })
  const { scrubbers } = await checkScrubbers(teamId, prefix, applied)
  const warnings = [
    ...warningsOf(rules, prefix, nowMs),
    ...warningsOfEffect(whatIf),
    ...warningsOfScrubbers({ rules, scrubbers }),
  ]
  return { what_if: whatIf, warnings }
}

type ListDeps = { readonly postgres: Postgres }
type Page<T> = { readonly results: T[]; readonly count: number }

const prefixesOf = (texts: readonly string[] | undefined) =>
  texts?.map((text) => parsePrefixAt(['query', 'prefix'], text))

/**
 * Returns a page of rules and the exact count. With a single `prefix` it has the ETag of the list of exactly this
 * prefix.
 */
export async function listShieldRules(
  { postgres }: ListDeps,
  { actor: { teamId } }: Operation,
  query: QueryOf<typeof listShieldRulesRoute>,
): Promise<{ body: Page<ShieldRule>; etag?: string }> {
  const prefixes = prefixesOf(query.prefix)
  const [only] = prefixes ?? []
  const version = only && prefixes!.length === 1 ? await readListVersion(postgres, teamId, only) : undefined
  const { page, count } = await listRuleRows(postgres, teamId, query, prefixes)
  const withHits = query.include === 'hits'
  const body = { results: page.map((row) => presentListed(row, withHits)), count }
  return version === undefined ? { body } : { body, etag: etagOf(version, body) }
}

/** Returns a page of lists and the exact count. */
export async function listShieldLists(
  { postgres }: ListDeps,
  { actor: { teamId } }: Operation,
  query: QueryOf<typeof listShieldListsRoute>,
): Promise<Page<ShieldList>> {
  const { page, count } = await listListRows(postgres, teamId, query, prefixesOf(query.prefix))
  return { results: page.map(presentList), count }
}
