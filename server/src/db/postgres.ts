// The lifetime of all connections to PostgreSQL, embedded or given by DATABASE_URL: pools for the owner's work
// and for a team's, the shared readers, and single connections. It knows no table.
// The address must be PostgreSQL itself: a pooler in transaction mode would mix the teams' sessions and lose LISTEN.
import {
  CompiledQuery,
  Kysely,
  type RawBuilder,
  type Transaction,
  ValueNode,
  type QueryExecutorProvider,
  type RawNode,
} from 'kysely'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, type Pool, type ClientConfig } from 'pg'
import {
  closeWhenVanished,
  connectionConfig,
  closeSilentConnections,
  ignoreIdleErrors,
} from './connection.ts'
import { startEmbedded, type Embedded } from './embedded.ts'
import { asFailure } from './failure.ts'
import { FailureDialect } from './failure-dialect.ts'
import { PatientPool } from './patient-pool.ts'
import { MarkedClient, PreparedClient } from './prepared-client.ts'
import type { Schema } from './schema.ts'
import { TeamReader } from './team-reader.ts'
import { TeamTransactions } from './team-transactions.ts'

export type Db = Kysely<Schema>
export type Trx = Transaction<Schema>

export type PostgresOptions = {
  /** The database's address; if unset, an embedded PostgreSQL is started (or attached to) in `<dataDir>/postgres`. */
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
  /** Option for an embedded PostgreSQL of another process: see EmbeddedOptions. */
  readonly takesOver?: boolean
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string
  readonly ownerConnections?: number
  readonly frontConnections?: number
  readonly teamConnections?: number
  readonly readConnections?: number
  /** Multiplies the timeouts of statements, locks and idle transactions: tests share a busy machine. Default: 1. */
  readonly timeoutFactor?: number
  readonly log?: (message: string) => void
}

/** A statement, compiled or not. */
/** Runs a reading statement that names its teams itself: as a team, or as the owner of the tables. */
export type ReadStatement = <R>(query: RawBuilder<R>) => Promise<R[]>

export type Readable<R> = RawBuilder<R> | Pick<CompiledQuery<R>, 'sql' | 'parameters'>

export type Postgres = {
  /** The database's address, for another process or a tool. */
  readonly databaseUrl: string
  /** Works as the connecting user, which bypasses row-level security: for loops and the operator's commands only. */
  readonly owner: Db
  /** Works as the owner, with short timeouts: for requests of the API before the team is known, or without one. */
  readonly front: Db
  /** One transaction as the team: row-level security hides everything else. It has ended when the promise settles. */
  inTeam<T>(teamId: number, work: (trx: Trx) => Promise<T>): Promise<T>
  /** One reading statement as the team, in one round trip on a shared connection. For statements of a few ms. */
  readInTeam<R>(teamId: number, query: Readable<R>): Promise<R[]>
  /** A dedicated connection, for LISTEN and advisory locks: the caller ends it, and gets `end` if it is lost. */
  directConnection(): Promise<Client>
  /** Rejects if the database does not answer. */
  ping(): Promise<void>
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const OWNER_TIMEOUTS = { statementMs: 60_000, lockMs: 10_000, idleInTransactionMs: 60_000 }
const FRONT_TIMEOUTS = { statementMs: 5_000, lockMs: 2_000, idleInTransactionMs: 5_000 }
const TEAM_TIMEOUTS = { statementMs: 10_000, lockMs: 5_000, idleInTransactionMs: 15_000 }
/** Reads are short: JIT compilation and parallel workers cost more than they save (spikes of 100 ms). */
const READ_OPTIONS = '-c jit=off -c max_parallel_workers_per_gather=0'
const READ_TIMEOUTS = { statementMs: 5_000, lockMs: 1_000, idleInTransactionMs: 5_000 }
const DIRECT_TIMEOUTS = { statementMs: 0, lockMs: 0, idleInTransactionMs: 60_000 }
const STOP_TIMEOUT_MS = 5_000
/** Added to the statement timeout when waiting for an answer. */
const ANSWER_DELAY_MS = 1_000
/** Statements that share a connection wait for each other. */
const SHARED_ANSWER_DELAY_MS = 3_000

/**
 * Starts the embedded server if no address is given. Otherwise does not connect yet: Pharos starts without the
 * database.
 */
export async function openPostgres(options: PostgresOptions): Promise<Postgres> {
  const { databaseUrl, dataDir, takesOver = false, log } = options
  if (databaseUrl !== undefined) return new OpenPostgres(databaseUrl, options, undefined)
  const embedded = await startEmbedded({
    dataDir: join(dataDir, 'postgres'),
    takesOver,
    ...(log && { log }),
  })
  return new OpenPostgres(embedded.databaseUrl, options, embedded)
}

class OpenPostgres implements Postgres {
  readonly databaseUrl: string
  readonly owner: Db
  readonly front: Db
  readonly #name: string
  readonly #timeoutFactor: number
  readonly #embedded: Embedded | undefined
  readonly #pools: Pool[]
  readonly #team: TeamTransactions
  readonly #reader: TeamReader
  #stopped: Promise<void> | undefined

  constructor(databaseUrl: string, options: PostgresOptions, embedded: Embedded | undefined) {
    this.databaseUrl = databaseUrl
    this.#embedded = embedded
    this.#name = options.applicationName ?? 'pharos'
    this.#timeoutFactor = options.timeoutFactor ?? 1
    const ownerPool = this.#createPool(OWNER_TIMEOUTS, options.ownerConnections ?? 5, 'owner', MarkedClient)
    const frontPool = this.#createPool(
      FRONT_TIMEOUTS,
      options.frontConnections ?? 10,
      'front',
      PreparedClient,
    )
    const teamPool = this.#createPool(TEAM_TIMEOUTS, options.teamConnections ?? 10, 'team', PreparedClient)
    this.#pools = [ownerPool, frontPool, teamPool]
    this.owner = new Kysely<Schema>({ dialect: new FailureDialect({ pool: ownerPool }) })
    this.front = new Kysely<Schema>({ dialect: new FailureDialect({ pool: frontPool }) })
    this.#team = new TeamTransactions(teamPool)
    this.#reader = new TeamReader(
      { ...this.#config(READ_TIMEOUTS, 'read'), options: READ_OPTIONS },
      options.readConnections ?? 4,
      READ_TIMEOUTS.statementMs * this.#timeoutFactor + SHARED_ANSWER_DELAY_MS,
    )
  }

  inTeam<T>(teamId: number, work: (trx: Trx) => Promise<T>): Promise<T> {
    return this.#team.run(teamId, work)
  }

  readInTeam<R>(teamId: number, query: Readable<R>): Promise<R[]> {
    return this.#reader.read(teamId, 'compile' in query ? compileQuickly(query, this.owner) : query)
  }

  async directConnection(): Promise<Client> {
    const client = new Client(this.#config(DIRECT_TIMEOUTS, 'direct'))
    ignoreIdleErrors(client)
    try {
      await client.connect()
      await closeWhenVanished(client)
      return client
    } catch (error) {
      await client.end().catch(() => {})
      throw asFailure(error)
    }
  }

  async ping(): Promise<void> {
    await this.front.executeQuery(CompiledQuery.raw('select'))
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #stop(): Promise<void> {
    // A connection that was never released must not keep the process alive.
    const ended = Promise.all([this.#reader.stop(), ...this.#pools.map((pool) => pool.end())])
    await Promise.race([ended, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })])
    await this.#embedded?.stop()
  }

  #config(timeouts: typeof TEAM_TIMEOUTS, use: string): ClientConfig {
    const entries = Object.entries(timeouts).map(([name, ms]) => [name, ms * this.#timeoutFactor])
    const multiplied = Object.fromEntries(entries) as typeof timeouts
    return connectionConfig(this.databaseUrl, `${this.#name} ${use}`, multiplied)
  }

  #createPool(timeouts: typeof TEAM_TIMEOUTS, max: number, use: string, Client: typeof PreparedClient): Pool {
    const pool = new PatientPool({ ...this.#config(timeouts, use), max, idleTimeoutMillis: 60_000, Client })
    pool.on('error', () => {})
    pool.on('connect', ignoreIdleErrors)
    closeSilentConnections(pool, timeouts.statementMs * this.#timeoutFactor + ANSWER_DELAY_MS)
    return pool
  }
}

/** The texts of the templates, by the list of their parts: a template literal has the same one each time. */
const texts = new WeakMap<readonly string[], string>()

/**
 * Returns the text and the parameters of a statement, as its own method `compile` does, once for its place in the source if the template
 * contains only values: the query builder walks through every template for each request, which takes microseconds even for a short one.
 */
function compileQuickly<R>(
  query: RawBuilder<R>,
  db: QueryExecutorProvider,
): Pick<CompiledQuery<R>, 'sql' | 'parameters'> {
  const { sqlFragments, parameters: nodes } = query.toOperationNode() as RawNode
  const parameters: unknown[] = []
  for (const node of nodes) {
    if (!ValueNode.is(node) || node.immediate === true) return query.compile(db)
    parameters.push(node.value)
  }
  const known = texts.get(sqlFragments)
  if (known !== undefined) return { sql: known, parameters }
  const compiled = query.compile(db)
  if ('raw' in sqlFragments) texts.set(sqlFragments, compiled.sql)
  return compiled
}
