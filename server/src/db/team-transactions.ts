// Transactions of the role pharos_tenant. Statements that are sent in one turn of the event loop are one message:
// BEGIN, role and team precede the first one in its message, COMMIT follows the last ones, and statements without a
// needed result wait for the next message.
import {
  DefaultQueryExecutor,
  Transaction,
  type CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  type QueryResult as KyselyResult,
} from 'kysely'
import type { Pool, QueryResult } from 'pg'
import { assertTeamId } from './connection.ts'
import { asFailure } from './failure.ts'
import { FailureDialect } from './failure-dialect.ts'
import type { BatchedStatement, PreparedClient } from './prepared-client.ts'
import type { Schema } from './schema.ts'

export class TeamTransactions {
  readonly #pool: Pool
  readonly #props: Omit<ConstructorParameters<typeof Transaction>[0], 'executor'>
  readonly #executor: DefaultQueryExecutor

  /** The clients of the pool must be `PreparedClient`. */
  constructor(pool: Pool) {
    this.#pool = pool
    const dialect = new FailureDialect({ pool })
    this.#props = { config: { dialect }, dialect, driver: dialect.createDriver() }
    this.#executor = new DefaultQueryExecutor(dialect.createQueryCompiler(), dialect.createAdapter(), {
      provideConnection: () => Promise.reject(new Error('only within a transaction')),
    })
  }

  async run<T>(teamId: number, work: (trx: Transaction<Schema>) => Promise<T>): Promise<T> {
    assertTeamId(teamId)
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw asFailure(error)
    })
    const connection = new TeamConnection(client as unknown as PreparedClient, teamId)
    let isUsable = false
    try {
      const trx = new Transaction<Schema>({
        ...this.#props,
        executor: this.#executor.withConnectionProvider(connection),
      })
      connections.set(trx, connection)
      const result = await work(trx)
      await connection.commit()
      isUsable = true
      return result
    } catch (error) {
      isUsable = await connection.rollback()
      throw error
    } finally {
      client.release(!isUsable)
    }
  }
}

/** The connection of each transaction of a team. */
const connections = new WeakMap<object, TeamConnection>()

type Compilable = { compile(db: Transaction<Schema>): CompiledQuery }

/**
 * Runs a statement whose result is not needed. In a transaction of a team it is sent with the next statement or with COMMIT, which then fails with its
 * error; any other connection runs it immediately.
 */
export async function executeLater(db: object, statement: Compilable): Promise<void> {
  const trx = db as Transaction<Schema>
  const query = statement.compile(trx)
  const connection = connections.get(trx)
  if (connection) connection.postpone(query)
  else await trx.executeQuery(query)
}

/** Runs the statements that wait, in a transaction that will not be committed. Throws the error of the first that fails. */
export const runPostponed = async (trx: object): Promise<void> => connections.get(trx)?.runPostponed()

/**
 * The connection of a transaction. It refuses statements once the transaction is over, since they would run as the
 * owner.
 */
class TeamConnection implements ConnectionProvider, DatabaseConnection {
  readonly #client: PreparedClient
  readonly #teamId: number
  #waiting: Waiting[] = []
  #isSending = false
  #hasBegun = false
  #isClosed = false
  /** The first error of a postponed statement. */
  #failure: unknown

  constructor(client: PreparedClient, teamId: number) {
    this.#client = client
    this.#teamId = teamId
  }

  provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    return consumer(this)
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<KyselyResult<R>> {
    this.#assertOpen()
    try {
      const { command, rowCount, rows } = await this.#run(sql, parameters)
      const isChange = changing.has(command)
      return { rows: rows as R[], ...(isChange ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}) }
    } catch (error) {
      throw withCaller(error)
    }
  }

  streamQuery(): never {
    throw new Error('a transaction of a team has no cursors')
  }

  postpone({ sql, parameters }: CompiledQuery): void {
    this.#assertOpen()
    this.#waiting.push(this.#unawaited(sql, parameters))
  }

  async runPostponed(): Promise<void> {
    if (this.#waiting.length > 0) await this.#run('select', [])
  }

  async commit(): Promise<void> {
    this.#isClosed = true
    if (!this.#hasBegun && this.#waiting.length === 0) return
    const { command } = await this.#run('commit', [])
    if (command === 'ROLLBACK')
      throw this.#failure ?? new Error('an error that was caught has aborted the transaction')
  }

  /** Returns whether the connection can be used again. */
  async rollback(): Promise<boolean> {
    this.#isClosed = true
    this.#waiting = this.#waiting.filter(({ isAwaited }) => isAwaited)
    if (!this.#hasBegun && this.#waiting.length === 0) return true
    return await this.#run('rollback', []).then(
      () => true,
      () => false,
    )
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new Error('The transaction has ended: a statement was not awaited.')
  }

  #run(text: string, values: readonly unknown[]): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      const failed = (error: unknown): void => reject(this.#failure ?? asFailure(error))
      this.#waiting.push({ text, values, isAwaited: true, resolve, reject: failed })
      // After all callbacks of this turn, which may add more.
      if (!this.#isSending) process.nextTick(() => void this.#send())
    })
  }

  #unawaited(text: string, values: readonly unknown[]): Waiting {
    const failed = (error: unknown): void => void (this.#failure ??= asFailure(error))
    return { text, values, isAwaited: false, resolve: () => {}, reject: failed }
  }

  async #send(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    while (this.#waiting.length > 0) {
      const statements = this.#hasBegun ? this.#waiting : [...this.#entering(), ...this.#waiting]
      this.#hasBegun = true
      this.#waiting = []
      await this.#client.runBatch(statements)
    }
    this.#isSending = false
  }

  /** In one message with the first statement, so that it does not run unless the team was entered. */
  #entering(): Waiting[] {
    return [this.#unawaited('begin', []), this.#unawaited(enterTeam, [String(this.#teamId)])]
  }
}

const enterTeam = `select set_config('role', 'pharos_tenant', true), set_config('pharos.team_id', $1, true)`

type Waiting = BatchedStatement & { readonly isAwaited: boolean }

const changing = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

/** Adds the caller to the stack of an error, which has only the reading of the answer. */
function withCaller(error: unknown): unknown {
  const [, ...callers] = new Error().stack?.split('\n') ?? []
  if (error instanceof Error) error.stack = [error.stack, ...callers.slice(1)].join('\n')
  return error
}
