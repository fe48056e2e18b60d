// Kysely's PostgreSQL dialect, with one difference: an unreachable database is a Failure.
import {
  PostgresDialect,
  PostgresDriver,
  type AbortableOperationOptions,
  type DatabaseConnection,
  type QueryResult,
} from 'kysely'
import type { Pool } from 'pg'
import { asFailure } from './failure.ts'

export class FailureDialect extends PostgresDialect {
  readonly #pool: Pool

  constructor({ pool }: { pool: Pool }) {
    super({ pool })
    this.#pool = pool
  }

  override createDriver(): FailureDriver {
    return new FailureDriver({ pool: this.#pool })
  }
}

type DriverConnection = Parameters<PostgresDriver['releaseConnection']>[0]

export class FailureDriver extends PostgresDriver {
  readonly #known = new WeakSet<DatabaseConnection>()

  override async acquireConnection(options?: AbortableOperationOptions): Promise<DriverConnection> {
    const connection = (await super.acquireConnection(options).catch(rethrow)) as DriverConnection
    if (!this.#known.has(connection)) this.#adopt(connection)
    return connection
  }

  #adopt(connection: DatabaseConnection): void {
    const execute = connection.executeQuery.bind(connection)
    connection.executeQuery = (query, options) =>
      execute(query, options).catch(rethrow) as Promise<QueryResult<never>>
    this.#known.add(connection)
  }
}

function rethrow(error: unknown): never {
  throw asFailure(error)
}
