// The SQL of the installation's figures. Each statement reads an index or a handful of rows.
import { sql } from 'kysely'
import { listCounterRatios, type CounterRatio } from '../collector/counter-check.store.ts'
import { regionCheckResult } from '../byoip/status/reported-status.store.ts'
import {
  countUnseen,
  listVisibilitySources,
  type UnseenCounts,
} from '../byoip/visibility/visibility.store.ts'
import type { Db } from '../db/postgres.ts'
import { sendable } from '../webhook/send.store.ts'

export type Figures = {
  readonly deliveries: { readonly waiting: number; readonly oldest_seconds: number }
  readonly mails: { readonly waiting: number; readonly oldest_seconds: number }
  readonly webhooks: { readonly waiting: number }
  readonly regions: readonly {
    readonly slug: string
    readonly last_check: Date | null
    readonly last_check_result: boolean | null
    readonly routes_missing: number
    readonly formers: { readonly count: number; readonly routes: number; readonly oldest_seconds: number }
  }[]
  readonly routers: readonly {
    readonly region: string
    readonly router: string
    readonly up: boolean | null
    /** Null for a drained router, which does not need sessions. */
    readonly neighbors: number | null
  }[]
  /** Open approvals: of routes for each region, of the other areas together. */
  readonly approvals: readonly { readonly area: string; readonly subject: string; readonly count: number }[]
  readonly dns: {
    readonly restores: number
    readonly aliases_failing: number
    /** When the first signature of a primary zone expires, in Unix seconds; null without signatures. */
    readonly signatures_expire: number | null
    readonly servers: readonly { readonly name: string; readonly up: boolean | null }[]
  }
  readonly visibility: readonly { readonly source: string; readonly up: boolean }[]
  readonly unseen: UnseenCounts
  readonly providers: Readonly<Record<'domain_lost' | 'unreachable', number>>
  readonly counterRatios: readonly CounterRatio[]
  readonly connections: readonly { readonly use: string; readonly state: string; readonly count: number }[]
}

export async function readFigures(db: Db): Promise<Figures> {
  return db
    .transaction()
    .setAccessMode('read only')
    .execute(async (trx) => {
      await sql`set local statement_timeout = 2000`.execute(trx)
      const deliveries = await sql<Figures['deliveries']>`
        select count(*) as waiting,
          coalesce(extract(epoch from now() - min(received)), 0)::double precision as oldest_seconds
        from deliveries where state = 'new'`.execute(trx)
      const mails = await sql<Figures['mails']>`
        select count(*) as waiting,
          coalesce(extract(epoch from now() - min(created)), 0)::double precision as oldest_seconds
        from mails where sent is null and failed is null`.execute(trx)
      const webhooks = await sql<Figures['webhooks']>`
        select count(*) as waiting from ${sendable}`.execute(trx)
      const regions = await sql<Figures['regions'][number]>`
        select slug, last_check, ${regionCheckResult} as last_check_result, r.routes_missing,
          (select json_build_object('count', count(*), 'routes', coalesce(sum(cardinality(f.prefixes)), 0),
              'oldest_seconds', coalesce(extract(epoch from now() - min(f.since)), 0))
            from former_speakers f where f.region_id = r.id) as formers
        from regions r order by slug`.execute(trx)
      const routers = await sql<Figures['routers'][number]>`
        select r.slug as region, s.value ->> 'name' as router, o.last_check_result as up,
          case when o.drained is not null then null when o.last_check_result then (select count(*) from jsonb_array_elements(o.neighbors) n
            where n ->> 'state' = 'established') else 0 end as neighbors
        from regions r cross join jsonb_array_elements(r.speakers) s
        left join region_routers o on o.region_id = r.id and o.name = s.value ->> 'name'
        order by 1, 2`.execute(trx)
      const approvals = await sql<Figures['approvals'][number]>`
        select s.area, s.subject, count(a.id) as count
        from (select 'routes' as area, slug as subject, id as region_id from regions
          union all select * from (values ('dns', '', null::integer), ('shield', '', null), ('platform', '', null)) v) s
          left join approvals a on a.state = 'open' and a.area = s.area and a.region_id is not distinct from s.region_id
        group by 1, 2 order by 1, 2`.execute(trx)
      const dns = await readDnsFigures(trx)
      const visibility = (await listVisibilitySources(trx)).map(({ name, problem, is_followed }) => ({
        source: name,
        up: problem === null && is_followed,
      }))
      const unseen = await countUnseen(trx)
      const counterRatios = await listCounterRatios(trx)
      const providers = await sql<Figures['providers']>`
        select count(*) filter (where not b.is_bound) as domain_lost,
          count(*) filter (where b.is_bound and p.unreachable is not null) as unreachable
        from identity_providers p
        cross join lateral (select exists (
          select from domains d where d.provider_id = p.id and d.verified is not null) as is_bound) b
        where p.status = 'active'`.execute(trx)
      const connections = await sql<Figures['connections'][number]>`
        select substring(application_name from '[a-z]+$') as use, coalesce(state, 'unknown') as state, count(*) as count
        from pg_stat_activity
        where datname = current_database() and application_name like 'pharos %' and backend_type = 'client backend'
        group by 1, 2`.execute(trx)
      return {
        deliveries: deliveries.rows[0]!,
        mails: mails.rows[0]!,
        webhooks: webhooks.rows[0]!,
        unseen,
        providers: providers.rows[0]!,
        counterRatios,
        regions: regions.rows,
        routers: routers.rows,
        approvals: approvals.rows,
        dns,
        visibility,
        connections: connections.rows,
      }
    })
}

async function readDnsFigures(db: Db): Promise<Figures['dns']> {
  const { rows } = await sql<Figures['dns']>`
    select (select count(*) from restores where closed is null) as restores,
      (select count(*) from dns_aliases where reason is not null) as aliases_failing,
      (select extract(epoch from s.expires)::double precision from dns_served s join dns_zones z on z.id = s.zone_id
        where s.expires is not null and z.kind = 'primary' and z.deleted is null
        order by s.expires limit 1) as signatures_expire,
      coalesce((select json_agg(json_build_object('name', name,
        'up', case when checked is not null then error is null end) order by name) from dns_servers), '[]') as servers`.execute(
    db,
  )
  return rows[0]!
}
