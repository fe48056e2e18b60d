// The SQL of sources: the detectors that the operator has configured.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'
import type { Place } from '../sources/settings.ts'

export async function findSourceSecret(db: Db, key: string): Promise<Buffer | undefined> {
  const row = await db.selectFrom('sources').select('secret_mac').where('key', '=', key).executeTakeFirst()
  return row?.secret_mac
}

export type SourceRow = {
  readonly key: string
  readonly kind: string
  readonly settings: unknown
  /** The location that the setting `location` names. */
  readonly place: Place | undefined
}

/** A source `s` with its place `l`. */
export const sourcesWithPlace = sql`(sources s left join locations l on l.key = s.settings ->> 'location')`
export const sourceColumns = sql`s.key, s.kind, s.settings, l.name, l.country, l.timezone`
export type StoredSource = Omit<SourceRow, 'place'> & { readonly [name in keyof Place]: string | null }

export const sourceRowOf = ({ key, kind, settings, name, country, timezone }: StoredSource): SourceRow => ({
  key,
  kind,
  settings,
  place: name === null ? undefined : { name, country: country!, timezone: timezone! },
})

export async function listSourceRows(db: Db, keys: readonly string[]): Promise<SourceRow[]> {
  const { rows } = await sql<StoredSource>`
    select ${sourceColumns} from ${sourcesWithPlace} where s.key = any(${keys})`.execute(db)
  return rows.map(sourceRowOf)
}

export async function listSourceKeys(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('sources').select('key').orderBy('key').execute()
  return rows.map(({ key }) => key)
}
