// Announcements for the bench: regions with the lab's routers, and the number of prefixes that a benchmark needs, alternating
// IPv4 and IPv6, all of team 1.
import type { Client } from 'pg'
import type { Lab } from '../../lab/src/network.ts'

export const owner = '64500:1:1'
/** Not the identifier of the product: the reconciler ignores its routes. */
export const otherOwner = '64500:1:2'
export const originAsn = 64_496

/** Prefix number n, as SQL and as text. */
const prefixSql = `(case when n % 2 = 1
  then '2001:' || to_hex(x'db8'::integer + (n >> 16)) || ':' || to_hex(n & 65535) || '::/48'
  else (10 + (n >> 16)) || '.' || ((n >> 8) & 255) || '.' || (n & 255) || '.0/24' end)::cidr`
export function prefixOf(n: number): string {
  if (n % 2 === 0) return `${10 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}.0/24`
  return `2001:${(0xdb8 + (n >> 16)).toString(16)}:${(n & 65_535).toString(16)}::/48`
}

/** Creates regions of these names without a router, until `useRouters` sets them. */
export async function seedRegions(client: Client, names: readonly string[]): Promise<void> {
  await client.query(
    `insert into locations (key, name, country, timezone) values ('lab', 'Lab', 'NL', 'Europe/Amsterdam')`,
  )
  await client.query(
    `insert into regions (slug, name, location_key, speakers)
     select name, upper(name), 'lab', jsonb_build_array(jsonb_build_object('name', name, 'kind', 'sandbox'))
     from unnest($1::text[]) name`,
    [names],
  )
}

/** Announcements 1 to `on` are enabled in all regions, the next `off` are disabled; all are validated. */
export async function seedAnnouncements(client: Client, on: number, off: number): Promise<void> {
  await client.query(
    `insert into announcements
       (team_id, prefix, origin_asn, enabled, irr_validated, rpki_validated, loa_validated, status, matched,
        vouched, clearance, claimed, checked_origin)
     select 1, ${prefixSql}, $3, n <= $1, now(), now(), now(),
       case when n <= $1 then 'announcing' else 'ready' end, true, '{irr,rpki,loa}', 'passed', now(), $3
     from generate_series(1, $1::integer + $2::integer) n order by n`,
    [on, off, originAsn],
  )
  await client.query(
    `insert into announcement_regions (announcement_id, region_id, team_id, configured, state)
     select a.id, r.id, 1, true, case when a.enabled then 'announcing' else 'withdrawn' end
     from announcements a cross join regions r`,
  )
}

/** Sets the lab's router of each region, and deletes the observed state of an earlier run. */
export async function useRouters(client: Client, lab: Lab, on: number): Promise<void> {
  for (const { name, apiAddress, nextHop6 } of lab.regions) {
    const speaker = { name, kind: 'gobgp', address: apiAddress, owner, next_hop: { ipv6: nextHop6 } }
    const speakers = JSON.stringify([speaker])
    await client.query('update regions set speakers = $2, last_check = null where slug = $1', [
      name,
      speakers,
    ])
  }
  await deleteRuns(client, on)
}

/** Resets to the state after `seedAnnouncements`: no announcements or changes. */
export async function deleteRuns(client: Client, on: number): Promise<void> {
  await client.query('truncate approvals, region_withdrawals, region_routers')
  await client.query(
    `update announcements set enabled = id <= $1, status = case when id <= $1 then 'announcing' else 'ready' end`,
    [on],
  )
  await client.query(
    `update announcement_regions ar set reason = null, attrs = null, announced_origin = null, changes = '{}',
       state = case when a.enabled then 'announcing' else 'withdrawn' end
     from announcements a where a.id = ar.announcement_id`,
  )
  await client.query('vacuum announcements, announcement_regions')
}
