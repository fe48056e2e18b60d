// I2: one poll of 100 devices with 100 ports each, 20 ms away, until it is committed; then with 20 devices that do not
// answer. Compared with 100 parallel snmpbulkwalk of the C library over the same objects, without storing.
import { fork, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { median } from '../../lab/src/measure.ts'
import { programPath } from '../../lab/src/program.ts'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { createSnmpSource } from '../../server/src/drivers/snmp/source.ts'
import { DeviceCollector } from '../../server/src/inventory/collect/collector.ts'
import { createLog } from '../../server/src/runtime/log.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { databaseMeter, nothing, ownMicros, spend, type HotPath } from './guard/hot-path.ts'
import { missingPrograms } from './packages.ts'
import { seedTeams } from './people.ts'
import { endedProgramsMicros } from './processor-time.ts'
import { milliseconds, times, whole } from './table.ts'

export const pollDevices: Benchmark = {
  id: 'I2',
  name: 'poll-devices',
  title: 'a poll of 100 devices with 100 ports each, committed',
  missing: () => missingPrograms('snmpbulkwalk'),
  run,
}

const address = '127.0.0.1'
const delayMs = 20

/** Without the delay, which costs no processor time. */
const sizes = { devices: 20, ports: 100, delayMs: 0 }

export const pollDevicesPath: HotPath = {
  id: 'I2',
  unit: 'port polled by SNMP',
  peer: 'snmpbulkwalk, not stored',
  missing: pollDevices.missing,
  async prepare(bench, stack) {
    const { port, poll } = await preparePoll(bench, stack, sizes)
    const units = sizes.devices * sizes.ports
    return {
      ours: async () =>
        spend(ownMicros, await databaseMeter(bench), async () => {
          await poll(0)
          return units
        }),
      peer: () =>
        spend(endedProgramsMicros, nothing, async () => {
          walkAll(port, sizes.devices, bench.folder)
          return units
        }),
    }
  },
}

type Poll = { readonly wallMs: number; readonly cpuMs: number }

type Sizes = { readonly devices: number; readonly ports: number; readonly delayMs: number }

/** Starts an agent and seeds the devices; `poll(dead)` polls them all once. */
export async function preparePoll(
  bench: Bench,
  stack: AsyncDisposableStack,
  { devices, ports, delayMs }: Sizes,
) {
  const agent = fork(new URL('snmp-agent-process.ts', import.meta.url), [String(ports), String(delayMs)])
  stack.defer(() => agent.disconnect())
  const [port] = (await once(agent, 'message')) as [number]
  const silent = createSocket('udp4').bind(0, address)
  await once(silent, 'listening')
  stack.defer(() => void silent.close())
  const cluster = await bench.cluster()
  const postgres = await cluster.database(`poll_${devices}_${ports}_v1`, (client) =>
    seed(client, devices, ports),
  )
  const client = await postgres.directConnection()
  stack.defer(() => client.end())
  const poll = (dead: number): Promise<Poll> =>
    pollOnce(postgres, client, { devices, dead, port, silentPort: silent.address().port })
  // The first poll lists the names of the interfaces, without a former reading to compare with.
  await poll(0)
  return { port, poll }
}

async function run(bench: Bench): Promise<Line[]> {
  const [devices, ports] = bench.quick ? [10, 20] : [100, 100]
  const dead = devices / 5
  await using stack = new AsyncDisposableStack()
  const { port, poll } = await preparePoll(bench, stack, { devices, ports, delayMs })
  const rounds = Math.max(bench.rounds, 3)
  const [all, some, walks]: [Poll[], Poll[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    walks.push(walkAll(port, devices, bench.folder))
    all.push(await poll(0))
    some.push(await poll(dead))
  }
  const [wall, cpu] = [median(all.map(({ wallMs }) => wallMs)), median(all.map(({ cpuMs }) => cpuMs))]
  const late = median(some.map(({ wallMs }) => wallMs)) - wall
  const peer = median(walks)
  return [
    {
      what: `${whole(devices)} devices x ${whole(ports)} ports at ${delayMs} ms`,
      result: `${milliseconds(wall)}, ${milliseconds(cpu)} of processor`,
      peer: `${milliseconds(peer)} snmpbulkwalk, not stored`,
      ratio: times(wall / peer),
      goal: '<= 3 s, <= 1.5 s of processor',
      reached: wall <= 3_000 && cpu <= 1_500,
    },
    {
      what: `of which ${whole(dead)} do not answer: later by`,
      result: milliseconds(late),
      peer: '',
      ratio: '',
      goal: '<= 500 ms',
      reached: late <= 500,
    },
  ]
}

type Devices = {
  readonly devices: number
  readonly dead: number
  readonly port: number
  readonly silentPort: number
}

/** Time until every device that answers is committed. */
async function pollOnce(
  postgres: Postgres,
  client: Client,
  { devices, dead, port, silentPort }: Devices,
): Promise<Poll> {
  await client.query(`update device_states set next_poll = now(), next_survey = now() + interval '1 day',
    next_gauges = now() + interval '1 day', seen = null, lease_until = null, lease_owner = null, missed = 0`)
  const collector = new DeviceCollector({
    postgres,
    log: createLog({ logLevel: 'fatal', logFormat: 'json' }),
    owner: 'bench',
    createSource: ({ id }) =>
      createSnmpSource({
        address,
        port: id <= dead ? silentPort : port,
        credential: { kind: 'v2c', community: 'public' },
      }),
  })
  const [begun, before] = [performance.now(), process.cpuUsage()]
  await collector.startDue()
  for (;;) {
    const { rows } = await client.query<{ seen: number }>(
      'select count(seen)::integer as seen from device_states',
    )
    if (rows[0]!.seen >= devices - dead) break
    await sleep(20)
  }
  const wallMs = performance.now() - begun
  const { user, system } = process.cpuUsage(before)
  await collector.stop()
  return { wallMs, cpuMs: (user + system) / 1_000 }
}

async function seed(client: Client, devices: number, ports: number): Promise<void> {
  await seedTeams(client, 1)
  await client.query(
    `insert into devices (name, driver) select 'r' || n, 'sandbox' from generate_series(1, $1::integer) n order by n`,
    [devices],
  )
  await client.query(`insert into device_states (device_id, surveyed) select id, now() from devices`)
  await client.query(
    `insert into interfaces (device_id, key, if_index, name, type)
     select d.id, 'Ethernet' || n, n, 'Ethernet' || n, 6 from devices d, generate_series(1, $1::integer) n`,
    [ports],
  )
  await client.query(
    `insert into ports (circuit_id, name, device_id, interface_key, interface_id)
     select 'C' || id, name, device_id, key, id from interfaces`,
  )
}

/** Wall time of as many processes as there are devices. */
function walkAll(port: number, devices: number, folder: string): number {
  const walk = `${programPath('snmpbulkwalk')} -m '' -v2c -c public -Cr25 -Oqn ${address}:${port} 1.3.6.1.2.1`
  const script = `for n in $(seq ${devices}); do ${walk} > bench-poll.$n & done; wait`
  const begun = performance.now()
  spawnSync('bash', ['-c', script], { cwd: folder })
  return performance.now() - begun
}
