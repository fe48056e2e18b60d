// The SQL of the name servers, scrubbers and exporters of flows for staff. It runs as the owner.
import type {
  listExportersRoute,
  listNameServersRoute,
  listScrubbersRoute,
} from '@pharos/contract/operator/network'
import type { PartState } from '@pharos/contract/operator/status'
import type { QueryOf } from '@pharos/contract/route'
import { sql, type RawBuilder } from 'kysely'
import { seenExporterColumns } from '../collector/exporter.store.ts'
import { columns, withExpressions, type RowOf } from '../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../db/page.ts'
import type { Db } from '../db/postgres.ts'
import { exporterState, lateZones, nameServerState, scrubberState } from './part-states.store.ts'

const contains = (text: RawBuilder<unknown>, search: string | undefined) =>
  search !== undefined && sql`strpos(lower(${text}), lower(${search})) > 0`
const isIn = (states: readonly PartState[] | undefined, alias: RawBuilder<unknown>) =>
  states && sql`${alias}.state = any(${states}::text[])`

const lateNamesMax = 20

const serverColumns = columns(
  'dns_servers',
  'v',
  ['id', 'name', 'address', 'port', 'region', 'is_public', 'catalog', 'checked', 'seen', 'error'],
  {
    kind: sql<'dns' | 'sandbox'>`v.kind`,
    signing: sql<'pharos' | 'external'>`v.signing`,
    software: sql<string | null>`v.identity ->> 'version'`,
    state: sql<PartState>`v.state`,
    zones: sql<number>`v.zones`,
    zones_behind: sql<number>`v.zones_behind`,
    late_zones: sql<string[]>`array(
      select rtrim(n.name, '.') from ${lateZones} join dns_zones n on n.id = z.zone_id
      order by n.name_key limit ${sql.lit(lateNamesMax)})`,
  },
)
export type NameServerRow = RowOf<typeof serverColumns>

export const listNameServerRows = (
  db: Db,
  { state, search, ordering, ...slice }: QueryOf<typeof listNameServersRoute>,
): Promise<Page<NameServerRow>> =>
  listAll(db, {
    matching: sql`
      select v.* from (
        select v.*, ${nameServerState} as state, (select count(*) from ${lateZones}) as zones_behind,
          (select count(*) from dns_server_zones o where o.server_id = v.id) as zones
        from dns_servers v) v
      where true ${andAll(isIn(state, sql`v`), contains(sql`concat_ws(chr(10), v.name, v.address)`, search))}`,
    columns: serverColumns,
    order: orderBy(
      ordering,
      { name: sql`v.name`, checked: sql`v.checked`, zones_behind: sql`v.zones_behind`, zones: sql`v.zones` },
      sql`v.id`,
    ),
    slice,
  })

const scrubberColumns = columns('scrubbers', 's', ['id', 'name', 'rules_max'], {
  kind: sql<string>`s.driver ->> 'kind'`,
  prefixes: sql<string[]>`s.prefixes::text[]`,
  state: sql<PartState>`s.state`,
  lists: sql<number>`s.lists`,
  lists_failing: sql<number>`s.lists_failing`,
  lists_waiting: sql<number>`s.lists_waiting`,
  rules: sql<number>`s.rules`,
  read: sql<Date | null>`s.read`,
})
export type StaffScrubberRow = RowOf<typeof scrubberColumns>

export const listScrubberRows = (
  db: Db,
  { state, search, ordering, ...slice }: QueryOf<typeof listScrubbersRoute>,
): Promise<Page<StaffScrubberRow>> =>
  listAll(db, {
    matching: sql`
      select s.* from (
        select s.*, ${scrubberState} as state, i.*
        from scrubbers s cross join lateral (
          select count(*) as lists, coalesce(sum(i.rule_count), 0)::integer as rules, max(i.seen) as read,
            count(*) filter (where i.state in ('rejected', 'unreachable')) as lists_failing,
            count(*) filter (where i.state in ('pending', 'held')) as lists_waiting
          from shield_installs i where i.scrubber = s.name) i) s
      where true ${andAll(isIn(state, sql`s`), contains(sql`s.name`, search))}`,
    columns: scrubberColumns,
    order: orderBy(
      ordering,
      { name: sql`s.name`, lists: sql`s.lists`, lists_failing: sql`s.lists_failing`, rules: sql`s.rules` },
      sql`s.id`,
    ),
    slice,
  })

const exporterColumns = withExpressions(seenExporterColumns, { state: sql<PartState>`e.state` })
export type ExporterRow = RowOf<typeof exporterColumns>

export const listExporterRows = (
  db: Db,
  { state, search, ordering, ...slice }: QueryOf<typeof listExportersRoute>,
): Promise<Page<ExporterRow>> =>
  listAll(db, {
    matching: sql`
      select e.* from (
        select e.*, ${exporterState} as state, d.name as device_name
        from flow_exporters e left join devices d on d.id = e.device_id) e
      where true ${andAll(isIn(state, sql`e`), contains(sql`concat_ws(chr(10), e.address, e.device_name)`, search))}`,
    columns: exporterColumns,
    order: orderBy(
      ordering,
      { address: sql`e.address`, first_seen: sql`e.first_seen`, last_seen: sql`e.last_seen` },
      sql`e.id`,
    ),
    slice,
  })
