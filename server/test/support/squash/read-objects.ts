// Reads the objects of a database in more detail than `catalog.ts`: enough to create them again.
import type { ClientBase } from 'pg'

export type TableObject = {
  readonly oid: number
  readonly name: string
  readonly parent: string | null
  readonly bound: string | null
  readonly partitionKey: string | null
  readonly options: string | null
  readonly rowSecurity: boolean
  readonly comment: string | null
  readonly columns: readonly ColumnObject[]
  readonly constraints: readonly ConstraintObject[]
  readonly indexes: readonly string[]
  readonly triggers: readonly TriggerObject[]
  readonly policies: readonly PolicyObject[]
  readonly grants: readonly GrantObject[]
  readonly sequenceGrants: readonly string[]
  /** Functions that its columns, constraints, indexes and policies call. */
  readonly calls: readonly number[]
}

export type ColumnObject = {
  readonly name: string
  readonly type: string
  readonly notNull: boolean
  readonly default: string | null
  readonly identity: string
  readonly generated: string
  readonly collation: string | null
  readonly storage: string | null
  readonly comment: string | null
}

export type ConstraintObject = {
  readonly name: string
  readonly type: 'p' | 'u' | 'f' | 'c' | 'x'
  readonly definition: string
  readonly expression: string | null
  readonly columns: readonly string[]
  readonly references: string | null
  readonly referenced: readonly string[]
  readonly onKey: boolean
  readonly validated: boolean
}

export type TriggerObject = { readonly definition: string; readonly function: number }
export type PolicyObject = {
  readonly name: string
  readonly command: string
  readonly roles: string
  readonly using: string | null
  readonly check: string | null
}
export type GrantObject = { readonly privilege: string; readonly columns: readonly string[] | null }

export type FunctionObject = {
  readonly oid: number
  readonly name: string
  readonly signature: string
  readonly args: string
  readonly result: string
  readonly language: string
  readonly volatility: string
  readonly parallel: string
  readonly strict: boolean
  readonly definer: boolean
  readonly config: string | null
  readonly body: string
  readonly comment: string | null
  readonly isPublic: boolean
  readonly toTeams: boolean
}

export type ViewObject = {
  readonly name: string
  readonly options: string
  readonly definition: string
  readonly comment: string | null
  readonly grants: readonly GrantObject[]
}

export type Objects = {
  readonly tables: readonly TableObject[]
  readonly functions: readonly FunctionObject[]
  readonly views: readonly ViewObject[]
  readonly collations: readonly string[]
  readonly sequences: readonly { readonly name: string; readonly type: string; readonly toTeams: string }[]
}

export async function readObjects(client: ClientBase): Promise<Objects> {
  const read = async <T>(sql: string) => (await client.query(sql)).rows as T[]
  return {
    tables: await read<TableObject>(tables),
    functions: await read<FunctionObject>(functions),
    views: await read<ViewObject>(views),
    collations: (await read<{ statement: string }>(collations)).map(({ statement }) => statement),
    sequences: await read(sequences),
  }
}

const grantsOf = (oid: string) => `
  coalesce((select json_agg(json_build_object('privilege', lower(g.privilege_type), 'columns', g.columns) order by g.columns is null desc, g.privilege_type)
    from (
      select a.privilege_type, null::text[] as columns from pg_class k, aclexplode(k.relacl) a
        where k.oid = ${oid} and a.grantee = 'pharos_tenant'::regrole
      union all
      select a.privilege_type, array_agg(t.attname::text order by t.attnum) from pg_attribute t, aclexplode(t.attacl) a
        where t.attrelid = ${oid} and a.grantee = 'pharos_tenant'::regrole group by a.privilege_type) g), '[]')`

const tables = `
  select c.oid::integer, c.relname as name, c.relrowsecurity as "rowSecurity", pg_get_partkeydef(c.oid) as "partitionKey",
    (select i.inhparent::regclass::text from pg_inherits i where i.inhrelid = c.oid) as parent,
    pg_get_expr(c.relpartbound, c.oid) as bound, array_to_string(c.reloptions, ', ') as options,
    obj_description(c.oid, 'pg_class') as comment,
    (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'notNull', a.attnotnull,
        'default', pg_get_expr(d.adbin, d.adrelid), 'identity', a.attidentity, 'generated', a.attgenerated,
        'collation', case when a.attcollation <> t.typcollation then a.attcollation::regcollation::text end,
        'storage', case when a.attstorage <> t.typstorage then a.attstorage end,
        'comment', col_description(c.oid, a.attnum)) order by a.attnum)
      from pg_attribute a join pg_type t on t.oid = a.atttypid
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
    coalesce((select json_agg(json_build_object('name', n.conname, 'type', n.contype, 'definition', pg_get_constraintdef(n.oid),
        'expression', pg_get_expr(n.conbin, n.conrelid), 'validated', n.convalidated,
        'columns', coalesce((select json_agg(a.attname order by u.place) from unnest(n.conkey) with ordinality u (attnum, place)
          join pg_attribute a on a.attrelid = n.conrelid and a.attnum = u.attnum), '[]'),
        'references', case when n.confrelid <> 0 then n.confrelid::regclass::text end,
        'referenced', coalesce((select json_agg(a.attname order by u.place) from unnest(n.confkey) with ordinality u (attnum, place)
          join pg_attribute a on a.attrelid = n.confrelid and a.attnum = u.attnum), '[]'),
        'onKey', coalesce((select p.conkey = n.confkey from pg_constraint p where p.conrelid = n.confrelid and p.contype = 'p'), false))
        order by position(n.contype in 'pucxf'), n.oid)
      from pg_constraint n where n.conrelid = c.oid and n.contype in ('p', 'u', 'f', 'c', 'x') and n.conparentid = 0 and n.coninhcount = 0), '[]')
      as constraints,
    coalesce((select json_agg(pg_get_indexdef(x.indexrelid) order by i.oid) from pg_index x join pg_class i on i.oid = x.indexrelid
      where x.indrelid = c.oid and not i.relispartition
        and not exists (select from pg_constraint n where n.conindid = i.oid and n.conrelid = c.oid)), '[]') as indexes,
    coalesce((select json_agg(json_build_object('definition', pg_get_triggerdef(t.oid, true), 'function', t.tgfoid::integer) order by t.oid)
      from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal and t.tgparentid = 0), '[]') as triggers,
    coalesce((select json_agg(json_build_object('name', p.policyname, 'command', lower(p.cmd), 'roles', array_to_string(p.roles, ', '),
        'using', p.qual, 'check', p.with_check) order by p.policyname)
      from pg_policies p where p.schemaname = 'public' and p.tablename = c.relname), '[]') as policies,
    ${grantsOf('c.oid')} as grants,
    coalesce((select json_agg(format('grant %s on sequence %I to pharos_tenant', lower(a.privilege_type), s.relname) order by s.relname)
      from pg_depend d join pg_class s on s.oid = d.objid and s.relkind = 'S' and d.deptype in ('a', 'i'), aclexplode(s.relacl) a
      where d.refobjid = c.oid and a.grantee = 'pharos_tenant'::regrole), '[]') as "sequenceGrants",
    coalesce((select json_agg(distinct d.refobjid::integer) from pg_depend d where d.refclassid = 'pg_proc'::regclass and (
        (d.classid = 'pg_policy'::regclass and d.objid in (select oid from pg_policy where polrelid = c.oid))
        or (d.classid = 'pg_constraint'::regclass and d.objid in (select oid from pg_constraint where conrelid = c.oid))
        or (d.classid = 'pg_attrdef'::regclass and d.objid in (select oid from pg_attrdef where adrelid = c.oid))
        or (d.classid = 'pg_class'::regclass and d.objid in (select indexrelid from pg_index where indrelid = c.oid)))
      and exists (select from pg_proc p where p.oid = d.refobjid and p.pronamespace = 'public'::regnamespace)), '[]') as calls
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'migrations'
  order by c.oid`

const functions = `
  select p.oid::integer, p.proname as name, format('%I(%s)', p.proname, pg_get_function_identity_arguments(p.oid)) as signature,
    pg_get_function_arguments(p.oid) as args, pg_get_function_result(p.oid) as result, l.lanname as language,
    p.provolatile as volatility, p.proparallel as parallel, p.proisstrict as strict, p.prosecdef as definer,
    array_to_string(p.proconfig, '; ') as config, p.prosrc as body, obj_description(p.oid, 'pg_proc') as comment,
    p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee = 0) as "isPublic",
    exists (select from aclexplode(p.proacl) a where a.grantee = 'pharos_tenant'::regrole) as "toTeams"
  from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace = 'public'::regnamespace order by p.oid`

const views = `
  select c.relname as name, array_to_string(c.reloptions, ', ') as options, pg_get_viewdef(c.oid, true) as definition,
    obj_description(c.oid, 'pg_class') as comment, ${grantsOf('c.oid')} as grants
  from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' order by c.oid`

const collations = `
  select format('create collation %I (provider = icu, locale = %L%s)', c.collname,
    coalesce(to_jsonb(c) ->> 'colllocale', to_jsonb(c) ->> 'colliculocale'),
    case when not c.collisdeterministic then ', deterministic = false' end) as statement
  from pg_collation c where c.collnamespace = 'public'::regnamespace order by c.oid`

const sequences = `
  select c.relname as name, s.seqtypid::regtype::text as type,
    coalesce((select string_agg(lower(a.privilege_type), ', ') from aclexplode(c.relacl) a where a.grantee = 'pharos_tenant'::regrole), '')
      as "toTeams"
  from pg_class c join pg_sequence s on s.seqrelid = c.oid
  where c.relnamespace = 'public'::regnamespace
    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('a', 'i')) order by c.oid`
