// The flow store in ClickHouse: a server at `url`, or the embedded one of the data directory. It is opened by its first use, and
// again by a later one if that failed: nothing else waits for it or fails with it.
import { join, resolve } from 'node:path'
import type { FlowStore } from '../../analysis/flow/flow-store.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { ClickHouseConnection } from './client.ts'
import { startEmbedded, type EmbeddedClickHouse } from './embedded.ts'
import { migrateClickHouse } from './migrate.ts'
import type { Retention } from './retention.ts'
import { parseClickHouseUrl } from './url.ts'

export type FlowStoreOptions = {
  /** Of a server; null for the embedded one. */
  readonly url: string | null
  readonly dataDir: string
  readonly retention: Retention
  /** Called with events of the embedded server. */
  readonly log: (message: string) => void
}

/** A failed start is not repeated by every call in the meantime. */
const reopenMs = 5_000
const embeddedDatabase = 'pharos'

type Opened = { readonly connection: ClickHouseConnection; readonly embedded: EmbeddedClickHouse | undefined }

/** Returns the store; nothing is started yet. */
export function createFlowStore(options: FlowStoreOptions): FlowStore {
  let opened: Promise<Opened> | undefined
  let failed: { readonly error: unknown; readonly at: number } | undefined
  let isClosed = false
  const use = (): Promise<Opened> => {
    if (isClosed) return Promise.reject(new DriverError('unreachable', 'The flow store is closed.'))
    if (failed !== undefined && performance.now() - failed.at < reopenMs) return Promise.reject(failed.error)
    opened ??= open(options).catch((error: unknown) => {
      failed = { error, at: performance.now() }
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    async probe() {
      const { connection, embedded } = await use()
      const [row] = await connection.query<{ version: string }>('select version() as version', {})
      return { version: row?.version ?? '', embedded: embedded !== undefined }
    },
    async insert(table, block, token, signal) {
      const { connection } = await use()
      await connection.insert(table, block, token, signal)
    },
    async query(sql, params, limits) {
      const { connection } = await use()
      return await connection.query(sql, params, limits)
    },
    async command(sql, params) {
      const { connection } = await use()
      await connection.command(sql, params)
    },
    async close() {
      isClosed = true
      const found = await opened?.catch(() => undefined)
      await found?.connection.close()
      await found?.embedded?.stop()
    },
  }
}

async function open({ url, dataDir, retention, log }: FlowStoreOptions): Promise<Opened> {
  if (url !== null) {
    const address = parseClickHouseUrl(url)
    await createDatabase({ kind: 'url', ...address, database: 'default' }, address.database)
    return await migrated(new ClickHouseConnection({ kind: 'url', ...address }), undefined, retention)
  }
  const embedded = await startEmbedded({ dataDir: resolve(join(dataDir, 'clickhouse')), log })
  const target = { kind: 'socket', path: embedded.socketPath, database: embeddedDatabase } as const
  try {
    await createDatabase({ ...target, database: 'default' }, embeddedDatabase)
    return await migrated(new ClickHouseConnection(target), embedded, retention)
  } catch (error) {
    await embedded.stop()
    throw error
  }
}

async function createDatabase(
  target: ConstructorParameters<typeof ClickHouseConnection>[0],
  database: string,
): Promise<void> {
  const connection = new ClickHouseConnection(target)
  try {
    await connection.command(`create database if not exists \`${database}\``)
  } finally {
    await connection.close()
  }
}

async function migrated(
  connection: ClickHouseConnection,
  embedded: EmbeddedClickHouse | undefined,
  retention: Retention,
): Promise<Opened> {
  try {
    await migrateClickHouse(connection, retention)
    return { connection, embedded }
  } catch (error) {
    await connection.close()
    throw error
  }
}
