// Statements and blocks over ClickHouse's HTTP interface, to a server or to the embedded one: the same client, the same dialect.
// It must not start servers or create tables; flow-store.ts does.
import { Agent } from 'node:http'
import { Readable } from 'node:stream'
import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client'
import type { Param, QueryLimits } from '../../flow/flow-store.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { insertError, queryError } from './failure.ts'
import type { ClickHouseAddress } from './url.ts'

export type ClickHouseTarget =
  | { readonly kind: 'socket'; readonly path: string; readonly database: string }
  | ({ readonly kind: 'url' } & ClickHouseAddress)

/** If the time limit of a statement is exceeded by this, the store did not report it itself. */
const answerMarginMs = 5_000
const insertTimeoutMs = 60_000
const commandTimeoutMs = 120_000
const connectionsMax = 16
const limitsDefault = { seconds: 10, memoryBytes: 1e9, resultRows: 100_000, rowsToRead: 5e8 } as const

export class ClickHouseConnection {
  readonly #client: ClickHouseClient
  readonly #agent: Agent | undefined
  #isClosed = false

  constructor(target: ClickHouseTarget) {
    this.#agent =
      target.kind === 'socket'
        ? // Only the path matters; the host is only part of the agent's keys.
          new Agent({
            keepAlive: true,
            maxSockets: connectionsMax,
            ...({ socketPath: target.path } as object),
          })
        : undefined
    this.#client = createClient({
      ...(target.kind === 'socket'
        ? { url: 'http://chdb', http_agent: this.#agent!, set_basic_auth_header: false }
        : {
            url: target.url,
            username: target.username,
            password: target.password,
            max_open_connections: connectionsMax,
          }),
      database: target.database,
      application: 'pharos',
      request_timeout: commandTimeoutMs + answerMarginMs,
      // The client would print every error.
      log: { level: ClickHouseLogLevel.OFF },
      compression: { request: false, response: false },
    })
  }

  async query<T>(
    sql: string,
    params: Readonly<Record<string, Param>>,
    limits: QueryLimits = {},
  ): Promise<T[]> {
    const { seconds, memoryBytes, resultRows, rowsToRead } = { ...limitsDefault, ...limits }
    this.#assertOpen()
    try {
      const result = await this.#client.query({
        query: sql,
        query_params: params,
        format: 'JSONEachRow',
        abort_signal: AbortSignal.timeout(seconds * 1000 + answerMarginMs),
        clickhouse_settings: {
          max_execution_time: seconds,
          max_memory_usage: String(memoryBytes),
          max_result_rows: String(resultRows),
          max_rows_to_read: String(rowsToRead),
          output_format_json_quote_64bit_integers: 0,
        },
      })
      return await result.json<T>()
    } catch (error) {
      throw queryError(error)
    }
  }

  async insert(table: string, block: Uint8Array, token: string, signal?: AbortSignal): Promise<void> {
    this.#assertOpen()
    const timeout = AbortSignal.timeout(insertTimeoutMs)
    try {
      const { stream } = await this.#client.exec({
        query: `INSERT INTO ${nameOf(table)} FORMAT Native`,
        values: Readable.from(chunksOf(block), { objectMode: false }),
        abort_signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        clickhouse_settings: {
          async_insert: 0,
          insert_deduplicate: 1,
          insert_deduplication_token: token,
          deduplicate_blocks_in_dependent_materialized_views: 1,
          // All of a block in one part, so that a token stands for all of it.
          max_insert_block_size: '10000000',
          min_insert_block_size_rows: '10000000',
          min_insert_block_size_bytes: '0',
        },
      })
      stream.resume()
    } catch (error) {
      throw insertError(error)
    }
  }

  async command(sql: string, params: Readonly<Record<string, Param>> = {}): Promise<void> {
    this.#assertOpen()
    try {
      await this.#client.command({
        query: sql,
        query_params: params,
        abort_signal: AbortSignal.timeout(commandTimeoutMs),
      })
    } catch (error) {
      throw insertError(error)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#client.close()
    this.#agent?.destroy()
  }

  /** The client itself would open a new connection. */
  #assertOpen(): void {
    if (this.#isClosed) throw new DriverError('unreachable', 'The connection to ClickHouse is closed.')
  }
}

const chunkBytes = 1 << 20

/** A socket's buffer is far smaller than a block. */
function* chunksOf(block: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < block.length; at += chunkBytes) yield block.subarray(at, at + chunkBytes)
}

/** Throws for any name that would need quotes. */
function nameOf(table: string): string {
  if (!/^[a-z][a-z0-9_]*$/.test(table)) throw new DriverError('refused', `Invalid table name ${table}`)
  return table
}
