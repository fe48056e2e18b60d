// Counter samples of sFlow from the datagram to the minutes of a port: the decoder, the database and the poll of the device.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, emptyTables, type TestDatabase } from '../db/testing.ts'
import { createDeviceSource } from '../drivers/device-sources.ts'
import { createDecoder } from '../drivers/netflow/decoder.ts'
import { bytes, sflowDatagram, u32, u64, xdr } from '../drivers/netflow/testing.ts'
import { DeviceCollector } from '../inventory/collect/collector.ts'
import { listSamples } from '../inventory/collect/sampled-counters.store.ts'
import { applyPlatform, preparePlatform } from '../platform/engine/apply.ts'
import { documentOf } from '../platform/engine/document.ts'
import { platformKinds } from '../platform/kinds/index.ts'
import { createLog } from '../runtime/log.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import { createFlowColumns } from '../flow/flow-columns.ts'
import { relinkExporters, saveExporters } from './exporter.store.ts'
import { createCounterSamples } from './counter-samples.ts'

let database: TestDatabase
before(async () => void (database = await createTestDatabase()))
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  const { owner } = database.postgres
  await emptyTables(owner, ['devices', 'flow_exporters'])
})

/** A full minute, so that every poll closes one. */
const startMs = 1_799_999_940_000
const sender = Uint32Array.of(0, 0, 0xff_ff, 0xc0_00_02_01)
const gigabit = 1_000_000_000n

type Counted = { readonly octets: bigint; readonly packets: number; readonly errors?: number }

/** The generic counters of interface 7, with its name. */
const counterSample = ({ octets, packets, errors = 0 }: Counted, index = 7): Uint8Array =>
  xdr(
    2,
    u32(1),
    u32(index),
    u32(2),
    xdr(
      1,
      ...[index, 6].map(u32),
      u64(gigabit),
      ...[1, 3].map(u32),
      u64(octets),
      ...[packets, 0, 0, 0, errors, 0].map(u32),
      u64(octets * 2n),
      ...[packets, 0xff_ff_ff_ff, 0xff_ff_ff_ff, 0, 0, 0].map(u32),
    ),
    xdr(1005, u32(4), bytes(`eth${index}`)),
  )

async function createScene(driver: string, settings: object = {}) {
  const { postgres } = database
  const { owner } = postgres
  await saveExporters(owner, ['192.0.2.1'])
  await sql`insert into devices (name, driver, management_address, settings)
    values ('switch', ${driver}, '192.0.2.1', ${JSON.stringify(settings)})`.execute(owner)
  await sql`insert into ports (circuit_id, name, device_id, interface_key)
    select 'C1', 'eth7', id, 'eth7' from devices`.execute(owner)
  await relinkExporters(owner)
  const samples = createCounterSamples()
  const decoder = createDecoder({ onInterfaceCounters: (counters) => samples.add(counters) })
  const columns = createFlowColumns(70_000)
  let nowMs = startMs
  const collector = new DeviceCollector({
    postgres,
    log: createLog({ logLevel: 'fatal', logFormat: 'json' }),
    owner: 'one',
    createSource: (device) =>
      createDeviceSource({
        ...device,
        credential: null,
        readSamples: () => listSamples(owner, device.id),
        now: () => new Date(nowMs),
      }),
  })
  return {
    /** `uptime` in seconds. */
    send(second: number, uptime: number, counted: Counted): void {
      const datagram = sflowDatagram({ uptime: (uptime * 1000) % 2 ** 32 }, counterSample(counted))
      decoder.decode(datagram, 0, datagram.length, sender, 0, 50_000, startMs + second * 1000, columns)
    },
    save: () => samples.save(owner),
    async poll(second: number): Promise<void> {
      nowMs = startMs + second * 1000
      await samples.save(owner)
      await sql`update device_states set next_poll = now(), next_survey = now()`.execute(owner)
      await collector.startDue()
      await collector.settle()
    },
    async minutes() {
      const { rows } = await sql<{ second: number; octets: string; packets: string; covered: number }>`
        select extract(epoch from minute)::float8 - ${startMs / 1000} as second, octets_in as octets, packets_in as packets,
          covered_ms as covered from port_samples order by minute`.execute(owner)
      return rows.map(({ second, octets, packets, covered }) => [
        second,
        Number(octets),
        Number(packets),
        covered,
      ])
    },
    async error() {
      const { rows } = await sql<{ error: string | null }>`select error from device_states`.execute(owner)
      return rows[0]?.error
    },
    async dropped() {
      const { rows } = await sql<{ dropped: string | null }>`select dropped from interface_counters`.execute(
        owner,
      )
      return rows[0]?.dropped
    },
    [Symbol.asyncDispose]: () => collector.stop(),
  }
}

describe('counter samples of sFlow', () => {
  it('become minutes of the port, each sample once, over wraps of 32 bits', async () => {
    await using scene = await createScene('sflow')
    const nearWrap = 2 ** 32 - 1000
    // The uptime wraps as well, and each sample comes twice.
    const uptime = 2 ** 32 / 1000 - 30
    const send = (second: number) => {
      const sent = {
        octets: 2n ** 40n + BigInt(second * 1_000_000),
        packets: (nearWrap + second * 1000) % 2 ** 32,
      }
      scene.send(second, uptime + second, sent)
      scene.send(second, uptime + second, sent)
    }
    for (let second = 0; second <= 180; second += 20) {
      send(second)
      if (second % 60 === 0) {
        await scene.poll(second)
        // A poll without a new sample adds no value and is no error.
        await scene.poll(second)
      } else await scene.save()
    }
    const minute = [60_000_000, 60_000, 60_000]
    assert.deepEqual(await scene.minutes(), [
      [0, ...minute],
      [60, ...minute],
      [120, ...minute],
    ])
    assert.deepEqual([await scene.error(), await scene.dropped()], [null, null])
  })

  it('that were overtaken are not read, and a restart leaves a gap', async () => {
    await using scene = await createScene('sflow')
    scene.send(0, 1000, { octets: 1_000_000n, packets: 100 })
    await scene.poll(0)
    scene.send(60, 1060, { octets: 2_000_000n, packets: 200 })
    await scene.save()
    scene.send(61, 1040, { octets: 1_700_000n, packets: 170 })
    await scene.poll(61)
    assert.deepEqual(await scene.minutes(), [[0, 1_000_000, 100, 60_000]])
    scene.send(120, 20, { octets: 5_000n, packets: 5 })
    await scene.poll(120)
    assert.equal(await scene.dropped(), 'restart')
    scene.send(180, 80, { octets: 65_000n, packets: 65 })
    await scene.poll(180)
    assert.deepEqual(await scene.minutes(), [
      [0, 1_000_000, 100, 60_000],
      [120, 60_000, 60, 60_000],
    ])
  })

  it('of a device with another driver are left out: a port has one source', async () => {
    await using scene = await createScene('sandbox', { interfaces: [{ name: 'eth7', in_bps: 8_000_000 }] })
    for (let second = 0; second <= 120; second += 60) {
      scene.send(second, 1000 + second, { octets: BigInt(second) * 100_000_000n, packets: second })
      await scene.poll(second)
    }
    const { rows } = await sql`select from sampled_counters`.execute(database.postgres.owner)
    assert.equal(rows.length, 0)
    for (const [, octets] of await scene.minutes()) assert.ok(octets! < 200_000_000, `${octets}`)
    assert.equal((await scene.minutes()).length, 2)
  })

  it('are not compared with the counters that another driver has read before', async () => {
    await using scene = await createScene('sandbox', { interfaces: [{ name: 'eth7', in_bps: 8 }] })
    await scene.poll(0)
    const { owner } = database.postgres
    const document = documentOf('request', { devices: [{ name: 'switch', driver: 'sflow', settings: {} }] })
    const deps = { ring: createKeyRing(['a-secret-of-at-least-thirty-two-bytes']), readText: () => '' }
    const prepared = await preparePlatform(platformKinds, owner, document, deps, {
      prune: false,
      enforce: false,
    })
    await applyPlatform(platformKinds, owner, prepared, new Date())
    // The uptime of the simulated device, so that only the driver differs.
    const { rows } = await sql<{ uptime: number }>`
      select (state->>'uptimeCs')::float8 / 100 as uptime from interface_counters`.execute(owner)
    scene.send(60, rows[0]!.uptime + 60, { octets: 2n ** 40n, packets: 2 ** 31 })
    await scene.poll(60)
    assert.deepEqual([await scene.minutes(), await scene.dropped()], [[], 'replaced'])
  })

  it('that no longer come make the device unreachable, and invented numbers of interfaces are bounded', async () => {
    await using scene = await createScene('sflow')
    scene.send(0, 1000, { octets: 0n, packets: 0 })
    await scene.poll(0)
    await scene.poll(400)
    assert.equal(await scene.error(), 'unreachable')
    const samples = createCounterSamples()
    const decoder = createDecoder({ onInterfaceCounters: (counters) => samples.add(counters) })
    const columns = createFlowColumns(70_000)
    for (let index = 0; index < 18_000; index++) {
      // Every third number is out of the range of interface numbers.
      const number = index % 3 === 0 ? 2 ** 31 + index : index + 8
      const datagram = sflowDatagram({ uptime: 1000 }, counterSample({ octets: 1n, packets: 1 }, number))
      decoder.decode(datagram, 0, datagram.length, sender, 0, 50_000, startMs + 400_000, columns)
      if (index % 3000 === 2999) await samples.save(database.postgres.owner)
    }
    const { rows } = await sql<{
      count: number
    }>`select count(*)::int as count from sampled_counters`.execute(database.postgres.owner)
    assert.equal(rows[0]!.count, 10_000)
  })
})
