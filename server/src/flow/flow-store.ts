// The port to the store of flows. Its language is SQL in ClickHouse's dialect; a driver only transports it. It must not
// build statements; its callers do.

/** A value of a placeholder. Points in time are Unix seconds, or texts that ClickHouse parses in the placeholder's type. */
export type Param = string | number | boolean | readonly string[] | readonly number[]

/** Limits of a statement; a missing limit has its default. A statement above a limit fails with QueryTooExpensive. */
export type QueryLimits = {
  /** 10 if unset. */
  readonly seconds?: number
  /** 1 GB if unset. */
  readonly memoryBytes?: number
  /** 100,000 if unset. */
  readonly resultRows?: number
  /** 500 million if unset. */
  readonly rowsToRead?: number
}

export type FlowStoreIdentity = { readonly version: string; readonly embedded: boolean }

/**
 * Failures are DriverErrors (runtime/driver-error.ts):
 * - `unreachable`: the store is missing, not up yet, or did not answer; the call may have had an effect. Repeat it later.
 * - `postponed`: the store is short of disk, memory or time. Repeat it later.
 * - `refused`: the store does not accept the statement or the block; repeating it is useless.
 * - `protocol`: the answer is invalid.
 */
export interface FlowStore {
  /** Starts or connects the store if that has not happened yet. */
  probe(): Promise<FlowStoreIdentity>
  /**
   * Inserts one block in ClickHouse's Native format (drivers/clickhouse/native-block.ts); its columns are matched by name. The
   * same token any number of times stores the block once, in the table and in every rollup, as long as fewer than 1,000 other
   * blocks came between. A repeat must have the same rows.
   */
  insert(table: string, block: Uint8Array, token: string, signal?: AbortSignal): Promise<void>
  /**
   * Returns the rows of a SELECT as objects. `sql` comes from code only and has neither FORMAT nor a final SETTINGS; values are
   * parameters: `team_id = {team:UInt32}`. 64-bit integers are numbers, exact up to 2^53. Throws QueryTooExpensive.
   */
  query<T>(sql: string, params: Readonly<Record<string, Param>>, limits?: QueryLimits): Promise<T[]>
  /** Executes a statement without an answer, such as `alter table flows drop partition`. For maintenance and migrations. */
  command(sql: string, params?: Readonly<Record<string, Param>>): Promise<void>
  close(): Promise<void>
}
