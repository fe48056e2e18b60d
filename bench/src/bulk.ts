// Fills tables faster than with indexes and triggers: drops them, and creates them again when the rows are complete.
import type { Client } from 'pg'

type Definition = { readonly table: string; readonly name: string; readonly definition: string }

/**
 * Runs `fill` while the tables have no index, no key, no reference to or from them, and no trigger. `fill` must preserve
 * the invariants of the triggers itself.
 */
export async function fillBare(
  client: Client,
  tables: readonly string[],
  fill: () => Promise<void>,
): Promise<void> {
  const constraints = await constraintsOf(client, tables)
  const ofReferences = ({ definition }: Definition) => definition.startsWith('FOREIGN KEY')
  const references = constraints.filter(ofReferences)
  const keys = constraints.filter((constraint) => !ofReferences(constraint))
  for (const { table, name } of [...references, ...keys]) {
    await client.query(`alter table ${table} drop constraint ${name}`)
  }
  const indexes = await indexesOf(client, tables)
  for (const { name } of indexes) await client.query(`drop index ${name}`)
  for (const table of tables) await client.query(`alter table ${table} disable trigger user`)
  await client.query(`set maintenance_work_mem = '1GB'`)
  await fill()
  for (const table of tables) await client.query(`alter table ${table} enable trigger user`)
  for (const { definition } of indexes) await client.query(definition)
  for (const { table, name, definition } of [...keys, ...references]) {
    await client.query(`alter table ${table} add constraint ${name} ${definition}`)
  }
}

async function constraintsOf(client: Client, tables: readonly string[]): Promise<Definition[]> {
  const { rows } = await client.query<Definition>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint
     where contype in ('p', 'u', 'f') and (conrelid = any($1::regclass[]) or confrelid = any($1::regclass[]))
     order by contype = 'p' desc, conname`,
    [tables],
  )
  return rows
}

async function indexesOf(client: Client, tables: readonly string[]): Promise<Definition[]> {
  const { rows } = await client.query<Definition>(
    `select indrelid::regclass::text as table, indexrelid::regclass::text as name,
       pg_get_indexdef(indexrelid) as definition
     from pg_index where indrelid = any($1::regclass[]) order by indexrelid`,
    [tables],
  )
  return rows
}
