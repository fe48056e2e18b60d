// The SQL of rule lists. Every statement names the team.
import { sql } from 'kysely'
import type {
  listShieldListsRoute,
  listShieldRulesRoute,
  ShieldAction,
  ShieldRuleStatus,
} from '@pharos/contract/shield/shield'
import type { ShieldReason } from '@pharos/contract/reason/shield-reason'
import type { QueryOf } from '@pharos/contract/route'
import { columns, withExpressions, type RowOf } from '../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../db/page.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { parsePrefix, type Prefix } from '../net/prefix.ts'
import type { StoredRuleMatch, VersionedRule } from './shield-rule.ts'

/** PostgreSQL formats some IPv6 prefixes differently from RFC 5952: parse them. */
const listColumns = columns(
  'shield_lists',
  'l',
  ['id', 'version', 'previous_version', 'confirm_by', 'reason_attrs', 'created', 'modified'],
  {
    prefix: sql<string>`l.prefix::text`,
    status: sql<'pending' | 'active' | 'error'>`l.status`,
    reason: sql<ShieldReason | null>`l.reason`,
    rule_count: sql<number>`(select count(*) from shield_rules r where r.list_id = l.id)`,
  },
)
export type ListRow = RowOf<typeof listColumns>

export const ruleColumns = columns(
  'shield_rules',
  'r',
  [
    'id',
    'sequence',
    'enabled',
    'rate_bps',
    'rate_pps',
    'comment',
    'expires',
    'reason_attrs',
    'created',
    'modified',
  ],
  {
    action: sql<ShieldAction>`r.action`,
    match: sql<StoredRuleMatch>`r.match`,
    status: sql<ShieldRuleStatus>`r.status`,
    reason: sql<ShieldReason | null>`r.reason`,
  },
)
export type RuleRow = RowOf<typeof ruleColumns>

const listedColumns = withExpressions(ruleColumns, {
  prefix: sql<string>`(select l.prefix::text from shield_lists l where l.id = r.list_id)`,
  version: sql<number>`(select l.version from shield_lists l where l.id = r.list_id)`,
  hits: sql<{ packets: number; bytes: number; last_hit: string | null } | null>`(
    select json_build_object('packets', sum(h.packets_before + h.packets), 'bytes', sum(h.bytes_before + h.bytes),
      'last_hit', max(h.last_hit))
    from shield_hits h where h.rule_id = r.id having count(*) > 0)`,
})
export type ListedRule = RowOf<typeof listedColumns>

/** Makes other changes of the team's lists wait until the end of the transaction. */
export async function lockShield(trx: Trx, teamId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('shield of a team'), ${teamId})`.execute(trx)
}

/** Whether the team may have a list for the prefix. */
export async function mayFilter(trx: Trx, teamId: number, prefix: Prefix): Promise<boolean> {
  const { rows } = await sql<{
    may: boolean
  }>`select shield_may_filter(${teamId}, ${prefix}::cidr) as may`.execute(trx)
  return rows[0]!.may
}

export async function lockList(trx: Trx, teamId: number, prefix: Prefix): Promise<ListRow | undefined> {
  const { rows } = await sql<ListRow>`
    select ${listColumns} from shield_lists l where l.team_id = ${teamId} and l.prefix = ${prefix}::cidr
    for update`.execute(trx)
  return rows[0]
}

export async function lockListById(trx: Trx, teamId: number, listId: number): Promise<ListRow | undefined> {
  const { rows } = await sql<ListRow>`
    select ${listColumns} from shield_lists l where l.team_id = ${teamId} and l.id = ${listId}::bigint for update`.execute(
    trx,
  )
  return rows[0]
}

/**
 * Returns the rules of a version with their ids; version 0 is empty. Throws if the version is missing, so that no list
 * becomes empty by mistake.
 */
export async function readVersionRules(
  trx: Trx,
  teamId: number,
  listId: number,
  version: number,
): Promise<VersionedRule[]> {
  if (version === 0) return []
  const { rows } = await sql<{ rules: (Omit<VersionedRule, 'expires'> & { expires: string | null })[] }>`
    select v.rules from shield_versions v
    where v.team_id = ${teamId} and v.list_id = ${listId} and v.version = ${version}`.execute(trx)
  if (!rows[0]) throw new Error(`version ${version} of shield list ${listId} is missing`)
  return rows[0].rules.map((rule) => ({
    ...rule,
    expires: rule.expires === null ? null : new Date(rule.expires).getTime(),
  }))
}

export async function readRules(trx: Trx, teamId: number, listId: number): Promise<RuleRow[]> {
  const { rows } = await sql<RuleRow>`
    select ${ruleColumns} from shield_rules r where r.team_id = ${teamId} and r.list_id = ${listId}
    order by r.sequence`.execute(trx)
  return rows
}

/** A list with the rules that are applied now. */
export type NestedList = {
  readonly prefix: Prefix
  readonly rules: readonly Pick<RuleRow, 'id' | 'action' | 'match' | 'rate_bps' | 'rate_pps'>[]
}

/** Returns the team's lists for prefixes that contain this one or are inside it. */
export async function listNested(trx: Trx, teamId: number, prefix: Prefix): Promise<NestedList[]> {
  const { rows } = await sql<Omit<NestedList, 'prefix'> & { prefix: string }>`
    select l.prefix::text as prefix, jsonb_agg(jsonb_build_object('id', r.id, 'action', r.action, 'match', r.match,
      'rate_bps', r.rate_bps, 'rate_pps', r.rate_pps) order by r.sequence) as rules
    from shield_lists l join shield_rules r on r.team_id = l.team_id and r.list_id = l.id
    where l.team_id = ${teamId} and l.prefix && ${prefix}::cidr and l.prefix <> ${prefix}::cidr
      and r.enabled and (r.expires is null or r.expires > now())
    group by l.id order by l.id`.execute(trx)
  return rows.map((row) => ({ ...row, prefix: parsePrefix(row.prefix) }))
}

/** Counts the rules of the team's other lists. */
export async function countOtherRules(trx: Trx, teamId: number, listId: number | undefined): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from shield_rules r
    where r.team_id = ${teamId} and r.list_id is distinct from ${listId ?? null}::integer`.execute(trx)
  return rows[0]!.count
}

export async function insertList(trx: Trx, teamId: number, prefix: Prefix): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into shield_lists (team_id, prefix) values (${teamId}, ${prefix}::cidr) returning id`.execute(trx)
  return rows[0]!.id
}

export type NewVersion = {
  readonly listId: number
  readonly version: number
  readonly cause: 'put' | 'revert' | 'former_holder'
  readonly actor: string
  readonly forced: boolean
  /** Undefined: the version needs no confirmation. `kept`: as the version before, at the same time. */
  readonly confirm?: { readonly seconds: number; readonly previousVersion: number } | 'kept' | undefined
}

/**
 * Stores a version: replaces the rules of the list and records it; rules with an id keep their observations. The
 * conditions of a rule with an id may be written differently. Returns the ids in order.
 */
export async function storeVersion(
  trx: Trx,
  teamId: number,
  { listId, version, cause, actor, forced, confirm }: NewVersion,
  rules: readonly VersionedRule[],
): Promise<number[]> {
  const wanted = JSON.stringify(
    rules.map((rule, place) => ({
      ...rule,
      place,
      id: rule.id ?? null,
      expires: rule.expires === null ? null : new Date(rule.expires).toISOString(),
    })),
  )
  await sql`
    delete from shield_rules r where r.team_id = ${teamId} and r.list_id = ${listId}
      and not r.id = any(${rules.flatMap(({ id }) => id ?? [])}::bigint[])`.execute(trx)
  await sql`
    update shield_rules r set sequence = n.sequence, enabled = n.enabled, match = n.match, comment = n.comment, expires = n.expires,
      modified = case when (r.enabled, r.match, r.comment, r.expires) is distinct from (n.enabled, n.match, n.comment, n.expires)
        then now() else r.modified end,
      status = case when r.enabled and n.enabled and r.expires is not distinct from n.expires then r.status else 'pending' end,
      reason = case when r.enabled and n.enabled and r.expires is not distinct from n.expires then r.reason
        when n.enabled then 'waiting' else 'disabled' end
    from jsonb_to_recordset(${wanted}::jsonb) as n (id bigint, sequence integer, enabled boolean, match jsonb, comment text,
      expires timestamptz)
    where r.team_id = ${teamId} and r.list_id = ${listId} and r.id = n.id`.execute(trx)
  await sql`
    insert into shield_rules (id, list_id, team_id, sequence, enabled, action, match, rate_bps, rate_pps, comment, expires, created,
      status, reason)
    select coalesce(n.id, nextval(pg_get_serial_sequence('shield_rules', 'id'))), ${listId}, ${teamId}, n.sequence, n.enabled,
      n.action, n.match, n.rate_bps, n.rate_pps, n.comment, n.expires, coalesce(n.created, now()),
      case when n.expires <= now() then 'expired' else 'pending' end,
      case when n.expires <= now() then 'expired' when n.enabled then 'waiting' else 'disabled' end
    from jsonb_to_recordset(${wanted}::jsonb) as n (place integer, id bigint, sequence integer, enabled boolean, action text,
      match jsonb, rate_bps bigint, rate_pps bigint, comment text, expires timestamptz, created timestamptz)
    where not exists (select from shield_rules r where r.id = n.id) order by n.place`.execute(trx)
  await sql`
    insert into shield_versions (list_id, version, team_id, rules, cause, actor, forced)
    select ${listId}, ${version}, ${teamId}, coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'sequence', r.sequence,
      'enabled', r.enabled, 'action', r.action, 'match', r.match, 'rate_bps', r.rate_bps, 'rate_pps', r.rate_pps,
      'comment', r.comment, 'expires', r.expires, 'created', r.created) order by r.sequence), '[]'), ${cause}, ${actor}, ${forced}
    from shield_rules r where r.team_id = ${teamId} and r.list_id = ${listId}`.execute(trx)
  const timer =
    confirm === 'kept'
      ? sql``
      : sql`, confirm_by = now() + ${confirm?.seconds ?? null}::integer * interval '1 second',
        previous_version = ${confirm?.previousVersion ?? null}`
  await sql`
    update shield_lists set version = ${version}, modified = now(), status = 'pending', reason = 'waiting', reason_attrs = '{}'${timer}
    where team_id = ${teamId} and id = ${listId}`.execute(trx)
  const { rows } = await sql<{ id: number }>`
    select id from shield_rules where team_id = ${teamId} and list_id = ${listId} order by sequence`.execute(
    trx,
  )
  return rows.map(({ id }) => id)
}

/** The list stays as it is. */
export async function confirmVersion(trx: Trx, teamId: number, listId: number): Promise<void> {
  await sql`
    update shield_lists set confirm_by = null, previous_version = null
    where team_id = ${teamId} and id = ${listId}`.execute(trx)
}

export const listRuleRows = (
  postgres: Postgres,
  teamId: number,
  { enabled, action, search, ordering, ...slice }: QueryOf<typeof listShieldRulesRoute>,
  overlapped: readonly Prefix[] | undefined,
): Promise<Page<ListedRule>> =>
  listInTeam(postgres, teamId, {
    matching: sql`
      select r.*, l.prefix as list_prefix from shield_rules r join shield_lists l on l.id = r.list_id
      where r.team_id = ${teamId} ${andAll(
        overlapped && sql`l.prefix && any(${overlapped}::inet[])`,
        enabled !== undefined && sql`r.enabled = ${enabled}`,
        action && sql`r.action = any(${action}::text[])`,
        search !== undefined &&
          sql`strpos(lower(concat_ws(chr(10), r.comment, l.prefix::text, r.match ->> 'source', r.match ->> 'destination',
            r.match ->> 'source_port', r.match ->> 'destination_port', r.match ->> 'protocol')), lower(${search})) > 0`,
      )}`,
    columns: listedColumns,
    order: orderBy(
      ordering,
      {
        prefix: sql`r.list_prefix`,
        sequence: sql`r.sequence`,
        id: sql`r.id`,
        created: sql`r.created`,
        modified: sql`r.modified`,
        expires: sql`r.expires`,
      },
      sql`r.id`,
    ),
    slice,
  })

/** Returns the version of the team's list for exactly this prefix; 0 without a list. */
export async function readListVersion(postgres: Postgres, teamId: number, prefix: Prefix): Promise<number> {
  const rows = await postgres.readInTeam(
    teamId,
    sql<{ version: number }>`
      select l.version from shield_lists l where l.team_id = ${teamId} and l.prefix = ${prefix}::cidr`,
  )
  return rows[0]?.version ?? 0
}

export const listListRows = (
  postgres: Postgres,
  teamId: number,
  { prefix: _prefix, ordering, ...slice }: QueryOf<typeof listShieldListsRoute>,
  overlapped: readonly Prefix[] | undefined,
): Promise<Page<ListRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`
      select l.* from shield_lists l
      where l.team_id = ${teamId} ${andAll(overlapped && sql`l.prefix && any(${overlapped}::inet[])`)}`,
    columns: listColumns,
    order: orderBy(
      ordering,
      {
        prefix: sql`l.prefix`,
        id: sql`l.id`,
        created: sql`l.created`,
        modified: sql`l.modified`,
        confirm_by: sql`l.confirm_by`,
      },
      sql`l.id`,
    ),
    slice,
  })

/**
 * Returns the prefixes of the team's lists with rules inside the prefix; empty while another holding of the team covers
 * it.
 */
export async function listDependentLists(trx: Trx, teamId: number, prefix: Prefix): Promise<string[]> {
  const { rows } = await sql<{ prefix: string }>`
    select l.prefix::text as prefix from shield_lists l
    where l.team_id = ${teamId} and l.prefix <<= ${prefix}::cidr
      and (select count(*) from (
        select from prefixes p where p.team_id = ${teamId} and p.prefix >>= ${prefix}::cidr
        union all
        select from announcements a where a.team_id = ${teamId} and a.prefix >>= ${prefix}::cidr
          and a.claimed is not null and a.deleted is null) holding) <= 1
      and exists (select from shield_rules r where r.list_id = l.id)
    order by l.prefix`.execute(trx)
  return rows.map((row) => parsePrefix(row.prefix))
}
