// Has PostgreSQL parse every statement that statements.ts finds, against the migrated schema: names that do not exist,
// and rows that are not as `sql<...>` declares them, fail `npm run check`. Statements are not executed.
import { globSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Query, type Client, type FieldDef, type QueryResult, type Submittable } from 'pg'
import { statementsIn } from './statements.ts'

const root = join(import.meta.dirname, '../../..')

/** undefined_column, undefined_table, undefined_function, ambiguous_column, duplicate_column. */
const failures = new Set(['42703', '42P01', '42883', '42702', '42701'])

/** Fragments of one statement, which list-events.golden.sql contains in full. */
const fragments = 'server/src/events/list/{event-{count,filter,page,sql,walk},list-events}.store.ts'

export type CheckedStatements = {
  /** A line for each statement that does not match the schema, or that this version of PostgreSQL does not know. */
  readonly problems: string[]
  /** Statements whose text is only known at run time. */
  readonly unchecked: readonly Unchecked[]
}

export type Unchecked = {
  /** `server/src/team/team.store.ts:12` */
  readonly place: string
  /** The parts of its text that are known, in order. */
  readonly parts: readonly string[]
}

/** Checks the files of the server and the demo, or of another folder instead of the repository. */
export async function checkStatements(
  client: Client,
  folder = root,
  files = '{server,demo}/src/**/*.ts',
): Promise<CheckedStatements> {
  const problems: string[] = []
  const unchecked: Unchecked[] = []
  for (const file of globSync(files, { cwd: folder, exclude: ['**/*test*.ts', fragments] }).sort()) {
    for (const statement of statementsIn(join(folder, file))) {
      const place = `${relative(folder, statement.file)}:${statement.line}`
      const results = await Promise.all(
        statement.texts.map((text) => problemOf(client, text, statement.rowType)),
      )
      const found = results.filter((result) => typeof result === 'string')
      problems.push(...new Set(found.map((problem) => `${place} ${problem}`)))
      if (!results.includes(undefined) && found.length === 0)
        unchecked.push({ place, parts: statement.parts })
    }
  }
  return { problems, unchecked }
}

/**
 * Returns undefined for a correct statement, and null for a statement that PostgreSQL cannot parse without its
 * surrounding statement.
 */
async function problemOf(
  client: Client,
  statement: string,
  rowType: string | undefined,
): Promise<string | undefined | null> {
  const isOfParent = /\bparent\b/.test(statement)
  const text = isOfParent ? `with parent as (select 1 as id) ${statement}` : statement
  try {
    return mismatch(rowType, await describeStatement(client, text))
  } catch (error) {
    const { code = '', routine, message } = error as { code?: string; routine?: string; message: string }
    // A fragment names an alias of the statement around it.
    return failures.has(code) && routine !== 'errorMissingRTE' ? message : null
  }
}

/** Returns the columns that the statement would return, from its preparation. */
export function describeStatement(client: Client, text: string): Promise<readonly FieldDef[]> {
  return new Promise((resolve, reject) => {
    const query = new Description(text, [], (error: Error | null, result: QueryResult) =>
      error ? reject(error) : resolve(result.fields),
    )
    client.query(query as unknown as Submittable)
  })
}

type Preparing = {
  parse(statement: { text: string; name: string }): void
  describe(statement: { type: 'S'; name: string }): void
  sync(): void
}
/** pg's Query, which executes prepared statements; see team-query.ts. */
const Executed = Query as unknown as new (
  text: string,
  values: readonly unknown[],
  answered: (error: Error | null, result: QueryResult) => void,
) => { queryMode: string; readonly text: string; prepare(connection: Preparing): void }

class Description extends Executed {
  override queryMode = 'extended'

  override prepare(connection: Preparing): void {
    connection.parse({ text: this.text, name: '' })
    connection.describe({ type: 'S', name: '' })
    connection.sync()
  }
}

/** OIDs of PostgreSQL's types by the type that the driver returns, see connection.ts; other types are not compared. */
const types: Record<string, readonly number[]> = {
  boolean: [16],
  number: [20, 21, 23, 700, 701],
  string: [25, 1043, 2950, 650, 869, 1700, 18, 19],
  Date: [1184],
  Buffer: [17],
}

/** Compares with a declared row that is written out, as `{ id: number; name: string | null }`. */
function mismatch(rowType: string | undefined, fields: readonly FieldDef[]): string | undefined {
  const declared = rowType === undefined ? undefined : parseRow(rowType)
  if (!declared) return undefined
  const missing = [...declared.keys()].filter((name) => !fields.some((field) => field.name === name))
  if (missing.length > 0) return `returns no ${missing.join(', ')}`
  const wrong = fields.filter(({ name, dataTypeID }) => {
    const wanted = types[declared.get(name) ?? '']
    const isKnown = Object.values(types).some((oids) => oids.includes(dataTypeID))
    return wanted && isKnown && !wanted.includes(dataTypeID)
  })
  return wrong.length > 0 ? `returns another type as ${wrong.map(({ name }) => name).join(', ')}` : undefined
}

function parseRow(text: string): Map<string, string> | undefined {
  const [, members] = /^\s*\{([^{}]*)\}\s*$/.exec(text) ?? []
  if (members === undefined) return undefined
  const entries = [...members.matchAll(/(?:readonly )?(\w+): ([^;\n]+)/g)]
  return new Map(entries.map(([, name, type]) => [name!, type!.replace(/ \| null$/, '').trim()]))
}
