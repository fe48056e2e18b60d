// Reads the objects of a migrated database from PostgreSQL's catalogs, in a stable order. Only the generator uses it.
import type { ClientBase } from 'pg'

export type CatalogColumn = {
  readonly table: string
  readonly name: string
  /** `bigint`, `text[]`, ... as format_type() prints it. */
  readonly type: string
  readonly notNull: boolean
  readonly default: string | null
  readonly identity: 'always' | 'by default' | null
  readonly comment: string | null
}

export type CatalogTable = {
  readonly name: string
  readonly partitionKey: string | null
  /** `deliveries DEFAULT` for a partition. */
  readonly partitionOf: string | null
  readonly rowSecurity: boolean
  readonly comment: string | null
  readonly columns: readonly CatalogColumn[]
  /** Each with its definition, primary key first. */
  readonly constraints: readonly Definition[]
  readonly indexes: readonly Definition[]
  readonly triggers: readonly Definition[]
  readonly policies: readonly Definition[]
}

export type Definition = { readonly table: string; readonly name: string; readonly definition: string }

export type Catalog = {
  readonly tables: readonly CatalogTable[]
  /** Complete statements. */
  readonly views: readonly string[]
  /** Complete statements. */
  readonly functions: readonly string[]
  readonly grants: readonly string[]
}

/** Everything in the schema `public`. */
export async function readCatalog(client: ClientBase): Promise<Catalog> {
  const tables = await rows<
    Omit<CatalogTable, 'columns' | 'constraints' | 'indexes' | 'triggers' | 'policies'>
  >(client, TABLES)
  const columns = await rows<CatalogColumn>(client, COLUMNS)
  const constraints = await rows<Definition>(client, CONSTRAINTS)
  const indexes = await rows<Definition>(client, INDEXES)
  const triggers = await rows<Definition>(client, TRIGGERS)
  const policies = await rows<Definition>(client, POLICIES)
  const of = <T extends { table: string }>(all: readonly T[], { name }: { name: string }) =>
    all.filter(({ table }) => table === name)
  return {
    tables: tables.map((table) =>
      Object.assign(table, {
        columns: of(columns, table),
        constraints: of(constraints, table),
        indexes: of(indexes, table),
        triggers: of(triggers, table),
        policies: of(policies, table),
      }),
    ),
    views: (await rows<{ definition: string }>(client, VIEWS)).map(({ definition }) => definition),
    functions: (await rows<{ definition: string }>(client, FUNCTIONS)).map(({ definition }) => definition),
    grants: (await rows<{ grant: string }>(client, GRANTS)).map(({ grant }) => grant),
  }
}

async function rows<T>(client: ClientBase, sql: string): Promise<T[]> {
  const { rows } = await client.query(sql)
  return rows as T[]
}

const TABLES = `
  select c.relname as name,
    pg_get_partkeydef(c.oid) as "partitionKey",
    (select i.inhparent::regclass || ' ' || pg_get_expr(c.relpartbound, c.oid)
      from pg_inherits i where i.inhrelid = c.oid and c.relispartition) as "partitionOf",
    c.relrowsecurity as "rowSecurity",
    obj_description(c.oid, 'pg_class') as comment
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
  order by c.relname collate "C"`

const COLUMNS = `
  select c.relname as table, a.attname as name,
    format_type(a.atttypid, a.atttypmod) as type,
    a.attnotnull as "notNull",
    pg_get_expr(d.adbin, d.adrelid) as default,
    case a.attidentity when 'a' then 'always' when 'd' then 'by default' end as identity,
    col_description(c.oid, a.attnum) as comment
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
  order by c.relname collate "C", a.attnum`

const CONSTRAINTS = `
  select c.relname as table, n.conname as name, pg_get_constraintdef(n.oid) as definition
  from pg_constraint n
  join pg_class c on c.oid = n.conrelid
  where n.connamespace = 'public'::regnamespace and n.contype in ('p', 'u', 'f', 'c', 'x') and n.conparentid = 0
  order by position(n.contype in 'pufcx'), n.conname collate "C"`

const INDEXES = `
  select c.relname as table, i.relname as name, pg_get_indexdef(i.oid) as definition
  from pg_index x
  join pg_class i on i.oid = x.indexrelid
  join pg_class c on c.oid = x.indrelid
  where c.relnamespace = 'public'::regnamespace and not i.relispartition
    and not exists (select from pg_constraint n where n.conindid = i.oid and n.conrelid = c.oid)
  order by i.relname collate "C"`

const TRIGGERS = `
  select c.relname as table, t.tgname as name, pg_get_triggerdef(t.oid) as definition
  from pg_trigger t
  join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = 'public'::regnamespace and not t.tgisinternal
  order by t.tgname collate "C"`

const POLICIES = `
  select tablename as table, policyname as name,
    format('create policy %I on %I as %s for %s to %s%s%s', policyname, tablename, lower(permissive), lower(cmd),
      array_to_string(roles, ', '), ' using (' || qual || ')', ' with check (' || with_check || ')') as definition
  from pg_policies
  where schemaname = 'public'
  order by policyname collate "C"`

const VIEWS = `
  select concat('-- ' || obj_description(c.oid, 'pg_class') || chr(10),
    format('create view %I with (%s) as%s', c.relname, array_to_string(c.reloptions, ', '), chr(10)), pg_get_viewdef(c.oid)) as definition
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'v'
  order by c.relname collate "C"`

const FUNCTIONS = `
  select pg_get_functiondef(p.oid) as definition
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace
  order by p.proname collate "C", pg_get_function_identity_arguments(p.oid) collate "C"`

// The rights of the owner are implied.
const GRANTS = `
  with granted as (
    select a.grantee, a.privilege_type, '' as columns, c.relname
    from pg_class c, aclexplode(c.relacl) a
    where c.relnamespace = 'public'::regnamespace and a.grantee <> c.relowner
    union all
    select a.grantee, a.privilege_type,
      format(' (%s)', string_agg(t.attname, ', ' order by t.attnum)), c.relname
    from pg_class c
    join pg_attribute t on t.attrelid = c.oid, aclexplode(t.attacl) a
    where c.relnamespace = 'public'::regnamespace and a.grantee <> c.relowner
    group by a.grantee, a.privilege_type, c.relname
  )
  select format('grant %s on %I to %s',
    string_agg(lower(privilege_type) || columns, ', ' order by privilege_type), relname,
    case grantee when 0 then 'public' else grantee::regrole::text end) as grant
  from granted
  group by relname, grantee
  order by relname collate "C", grantee::regrole::text collate "C"`
