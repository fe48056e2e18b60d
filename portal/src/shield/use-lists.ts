// The lists of the team, their rules with hits, and the change of a list.
import {
  listShieldListsRoute,
  listShieldRulesRoute,
  revertShieldListRoute,
  updateShieldRulesRoute,
  type NewShieldRule,
  type ShieldList,
  type ShieldRule,
} from '@pharos/contract/shield/shield'
import { suggestShieldRulesRoute } from '@pharos/contract/shield/suggestion'
import { useMemo } from 'react'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'

const rulesMax = 1000

/** Returns the rules of exactly this prefix in order, and its list; undefined while they load. The API's filter takes overlapping ones. */
export function useRules(prefix: string) {
  const query = { prefix: [prefix] }
  const rules = useAnswer(
    listShieldRulesRoute,
    { query: { ...query, include: 'hits', limit: rulesMax } },
    { refetchInterval: 5_000 },
  )
  const lists = useAnswer(
    listShieldListsRoute,
    { query: { ...query, limit: rulesMax } },
    { refetchInterval: 5_000 },
  )
  const list = lists.data && (lists.data.results.find((one) => one.prefix === prefix) ?? null)
  return {
    rules: useMemo(() => rules.data?.results.filter((rule) => rule.prefix === prefix), [rules.data, prefix]),
    /** When the rules were received, in milliseconds. */
    receivedMs: rules.dataUpdatedAt,
    list,
    error: rules.error ?? lists.error,
    retry: () => Promise.all([rules.refetch(), lists.refetch()]),
  }
}

/** Replaces the list of a prefix, and requests what shows it again. */
export async function applyRules(body: {
  readonly prefix: string
  readonly rules: readonly NewShieldRule[]
  readonly version: number
  readonly confirm_within?: number
  readonly force?: boolean
}) {
  const { body: answer } = await call(updateShieldRulesRoute, { body: { ...body, rules: [...body.rules] } })
  await invalidateLists()
  return answer
}

/** Confirms the list: the same rules again, without a time in which to confirm. */
export async function confirmList({ prefix, version }: Pick<ShieldList, 'prefix' | 'version'>) {
  const { body } = await call(listShieldRulesRoute, { query: { prefix: [prefix], limit: rulesMax } })
  await applyRules({
    prefix,
    version,
    rules: requestOfRules(body.results.filter((rule) => rule.prefix === prefix)),
  })
}

/** Returns rules of the API as it takes them. */
const requestOfRules = (rules: readonly ShieldRule[]): NewShieldRule[] =>
  rules.map(
    ({
      id: _1,
      prefix: _2,
      status: _3,
      status_reason: _4,
      version: _5,
      created: _6,
      modified: _7,
      hits: _8,
      sequence: _9,
      ...rule
    }) => rule,
  )

/** Restores the last confirmed list, unless the list has another version meanwhile. */
export async function revertList({ id, version }: Pick<ShieldList, 'id' | 'version'>) {
  await call(revertShieldListRoute, { params: { list_id: id }, body: { version } })
  await invalidateLists()
}

/** Requests again what shows rules, and the suggestions, of which rules may be in place. */
const invalidateLists = () => invalidate(listShieldRulesRoute, listShieldListsRoute, suggestShieldRulesRoute)
