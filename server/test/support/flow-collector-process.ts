// A separate process that collects flows into an embedded ClickHouse, for crash tests. It prints a line for each batch
// that it has written to its spool: from then on, its rows must not be lost. It reads DATABASE_URL, DATA_DIR and
// FLOW_PORT.
import { join } from 'node:path'
import { FlowCollector } from '../../src/collector/collector.ts'
import { openPostgres } from '../../src/db/postgres.ts'
import { createFlowStore } from '../../src/drivers/clickhouse/flow-store.ts'
import { createLog } from '../../src/runtime/log.ts'
import { createMetrics } from '../../src/runtime/metrics.ts'

const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, FLOW_PORT: port } = process.env

const postgres = await openPostgres({ databaseUrl, dataDir: '/nonexistent', ownerConnections: 2 })
const collector = new FlowCollector({
  postgres,
  store: createFlowStore({
    url: null,
    dataDir: dataDir!,
    retention: { flowDays: 3650, rollupDays: 3650 },
    log: () => {},
  }),
  log: createLog({ logLevel: 'fatal', logFormat: 'json' }),
  metrics: createMetrics(),
  addresses: [{ address: '127.0.0.1', port: Number(port) }],
  spoolDir: join(dataDir!, 'spool'),
  spoolBytesMax: 1e9,
  addressFiles: [],
  ownAsn: 0,
  threads: {
    receive: new URL('../../src/process/flow-receive-thread.ts', import.meta.url),
    batch: new URL('../../src/process/flow-batch-thread.ts', import.meta.url),
  },
  onBatch: ({ rows }) => void process.stdout.write(`${rows}\n`),
})
// The port is taken while the threads of a killed process end.
while (!(await collector.listen())) await new Promise((resolve) => setTimeout(resolve, 20))
process.stdout.write('ready\n')
