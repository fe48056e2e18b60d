// A separate process that polls simulated devices without a pause, for crash tests. Its clock runs faster than ours, so
// that a short test has many minutes. It reads DATABASE_URL, CLOCK_START (ms since 1970) and CLOCK_FACTOR.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { openPostgres } from '../../src/db/postgres.ts'
import { createDeviceSource } from '../../src/drivers/device-sources.ts'
import { DeviceCollector } from '../../src/inventory/collect/collector.ts'
import { createLog } from '../../src/runtime/log.ts'

const { DATABASE_URL: databaseUrl, CLOCK_START: start, CLOCK_FACTOR: factor } = process.env
const clock = () => new Date(Number(start) + (Date.now() - Number(start)) * Number(factor))

const postgres = await openPostgres({ databaseUrl, dataDir: '/nonexistent', ownerConnections: 2 })
const collector = new DeviceCollector({
  postgres,
  log: createLog({ logLevel: 'fatal', logFormat: 'json' }),
  owner: randomUUID(),
  createSource: (device) =>
    createDeviceSource({ ...device, credential: null, readSamples: async () => [], now: clock }),
})
process.stdout.write('ready\n')
for (;;) {
  try {
    await sql`update device_states set next_poll = now() where lease_until is null`.execute(postgres.owner)
    await collector.startDue()
    await collector.settle()
  } catch {
    // The database was killed: the next turn connects again.
    await sleep(20)
  }
}
