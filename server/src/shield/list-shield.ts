// Lists the rules and the lists of a team.
import type {
  listShieldListsRoute,
  listShieldRulesRoute,
  ShieldList,
  ShieldRule,
} from '@pharos/contract/shield/shield'
import type { QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../db/postgres.ts'
import { etagOf } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { parsePrefixAt } from '../runtime/error.ts'
import { presentList, presentListed } from './present-shield.ts'
import { listListRows, listRuleRows, readListVersion } from './shield-list.store.ts'

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
