// The flow store in ClickHouse: a server at `url`, or the embedded one of the data directory. The first use opens it,
// or a later one after a failure: no other part waits for it or fails with it.
import { join, resolve } from 'node:path'
import type { ClickHouseError } from '@clickhouse/client'
import type { FlowStore } from '../../flow/flow-store.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { ClickHouseConnection, type ClickHouseTarget } from './client.ts'
import { startEmbeddedClickHouse, type EmbeddedClickHouse } from './embedded.ts'
import { migrateClickHouse } from './migrate.ts'
import type { Retention } from './retention.ts'
import { parseClickHouseUrl } from './url.ts'

export type FlowStoreOptions = {
  /** URL of a server; null for the embedded one. */
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

/** Returns the store without starting a server. */
export function createFlowStore(options: FlowStoreOptions): FlowStore {
  let opened: Promise<Opened> | undefined
  let failed: { readonly error: unknown; readonly at: number } | undefined
  let isClosed = false
  const use = (): Promise<Opened> => {
    if (isClosed) return Promise.reject(new DriverError('unreachable', 'The flow store is closed.'))
    if (failed !== undefined && performance.now() - failed.at < reopenMs) return Promise.reject(failed.error)
    opened ??= openOrFail(options).catch((error: unknown) => {
      failed = { error, at: performance.now() }
      opened = undefined
      throw error
    })
    return opened
  }
  /** The owner of the server to which this process attached may have ended: the next call attaches again, or becomes the owner. */
  const forget = (lost: Opened): void => {
    opened = undefined
    void lost.connection.close()
  }
  const call = async <T>(work: (connection: ClickHouseConnection) => Promise<T>): Promise<T> => {
    const used = use()
    const found = await used
    try {
      return await work(found.connection)
    } catch (error) {
      const isLost =
        error instanceof DriverError && error.kind === 'unreachable' && found.embedded?.started === false
      if (isLost && opened === used) forget(found)
      throw error
    }
  }
  return {
    async probe() {
      const { embedded } = await use()
      const [row] = await call((store) => store.query<{ version: string }>('select version() as version', {}))
      return { version: row?.version ?? '', embedded: embedded !== undefined }
    },
    insert: (table, block, token, signal) => call((store) => store.insert(table, block, token, signal)),
    query: (sql, params, limits) => call((store) => store.query(sql, params, limits)),
    command: (sql, params) => call((store) => store.command(sql, params)),
    async close() {
      isClosed = true
      const found = await opened?.catch(() => undefined)
      await found?.connection.close()
      await found?.embedded?.stop()
    },
  }
}

/** Throws DriverErrors only: whatever prevents the start, such as a missing permission, the store is not there. */
async function openOrFail(options: FlowStoreOptions): Promise<Opened> {
  try {
    return await open(options)
  } catch (error) {
    if (error instanceof DriverError) throw error
    throw new DriverError('unreachable', `The flow store cannot be opened: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

async function open({ url, dataDir, retention, log }: FlowStoreOptions): Promise<Opened> {
  if (url !== null) {
    const address = parseClickHouseUrl(url)
    await ensureDatabase({ kind: 'url', ...address })
    return await migrated(new ClickHouseConnection({ kind: 'url', ...address }), undefined, retention)
  }
  const embedded = await startEmbeddedClickHouse({ dataDir: resolve(join(dataDir, 'clickhouse')), log })
  const target = { kind: 'socket', path: embedded.socketPath, database: embeddedDatabase } as const
  try {
    await ensureDatabase(target)
    return await migrated(new ClickHouseConnection(target), embedded, retention)
  } catch (error) {
    await embedded.stop()
    throw error
  }
}

const unknownDatabase = '81'

/** A user of an existing database may lack the right to create one. */
async function ensureDatabase(target: ClickHouseTarget): Promise<void> {
  const { database } = target
  const connection = new ClickHouseConnection(target)
  try {
    return void (await connection.query('select 1', {}))
  } catch (error) {
    if (((error as DriverError).cause as ClickHouseError | undefined)?.code !== unknownDatabase) throw error
  } finally {
    await connection.close()
  }
  const admin = new ClickHouseConnection({ ...target, database: 'default' })
  try {
    await admin.command(`create database if not exists \`${database}\``)
  } finally {
    await admin.close()
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
