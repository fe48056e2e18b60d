// The collector and the embedded ClickHouse are killed while flows arrive. Every batch in the spool is stored exactly once, and its rollups too.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { createTestDatabase } from '../src/db/testing.ts'
import { createFlowStore } from '../src/drivers/clickhouse/flow-store.ts'
import { createExportState, encodeIpfix } from '../../demo/src/traffic/datagrams.ts'
import { wordsOf, type DemoFlow } from '../../demo/src/traffic/model.ts'
import { scaled } from '../src/runtime/testing-scale.ts'
import { until } from '../../lab/src/wait.ts'

const script = fileURLToPath(new URL('support/flow-collector-process.ts', import.meta.url))
const kills = scaled(10)
const sentMs = 10
const flowsAtOnce = 60

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(() => resolve()))
  return port
}

test(
  `${kills} kills of the collector and of ClickHouse lose no batch of the spool and double none`,
  { timeout: 3_600_000 },
  async (context) => {
    await using database = await createTestDatabase()
    const { owner } = database.postgres
    await sql`insert into teams (slug, name) values ('one', 'One'), ('two', 'Two')`.execute(owner)
    await sql`insert into prefixes (team_id, prefix) values (1, '203.0.113.0/24'), (2, '198.51.100.0/25')`.execute(
      owner,
    )
    const dataDir = mkdtempSync(join(tmpdir(), 'pharos-flow-crash-'))
    const port = await freeUdpPort()
    const sender = startSender(port)
    let acknowledged = 0
    let child: ChildProcess | undefined
    const start = async (): Promise<void> => {
      const started = spawn(process.execPath, [script], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: {
          PATH: process.env['PATH'],
          DATABASE_URL: database.databaseUrl,
          DATA_DIR: dataDir,
          FLOW_PORT: String(port),
        },
      })
      child = started
      const ready = Promise.withResolvers<void>()
      createInterface(started.stdout!).on('line', (line) => {
        if (line === 'ready') ready.resolve()
        else acknowledged += Number(line)
      })
      void once(started, 'exit').then(() => ready.reject(new Error('the collector ended')))
      await ready.promise
    }
    const kill = async (): Promise<void> => {
      const exit = once(child!, 'close')
      child!.kill('SIGKILL')
      await exit
    }
    try {
      await start()
      for (let round = 0; round < kills; round++) {
        const before = acknowledged
        await until(() => acknowledged > before)
        await sleep(Math.random() * 700)
        // Each third time ClickHouse alone.
        if (round % 3 === 2 && killClickHouse(dataDir)) continue
        await kill()
        await start()
      }
      const before = acknowledged
      await until(() => acknowledged > before)
      const sent = await sender.stop()
      await until(() => readdirSync(join(dataDir, 'spool')).every((name) => !name.includes('.native')))
      // Open batches are written within a second after the sender stopped, and inserted.
      let settled = -1
      while (settled !== acknowledged) {
        settled = acknowledged
        await sleep(3_000)
        await until(() => readdirSync(join(dataDir, 'spool')).every((name) => !name.includes('.native')))
      }
      const store = createFlowStore({
        url: null,
        dataDir,
        retention: { flowDays: 3650, rollupDays: 3650 },
        log: () => {},
      })
      const [raw] = await store.query<{ rows: number; distinct: number; total: number }>(
        'select count() as rows, uniqExact(team_id, bytes) as distinct, sum(bytes) as total from flows',
        {},
      )
      context.diagnostic(`${sent} flows sent, ${acknowledged} rows acknowledged, ${raw!.rows} stored`)
      assert.ok(raw!.rows >= acknowledged, `${raw!.rows} rows, ${acknowledged} acknowledged`)
      assert.equal(raw!.distinct, raw!.rows, 'no row is stored twice')
      assert.ok(raw!.rows <= sent * 2)
      for (const family of ['protocol', 'service', 'interface'])
        for (const step of ['1m', '1h'])
          assert.deepEqual(
            await store.query(
              `select sum(flows) as rows, sum(bytes) as total from flows_by_${family}_${step}`,
              {},
            ),
            [{ rows: raw!.rows, total: raw!.total }],
            `${family} ${step}`,
          )
      await store.close()
    } finally {
      await sender.stop()
      await kill()
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 })
    }
  },
)

/** Each flow has another number of bytes, and two teams. */
function startSender(port: number) {
  const socket = createSocket('udp4')
  const state = createExportState(Date.now())
  let sent = 0
  const timer = setInterval(() => {
    const flows = Array.from({ length: flowsAtOnce }, (_, at): DemoFlow => ({
      exporter: 0,
      inIf: 1,
      outIf: 2,
      src: wordsOf('198.51.100.7'),
      dst: wordsOf('203.0.113.5'),
      srcPort: 1024 + ((sent + at) % 30_000),
      dstPort: 443,
      protocol: 6,
      tcpFlags: 0,
      fragment: false,
      bytes: 1_000 + sent + at,
      packets: 1 + Math.floor((sent + at) / 1_000),
    }))
    sent += flows.length
    for (const datagram of encodeIpfix(flows, state, Date.now()))
      socket.send(datagram, port, '127.0.0.1', () => {})
  }, sentMs)
  let isStopped = false
  return {
    async stop(): Promise<number> {
      clearInterval(timer)
      if (!isStopped) await new Promise<void>((resolve) => socket.close(() => resolve()))
      isStopped = true
      return sent
    },
  }
}

function killClickHouse(dataDir: string): boolean {
  const file = join(dataDir, 'clickhouse.pid')
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : Number.NaN
  if (!Number.isInteger(pid) || pid <= 1) return false
  try {
    process.kill(pid, 'SIGKILL')
    return true
  } catch {
    return false
  }
}
