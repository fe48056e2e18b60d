// A real agent of sFlow: the counters of Open vSwitch become readings of a port of the inventory.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { FlowCollector } from '../../server/src/collector/collector.ts'
import { createTestDatabase } from '../../server/src/db/testing.ts'
import { createTestFlowStore } from '../../server/src/drivers/clickhouse/testing.ts'
import { createDeviceSource } from '../../server/src/drivers/device-sources.ts'
import { DeviceCollector } from '../../server/src/inventory/collect/collector.ts'
import { listSamples } from '../../server/src/inventory/collect/sampled-counters.store.ts'
import { createLog } from '../../server/src/runtime/log.ts'
import { createMetrics } from '../../server/src/runtime/metrics.ts'
import { createNamespace, skipWithoutNamespaces } from './namespace.ts'
import { startOpenVswitch } from './open-vswitch.ts'
import { skipWithout } from './program.ts'
import { waitFor } from './wait.ts'

const skip = skipWithoutNamespaces() || skipWithout('ovsdb-server', 'ovsdb-tool', 'ovs-vswitchd', 'ovs-vsctl')

it('reads the ports of a switch from the counters that it sends', { skip }, async () => {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp('/tmp/pharos-ovs-')
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const { postgres } = stack.use(await createTestDatabase())
  const { owner } = postgres
  const namespace = stack.use(await createNamespace())
  const log = createLog({ logLevel: 'silent', logFormat: 'json' })
  const flows = new FlowCollector({
    postgres,
    store: stack.use(await createTestFlowStore()),
    log,
    metrics: createMetrics(),
    addresses: [{ address: `${namespace.subnet}.1`, port: 0 }],
    spoolDir: join(folder, 'spool'),
    spoolBytesMax: 1e9,
    addressFiles: [],
    ownAsn: 0,
    threads: {
      receive: new URL('../../server/src/process/flow-receive-thread.ts', import.meta.url),
      batch: new URL('../../server/src/process/flow-batch-thread.ts', import.meta.url),
    },
  })
  assert.equal(await flows.listen(), true)
  stack.defer(() => flows.stop())
  const device = await owner
    .insertInto('devices')
    .values({ name: 'switch', driver: 'sflow', management_address: namespace.address })
    .returning('id')
    .executeTakeFirstOrThrow()
  await owner
    .insertInto('ports')
    .values({ circuit_id: 'C1', name: 'swp1', device_id: device.id, interface_key: 'swp1' })
    .execute()
  const target = `${namespace.subnet}.1:${flows.addresses[0]!.port}`
  const ovs = stack.use(await startOpenVswitch(join(folder, 'ovs'), namespace, target))
  const devices = new DeviceCollector({
    postgres,
    log,
    owner: 'one',
    createSource: (device) =>
      createDeviceSource({
        ...device,
        credential: null,
        readSamples: () => listSamples(owner, device.id),
        now: () => new Date(),
      }),
  })
  stack.defer(() => devices.stop())

  const [count, length] = [2_000, 1_000]
  const before = await ovs.entered()
  await ovs.send(count, length)
  assert.ok((await ovs.entered()) - before >= count * (length + 14))
  const read = async () => {
    await flows.refreshExporters()
    await flows.saveCounterSamples()
    const due = new Date(0)
    await owner.updateTable('device_states').set({ next_poll: due, next_survey: due }).execute()
    await devices.startDue()
    await devices.settle()
    const found = await owner
      .selectFrom('interface_counters as c')
      .innerJoin('interfaces as i', 'i.id', 'c.interface_id')
      .select('c.state')
      .where('i.key', '=', 'swp1')
      .executeTakeFirst()
    return Number((found?.state as { values: { octetsIn: string } } | undefined)?.values.octetsIn)
  }
  await waitFor('the reading is that of the kernel', async () => (await ovs.entered()) === (await read()), {
    everyMs: 500,
  })
  const listPorts = () =>
    owner
      .selectFrom('interfaces')
      .select(['key', 'oper', 'speed_bps'])
      .where('key', 'like', 'swp%')
      .orderBy('key')
      .execute()
  // The switch sends the counters of each port at a different time.
  const rows = await waitFor(
    'both ports',
    async () => {
      await read()
      const found = await listPorts()
      return found.length === 2 && found
    },
    { everyMs: 500 },
  )
  assert.deepEqual(rows, [
    { key: 'swp1', oper: 'up', speed_bps: 10_000_000_000 },
    { key: 'swp2', oper: 'up', speed_bps: 10_000_000_000 },
  ])
})
