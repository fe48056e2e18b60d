// A database that prepares every statement without running it: for statements whose text is only known when a function
// is called.
import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type Driver,
  type QueryResult,
} from 'kysely'
import type { Client } from 'pg'
import { describeStatement } from '../../src/db/check-statements.ts'
import type { Postgres, Trx } from '../../src/db/postgres.ts'
import type { Schema } from '../../src/db/schema.ts'

export type Described = { readonly text: string; readonly error: string | undefined }
export type DescribingDatabase = {
  readonly db: Trx
  readonly postgres: Postgres
  readonly described: readonly Described[]
}

/** Each statement returns `rowCount` rows, in which every column is null. */
export function createDescribingDatabase(client: Client, rowCount: number): DescribingDatabase {
  const described: Described[] = []
  const execute = async <R>({ sql }: Pick<CompiledQuery, 'sql'>): Promise<QueryResult<R>> => {
    try {
      const fields = await describeStatement(client, sql)
      described.push({ text: sql, error: undefined })
      const row = Object.fromEntries(fields.map(({ name }) => [name, null])) as R
      return { rows: Array.from({ length: rowCount }, () => row), numAffectedRows: BigInt(rowCount) }
    } catch (error) {
      described.push({ text: sql, error: String(error) })
      throw error
    }
  }
  const nothing = async () => {}
  const connection = {
    executeQuery: execute,
    streamQuery: () => {
      throw new Error('not supported')
    },
  }
  const driver: Driver = {
    init: nothing,
    acquireConnection: async () => connection,
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    releaseConnection: nothing,
    destroy: nothing,
  }
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (one) => new PostgresIntrospector(one),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }) as unknown as Trx
  const postgres: Pick<Postgres, 'inTeam' | 'readInTeam'> = {
    inTeam: (_teamId, work) => work(db),
    readInTeam: async <R>(_teamId: number, query: Parameters<Postgres['readInTeam']>[1]) =>
      (await execute<R>('compile' in query ? query.compile(db) : query)).rows,
  }
  return { db, postgres: postgres as Postgres, described }
}
