// The SQL of exporters: their ids, devices and interfaces, and their stored templates and sampling rates.
import { sql } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import type { Db } from '../db/postgres.ts'
import { storedJson } from '../db/stored-json.ts'
import type {
  ExporterFinding,
  ExporterSetting,
  ImplausibleRecord,
  KnownExporter,
  SamplingRecord,
  TemplateRecord,
} from '../flow/flow-decoder.ts'
import type { ExporterPorts, InterfacePort } from './flow-rows.ts'
import type { LongFlow, TemplateKey, UnknownInterfaceReport } from './messages.ts'

/** Number of surveys without an interface after which it is gone; its number may belong to another one. */
const missingSurveysMax = 3

/** The device of exporter `x`: by the platform file, by the address of management, or by the address of an interface. */
const deviceOf = sql`coalesce(
  (select s.device_id from flow_exporter_settings s where s.address = x.address),
  (select d.id from devices d where d.management_address = x.address order by d.id limit 1),
  (select i.device_id from interfaces i, unnest(i.addresses) a where split_part(a, '/', 1) = x.address order by i.id limit 1))`

/** Creates the exporters that are new. */
export async function saveExporters(db: Db, addresses: readonly string[]): Promise<void> {
  await sql`
    insert into flow_exporters as e (address, device_id)
    select x.address, ${deviceOf} from unnest(${addresses}::text[]) x (address) order by x.address
    on conflict (address) do update set last_seen = now()`.execute(db)
}

/** By id. */
export async function listExporterAddresses(db: Db): Promise<ReadonlyMap<number, string>> {
  const rows = await db.selectFrom('flow_exporters').select(['id', 'address']).execute()
  return new Map(rows.map(({ id, address }) => [id, address]))
}

/** Finds the devices of exporters again: the inventory or the platform file may have changed. */
export async function relinkExporters(db: Db): Promise<void> {
  await sql`
    update flow_exporters e set device_id = n.device_id
    from (select x.id, ${deviceOf} as device_id from flow_exporters x) n
    where n.id = e.id and n.device_id is distinct from e.device_id`.execute(db)
}

/**
 * With the numbers of their internal interfaces: a LAG with its members, a name of the platform file or of the device.
 */
export async function listExporterSettings(db: Db): Promise<ExporterSetting[]> {
  const { rows } = await sql<SettingRow>`
    select s.address, s.sampling_rate, s.internal = '{all}' as is_internal, array(
      select n::float8 from unnest(s.internal) n where n ~ '^[0-9]{1,10}$'
      union select k.key::float8 from jsonb_each_text(s.interfaces) k where k.value = any (s.internal)
      union select i.if_index::float8 from interfaces i left join interfaces l on l.id = i.lag_id
        where i.device_id = coalesce(s.device_id, e.device_id) and i.missing_surveys < ${sql.lit(missingSurveysMax)}
          and i.if_index is not null and array[i.key, i.name, l.key, l.name] && s.internal) as internal
    from flow_exporter_settings s left join flow_exporters e on e.address = s.address order by s.address`.execute(
    db,
  )
  return rows.map(({ address, sampling_rate: rate, is_internal: isInternal, internal }) => ({
    address,
    ...(rate !== null && { samplingRate: rate }),
    ...(isInternal ? { internal: 'all' as const } : internal.length > 0 && { internal }),
  }))
}

type SettingRow = {
  readonly address: string
  readonly sampling_rate: number | null
  readonly is_internal: boolean
  readonly internal: readonly number[]
}

type InterfaceRow = {
  readonly id: number
  readonly address: string
  readonly device_id: number | null
  readonly if_index: number | null
  readonly port_id: number | null
  readonly team_id: number | null
}

/**
 * The interfaces of every exporter with the current port and team. A member of a LAG without its own port has the port
 * of the LAG. Numbers of the platform file come last, and so replace numbers of a survey.
 */
export async function listExporterPorts(db: Db): Promise<ReadonlyMap<string, ExporterPorts>> {
  const { rows } = await sql<InterfaceRow>`
    with numbered as (
      select i.device_id, i.if_index::bigint as if_index, i.key, l.key as lag_key, 1 as rank
      from interfaces i left join interfaces l on l.id = i.lag_id
      where i.missing_surveys < ${sql.lit(missingSurveysMax)}),
    named as (
      select e.id, s.device_id, n.key::bigint as if_index, n.value as key, l.key as lag_key, 2 as rank
      from flow_exporters e join flow_exporter_settings s on s.address = e.address
        cross join jsonb_each_text(s.interfaces) n
        left join interfaces i on i.device_id = s.device_id and i.key = n.value
        left join interfaces l on l.id = i.lag_id),
    known as (
      select e.id, e.address, e.device_id, n.if_index, n.key, n.lag_key, n.rank
      from flow_exporters e left join numbered n on n.device_id = e.device_id
      union all
      select e.id, e.address, e.device_id, n.if_index, n.key, n.lag_key, n.rank from flow_exporters e join named n on n.id = e.id)
    select k.id, k.address, k.device_id, k.if_index::float8 as if_index, p.id as port_id, a.team_id
    from known k
      left join lateral (
        select p.id from ports p where p.device_id = k.device_id and p.interface_key in (k.key, k.lag_key)
        order by p.interface_key = k.key desc limit 1) p on true
      left join port_assignments a on a.port_id = p.id and a.valid @> now()
    order by k.id, k.rank`.execute(db)
  const exporters = new Map<string, ExporterPorts & { readonly interfaces: Map<number, InterfacePort> }>()
  for (const row of rows) {
    const known = exporters.get(row.address) ?? {
      id: row.id,
      hasDevice: row.device_id !== null,
      interfaces: new Map<number, InterfacePort>(),
    }
    exporters.set(row.address, known)
    if (row.if_index !== null)
      known.interfaces.set(row.if_index, { portId: row.port_id ?? 0, teamId: row.team_id ?? 0 })
  }
  return exporters
}

/**
 * The exporters by address, with the speeds of their interfaces. Only of Ethernet and LAG: virtual interfaces report a speed that is no limit,
 * such as 1 Gbit/s for an IRB interface.
 */
export async function listKnownExporters(db: Db): Promise<ReadonlyMap<string, KnownExporter>> {
  const { rows } = await sql<{
    address: string
    first_seen: Date
    by_port: boolean
    speeds: readonly (readonly [number, number])[]
  }>`
    select e.address, e.first_seen, e.by_port, coalesce(json_agg(json_build_array(i.if_index, i.speed_bps)) filter (where i.id is not null), '[]') as speeds
    from flow_exporters e left join interfaces i on i.device_id = e.device_id
      and i.missing_surveys < ${sql.lit(missingSurveysMax)} and i.if_index is not null and i.type in (6, 161)
      and i.name !~* '^(irb|vlan|bvi)' and i.speed_bps > 0
    group by e.address, e.first_seen, e.by_port`.execute(db)
  return new Map(
    rows.map((row) => [
      row.address,
      { firstSeen: row.first_seen.getTime() / 1000, speeds: new Map(row.speeds), isByPort: row.by_port },
    ]),
  )
}

/**
 * Saves the problems of the records of exporters, at most one finding per exporter. Ignores exporters without an id.
 */
export async function saveFindings(db: Db, findings: readonly ExporterFinding[]): Promise<void> {
  await sql`
    update flow_exporters e set implausible = coalesce(n.implausible, e.implausible),
      ambiguous_rates = coalesce(n."ambiguousRates", e.ambiguous_rates), by_port = e.by_port or n."isByPort"
    from jsonb_to_recordset(${storedJson(findings)}::jsonb)
      as n (exporter text, implausible jsonb, "ambiguousRates" bigint[], "isByPort" boolean)
    where e.address = n.exporter`.execute(db)
}

export async function saveUnknownInterfaces(db: Db, found: readonly UnknownInterfaceReport[]): Promise<void> {
  await sql`
    insert into flow_unknown_interfaces (exporter_id, if_index)
    select n."exporterId", n."ifIndex"
    from jsonb_to_recordset(${storedJson(found)}::jsonb) as n ("exporterId" integer, "ifIndex" bigint)
      join flow_exporters e on e.id = n."exporterId"
    order by n."exporterId", n."ifIndex"
    on conflict (exporter_id, if_index) do update set last_seen = now()`.execute(db)
}

type TemplateRow = {
  readonly exporter: string
  readonly port: number | null
  readonly version: 9 | 10
  readonly domain: number
  readonly id: number
  readonly scopes: number
  readonly fields: TemplateRecord['fields']
}

/** Returns all templates, or the templates with these keys. */
export async function listFlowTemplates(db: Db, keys?: readonly TemplateKey[]): Promise<TemplateRecord[]> {
  const { rows } = await sql<TemplateRow>`
    with all_templates as (
      select exporter, null::integer as port, version, domain, id, scopes, fields from flow_templates
      union all select exporter, port, version, domain, id, scopes, fields from flow_port_templates)
    select t.exporter, t.port, t.version, t.domain::float8 as domain, t.id, t.scopes, t.fields from all_templates t
    where ${keys === undefined} or exists (
      select from jsonb_to_recordset(${storedJson(keys ?? [])}::jsonb) as k (exporter text, port integer, version smallint, domain bigint, id integer)
      where (k.exporter, k.version, k.domain, k.id) = (t.exporter, t.version, t.domain, t.id) and k.port is not distinct from t.port)`.execute(
    db,
  )
  return rows.map(withPort)
}

/** A key without a port has no property of it. */
const withPort = <T extends { readonly port: number | null }>({ port, ...row }: T) =>
  port === null ? row : { ...row, port }

/** Records of single exporters behind an address, and of several by port: they are in separate tables. */
const byPort = <T extends { readonly port?: number }>(records: readonly T[]): readonly [T[], T[]] => [
  records.filter(({ port }) => port === undefined),
  records.filter(({ port }) => port !== undefined),
]

export async function saveTemplates(db: Db, templates: readonly TemplateRecord[]): Promise<void> {
  const [whole, ofPorts] = byPort(templates)
  if (whole.length > 0)
    await sql`
      insert into flow_templates (exporter, version, domain, id, scopes, fields)
      select exporter, version, domain, id, scopes, fields from ${templatesOf(whole)}
      order by exporter, version, domain, id
      on conflict (exporter, version, domain, id)
        do update set scopes = excluded.scopes, fields = excluded.fields, updated = now()`.execute(db)
  if (ofPorts.length > 0)
    await sql`
      insert into flow_port_templates (exporter, port, version, domain, id, scopes, fields)
      select exporter, port, version, domain, id, scopes, fields from ${templatesOf(ofPorts)}
      order by exporter, port, version, domain, id
      on conflict (exporter, port, version, domain, id)
        do update set scopes = excluded.scopes, fields = excluded.fields, updated = now()`.execute(db)
}

export async function deleteTemplates(db: Db, keys: readonly TemplateKey[]): Promise<void> {
  const [whole, ofPorts] = byPort(keys)
  if (whole.length > 0)
    await sql`
      delete from flow_templates t using ${templatesOf(whole)}
      where (t.exporter, t.version, t.domain, t.id) = (n.exporter, n.version, n.domain, n.id)`.execute(db)
  if (ofPorts.length > 0)
    await sql`
      delete from flow_port_templates t using ${templatesOf(ofPorts)}
      where (t.exporter, t.port, t.version, t.domain, t.id) = (n.exporter, n.port, n.version, n.domain, n.id)`.execute(
      db,
    )
}

const templatesOf = (
  templates: readonly TemplateKey[],
) => sql`jsonb_to_recordset(${storedJson(templates)}::jsonb)
  as n (exporter text, port integer, version smallint, domain bigint, id integer, scopes integer, fields jsonb)`

/**
 * All rates, as if the newest of each exporter had been announced now: while no collector received, no rate fell silent. The time of a
 * repeated rate is stored once an hour.
 */
export async function listSamplings(db: Db): Promise<SamplingRecord[]> {
  const { rows } = await sql<SamplingRecord & { readonly port: number | null }>`
    with all_samplings as (
      select exporter, null::integer as port, version, domain, sampler, in_if, rate, updated from flow_samplings
      union all select exporter, port, version, domain, sampler, in_if, rate, updated from flow_port_samplings)
    select exporter, port, version, domain::float8 as domain, sampler::float8 as sampler, in_if::float8 as "inIf", rate::float8 as rate,
      floor(extract(epoch from now() - (max(updated) over (partition by exporter, port) - updated)))::float8 as announced
    from all_samplings`.execute(db)
  return rows.map(withPort)
}

/** A newer announcement that another collector has stored stays. */
export async function saveSamplings(db: Db, samplings: readonly SamplingRecord[]): Promise<void> {
  const [whole, ofPorts] = byPort(samplings)
  if (whole.length > 0)
    await sql`
      insert into flow_samplings as s (exporter, version, domain, sampler, in_if, rate, updated)
      select exporter, version, domain, sampler, "inIf", rate, to_timestamp(announced) from ${samplingsOf(whole)}
      order by exporter, version, domain, sampler, "inIf"
      on conflict (exporter, version, domain, sampler, in_if)
        do update set rate = excluded.rate, updated = excluded.updated where excluded.updated >= s.updated`.execute(
      db,
    )
  if (ofPorts.length > 0)
    await sql`
      insert into flow_port_samplings as s (exporter, port, version, domain, sampler, in_if, rate, updated)
      select exporter, port, version, domain, sampler, "inIf", rate, to_timestamp(announced) from ${samplingsOf(ofPorts)}
      order by exporter, port, version, domain, sampler, "inIf"
      on conflict (exporter, port, version, domain, sampler, in_if)
        do update set rate = excluded.rate, updated = excluded.updated where excluded.updated >= s.updated`.execute(
      db,
    )
}

/** Deletes outdated rates, unless another collector has stored a newer announcement. */
export async function deleteSamplings(db: Db, samplings: readonly SamplingRecord[]): Promise<void> {
  const [whole, ofPorts] = byPort(samplings)
  if (whole.length > 0)
    await sql`
      delete from flow_samplings s using ${samplingsOf(whole)}
      where (s.exporter, s.version, s.domain, s.sampler, s.in_if) = (n.exporter, n.version, n.domain, n.sampler, n."inIf")
        and s.updated <= to_timestamp(n.announced)`.execute(db)
  if (ofPorts.length > 0)
    await sql`
      delete from flow_port_samplings s using ${samplingsOf(ofPorts)}
      where (s.exporter, s.port, s.version, s.domain, s.sampler, s.in_if)
          = (n.exporter, n.port, n.version, n.domain, n.sampler, n."inIf")
        and s.updated <= to_timestamp(n.announced)`.execute(db)
}

const samplingsOf = (
  samplings: readonly SamplingRecord[],
) => sql`jsonb_to_recordset(${storedJson(samplings)}::jsonb)
  as n (exporter text, port integer, version smallint, domain bigint, sampler bigint, "inIf" bigint, rate bigint, announced bigint)`

export async function saveLongFlows(db: Db, found: readonly LongFlow[]): Promise<void> {
  await sql`
    update flow_exporters e set longest_flow_seconds = n.seconds, longest_flow_seen = now()
    from jsonb_to_recordset(${storedJson(found)}::jsonb) as n (exporter text, seconds integer)
    where e.address = n.exporter`.execute(db)
}

/** Exporters that follow docs/flows.md report a flow every 60 seconds. */
const longestFlowSeconds = 120

/** An exporter `e` with what is wrong with its flows. */
export const seenExporterColumns = columns(
  'flow_exporters',
  'e',
  ['id', 'address', 'first_seen', 'last_seen'],
  {
    device: sql<{ id: number; name: string } | null>`(
    select json_build_object('id', d.id, 'name', d.name) from devices d where d.id = e.device_id)`,
    sampling_rate: sql<
      number | null
    >`(select s.sampling_rate from flow_exporter_settings s where s.address = e.address)`,
    /** Several exporters are behind the address. */
    several: sql<boolean>`e.by_port`,
    /** The last of each. */
    implausible: sql<ImplausibleRecord | null>`e.implausible`,
    ambiguous_rates: sql<readonly number[] | null>`e.ambiguous_rates::float8[]`,
    /** The longest flow of the last batch with long ones, if that was in the past day. */
    longest_flow_seconds: sql<number | null>`case when e.longest_flow_seen > now() - interval '1 day'
    and e.longest_flow_seconds > ${sql.lit(longestFlowSeconds)} then e.longest_flow_seconds end`,
    /** Numbers of interfaces that flows had in the past week and the inventory does not have. */
    unknown_interfaces: sql<readonly number[]>`array(
    select u.if_index::float8 from flow_unknown_interfaces u
    where u.exporter_id = e.id and u.last_seen > now() - interval '7 days'
      and not exists (select from interfaces i where i.device_id = e.device_id and i.if_index = u.if_index)
    order by u.if_index)`,
    /** Names of its internal interfaces that no interface has: their flows count double. */
    unknown_internal: sql<readonly string[]>`array(
    select n from flow_exporter_settings s cross join unnest(s.internal) n
    where s.address = e.address and n <> 'all' and n !~ '^[0-9]{1,10}$'
      and not exists (select from jsonb_each_text(s.interfaces) k where k.value = n)
      and not exists (
        select from interfaces i left join interfaces l on l.id = i.lag_id
        where i.device_id = coalesce(s.device_id, e.device_id) and i.missing_surveys < ${sql.lit(missingSurveysMax)}
          and i.if_index is not null and n in (i.key, i.name, l.key, l.name))
    order by n)`,
  },
)
export type SeenExporter = RowOf<typeof seenExporterColumns>

export async function listSeenExporters(db: Db): Promise<SeenExporter[]> {
  const { rows } = await sql<SeenExporter>`
    select ${seenExporterColumns} from flow_exporters e order by e.address`.execute(db)
  return rows
}
