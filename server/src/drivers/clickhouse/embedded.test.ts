// The embedded ClickHouse through its failures: kills of the child, of its owner and of a writer, a full disk, other settings.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { FlowStore } from '../../flow/flow-store.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { isAlive } from '../../runtime/process-state.ts'
import { assertChdb } from './embedded.ts'
import { createFlowStore } from './flow-store.ts'
import type { Retention } from './retention.ts'
import { flowsBlock } from './testing.ts'
import { onlyInLongRun, scaled } from '../../runtime/testing-scale.ts'
import { waitFor } from '../../../../lab/src/wait.ts'

const skip = process.env.PHAROS_TEST_CLICKHOUSE_URL !== undefined && 'the server is elsewhere'
const kills = scaled(6)
const now = Math.floor(Date.now() / 1000)
const day = 86_400
const forever: Retention = { flowDays: 3650, rollupDays: 3650 }

describe('the embedded ClickHouse', { skip }, () => {
  let folder: string
  let stores: FlowStore[]
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pharos-chdb-'))
    stores = []
  })
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  const open = (
    retention = forever,
    dataDir = folder,
    log: (message: string) => void = () => {},
  ): FlowStore => {
    const store = createFlowStore({ url: null, dataDir, retention, log })
    stores.push(store)
    return store
  }
  const pidOf = (dataDir = folder): number =>
    Number(readFileSync(join(dataDir, 'clickhouse.pid'), 'utf8').split('\n')[0])

  it(
    'keeps every acknowledged block once, in the table and its rollups, while it is killed again and again',
    { skip: onlyInLongRun },
    async () => {
      const messages: string[] = []
      const store = open(forever, folder, (message) => messages.push(message))
      await store.probe()
      const rows = 20_000
      let killed = 0
      let acknowledged = 0
      const isDone = () => killed === kills
      const killer = async () => {
        while (!isDone()) {
          await sleep(50 + Math.random() * 500)
          const pid = pidOf()
          if (!isAlive(pid)) continue
          process.kill(pid, 'SIGKILL')
          killed++
        }
      }
      const writer = async () => {
        for (let number = 0; !isDone(); number++) {
          await insertUntilStored(store, flowsBlock(rows, 1, now - (number % 120)), `block-${number}`)
          acknowledged++
        }
      }
      await Promise.all([killer(), writer()])
      await waitFor('the store answers', () => countsOf(store).then(() => true, isAway))
      assert.deepEqual(await countsOf(store), counts(acknowledged * rows))
      assert.ok(messages.some((message) => /ended unexpectedly \(SIGKILL\); starting it again/.test(message)))
    },
  )

  it('stores a block once if its writer was killed and a successor repeats it', async () => {
    const store = open()
    await store.probe()
    const rows = 20_000
    let next = 0
    for (let time = 0; time < kills; time++) {
      const first = next
      const writer = startWriter([folder, String(first), String(rows), String(now)])
      const afterMs = 20 + Math.random() * 300
      for await (const line of writer.lines) {
        if (line === 'open') void sleep(afterMs).then(() => writer.kill())
        else next = Number(line) + 1
      }
    }
    // It is unknown whether the last block was stored.
    await insertUntilStored(store, flowsBlock(rows, 1, now), `block-${next}`)
    assert.deepEqual(await countsOf(store), counts((next + 1) * rows))
  })

  it(
    'stores a block that it was killed in between its token and its part',
    { skip: onlyInLongRun },
    async () => {
      const first = open()
      await insertUntilStored(first, flowsBlock(10, 1, now), 'whole')
      await insertUntilStored(first, flowsBlock(10, 1, now), 'cut')
      const [table] = await first.query<{ path: string }>(
        `select data_paths[1] as path from system.tables where name = 'flows_by_protocol_1m'`,
        {},
      )
      await first.close()
      // The token of a block is written before its part has its name: a kill in between leaves the first without the second.
      for (const name of readdirSync(table!.path))
        if (/_\d+_\d+_\d+$/.test(name)) rmSync(join(table!.path, name), { recursive: true })
      const messages: string[] = []
      const second = open(forever, folder, (message) => messages.push(message))
      await insertUntilStored(second, flowsBlock(10, 1, now), 'cut')
      await insertUntilStored(second, flowsBlock(10, 1, now), 'whole')
      assert.deepEqual(await countsOf(second), counts(20))
      assert.match(messages.join(), /^2 blocks .* inserted again$/)
    },
  )

  it('stores a block once in the rollups if it is repeated after the restart that follows the migration', async () => {
    const counts = async (store: FlowStore) =>
      await store.query(
        'select (select count() from flows) as raw, (select sum(flows) from flows_by_protocol_1m) as minutes, (select sum(flows) from flows_by_service_1h) as hours',
        {},
      )
    const first = open()
    await first.insert('flows', flowsBlock(100, 1, now), 'token')
    await first.close()
    const second = open()
    await second.insert('flows', flowsBlock(100, 1, now), 'token')
    assert.deepEqual(await counts(second), [{ raw: 100, minutes: 100, hours: 100 }])
  })

  it('is used by several processes, and started by the next one when its owner was killed', async () => {
    const owner = startWriter([folder, '0', '100', String(now)])
    await owner.line('0')
    const pid = pidOf()
    const store = open()
    assert.equal((await store.probe()).embedded, true)
    assert.equal(pidOf(), pid)
    await insertUntilStored(store, flowsBlock(7, 2, now), 'second')
    await owner.kill()
    await waitFor('the child ends without its owner', () => !isAlive(pid))
    await waitFor('the second process starts it', () => countsOf(store, 2).then(() => true, isAway))
    assert.deepEqual(await countsOf(store, 2), counts(7))
    assert.notEqual(pidOf(), pid)
  })

  it('ends a child that outlived its owner, and starts its own', { skip: onlyInLongRun }, async () => {
    const owner = startWriter([folder, '0', '100', String(now)])
    await owner.line('0')
    const pid = pidOf()
    // A stopped process does not notice the end of its owner.
    process.kill(pid, 'SIGSTOP')
    await owner.kill()
    const messages: string[] = []
    const store = open(forever, folder, (message) => messages.push(message))
    await store.probe()
    await waitFor('the orphan ends', () => !isAlive(pid))
    assert.deepEqual(messages, ['ended an embedded ClickHouse that outlived its Pharos'])
  })

  it('does not execute queries whose client has gone while they waited', async () => {
    const store = open()
    await store.probe()
    const socketPath = readFileSync(join(folder, 'clickhouse.pid'), 'utf8').split('\n')[1]!
    const slow = encodeURIComponent('select sleepEachRow(1) from numbers(2)')
    const requests = Array.from({ length: 100 }, () => {
      const request = httpRequest({ socketPath, path: `/?query=${slow}`, method: 'POST', agent: false })
      request.on('error', () => {})
      request.end()
      return request
    })
    await waitFor('all are connected', () => requests.every(({ socket }) => socket?.connecting === false))
    await sleep(200)
    for (const request of requests) request.destroy()
    // The four running statements take 2 s; the waiting ones would take 48 s more, beyond the limit of this statement.
    assert.deepEqual(await store.query('select 1 as one', {}, { seconds: 5 }), [{ one: 1 }])
  })

  it('runs in a folder whose path is too long for a socket, and lets no other user read it', async () => {
    const dataDir = join(folder, 'a'.repeat(120))
    const store = open(forever, dataDir)
    assert.equal((await store.probe()).embedded, true)
    const socketPath = readFileSync(join(dataDir, 'clickhouse.pid'), 'utf8').split('\n')[1]!
    for (const path of [socketPath, join(dataDir, 'clickhouse'), join(dataDir, 'clickhouse.incoming')])
      assert.equal(statSync(path).mode & 0o077, 0, path)
    assert.ok(!socketPath.startsWith(folder))
  })

  it('ends with its store, and keeps the rows', async () => {
    const first = open()
    await first.insert('flows', flowsBlock(10, 1, now), 'kept')
    const pid = pidOf()
    await first.close()
    assert.equal(isAlive(pid), false)
    const second = open()
    await second.insert('flows', flowsBlock(10, 1, now), 'kept')
    assert.deepEqual(await countsOf(second), counts(10))
  })

  it(
    'deletes rows beyond the retention, also of one that was shortened',
    { skip: onlyInLongRun },
    async () => {
      const first = open()
      await first.insert('flows', flowsBlock(10, 1, now - 5 * day), 'old')
      await first.insert('flows', flowsBlock(10, 1, now), 'new')
      assert.deepEqual(await countsOf(first), counts(20))
      await first.close()
      const second = open({ flowDays: 3, rollupDays: 400 })
      await second.probe()
      for (const table of ['flows', 'flows_by_protocol_1m'])
        await second.command(`optimize table ${table} final`)
      const [row] = await second.query<{ kept: number[] }>(
        `select [(select count() from flows), (select sum(flows) from flows_by_protocol_1m),
        (select sum(flows) from flows_by_protocol_1h)] as kept`,
        {},
      )
      assert.deepEqual(row!.kept, [10, 10, 20])
    },
  )

  const noTmpfs = process.getuid?.() !== 0 && 'only root mounts a tmpfs'
  it(
    'postpones inserts while its disk is full, and works on when there is space',
    { skip: noTmpfs || onlyInLongRun },
    async () => {
      const dataDir = join(folder, 'full')
      mkdirSync(dataDir)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', dataDir])
      try {
        const store = open(forever, dataDir)
        const pid = await store.probe().then(() => pidOf(dataDir))
        let error: unknown
        for (let number = 0; number < 200 && error === undefined; number++)
          error = await store.insert('flows', noise(100_000), `block-${number}`).then(
            () => undefined,
            (thrown: unknown) => thrown,
          )
        assert.ok(error instanceof DriverError)
        assert.equal(error.kind, 'postponed', error.message)
        assert.equal(pidOf(dataDir), pid)
        await store.command('alter table flows drop partition {day:UInt32}', {
          day: Number(new Date(now * 1000).toISOString().slice(0, 10).replaceAll('-', '')),
        })
        await insertUntilStored(store, flowsBlock(10, 9, now), 'after')
        assert.deepEqual(await countsOf(store, 9), counts(10))
        await store.close()
      } finally {
        execFileSync('umount', ['-l', dataDir])
      }
    },
  )

  it('is missing on other platforms, with what to install', () => {
    assert.throws(
      () => assertChdb('linux-riscv64'),
      (error: DriverError) =>
        error.kind === 'unreachable' && /CLICKHOUSE_URL.*npm ci --include=optional/.test(error.message),
    )
  })

  it('reports a folder that cannot be used as unreachable, and starts nothing', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    const store = open(forever, file)
    await assert.rejects(store.query('select 1', {}), (error: DriverError) => error.kind === 'unreachable')
  })
})

/** Random addresses and ports, which do not compress. */
function noise(rows: number): Uint8Array {
  const block = flowsBlock(rows, 1, now)
  const at =
    Buffer.from(block.buffer, block.byteOffset, block.length).indexOf('src_addr') + 'src_addr'.length + 5
  randomFillSync(block, at, 16 * rows)
  return block
}

function startWriter(args: readonly string[]) {
  const script = fileURLToPath(new URL('testing-writer.ts', import.meta.url))
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
  const exited = once(child, 'exit')
  const lines = createInterface(child.stdout)
  return {
    lines,
    async line(wanted: string): Promise<void> {
      for await (const line of lines) if (line === wanted) return
      throw new Error(`the writer ended before it printed ${wanted}`)
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Like the collector: a block waits until it is stored. */
async function insertUntilStored(store: FlowStore, block: Uint8Array, token: string): Promise<void> {
  for (const deadline = performance.now() + 300_000; ;) {
    try {
      return await store.insert('flows', block, token)
    } catch (error) {
      const isLater = error instanceof DriverError && error.kind !== 'refused'
      if (!isLater || performance.now() > deadline) throw error
      await sleep(20)
    }
  }
}

async function countsOf(store: FlowStore, team = 1): Promise<number[]> {
  const rollups = ['protocol', 'service', 'interface'].flatMap((one) => [
    `flows_by_${one}_1m`,
    `flows_by_${one}_1h`,
  ])
  const sums = rollups.map((table) => `(select sum(flows) from ${table} where team_id = {team:UInt32})`)
  const [row] = await store.query<{ counts: number[] }>(
    `select [(select count() from flows where team_id = {team:UInt32}), ${sums.join(', ')}] as counts`,
    { team },
  )
  return row!.counts
}

const counts = (count: number): number[] => Array.from({ length: 7 }, () => count)

function isAway(error: unknown): false {
  if (error instanceof DriverError && error.kind === 'unreachable') return false
  throw error
}
