// Writes squashed migrations: for each file its tables in the order of their foreign keys, each with its comments, indexes, triggers, policies and
// grants. Everything else follows as soon as what it names exists. Pure.
import { comments } from './comments.ts'
import { fileOf, functionFiles, squashedFiles } from './files.ts'
import { prettyIndex, prettySql, wrap } from './pretty-sql.ts'
import type {
  ColumnObject,
  ConstraintObject,
  FunctionObject,
  GrantObject,
  Objects,
  PolicyObject,
  TableObject,
  ViewObject,
} from './read-objects.ts'

/** Comments above objects and texts of views, by `function name`, `view name`, ...: from the files before. */
export type Sources = {
  readonly comments: ReadonlyMap<string, string>
  readonly views: ReadonlyMap<string, string>
}

type Pending = { readonly needs: readonly string[]; readonly text: string; readonly file: number }

export type BuiltFile = { readonly file: string; readonly sql: string }

export function buildFiles(objects: Objects, sources: Sources): BuiltFile[] {
  const builder = new Builder(objects, sources)
  return squashedFiles.map(({ title }, at) => ({
    file: `${String(at + 1).padStart(3, '0')}-${title}.sql`,
    sql: builder.build(at),
  }))
}

class Builder {
  readonly #objects: Objects
  readonly #sources: Sources
  readonly #relations: ReadonlySet<string>
  readonly #created = new Set<string>()
  #pending: Pending[] = []
  #parts: string[] = []

  constructor(objects: Objects, sources: Sources) {
    this.#objects = objects
    this.#sources = sources
    this.#relations = new Set([...objects.tables, ...objects.views].map(({ name }) => name))
    this.#addStandalone()
  }

  build(at: number): string {
    const { head, before, after } = squashedFiles[at]!
    this.#parts = [`${head}\n\nset local check_function_bodies = off;`]
    if (before !== undefined) this.#parts.push(before)
    this.#flush(at)
    for (const table of this.#tablesOf(at)) {
      this.#addTable(table, at)
      this.#flush(at)
    }
    if (after !== undefined) this.#parts.push(after)
    if (at === squashedFiles.length - 1 && this.#pending.length > 0)
      throw new Error(`never created: ${this.#pending.map(({ text }) => text.slice(0, 60)).join('; ')}`)
    return `${this.#parts.join('\n\n')}\n`
  }

  /** In the order of their foreign keys, otherwise in the order in which they were added to the product. */
  #tablesOf(at: number): TableObject[] {
    const left = this.#objects.tables.filter(({ name }) => fileOf(name) === at)
    const sorted: TableObject[] = []
    while (left.length > 0) {
      const names = new Set(left.map(({ name }) => name))
      const next = left.find((table) =>
        [...table.constraints.map(({ references }) => references), table.parent].every(
          (one) => one === null || one === table.name || !names.has(one),
        ),
      )
      const [chosen] = left.splice(left.indexOf(next ?? left[0]!), 1)
      sorted.push(chosen!)
    }
    return sorted
  }

  /** Functions that no table needs, and views. */
  #addStandalone(): void {
    const { tables, functions, views } = this.#objects
    const needed = new Set(
      tables.flatMap(({ calls, triggers }) => [...calls, ...triggers.map((one) => one.function)]),
    )
    for (const view of views)
      this.#pending.push({ needs: this.#named(view.definition), text: this.#view(view), file: 0 })
    for (const one of functions.filter(({ oid }) => !needed.has(oid))) {
      const needs = this.#tablesOfFunction(one)
      this.#pending.push({ needs, text: this.#function(one), file: this.#earliest(one) })
    }
  }

  /** The tables that a function names, or that functions name which it calls. */
  #tablesOfFunction(one: FunctionObject, seen: ReadonlySet<string> = new Set()): string[] {
    const text = `${one.args} ${one.result} ${withoutComments(one.body)}`
    const called = this.#objects.functions.filter(
      ({ name }) => name !== one.name && !seen.has(name) && new RegExp(`\\b${name}\\(`).test(text),
    )
    const inner = called.flatMap((other) => this.#tablesOfFunction(other, new Set([...seen, one.name])))
    return [...new Set([...this.#named(text), ...inner])]
  }

  #earliest({ name }: FunctionObject): number {
    return Math.max(
      0,
      squashedFiles.findIndex(({ title }) => title === functionFiles[name]),
    )
  }

  /** The tables and views that a text names. */
  #named(text: string): string[] {
    return [...new Set(text.match(/\b[a-z_]+\b/g) ?? [])].filter((word) => this.#relations.has(word))
  }

  #flush(at: number): void {
    for (let before = -1; before !== this.#pending.length;) {
      before = this.#pending.length
      const isReady = ({ needs, file }: Pending) =>
        file <= at && needs.every((name) => this.#created.has(name))
      const ready = this.#pending.filter(isReady)
      this.#pending = this.#pending.filter((one) => !ready.includes(one))
      for (const { text } of ready) {
        this.#parts.push(text)
        const view = /^create view (\w+)/m.exec(text)?.[1]
        if (view !== undefined) this.#created.add(view)
      }
    }
  }

  #addTable(table: TableObject, at: number): void {
    const { functions, collations, sequences } = this.#objects
    for (const oid of table.calls) this.#addFunction(functions.find((one) => one.oid === oid)!)
    const text = table.columns.map((column) => `${column.default ?? ''} ${column.collation ?? ''}`).join(' ')
    for (const statement of collations)
      if (text.includes(/collation (\S+)/.exec(statement)![1]!)) this.#once(`${statement};`)
    for (const { name, type, toTeams } of sequences)
      if (text.includes(name))
        this.#once(
          `create sequence ${name} as ${type};\ngrant ${toTeams} on sequence ${name} to pharos_tenant;`,
        )

    this.#created.add(table.name)
    const lines = [this.#comment(`table ${table.name}`), this.#createTable(table, at)]
    lines.push(...commentsOf(table), ...table.indexes.map((one) => `${wrap(indexOf(one))};`))
    if (table.rowSecurity) lines.push(`alter table ${table.name} enable row level security;`)
    for (const policy of table.policies) {
      const text = policyOf(table.name, policy)
      const needs = this.#named(`${policy.using ?? ''} ${policy.check ?? ''}`)
      if (needs.every((name) => this.#created.has(name))) lines.push(text)
      else this.#pending.push({ needs, text, file: at })
    }
    lines.push(...grantOf(table.name, table.grants), ...table.sequenceGrants.map((grant) => `${grant};`))
    this.#parts.push(lines.filter((line) => line !== '').join('\n'))
    for (const { definition, function: oid } of table.triggers) {
      const before = this.#parts.length
      this.#addFunction(functions.find((one) => one.oid === oid)!)
      const trigger = `${wrap(triggerOf(definition))};`
      if (this.#parts.length > before || /\ncreate trigger [^;]*;$/.test(`\n${this.#parts.at(-1)!}`))
        this.#parts[this.#parts.length - 1] += `\n${trigger}`
      else this.#parts.push(trigger)
    }
  }

  readonly #added = new Set<string>()

  #once(text: string): void {
    if (this.#added.has(text)) return
    this.#added.add(text)
    this.#parts.push(text)
  }

  #addFunction(one: FunctionObject): void {
    this.#once(this.#function(one))
  }

  /** Own comments first: they are written for the squashed files. */
  #comment(key: string): string {
    const own = comments[key]
    if (own === undefined) return this.#sources.comments.get(key) ?? ''
    return own === '' ? '' : `-- ${own.replaceAll('\n', '\n-- ')}`
  }

  #function(one: FunctionObject): string {
    const words = [
      `create function ${one.name}(${lowerTypes(one.args)}) returns ${lowerTypes(one.result)} language ${one.language}`,
      { i: 'immutable', s: 'stable', v: '' }[one.volatility],
      one.strict && 'strict',
      { s: 'parallel safe', r: 'parallel restricted', u: '' }[one.parallel],
      one.definer && 'security definer',
      ...(one.config === null
        ? []
        : one.config.split('; ').map((setting) => `set ${setting.replace('=', ' = ')}`)),
    ]
    const name = one.name
    return [
      this.#comment(`function ${one.name}`),
      withBody(wrap(words.filter(Boolean).join(' ')), quoted(one.body)),
      one.comment === null ? '' : `comment on function ${name} is ${literal(one.comment)};`,
      one.isPublic ? '' : `revoke execute on function ${name} from public;`,
      one.toTeams ? `grant execute on function ${name} to pharos_tenant;` : '',
    ]
      .filter((line) => line !== '')
      .join('\n')
  }

  #view({ name, comment, grants }: ViewObject): string {
    const text = this.#sources.views.get(name)
    if (text === undefined) throw new Error(`the text of the view ${name} was not found`)
    return [
      this.#comment(`view ${name}`),
      text,
      comment === null ? '' : `comment on view ${name} is ${literal(comment)};`,
      ...grantOf(name, grants),
    ]
      .filter((line) => line !== '')
      .join('\n')
  }

  #createTable(table: TableObject, at: number): string {
    if (table.bound !== null)
      return `create table ${table.name} partition of ${table.parent!} ${prettySql(table.bound)};`
    const constraints = table.constraints.filter((one) => !this.#isLater(table, one, at))
    const inline = constraints.filter((one) => isInline(table, one))
    const rest = constraints.filter((one) => !inline.includes(one))
    const members = [
      ...table.columns.map((column) => columnOf(column, inline)),
      ...rest.map((one) => constraintOf(table, one)),
    ].map((line) => `  ${wrap(line, '    ')}`)
    const partitioned = table.partitionKey === null ? '' : ` partition by ${prettySql(table.partitionKey)}`
    const options = table.options === null ? '' : ` with (${table.options.replaceAll('=', ' = ')})`
    const stored = table.columns
      .filter(({ storage }) => storage === 'e')
      .map(({ name }) => `\nalter table ${table.name} alter column ${name} set storage external;`)
    return `create table ${table.name} (\n${members.join(',\n')}\n)${partitioned}${options};${stored.join('')}`
  }

  /** Whether a constraint is added after the table: it names one that does not exist yet, or existing rows are not checked. */
  #isLater(table: TableObject, one: ConstraintObject, at: number): boolean {
    const missing = one.references !== null && !this.#created.has(one.references)
    if (!missing && one.validated) return false
    const statement = `alter table ${table.name} add ${constraintOf(table, one)}${one.validated ? '' : ' not valid'};`
    const text = [this.#comment(`constraint ${one.name}`), wrap(statement)]
      .filter((line) => line !== '')
      .join('\n')
    this.#pending.push({
      needs: [table.name, ...(one.references === null ? [] : [one.references])],
      text,
      file: at,
    })
    return true
  }
}

const withoutComments = (body: string): string =>
  body.replaceAll(/--.*$/gm, '').replaceAll(/'(?:[^']|'')*'/g, "''")

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

const quoted = (body: string): string => (body.includes('$$') ? `$body$${body}$body$` : `$$${body}$$`)

function withBody(head: string, body: string): string {
  const isLong = `${head.split('\n').at(-1)!} as ${body.split('\n')[0]!}`.length > 150
  return `${head}${isLong ? '\n  ' : ' '}as ${body};`
}

const lowerTypes = (text: string): string =>
  text
    .replaceAll('timestamp with time zone', 'timestamptz')
    .replaceAll(/\b(TABLE|SETOF|DEFAULT|VARIADIC)\b/g, (word) => word.toLowerCase())

/** Whether the constraint is written at its only column, with the name that PostgreSQL gives to it. */
function isInline(table: TableObject, one: ConstraintObject): boolean {
  return (
    one.columns.length === 1 &&
    one.type !== 'x' &&
    isNamedByDefault(table, one) &&
    !one.definition.includes('DEFERRABLE') &&
    !one.definition.includes('NULLS NOT')
  )
}

function isNamedByDefault({ name: table }: TableObject, { name, type, columns }: ConstraintObject): boolean {
  const ending = { p: 'pkey', u: 'key', f: 'fkey', c: 'check', x: 'excl' }[type]
  const isShort = type === 'p' || (type === 'c' && columns.length !== 1)
  return name === [table, ...(isShort ? [] : columns), ending].join('_')
}

function constraintOf(table: TableObject, one: ConstraintObject): string {
  const name = isNamedByDefault(table, one) ? '' : `constraint ${one.name} `
  return name + definitionOf(one)
}

function definitionOf({ type, definition, expression, references, onKey }: ConstraintObject): string {
  if (type === 'c') return `check (${prettySql(expression!)})`
  const text = prettySql(definition)
    .replace(/ not valid$/, '')
    .replace('exclude using btree', 'exclude')
  if (type === 'x') return text.replace(/ where (.*)$/, ' where ($1)')
  return type === 'f' && onKey
    ? text.replace(new RegExp(`(references ${references!})\\([^)]*\\)`), '$1')
    : text
}

function columnOf(column: ColumnObject, inline: readonly ConstraintObject[]): string {
  const own = inline.filter(({ columns }) => columns[0] === column.name)
  const key = own.find(({ type }) => type === 'p')
  const value = column.default === null ? '' : prettySql(column.default).replace(/^('[^']*')::.*$/, '$1')
  const words = [
    column.name,
    column.type.replace('timestamp with time zone', 'timestamptz'),
    column.collation === null ? '' : `collate ${column.collation}`,
    column.notNull && key === undefined && column.identity === '' ? 'not null' : '',
    column.generated === 's'
      ? `generated always as (${value}) stored`
      : value === ''
        ? ''
        : `default ${value}`,
    column.identity === ''
      ? ''
      : `generated ${column.identity === 'a' ? 'always' : 'by default'} as identity`,
    key === undefined ? '' : 'primary key',
    ...own.filter(({ type }) => type === 'u').map(() => 'unique'),
    ...own
      .filter(({ type }) => type === 'f')
      .map((one) => definitionOf(one).replace(/^foreign key \([^)]*\) /, '')),
    ...own.filter(({ type }) => type === 'c').map(definitionOf),
  ]
  return words.filter((word) => word !== '').join(' ')
}

function commentsOf({ name, comment, columns }: TableObject): string[] {
  return [
    ...(comment === null ? [] : [`comment on table ${name} is ${literal(comment)};`]),
    ...columns
      .filter((column) => column.comment !== null)
      .map((column) => `comment on column ${name}.${column.name} is ${literal(column.comment!)};`),
  ]
}

function indexOf(definition: string): string {
  const [, head, method, rest] = /^(CREATE [^(]*?) USING (\w+) \((.*)$/s.exec(definition)!
  let depth = 1
  const end = [...rest!].findIndex(
    (character) => (depth += character === '(' ? 1 : character === ')' ? -1 : 0) === 0,
  )
  const [columns, tail] = [rest!.slice(0, end), rest!.slice(end + 1)]
  const using = method === 'btree' ? '' : ` using ${method!}`
  const ending = tail === '' ? '' : ` ${prettySql(tail.trim())}`
  return `${prettySql(head!).replace(' on only ', ' on ')}${using} (${prettyIndex(columns)})${ending}`
}

const triggerOf = (definition: string): string => prettySql(definition)

function policyOf(table: string, { name, command, roles, using, check }: PolicyObject): string {
  const words = [
    `create policy ${name} on ${table}`,
    command === 'all' ? '' : `for ${command}`,
    `to ${roles}`,
    using === null ? '' : `using (${prettySql(using)})`,
    check === null ? '' : `with check (${prettySql(check)})`,
  ]
  return `${wrap(words.filter((word) => word !== '').join(' '))};`
}

function grantOf(relation: string, grants: readonly GrantObject[]): string[] {
  if (grants.length === 0) return []
  const whole = grants.filter(({ columns }) => columns === null).map(({ privilege }) => privilege)
  const order = ['select', 'insert', 'update', 'delete']
  whole.sort((a, b) => order.indexOf(a) - order.indexOf(b))
  const parts = grants
    .filter(({ columns }) => columns !== null)
    .map(({ privilege, columns }) => `${privilege} (${columns!.join(', ')})`)
  return [`${wrap(`grant ${[...whole, ...parts].join(', ')} on ${relation} to pharos_tenant`)};`]
}
