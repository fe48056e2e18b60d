// Queries about the scrubbers of a prefix, answered from their capabilities without calling them.
import type { Db, Postgres } from '../db/postgres.ts'
import type { ListCounting } from '../events/list/event-traffic.ts'
import { covers, type Prefix } from '../net/prefix.ts'
import { refusalsOfList } from './check-list.ts'
import { listInstalledSizes, listScrubbers, type ScrubberRow } from './scrubber.store.ts'
import type { ScrubberCapabilities } from './scrubber.ts'
import { listNested } from './shield-list.store.ts'
import type { CheckScrubbers } from './update-shield.ts'

/** Returns the capabilities of a scrubber; undefined if its settings are invalid. */
export type CapabilitiesOf = (row: ScrubberRow) => ScrubberCapabilities | undefined

/** Returns the parts that the scrubbers of a prefix cannot apply. */
export const createCheckScrubbers =
  (postgres: Postgres, capabilitiesOf: CapabilitiesOf): CheckScrubbers =>
  async (teamId, prefix, rules) => {
    const nested = await postgres.inTeam(teamId, (trx) => listNested(trx, teamId, prefix))
    const rows = await listScrubbers(postgres.front, prefix)
    const refusals = await Promise.all(
      rows.map(async (row) => {
        const can = capabilitiesOf(row)
        if (!can) return []
        const others = nested.filter((list) => getsList(row, list.prefix))
        return refusalsOfList(
          { prefix, rules },
          others,
          can,
          await listInstalledSizes(postgres.front, row),
          row.name,
        )
      }),
    )
    return { scrubbers: rows.length, refusals: refusals.flat() }
  }

/** The same condition as in `listScrubbers`. */
const getsList = ({ prefixes }: ScrubberRow, prefix: Prefix): boolean =>
  prefixes.length === 0 || prefixes.some((one) => covers(one, prefix))

/**
 * Returns whether each scrubber with a list of these prefixes counts hits; false for a scrubber with unknown settings.
 */
export const createListCounting =
  (front: Db, capabilitiesOf: CapabilitiesOf): ListCounting =>
  async (prefixes) => {
    const rows = new Map<string, ScrubberRow>()
    for (const prefix of prefixes)
      for (const row of await listScrubbers(front, prefix)) rows.set(row.name, row)
    return Array.from(rows.values(), (row) => capabilitiesOf(row)?.hits ?? false)
  }
