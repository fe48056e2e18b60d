// The prefixes through which the traffic of the demo arrives: a withdrawn prefix loses it.
import { sql } from 'kysely'
import type { Db } from '../../../server/src/db/postgres.ts'
import type { Prefix } from '../../../server/src/net/prefix.ts'

export type DemoRoutes = {
  /** Routers have them, or are about to. */
  readonly announced: readonly Prefix[]
  /** Hosts that routers drop. */
  readonly blackholed: readonly Prefix[]
}

export async function listDemoRoutes(db: Db): Promise<DemoRoutes> {
  const { rows } = await sql<{ prefix: Prefix; is_blackhole: boolean }>`
    select distinct a.prefix::text as prefix, false as is_blackhole
    from announcements a join announcement_regions r on r.announcement_id = a.id
    where r.state in ('announcing', 'announced', 'withdrawing')
    union
    select b.host::text, true
    from blackholes b join blackhole_regions r on r.blackhole_id = b.id
    where r.state in ('announced', 'withdrawing')`.execute(db)
  const prefixes = (isBlackhole: boolean) =>
    rows.filter(({ is_blackhole: one }) => one === isBlackhole).map(({ prefix }) => prefix)
  return { announced: prefixes(false), blackholed: prefixes(true) }
}
