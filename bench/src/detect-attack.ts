// F1: from the first datagram of an attack to its event in the database, through the collector's threads, its detector and the ingest. Beside
// it FastNetMon Community with the same NetFlow v5, until it calls its script.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { median } from '../../lab/src/measure.ts'
import { programPath } from '../../lab/src/program.ts'
import { FlowCollector } from '../../server/src/collector/collector.ts'
import type { FlowStore } from '../../server/src/flow/flow-store.ts'
import { ingestDeliveries } from '../../server/src/events/ingest/ingest.ts'
import { v5 } from '../../server/src/drivers/netflow/testing.ts'
import { createOwnershipCache } from '../../server/src/inventory/holding/ownership.ts'
import { createLog } from '../../server/src/runtime/log.ts'
import { createMetrics } from '../../server/src/runtime/metrics.ts'
import type { Postgres } from '../../server/src/db/postgres.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { missingPrograms } from './packages.ts'
import { seedTeams } from './people.ts'
import { milliseconds, times } from './table.ts'

export const detectAttack: Benchmark = {
  id: 'F1',
  name: 'detect-attack',
  title: 'from the first datagram of an attack to its event',
  missing: () => missingPrograms('fastnetmon'),
  run,
}

/** Packets a second; both detect from 1,000 on. */
const attackPps = 15_000
const thresholdPps = 1_000
const limitMs = 120_000

async function run(bench: Bench): Promise<Line[]> {
  const rounds = bench.quick ? 1 : Math.max(bench.rounds, 3)
  const postgres = await (
    await bench.cluster()
  ).database(`detect_${randomUUID().slice(0, 8)}`, async (client) => {
    await seedTeams(client, 1)
    await client.query(`insert into prefixes (team_id, prefix) values (1, '203.0.113.0/24')`)
    await client.query(`insert into sources (key, kind, name, secret_mac, settings)
      values ('detector', 'flows', 'detector', '\\x00', '{"pps": ${thresholdPps}}')`)
  })
  const [ours, peer]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    ours.push(await detectByUs(postgres, join(bench.folder, `spool-${round}`), `203.0.113.${round + 1}`))
    peer.push(await detectByFastNetMon(join(bench.folder, `fastnetmon-${round}`), `203.0.113.${round + 1}`))
  }
  const [own, theirs] = [median(ours), median(peer)]
  return [
    {
      what: `${attackPps / thresholdPps} times the threshold, NetFlow v5`,
      result: milliseconds(own),
      peer: `${milliseconds(theirs)} FastNetMon to its script`,
      ratio: times(own / theirs),
      goal: '<= 15 s',
      reached: own <= 15_000,
    },
  ]
}

/** Ten datagrams a second, each with the packets of a tenth of a second. */
function attack(port: number, target: string): Disposable {
  const socket = createSocket('udp4')
  const flows = Array.from({ length: 30 }, (_, i) => ({
    src: `198.51.100.${i + 1}`,
    dst: target,
    srcPort: 53,
    dstPort: 40_000 + i,
    packets: attackPps / 10 / 30,
    octets: (attackPps / 10 / 30) * 1400,
  }))
  let sequence = 0
  const timer = setInterval(() => {
    socket.send(v5({ sequence, sampling: 1 }, ...flows), port, '127.0.0.1')
    sequence += flows.length
  }, 100)
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      socket.close()
    },
  }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<number> {
  for (const begin = performance.now(); ; await sleep(20)) {
    if (await condition()) return performance.now() - begin
    if (performance.now() - begin > limitMs) throw new Error('the attack was not detected')
  }
}

/** Takes every block: how flows are stored is measured elsewhere. */
const noStore: FlowStore = {
  probe: () => Promise.resolve({ version: '', embedded: true }),
  insert: () => Promise.resolve(),
  query: () => Promise.resolve([]),
  command: () => Promise.resolve(),
  close: () => Promise.resolve(),
}

async function detectByUs(postgres: Postgres, spoolDir: string, target: string): Promise<number> {
  const collector = new FlowCollector({
    postgres,
    store: noStore,
    log: createLog({ logLevel: 'fatal', logFormat: 'json' }),
    metrics: createMetrics(),
    addresses: [{ address: '127.0.0.1', port: 0 }],
    spoolDir,
    spoolBytesMax: 1e9,
    addressFiles: [],
    ownAsn: 0,
    threads: {
      receive: new URL('../../server/src/process/flow-receive-thread.ts', import.meta.url),
      batch: new URL('../../server/src/process/flow-batch-thread.ts', import.meta.url),
    },
  })
  try {
    if (!(await collector.listen())) throw new Error('the collector does not receive')
    const ownership = createOwnershipCache()
    using sending = attack(collector.addresses[0]!.port, target)
    void sending
    return await until(async () => {
      await ingestDeliveries(postgres, ownership)
      const { rows } = await sql`select from events where affected_network = ${`${target}/32`}`.execute(
        postgres.owner,
      )
      return rows.length > 0
    })
  } finally {
    await collector.stop()
  }
}

async function detectByFastNetMon(folder: string, target: string): Promise<number> {
  mkdirSync(folder, { recursive: true })
  const path = (name: string, content = '') => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const called = join(folder, 'called')
  const script = path(
    'notify.sh',
    `#!/bin/sh\ncat > /dev/null\n[ "$4" = ban ] && touch '${called}'\nexit 0\n`,
  )
  chmodSync(script, 0o755)
  const port = 20_000 + (process.pid % 20_000)
  const settings = {
    disable_usage_report: 'on',
    enable_ban: 'on',
    ban_for_pps: 'on',
    threshold_pps: thresholdPps,
    average_calculation_time: 5,
    speed_calculation_delay: 1,
    process_incoming_traffic: 'on',
    monitor_local_ip_addresses: 'off',
    netflow: 'on',
    netflow_host: '127.0.0.1',
    netflow_port: port,
    netflow_sampling_ratio: 1,
    networks_list_path: path('networks', '203.0.113.0/24\n'),
    white_list_path: path('white'),
    notify_script_path: script,
    cli_stats_file_path: path('stats'),
    cli_stats_ipv6_file_path: path('stats6'),
    enable_api: 'off',
    prometheus: 'off',
  }
  const configuration = path(
    'fastnetmon.conf',
    Object.entries(settings)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join(''),
  )
  const detector = spawn(
    programPath('fastnetmon'),
    [`--configuration_file=${configuration}`, `--log_file=${join(folder, 'log')}`, '--disable_pid_logic'],
    { stdio: 'ignore' },
  )
  try {
    // The peer needs a moment to listen and to have rates.
    await sleep(3000)
    using sending = attack(port, target)
    void sending
    return await until(() => existsSync(called))
  } finally {
    const exit = once(detector, 'exit')
    detector.kill('SIGKILL')
    await exit
    rmSync(folder, { recursive: true, force: true })
  }
}
