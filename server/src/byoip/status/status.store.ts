// Writes the statuses of stored announcements, which follow from statusOf(), and the messages about them.
import { sql, type RawBuilder } from 'kysely'
import type { Trx } from '../../db/postgres.ts'
import {
  statusOf,
  type Announcement,
  type AnnouncementRegion,
  type AnnouncementStatus,
  type RegionState,
} from './announcement.ts'
import { notifyStatusChanges, type StatusChange } from './status-message.store.ts'

/** Announcements with the same status and the same input of statusOf(): ten thousand announcements form only a few groups. */
type StatusGroup = Pick<Announcement, 'enabled' | 'suspended' | 'clearance' | 'status'> & {
  /** State, configured and changed of each region, as `announced ++,withdrawn -+`; null without any. */
  readonly regions: string | null
  readonly ids: readonly number[]
}

const anything = sql`is not null`

/**
 * Sets the statuses of the announcements, which the caller has locked, from all of their regions, and notifies the teams of
 * changed statuses. Returns the status of each before and after. The versions stay: they count changes of the desired side (decision 005). `within` repeats the bounds of the ids for the planner, as `between 1 and 2000`.
 */
export async function saveStatuses(
  trx: Trx,
  ids: readonly number[],
  within: RawBuilder<unknown> = anything,
): Promise<readonly StatusChange[]> {
  const { rows } = await sql<StatusGroup>`
    select enabled, suspended, clearance, status, regions, array_agg(id) as ids
    from (
      select a.id, a.enabled, a.suspended, a.clearance, a.status,
        string_agg(ar.state || case when ar.configured then ' +' else ' -' end
          || case when ar.changes <> '{}' then '+' else '-' end, ',' order by ar.region_id) as regions
      from announcements a left join announcement_regions ar on ar.announcement_id = a.id and ar.announcement_id ${within}
      where a.id = any(${ids}::integer[])
      group by a.id) one
    group by enabled, suspended, clearance, status, regions`.execute(trx)
  const statuses = rows.flatMap((alike) => {
    const status = statusOfGroup(alike)
    return alike.ids.map((id) => ({ id, status, before: alike.status }))
  })
  const saved = await sql<StatusChange>`
    update announcements a set status = n.status
    from unnest(${statuses.map(({ id }) => id)}::integer[], ${statuses.map(({ status }) => status)}::text[],
      ${statuses.map(({ before }) => before)}::text[]) n (id, status, before)
    where a.id = n.id and a.id ${within}
    returning a.id, a.team_id as "teamId", a.prefix::text as cidr, a.origin_asn as "originAsn", n.before,
      n.status as after`.execute(trx)
  await notifyStatusChanges(trx, saved.rows)
  return saved.rows
}

function statusOfGroup({ enabled, suspended, clearance, regions }: StatusGroup): AnnouncementStatus {
  return statusOf({ enabled, suspended, clearance, regions: regions ? regions.split(',').map(regionOf) : [] })
}

const sometime = new Date(0)

function regionOf(text: string): Pick<AnnouncementRegion, 'configured' | 'state' | 'changes'> {
  const [state, flags = ''] = text.split(' ')
  return {
    state: state as RegionState,
    configured: flags[0] === '+',
    changes: flags[1] === '+' ? [sometime] : [],
  }
}
