// Transactions of the role pharos_tenant. Role and team are sent in one message with BEGIN: Kysely's own transaction
// would need another round trip.
import {
  CompiledQuery,
  DefaultQueryExecutor,
  Transaction,
  type ConnectionProvider,
  type DatabaseConnection,
} from 'kysely'
import type { Pool } from 'pg'
import { assertTeamId } from './connection.ts'
import { FailureDialect, type FailureDriver } from './failure-dialect.ts'
import type { Schema } from './schema.ts'

export class TeamTransactions {
  readonly #driver: FailureDriver
  readonly #props: Omit<ConstructorParameters<typeof Transaction>[0], 'executor'>
  readonly #executor: DefaultQueryExecutor

  constructor(pool: Pool) {
    const dialect = new FailureDialect({ pool })
    this.#driver = dialect.createDriver()
    this.#props = { config: { dialect }, dialect, driver: this.#driver }
    this.#executor = new DefaultQueryExecutor(dialect.createQueryCompiler(), dialect.createAdapter(), {
      provideConnection: () => Promise.reject(new Error('only within a transaction')),
    })
    void this.#driver.init()
  }

  async run<T>(teamId: number, work: (trx: Transaction<Schema>) => Promise<T>): Promise<T> {
    assertTeamId(teamId)
    const connection = await this.#driver.acquireConnection()
    const provider = new TransactionConnection(connection)
    try {
      await connection.executeQuery(
        CompiledQuery.raw(`begin; set local role pharos_tenant; set local pharos.team_id = '${teamId}'`),
      )
      const result = await work(
        new Transaction<Schema>({
          ...this.#props,
          executor: this.#executor.withConnectionProvider(provider),
        }),
      )
      await provider.close()
      await this.#driver.commitTransaction(connection)
      return result
    } catch (error) {
      await provider.close()
      // The driver closes a connection that cannot roll back; the first error has the reason.
      await this.#driver.rollbackTransaction(connection).catch(() => {})
      throw error
    } finally {
      await this.#driver.releaseConnection(connection)
    }
  }
}

/**
 * Provides the transaction's connection, one statement at a time, until the transaction is over: a statement that was not awaited
 * would otherwise run later on the same connection, as the owner.
 */
class TransactionConnection implements ConnectionProvider {
  readonly #connection: DatabaseConnection
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(connection: DatabaseConnection) {
    this.#connection = connection
  }

  provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    if (this.#closed)
      return Promise.reject(new Error('The transaction has ended: a statement was not awaited.'))
    const result = this.#last.then(() => consumer(this.#connection))
    this.#last = result.catch(() => {})
    return result
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#last
  }
}
