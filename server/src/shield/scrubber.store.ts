// The SQL of scrubbers, which the platform file writes.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import { parsePrefix, type Prefix } from '../net/prefix.ts'
import type { ListSize } from './rule-capacity.ts'

export type ScrubberRow = {
  readonly name: string
  readonly driver: Readonly<Record<string, unknown>>
  /** Limits the scrubber to the lists inside these prefixes; empty: all lists. */
  readonly prefixes: readonly Prefix[]
  readonly rulesMax: number
}

/** Returns all scrubbers, or the scrubbers that get the list of a prefix. */
export async function listScrubbers(db: Db, prefix?: string): Promise<ScrubberRow[]> {
  const { rows } = await sql<ScrubberRow>`
    select s.name, s.driver, s.prefixes::text[] as prefixes, s.rules_max as "rulesMax" from scrubbers s
    where ${prefix ?? null}::cidr is null or cardinality(s.prefixes) = 0 or ${prefix ?? null}::cidr <<= any(s.prefixes)
    order by s.name`.execute(db)
  return rows.map((row) => ({ ...row, prefixes: row.prefixes.map((one) => parsePrefix(one)) }))
}

/**
 * Returns the number of rules per list of all teams on the scrubber, now or after it applies the newest version or the
 * version that returns without a confirmation. For installed lists it includes rules added by compilation.
 */
export async function listInstalledSizes(db: Db, { name, prefixes }: ScrubberRow): Promise<ListSize[]> {
  const { rows } = await sql<{ prefix: string; ruleCount: number }>`
    select l.prefix::text as prefix, greatest(jsonb_array_length(v.rules), case
        when i.state = 'rejected' or (i.state = 'active' and i.version = l.version) then i.rule_count
        else greatest(i.rule_count, r.count) end)::integer as "ruleCount"
    from shield_lists l left join shield_installs i on i.list_id = l.id and i.scrubber = ${name}
      left join shield_versions v on v.list_id = l.id and v.version = l.previous_version
      cross join lateral (select count(*) as count from shield_rules r
        where r.list_id = l.id and r.enabled and (r.expires is null or r.expires > now())) r
    where (cardinality(${prefixes}::cidr[]) = 0 or l.prefix <<= any(${prefixes}::cidr[]))
      and (r.count > 0 or i.rule_count > 0 or l.previous_version > 0)`.execute(db)
  return rows.map((row) => ({ ...row, prefix: parsePrefix(row.prefix) }))
}
