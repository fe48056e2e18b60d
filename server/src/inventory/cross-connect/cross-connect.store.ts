// The SQL of cross connects: as the team, and of all teams for staff.
import {
  crossConnectStates,
  crossConnectStatuses,
  type CrossConnectActor,
  type CrossConnectStatus,
  type listCrossConnectsRoute,
  type listStaffCrossConnectsRoute,
} from '@pharos/contract/inventory/cross-connect'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listAll, listInTeam, orderBy, type List, type Page } from '../../db/page.ts'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import type { AttachmentRow } from '../attachment/attachment.store.ts'
import { locationColumn } from '../holding/location.store.ts'

/** When the first letter arrived since the status changed; null if none has. */
const letterArrived = sql<Date | null>`(select min(l.created) from attachments l where l.subject_kind = 'cross_connect'
  and l.subject_id = x.id::text and l.purpose = 'loa' and l.created >= x.changed)`

const byStatus = sql.join(
  crossConnectStatuses.map(
    (status) => sql`when ${sql.lit(status)} then ${sql.lit(crossConnectStates[status].waitsFor)}`,
  ),
  sql` `,
)
const waitsFor = sql<CrossConnectActor>`case when x.status = 'awaiting_loa' and ${letterArrived} is not null then 'provider'
  else case x.status ${byStatus} end end`

const crossConnectColumns = columns(
  'cross_connects',
  'x',
  [
    'id',
    'team_id',
    'name',
    'circuit_id',
    'service_id',
    'port_id',
    'panel',
    'module',
    'position',
    'z_name',
    'z_circuit_id',
    'z_panel',
    'z_module',
    'z_position',
    'media',
    'connector',
    'provider_ref',
    'chargeable',
    'requested',
    'connected',
    'ceased',
  ],
  {
    status: sql<CrossConnectStatus>`x.status`,
    waits_for: waitsFor,
    waiting_since: sql<Date>`coalesce(case when x.status = 'awaiting_loa' then ${letterArrived} end, x.changed)`,
    location: locationColumn('x'),
    team_name: sql<string>`(select t.name from teams t where t.id = x.team_id)`,
    letter: sql<(Omit<AttachmentRow, 'created'> & { created: string }) | null>`(
      select json_build_object('id', l.id, 'filename', l.filename, 'media_type', l.media_type, 'size', l.size, 'kind', l.kind,
        'purpose', l.purpose, 'description', l.description, 'created', l.created, 'customer_id', l.customer_id,
        'sha256', encode(l.sha256, 'hex'))
      from attachments l where l.subject_kind = 'cross_connect' and l.subject_id = x.id::text and l.purpose = 'loa'
      order by l.id desc limit 1)`,
  },
)
export type CrossConnectRow = RowOf<typeof crossConnectColumns>

type Query = QueryOf<typeof listCrossConnectsRoute>

const listOf = (
  scope: ReturnType<typeof sql>,
  { status, waits_for, location, port_id, service_id, search, ordering, ...slice }: Query,
): List<CrossConnectRow> => ({
  matching: sql`
    select x.* from cross_connects x where ${scope} ${andAll(
      status && sql`x.status = any(${status}::text[])`,
      waits_for && sql`${waitsFor} = any(${waits_for}::text[])`,
      location && sql`x.location_key = any(${location}::text[])`,
      port_id && sql`x.port_id = any(${port_id}::bigint[])`,
      service_id && sql`x.service_id = any(${service_id}::bigint[])`,
      search !== undefined &&
        sql`strpos(lower(concat_ws(chr(10), x.name, x.circuit_id, x.z_name, x.z_circuit_id, x.provider_ref)), lower(${search})) > 0`,
    )}`,
  columns: crossConnectColumns,
  order: orderBy(
    ordering,
    {
      id: sql`x.id`,
      name: sql`lower(x.name)`,
      circuit_id: sql`x.circuit_id`,
      status: sql`x.status`,
      requested: sql`x.requested`,
    },
    sql`x.id`,
  ),
  slice,
})

export const listCrossConnectRows = (
  postgres: Postgres,
  teamId: number,
  query: Query,
): Promise<Page<CrossConnectRow>> => listInTeam(postgres, teamId, listOf(sql`x.team_id = ${teamId}`, query))

export const listAllCrossConnectRows = (
  db: Db,
  { team_id, ...query }: QueryOf<typeof listStaffCrossConnectsRoute>,
): Promise<Page<CrossConnectRow>> =>
  listAll(db, listOf(team_id ? sql`x.team_id = any(${team_id}::bigint[])` : sql`true`, query))

export async function findCrossConnect(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<CrossConnectRow | undefined> {
  const query = sql<CrossConnectRow>`
    select ${crossConnectColumns} from cross_connects x where x.team_id = ${teamId} and x.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query))[0]
}

/** Cross connect of any team, for staff; in a transaction of a team, only of this team. */
export async function readCrossConnect(trx: Trx, id: number): Promise<CrossConnectRow | undefined> {
  const { rows } = await sql<CrossConnectRow>`
    select ${crossConnectColumns} from cross_connects x where x.id = ${id}::bigint`.execute(trx)
  return rows[0]
}

/** Changes of one cross connect wait for each other. */
export async function lockCrossConnect(trx: Trx, id: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext(${`cross connect ${id}`}))`.execute(trx)
}

export type LogRow = {
  readonly at: Date
  readonly before: CrossConnectStatus
  readonly after: CrossConnectStatus
  readonly note: string
}

export function listLog(postgres: Postgres, teamId: number, id: number): Promise<LogRow[]> {
  const query = sql<LogRow>`
    select at, before, after, note from cross_connect_log
    where team_id = ${teamId} and cross_connect_id = ${id}::bigint order by id desc limit 200`
  return postgres.readInTeam(teamId, query)
}

export type Move = {
  readonly id: number
  readonly teamId: number
  readonly before: CrossConnectStatus
  readonly after: CrossConnectStatus
  readonly note: string
  readonly actor: string
}

export async function saveMove(trx: Trx, { id, teamId, before, after, note, actor }: Move): Promise<void> {
  await sql`
    update cross_connects set status = ${after}, changed = now(),
      connected = case when ${after} = 'connected' then coalesce(connected, now()) else connected end,
      ceased = case when ${after} = 'ceased' then now() end
    where id = ${id}`.execute(trx)
  await sql`
    insert into cross_connect_log (cross_connect_id, team_id, before, after, note, actor)
    values (${id}, ${teamId}, ${before}, ${after}, ${note}, ${actor})`.execute(trx)
}

export async function saveProviderRef(trx: Trx, id: number, providerRef: string): Promise<void> {
  await sql`update cross_connects set provider_ref = ${providerRef} where id = ${id}`.execute(trx)
}
