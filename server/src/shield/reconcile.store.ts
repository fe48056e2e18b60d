// The SQL of the loops of shield: desired lists, installed rules, and hits. As the owner: the loops act for every team.
import { sql } from 'kysely'
import type { ShieldAction } from '@pharos/contract/shield/shield'
import type { ShieldReason } from '@pharos/contract/reason/shield-reason'
import { rulesOfReason } from '../approval/approval-sql.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { storedJson } from '../db/stored-json.ts'
import { writeRows } from '../db/write-rows.ts'
import { parsePrefix, type Prefix } from '../net/prefix.ts'
import { newRulesMax, type ManyRules } from './reconcile-guard.ts'
import type { ListSize } from './rule-capacity.ts'
import type { RuleHits } from './scrubber.ts'
import type { StoredRuleMatch } from './shield-rule.ts'

export type StoredRule = {
  readonly id: number
  readonly action: ShieldAction
  readonly match: StoredRuleMatch
  readonly rate_bps: number | null
  readonly rate_pps: number | null
  /** When it was written, in ISO 8601. */
  readonly created: string
}

export type DesiredRow = {
  readonly listId: number
  readonly teamId: number
  readonly prefix: Prefix
  readonly version: number
  readonly rules: readonly StoredRule[]
}

const inScope = (prefixes: readonly Prefix[]) =>
  prefixes.length === 0 ? sql`true` : sql`l.prefix <<= any(${prefixes}::cidr[])`

const parsed = <Row extends { prefix: string }>(rows: readonly Row[]) =>
  rows.map((row) => ({ ...row, prefix: parsePrefix(row.prefix) }))

/**
 * Returns the lists with the rules that are applied now; `prefixes` are the prefixes of the scrubber, empty for all.
 */
export async function listDesired(db: Db | Trx, prefixes: readonly Prefix[]): Promise<DesiredRow[]> {
  const { rows } = await sql<Omit<DesiredRow, 'prefix'> & { prefix: string }>`
    select l.id as "listId", l.team_id as "teamId", l.prefix::text as prefix, l.version,
      (select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'action', r.action, 'match', r.match, 'rate_bps', r.rate_bps,
          'rate_pps', r.rate_pps, 'created', r.created) order by r.sequence), '[]')
        from shield_rules r where r.list_id = l.id and r.enabled and (r.expires is null or r.expires > now())) as rules
    from shield_lists l where ${inScope(prefixes)} order by l.id`.execute(db)
  return parsed(rows)
}

export type EvidenceRow = Omit<DesiredRow, 'rules'> & {
  readonly rules: readonly Omit<StoredRule, 'created'>[]
  readonly manyRules: ManyRules
}

/** Returns the newest version of every list, and which of its rules were written with many others. */
export async function listEvidence(db: Db | Trx, prefixes: readonly Prefix[]): Promise<EvidenceRow[]> {
  const { rows } = await sql<Omit<EvidenceRow, 'prefix'> & { prefix: string }>`
    with asked as (${rulesOfReason('many_rules')}),
    approved as (select id from asked where state = 'approved'),
    written as (
      select r.id, r.list_id,
        count(*) over (partition by r.team_id order by r.created range between interval '10 minutes' preceding and current row) as count
      from shield_rules r where r.id not in (select id from approved)),
    many as (
      select list_id, jsonb_agg(id) as rules, max(count) as count from written where count > ${newRulesMax}::integer group by list_id),
    waiting as (
      select list_id, jsonb_agg(rules) as asked from (
        select list_id, jsonb_agg(id) as rules from asked
        where state in ('open', 'rejected') and id not in (select id from approved) group by list_id, approval) of_approval
      group by list_id)
    select l.id as "listId", l.team_id as "teamId", l.prefix::text as prefix, l.version,
      jsonb_build_object('rules', coalesce(m.rules, '[]'), 'count', coalesce(m.count, 0), 'asked', coalesce(w.asked, '[]')) as "manyRules",
      (select coalesce(jsonb_agg(r.rule order by (r.rule ->> 'sequence')::integer), '[]')
        from jsonb_array_elements(coalesce(v.rules, '[]')) r (rule)
        where (r.rule ->> 'enabled')::boolean and coalesce((r.rule ->> 'expires')::timestamptz > now(), true)) as rules
    from shield_lists l left join shield_versions v on v.list_id = l.id and v.version = l.version
      left join many m on m.list_id = l.id left join waiting w on w.list_id = l.id
    where ${inScope(prefixes)}`.execute(db)
  return parsed(rows)
}

/** Returns the rules of each list on the scrubber when it was last read, by the id of the list. */
export async function listInstalledRules(
  db: Db | Trx,
  scrubber: string,
): Promise<ReadonlyMap<number, readonly StoredRule[]>> {
  const { rows } = await sql<{ listId: number; held: StoredRule[] }>`
    select list_id as "listId", held from shield_installs where scrubber = ${scrubber}`.execute(db)
  return new Map(rows.map(({ listId, held }) => [listId, held]))
}

export type InstallState = 'pending' | 'active' | 'rejected' | 'held' | 'unreachable'

export type Install = {
  readonly listId: number
  readonly version: number
  readonly state: InstallState
  readonly reason: ShieldReason | null
  readonly attrs: Readonly<Record<string, unknown>>
  /** The installed rules, in order; null: the former ones. */
  readonly held: readonly StoredRule[] | null
  /** By id, for rules that differ from the list. */
  readonly rules: Readonly<
    Record<string, { readonly reason: ShieldReason; readonly attrs: Readonly<Record<string, unknown>> }>
  >
}

/** Saves the installed rules of each list, and deletes lists that the scrubber no longer gets. */
export async function saveInstalls(
  trx: Trx,
  scrubber: string,
  installs: readonly Install[],
  lists: readonly ListSize[],
): Promise<void> {
  await sql`
    delete from shield_installs where scrubber = ${scrubber}
      and not list_id = any(${installs.map(({ listId }) => listId)}::integer[])`.execute(trx)
  // A list whose values are refused keeps its former values.
  await writeRows(trx, installs, (some) => upsertInstalls(trx, scrubber, some, lists))
}

async function upsertInstalls(
  trx: Trx,
  scrubber: string,
  installs: readonly Install[],
  lists: readonly ListSize[],
): Promise<void> {
  const counts = lists.map(({ prefix, ruleCount }) => ({ prefix, ruleCount }))
  await sql`
    insert into shield_installs (list_id, team_id, scrubber, version, state, reason, reason_attrs, rules, held, rule_count)
    select l.id, l.team_id, ${scrubber}, n.version, n.state, n.reason, n.attrs, n.rules, coalesce(n.held, before.held, '[]'),
      coalesce(c."ruleCount", 0)
    from jsonb_to_recordset(${storedJson(installs)}::jsonb)
      as n ("listId" integer, version integer, state text, reason text, attrs jsonb, rules jsonb, held jsonb)
    join shield_lists l on l.id = n."listId"
    left join jsonb_to_recordset(${storedJson(counts)}::jsonb) as c (prefix cidr, "ruleCount" integer) on c.prefix = l.prefix
    left join shield_installs before on before.list_id = l.id and before.scrubber = ${scrubber}
    on conflict (list_id, scrubber) do update set version = excluded.version, state = excluded.state, reason = excluded.reason,
      reason_attrs = excluded.reason_attrs, rules = excluded.rules, held = excluded.held,
      rule_count = excluded.rule_count, seen = now()`.execute(trx)
}

/** The scrubber did not answer: newer versions wait, and its installed rules stay, unless they end with the program. */
export async function saveUnreachable(
  trx: Trx,
  scrubber: string,
  prefixes: readonly Prefix[],
  keepsRules: boolean,
): Promise<void> {
  const reason: ShieldReason = keepsRules ? 'scrubber_unreachable' : 'rules_may_be_lost'
  await sql`
    insert into shield_installs (list_id, team_id, scrubber, version, state, reason)
    select l.id, l.team_id, ${scrubber}, 0, 'unreachable', ${reason} from shield_lists l where ${inScope(prefixes)}
    on conflict (list_id, scrubber) do update set state = 'unreachable', reason = ${reason}, reason_attrs = '{}'`.execute(
    trx,
  )
}

/** Forgets scrubbers that are no longer in the platform file. */
export async function deleteOtherInstalls(trx: Trx, scrubbers: readonly string[]): Promise<void> {
  await sql`delete from shield_installs where not scrubber = any(${scrubbers}::text[])`.execute(trx)
}

export type ListState = {
  readonly id: number
  readonly teamId: number
  readonly prefix: Prefix
  readonly version: number
  readonly status: 'pending' | 'active' | 'error'
  readonly reason: ShieldReason | null
  readonly attrs: Readonly<Record<string, unknown>>
  readonly installs: readonly (Omit<Install, 'listId' | 'held'> & { readonly scrubber: string })[]
  readonly rules: readonly {
    readonly id: number
    readonly sequence: number
    readonly enabled: boolean
    readonly expired: boolean
    readonly status: 'pending' | 'active' | 'rejected' | 'expired'
    readonly reason: ShieldReason | null
  }[]
}

/** Returns the lists with their observations, locked; skips lists that another transaction has locked. */
export async function lockListStates(trx: Trx): Promise<ListState[]> {
  const { rows } = await sql<Omit<ListState, 'prefix'> & { prefix: string }>`
    select l.id, l.team_id as "teamId", l.prefix::text as prefix, l.version, l.status, l.reason, l.reason_attrs as attrs,
      (select coalesce(jsonb_agg(jsonb_build_object('scrubber', i.scrubber, 'version', i.version, 'state', i.state, 'reason', i.reason,
          'attrs', i.reason_attrs, 'rules', i.rules) order by i.scrubber), '[]')
        from shield_installs i where i.list_id = l.id) as installs,
      (select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'sequence', r.sequence, 'enabled', r.enabled, 'status', r.status, 'reason', r.reason,
          'expired', coalesce(r.expires <= now(), false)) order by r.sequence), '[]')
        from shield_rules r where r.list_id = l.id) as rules
    from shield_lists l order by l.id for update of l skip locked`.execute(trx)
  return parsed(rows)
}

export type Shown = {
  readonly status: string
  readonly reason: ShieldReason | null
  readonly attrs: Readonly<Record<string, unknown>>
}

export async function saveListState(
  trx: Trx,
  listId: number,
  { status, reason, attrs }: Shown,
): Promise<void> {
  await sql`
    update shield_lists set status = ${status}, reason = ${reason}, reason_attrs = ${storedJson(attrs)}
    where id = ${listId}`.execute(trx)
}

type RuleState = { readonly id: number } & Shown

export async function saveRuleStates(trx: Trx, rules: readonly RuleState[]): Promise<void> {
  // A rule whose values are refused keeps its former values.
  await writeRows(trx, rules, (some) => updateRuleStates(trx, some))
}

async function updateRuleStates(trx: Trx, rules: readonly RuleState[]): Promise<void> {
  await sql`
    update shield_rules r set status = n.status, reason = n.reason, reason_attrs = n.attrs
    from jsonb_to_recordset(${storedJson(rules)}::jsonb) as n (id bigint, status text, reason text, attrs jsonb)
    where r.id = n.id
      and (r.status, r.reason, r.reason_attrs) is distinct from (n.status, n.reason, n.attrs)`.execute(trx)
}

/** The increase of a counter since it was read before. */
export type CountedHits = RuleHits & { readonly id: number }

/**
 * Saves the counters of a scrubber. A counter below its former value was reset, and the former total is added to it.
 * Returns the increases.
 */
export async function saveHits(
  db: Db | Trx,
  scrubber: string,
  hits: ReadonlyMap<number, RuleHits>,
): Promise<CountedHits[]> {
  const rows = Array.from(hits, ([id, { packets, bytes }]) => ({ id, packets, bytes }))
  const counted: CountedHits[] = []
  // A counter beyond 63 bits is skipped.
  await writeRows(db, rows, async (some) => void counted.push(...(await upsertHits(db, scrubber, some))))
  return counted
}

async function upsertHits(
  db: Db | Trx,
  scrubber: string,
  hits: readonly CountedHits[],
): Promise<CountedHits[]> {
  const rows = storedJson(hits)
  const counted = await sql<CountedHits>`
    with counters as (select * from jsonb_to_recordset(${rows}::jsonb) as n (id bigint, packets bigint, bytes bigint)),
    -- As it was before this statement.
    before as (select rule_id, packets, bytes from shield_hits where scrubber = ${scrubber}),
    saved as (
    insert into shield_hits as h (rule_id, scrubber, list_id, team_id, packets, bytes, last_hit)
    select n.id, ${scrubber}, r.list_id, r.team_id, n.packets, n.bytes, case when n.packets > 0 then now() end
    from counters n join shield_rules r on r.id = n.id
    on conflict (rule_id, scrubber) do update set
      packets_before = h.packets_before + case when excluded.packets < h.packets then h.packets else 0 end,
      bytes_before = h.bytes_before + case when excluded.packets < h.packets then h.bytes else 0 end,
      packets = excluded.packets, bytes = excluded.bytes,
      last_hit = case when excluded.packets <> h.packets and excluded.packets > 0 then now() else h.last_hit end
    returning h.rule_id)
    select n.id::float8 as id, (n.packets - d.packets)::float8 as packets, greatest(n.bytes - d.bytes, 0)::float8 as bytes
    from counters n join saved s on s.rule_id = n.id left join before b on b.rule_id = n.id
      cross join lateral (select
        case when n.packets < b.packets then 0 else coalesce(b.packets, 0) end as packets,
        case when n.packets < b.packets then 0 else coalesce(b.bytes, 0) end as bytes) d
    where n.packets > d.packets`.execute(db)
  return counted.rows
}
