// The collector of flows with its threads and an embedded ClickHouse, in a separate process. It answers each message
// with its measurements. It reads DATABASE_URL and DATA_DIR.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FlowCollector } from '../../server/src/collector/collector.ts'
import { openPostgres } from '../../server/src/db/postgres.ts'
import { createFlowStore } from '../../server/src/drivers/clickhouse/flow-store.ts'
import { createLog } from '../../server/src/runtime/log.ts'
import { createMetrics } from '../../server/src/runtime/metrics.ts'

export type CollectorTotals = {
  readonly port: number
  /** Rows that can be queried, and flows of the rollup by protocol and hour. */
  readonly rows: number
  readonly rollup: number
  /** Losses of every kind. */
  readonly lost: number
  readonly waitingFiles: number
  readonly collectorCpuMs: number
  readonly clickhouseCpuMs: number
  /** From the first flow of a batch until its rows could be queried. */
  readonly delaysMs: readonly number[]
}

const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir } = process.env
const ticksPerSecond = 100

const postgres = await openPostgres({ databaseUrl, dataDir: '/nonexistent', ownerConnections: 2 })
const metrics = createMetrics()
const delaysMs: number[] = []
metrics.flowDelaySeconds.observe = (value: unknown) => void delaysMs.push(Number(value) * 1000)
const store = createFlowStore({
  url: null,
  dataDir: dataDir!,
  retention: { flowDays: 3650, rollupDays: 3650 },
  log: () => {},
})
const collector = new FlowCollector({
  postgres,
  store,
  log: createLog({ logLevel: 'fatal', logFormat: 'json' }),
  metrics,
  addresses: [{ address: '127.0.0.1', port: 0 }],
  spoolDir: join(dataDir!, 'spool'),
  spoolBytesMax: 4 * 1024 ** 3,
  addressFiles: [],
  ownAsn: 0,
  threads: {
    receive: new URL('../../server/src/process/flow-receive-thread.ts', import.meta.url),
    batch: new URL('../../server/src/process/flow-batch-thread.ts', import.meta.url),
  },
})
await store.probe()
if (!(await collector.listen())) throw new Error('the collector cannot listen')

async function totals(): Promise<CollectorTotals> {
  const count = async (sql: string) => (await store.query<{ n: number }>(sql, {}))[0]!.n
  const lost = await metrics.flowsLost.get()
  const { user, system } = process.cpuUsage()
  return {
    port: collector.addresses[0]!.port,
    rows: await count('select count() as n from flows'),
    rollup: await count('select sum(flows) as n from flows_by_protocol_1h'),
    lost: lost.values.reduce((sum, { value }) => sum + value, 0),
    waitingFiles: collector.spool.waiting.files,
    collectorCpuMs: (user + system) / 1000,
    clickhouseCpuMs: clickhouseCpuMs(),
    delaysMs,
  }
}

function clickhouseCpuMs(): number {
  const pid = readFileSync(join(dataDir!, 'clickhouse.pid'), 'utf8').split('\n')[0]
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond
}

process.on('message', (message) => {
  if (message === 'totals') void totals().then((found) => process.send!(found))
  else
    void collector
      .stop()
      .then(() => store.close())
      .then(() => postgres.stop())
      .then(() => process.exit(0))
})
process.send!('ready')
