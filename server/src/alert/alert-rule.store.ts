// The SQL of alert rules as their team creates and changes them. Their evaluation is in watch.store.ts.
import type {
  AlertCondition,
  AlertEnding,
  AlertKind,
  AlertObjectType,
  AlertSeverity,
  AlertState,
  listAlertFiringsRoute,
  listAlertRulesRoute,
} from '@pharos/contract/alert/alert-rule'
import type { AlertReason } from '@pharos/contract/reason/alert-reason'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../db/page.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { storedJson } from '../db/stored-json.ts'

export type AlertObjectRow = {
  readonly type: AlertObjectType
  readonly id: number
  /** Empty: the team no longer has it. */
  readonly name: string
}

/** The object of a rule `r`, with its name as lists show it. */
export const objectOfRule = sql<AlertObjectRow>`case
  when r.kind in ('port_utilisation', 'light_margin') then json_build_object('type', 'port', 'id', r.object_id, 'name', coalesce((
    select p.name from port_assignments a join ports p on p.id = a.port_id
    where a.team_id = r.team_id and a.port_id = r.object_id and a.valid @> now()), ''))
  when r.kind = 'commit' then json_build_object('type', 'service', 'id', r.object_id, 'name', coalesce((
    select s.name from services s where s.team_id = r.team_id and s.id = r.object_id), ''))
  else json_build_object('type', 'announcement', 'id', r.object_id, 'name', coalesce((
    select concat(a.prefix, ' (AS', a.origin_asn, ')') from announcements a
    where a.team_id = r.team_id and a.id = r.object_id and a.deleted is null), '')) end`

export const alertRuleColumns = columns(
  'alert_rules',
  'r',
  [
    'id',
    'name',
    'enabled',
    'clear_minutes',
    'since',
    'value',
    'evaluated_until',
    'version',
    'created',
    'created_by',
    'modified',
  ],
  {
    condition: sql<AlertCondition>`r.condition`,
    severity: sql<AlertSeverity>`r.severity`,
    state: sql<AlertState>`r.state`,
    reason: sql<AlertReason | null>`r.reason`,
    object: objectOfRule,
    firing_since: sql<Date | null>`(select f.started from alert_firings f where f.rule_id = r.id and f.ended is null)`,
  },
)
export type AlertRuleRow = Readonly<RowOf<typeof alertRuleColumns>>

export async function findAlertRule(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<AlertRuleRow | undefined> {
  const query = sql<AlertRuleRow>`
    select ${alertRuleColumns} from alert_rules r where r.team_id = ${teamId} and r.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query))[0]
}

export async function lockAlertRule(trx: Trx, teamId: number, id: number): Promise<AlertRuleRow | undefined> {
  const { rows } = await sql<AlertRuleRow>`
    select ${alertRuleColumns} from alert_rules r
    where r.team_id = ${teamId} and r.id = ${id}::bigint for no key update`.execute(trx)
  return rows[0]
}

export const listAlertRuleRows = (
  postgres: Postgres,
  teamId: number,
  { state, kind, severity, enabled, search, ...query }: QueryOf<typeof listAlertRulesRoute>,
): Promise<Page<AlertRuleRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`
      select r.* from alert_rules r where r.team_id = ${teamId} ${andAll(
        state && sql`r.state = any(${state}::text[])`,
        kind && sql`r.kind = any(${kind}::text[])`,
        severity && sql`r.severity = any(${severity}::text[])`,
        enabled !== undefined && sql`r.enabled = ${enabled}`,
        search !== undefined && sql`strpos(lower(r.name), lower(${search})) > 0`,
      )}`,
    columns: alertRuleColumns,
    order: orderBy(
      query.ordering,
      {
        id: sql`r.id`,
        name: sql`r.name`,
        // The order of urgency.
        state: sql`array_position(array['ok', 'unknown', 'firing'], r.state)`,
        since: sql`r.since`,
        severity: sql`array_position(array['info', 'warning', 'critical'], r.severity)`,
        created: sql`r.created`,
      },
      sql`r.id`,
    ),
    slice: query,
  })

/** Serializes concurrent creations: each counts the rules of the other. */
export async function countAlertRules(trx: Trx, teamId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`alert rules of team ${teamId}`}, 0))`.execute(
    trx,
  )
  const { rows } = await sql<{ count: number }>`
    select count(*) from alert_rules where team_id = ${teamId}`.execute(trx)
  return rows[0]!.count
}

/** What a request sets. */
export type AlertSettings = Pick<
  AlertRuleRow,
  'name' | 'condition' | 'severity' | 'enabled' | 'clear_minutes'
>
export type StoredAlertSettings = AlertSettings & { readonly kind: AlertKind; readonly objectId: number }

export async function insertAlertRule(
  trx: Trx,
  teamId: number,
  rule: StoredAlertSettings,
  createdBy: string,
): Promise<AlertRuleRow> {
  const { name, kind, condition, objectId, severity, enabled, clear_minutes } = rule
  const reason = enabled ? 'new' : 'disabled'
  const { rows } = await sql<AlertRuleRow>`
    insert into alert_rules as r (team_id, name, kind, condition, object_id, severity, enabled, clear_minutes, reason, created_by)
    values (${teamId}, ${name}, ${kind}, ${storedJson(condition)}::jsonb, ${objectId}, ${severity}, ${enabled}, ${clear_minutes}, ${reason}, ${createdBy})
    returning ${alertRuleColumns}`.execute(trx)
  return rows[0]!
}

/** `anew`: the reason for which the evaluation begins again. */
export async function saveAlertRule(
  trx: Trx,
  teamId: number,
  id: number,
  rule: StoredAlertSettings,
  anew: 'new' | 'disabled' | undefined,
): Promise<AlertRuleRow> {
  const { name, kind, condition, objectId, severity, enabled, clear_minutes } = rule
  const reset =
    anew === undefined
      ? sql``
      : sql`, state = 'unknown', since = now(), reason = ${anew}, value = null, evaluated_until = null, above_ms = 0, below_ms = 0,
        unknown_ms = 0, run_since = null, told_unknown = false`
  const { rows } = await sql<AlertRuleRow>`
    update alert_rules r set name = ${name}, kind = ${kind}, condition = ${storedJson(condition)}::jsonb, object_id = ${objectId},
      severity = ${severity}, enabled = ${enabled}, clear_minutes = ${clear_minutes}, version = version + 1, modified = now() ${reset}
    where team_id = ${teamId} and id = ${id} returning ${alertRuleColumns}`.execute(trx)
  return rows[0]!
}

export type EndedFiring = { readonly id: number; readonly started: Date; readonly ended: Date }

/** Ends the open firing; undefined if there is none. */
export async function endFiring(
  trx: Trx,
  teamId: number,
  ruleId: number,
  ending: AlertEnding,
): Promise<EndedFiring | undefined> {
  const { rows } = await sql<EndedFiring>`
    update alert_firings set ended = now(), ending = ${ending}
    where team_id = ${teamId} and rule_id = ${ruleId} and ended is null returning id, started, ended`.execute(
    trx,
  )
  return rows[0]
}

export async function deleteAlertRuleRow(trx: Trx, teamId: number, id: number): Promise<void> {
  await sql`delete from alert_rules where team_id = ${teamId} and id = ${id}`.execute(trx)
}

const firingColumns = columns(
  'alert_firings',
  'f',
  ['id', 'started', 'fired', 'ended', 'value', 'threshold'],
  { ending: sql<AlertEnding | null>`f.ending` },
)
export type AlertFiringRow = Readonly<RowOf<typeof firingColumns>>

export const listFiringRows = (
  postgres: Postgres,
  teamId: number,
  ruleId: number,
  query: QueryOf<typeof listAlertFiringsRoute>,
): Promise<Page<AlertFiringRow>> =>
  listInTeam(postgres, teamId, {
    parent: {
      name: 'alert rule',
      statement: sql`select from alert_rules r where r.team_id = ${teamId} and r.id = ${ruleId}::bigint`,
    },
    matching: sql`
      select f.* from alert_firings f where f.team_id = ${teamId} and f.rule_id = ${ruleId}::bigint`,
    columns: firingColumns,
    order: orderBy(query.ordering, { id: sql`f.id`, started: sql`f.started` }, sql`f.id`),
    slice: query,
  })

/** Whether the team has the object now. */
export async function hasObject(
  trx: Trx,
  teamId: number,
  type: AlertObjectType,
  id: number,
): Promise<boolean> {
  const tables = {
    port: sql`(select port_id as id from port_assignments where team_id = ${teamId} and valid @> now()) o where true`,
    service: sql`services o where o.team_id = ${teamId}`,
    announcement: sql`announcements o where o.team_id = ${teamId} and o.deleted is null`,
  }
  const { rows } = await sql`select from ${tables[type]} and o.id = ${id}::bigint`.execute(trx)
  return rows.length > 0
}
