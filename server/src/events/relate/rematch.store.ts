// The SQL of resources that must be matched against past events.
import { sql } from 'kysely'
import { parsePrefix } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Db } from '../../db/postgres.ts'

type Kind = 'prefix' | 'asn' | 'announcement'

export type ChangedResource = {
  readonly kind: Kind
  readonly id: number
  /** Prefixes of which overlapping events may concern the resource; empty for a deleted one. */
  readonly prefixes: readonly Prefix[]
  /** All values that matching depends on, as one text; undefined for a deleted resource. */
  readonly version: string | undefined
}

const tables = { prefix: 'prefixes', asn: 'asns', announcement: 'announcements' } as const

const versions = {
  prefix: sql<string>`concat_ws('|', team_id, prefix, name, location_key)`,
  asn: sql<string>`concat_ws('|', team_id, asn, name)`,
  announcement: sql<string>`concat_ws('|', team_id, prefix, origin_asn, description, claimed, deleted)`,
} as const

type Row = { kind: Kind; id: number; version: string; prefixes: (string | null)[] }

/** An ASN concerns the events on its team's announcements that it originates. */
export async function listUnmatchedResources(db: Db, limit: number): Promise<ChangedResource[]> {
  const { rows } = await sql<Row>`
    (select 'prefix' as kind, id, ${versions.prefix} as version, array[prefix::text] as prefixes
      from prefixes where not matched order by id limit ${limit})
    union all
    (select 'announcement', id, ${versions.announcement}, array[prefix::text]
      from announcements where not matched and claimed is not null and deleted is null
      order by id limit ${limit})
    union all
    (select 'asn', id, ${versions.asn}, array(select n.prefix::text from announcements n
        where n.team_id = asns.team_id and n.origin_asn = asns.asn and n.claimed is not null and n.deleted is null
        order by n.id)
      from asns where not matched order by id limit ${limit})
    limit ${limit}`.execute(db)
  return rows.map(({ kind, id, version, prefixes }) => ({
    kind,
    id,
    version,
    prefixes: prefixes.map((prefix) => parsePrefix(prefix!)),
  }))
}

/** Returns false if the resource has changed since: it stays unmatched, or was deleted. */
export async function markMatched(db: Db, { kind, id }: ChangedResource, version: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(tables[kind])} set matched = true
    where id = ${id} and ${versions[kind]} = ${version}`.execute(db)
  return numAffectedRows > 0n
}

export async function listRemovedResources(db: Db, limit: number): Promise<ChangedResource[]> {
  const rows = await db
    .selectFrom('removed_resources')
    .select(['match_resource', 'match_resource_id'])
    .orderBy('removed')
    .limit(limit)
    .execute()
  return rows.map(({ match_resource, match_resource_id }) => ({
    kind: match_resource as Kind,
    id: match_resource_id,
    prefixes: [],
    version: undefined,
  }))
}

export async function deleteRemovedResource(db: Db, { kind, id }: ChangedResource): Promise<void> {
  await db
    .deleteFrom('removed_resources')
    .where('match_resource', '=', kind)
    .where('match_resource_id', '=', id)
    .execute()
}
