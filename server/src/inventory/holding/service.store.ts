// The SQL of the services that teams have bought. Every statement is limited to a team.
import { sql } from 'kysely'
import type { QueryOf } from '@pharos/contract/route'
import type {
  listServicesRoute,
  Service,
  ServiceState,
  ServiceType,
} from '@pharos/contract/inventory/service'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Postgres } from '../../db/postgres.ts'
import type { Limits } from '../../operation/limits.ts'
import { locationColumn } from './location.store.ts'

type ServiceBilling = Service['billing']

const serviceColumns = columns(
  'services',
  's',
  ['id', 'name', 'commit_bps', 'burst_bps', 'start_date', 'end_date', 'external_ref', 'billing_ref', 'asn'],
  {
    type: sql<ServiceType>`s.type`,
    state: sql<ServiceState>`s.state`,
    location: locationColumn('s'),
    billing: sql<ServiceBilling>`json_build_object('method', s.billing_method, 'direction', s.billing_direction,
      'scope', s.billing_scope, 'commit_scope', s.billing_commit_scope, 'timezone', s.billing_timezone, 'day', s.billing_day,
      'included_octets', s.billing_included_octets, 'pool_service_id', s.pool_id, 'prices', s.billing_prices)`,
    port_ids: sql<number[]>`array(select a.port_id from port_assignments a
      where a.service_id = s.id and a.team_id = s.team_id and a.valid @> now() order by a.port_id)`,
  },
)
export type ServiceRow = RowOf<typeof serviceColumns>

export const listServiceRows = (
  postgres: Postgres,
  teamId: number,
  { type, state, location, search, ordering, ...slice }: QueryOf<typeof listServicesRoute>,
  limits: Limits | null,
): Promise<Page<ServiceRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`
      select s.* from services s where s.team_id = ${teamId} ${andAll(
        limits && sql`s.id = any(${[...limits.services]}::integer[])`,
        type && sql`s.type = any(${type}::text[])`,
        state && sql`s.state = any(${state}::text[])`,
        location && sql`s.location_key = any(${location}::text[])`,
        search !== undefined &&
          sql`strpos(lower(concat_ws(chr(10), s.name, s.external_ref, s.billing_ref)), lower(${search})) > 0`,
      )}`,
    columns: serviceColumns,
    order: orderBy(
      ordering,
      {
        id: sql`s.id`,
        name: sql`lower(s.name)`,
        type: sql`s.type`,
        state: sql`s.state`,
        start_date: sql`s.start_date`,
        end_date: sql`s.end_date`,
      },
      sql`s.id`,
    ),
    slice,
  })

export async function findService(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<ServiceRow | undefined> {
  const query = sql<ServiceRow>`
    select ${serviceColumns} from services s where s.team_id = ${teamId} and s.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query))[0]
}
