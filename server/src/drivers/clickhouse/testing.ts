// A flow store for tests: one embedded ClickHouse for each test process, and a new migrated database for each call.
// PHAROS_TEST_CLICKHOUSE_URL runs the same tests on a server. Only tests import this file.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FlowStore } from '../../flow/flow-store.ts'
import { ClickHouseConnection, type ClickHouseTarget } from './client.ts'
import { startEmbeddedClickHouse, type EmbeddedClickHouse } from './embedded.ts'
import { migrateClickHouse } from './migrate.ts'
import { encodeNativeBlock } from './native-block.ts'
import type { Retention } from './retention.ts'
import { parseClickHouseUrl } from './url.ts'

export type TestFlowStore = FlowStore & {
  /** For settings that need a URL, such as a process's; undefined for the embedded server. */
  readonly url: string | undefined
  [Symbol.asyncDispose](): Promise<void>
}

const testMemoryBytes = 2 * 1024 ** 3
/** A time to live that ends after 2106 overflows, and the rows expire immediately. */
const retentionDefault: Retention = { flowDays: 3650, rollupDays: 3650 }

let shared: Promise<EmbeddedClickHouse> | undefined

/** `await using flowStore = await createTestFlowStore()`: migrated and empty. Rows of any past are kept unless `retention` is set. */
export async function createTestFlowStore(retention: Retention = retentionDefault): Promise<TestFlowStore> {
  const database = `pharos_test_${process.pid}_${randomBytes(4).toString('hex')}`
  const target = await targetOf(database)
  const admin = new ClickHouseConnection({ ...target, database: 'default' })
  await admin.command(`create database ${database}`)
  const connection = new ClickHouseConnection(target)
  await migrateClickHouse(connection, retention)
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    await connection.close()
    await admin.command(`drop database ${database}`).finally(() => admin.close())
  }
  return {
    async probe() {
      const [row] = await connection.query<{ version: string }>('select version() as version', {})
      return { version: row!.version, embedded: target.kind === 'socket' }
    },
    insert: (table, block, token, signal) => connection.insert(table, block, token, signal),
    query: (sql, params, limits) => connection.query(sql, params, limits),
    command: (sql, params) => connection.command(sql, params),
    close,
    url: target.kind === 'url' ? `${target.url}/${database}` : undefined,
    [Symbol.asyncDispose]: close,
  }
}

/** The same, created by its first use. */
export function lazyTestFlowStore(): FlowStore {
  let created: Promise<TestFlowStore> | undefined
  const use = () => (created ??= createTestFlowStore())
  return {
    probe: async () => (await use()).probe(),
    insert: async (...args) => (await use()).insert(...args),
    query: async (...args) => (await use()).query(...args),
    command: async (...args) => (await use()).command(...args),
    close: async () => (await created)?.close(),
  }
}

async function targetOf(database: string): Promise<ClickHouseTarget> {
  const url = process.env.PHAROS_TEST_CLICKHOUSE_URL
  if (url !== undefined) return { kind: 'url', ...parseClickHouseUrl(url), database }
  shared ??= startShared()
  return { kind: 'socket', path: (await shared).socketPath, database }
}

/** The server ends with this process, which may end without a word. */
async function startShared(): Promise<EmbeddedClickHouse> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-flows-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return await startEmbeddedClickHouse({
    dataDir: join(folder, 'clickhouse'),
    temporary: true,
    memoryBytes: testMemoryBytes,
  })
}

/** A block of `flows` with this number of rows of a team, `stepSeconds` apart; addresses and ports differ. */
export function flowsBlock(rows: number, teamId: number, time: number, stepSeconds = 0): Uint8Array {
  const words = new Uint32Array(4 * rows)
  for (let row = 0; row < rows; row++) words.set([0, 0, 0xffff, 0xcb007100 + (row % 256)], 4 * row)
  const all = (value: number) => new Uint32Array(rows).fill(value)
  const bytes = (value: number) => new Uint8Array(rows).fill(value)
  return encodeNativeBlock(rows, [
    {
      name: 'time',
      type: `DateTime('UTC')`,
      values: Uint32Array.from({ length: rows }, (_, row) => time + row * stepSeconds),
    },
    { name: 'team_id', type: 'UInt32', values: all(teamId) },
    { name: 'direction', type: `Enum8('in' = 1, 'out' = 2, 'internal' = 3)`, values: bytes(1) },
    { name: 'is_primary', type: 'UInt8', values: bytes(1) },
    { name: 'src_addr', type: 'IPv6', words },
    { name: 'dst_addr', type: 'IPv6', words },
    {
      name: 'src_port',
      type: 'UInt16',
      values: Uint16Array.from({ length: rows }, (_, row) => row % 65_536),
    },
    { name: 'dst_port', type: 'UInt16', values: new Uint16Array(rows).fill(443) },
    { name: 'protocol', type: 'UInt8', values: bytes(6) },
    { name: 'src_country', type: 'FixedString(2)', bytes: Buffer.from('NL'.repeat(rows)) },
    { name: 'bytes', type: 'UInt64', low: all(1500), high: all(0) },
    { name: 'packets', type: 'UInt64', low: all(1), high: all(0) },
    { name: 'sampling_rate', type: 'UInt32', values: all(100) },
  ])
}
