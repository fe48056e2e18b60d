// The product's own statements for a peer: taken from its stores when the bench runs, so that the two cannot diverge.
import type { Db } from '../../server/src/db/postgres.ts'

export type Statement = { readonly sql: string; readonly parameters: readonly unknown[] }

/** Captures the statement of a store's function without sending it. */
export async function captureStatement(db: Db, call: (db: Db) => Promise<unknown>): Promise<Statement> {
  let captured: Statement | undefined
  const executor = new Proxy(db.getExecutor(), {
    get(target, name) {
      if (name === 'executeQuery') {
        return (statement: Statement) => {
          captured = statement
          return Promise.resolve({ rows: [] })
        }
      }
      const value = Reflect.get(target, name) as unknown
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  await call({ getExecutor: () => executor } as unknown as Db)
  if (!captured) throw new Error('no statement would be sent')
  return captured
}

/** A script for pgbench: parameters, and elements of arrays, with these values are replaced by `expressions`, all others are inlined. */
export function scriptOf(
  { sql, parameters }: Statement,
  expressions: ReadonlyMap<unknown, string> = new Map(),
): string {
  const textOf = (value: unknown): string =>
    Array.isArray(value)
      ? `array[${value.map(textOf).join(', ')}]`
      : (expressions.get(value) ?? literal(value))
  const text = sql.replaceAll(/\$(\d+)/g, (_, number: string) => textOf(parameters[Number(number) - 1]))
  return `${text.replaceAll(/\s+/g, ' ').trim()};\n`
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = value instanceof Date ? value.toISOString() : String(value as string)
  return `'${text.replaceAll("'", "''")}'`
}
