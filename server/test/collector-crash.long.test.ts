// Processes of the collector are killed (SIGKILL) at random moments while they poll, and so are their connections to
// PostgreSQL. Afterwards the minutes of each port have exactly the octets that its counters have increased by, for
// exactly the time between the first and the last reading, without losses and duplicates.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../src/db/testing.ts'
import { createRandom, testSeed } from './support/random.ts'
import { scaled } from '../src/runtime/testing-scale.ts'

const kills = scaled(12)
const devices = 4
const portsOfDevice = 5
/** Restarts take less than 15 minutes of this clock on a busy machine: a longer gap is not counted. */
const clockFactor = 20
const program = fileURLToPath(new URL('./support/collector-process.ts', import.meta.url))

let database: TestDatabase
before(async () => void (database = await createTestDatabase()))
after(() => database[Symbol.asyncDispose]())
const owner = () => database.postgres.owner

async function addDevices(): Promise<void> {
  const names = Array.from({ length: portsOfDevice }, (_, at) => `et-0/0/${at}`)
  const interfaces = names.map((name, at) => ({
    name,
    speed_bps: 1e11,
    in_bps: 1e9 * (at + 1),
    out_bps: 2e9,
  }))
  for (let at = 0; at < devices; at++)
    await sql`
      with device as (
        insert into devices (name, driver, settings) values (${`r${at}`}, 'sandbox', ${JSON.stringify({ interfaces })})
        returning id)
      insert into ports (circuit_id, name, device_id, interface_key)
      select ${`r${at} `} || name, name, device.id, name from device, unnest(${names}::text[]) name`.execute(
      owner(),
    )
}

type State = {
  readonly port: number
  readonly octets: string
  readonly at: number
  readonly dropped: string | null
}

/** The last reading of each port. */
async function readings(): Promise<State[]> {
  const { rows } = await sql<State>`
    select p.id as port, c.state -> 'values' ->> 'octetsIn' as octets, (c.state ->> 'at')::bigint as at, c.dropped
    from ports p join interface_counters c on c.interface_id = p.interface_id order by p.id`.execute(owner())
  return rows
}

/** The octets and the time of all minutes of each port, with the open one. */
async function counted(): Promise<{ port: number; octets: string; covered: number }[]> {
  const { rows } = await sql<{ port: number; octets: string; covered: number }>`
    select p.id as port,
      (coalesce((select sum(s.octets_in) from port_samples s where s.port_id = p.id), 0)
        + coalesce((c.open -> 'values' ->> 'octetsIn')::numeric, 0))::text as octets,
      (coalesce((select sum(s.covered_ms) from port_samples s where s.port_id = p.id), 0)
        + coalesce((c.open ->> 'coveredMs')::integer, 0))::integer as covered
    from ports p join interface_counters c on c.interface_id = p.interface_id order by p.id`.execute(owner())
  return rows
}

async function startCollector(start: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      DATABASE_URL: database.postgres.databaseUrl,
      CLOCK_START: String(start),
      CLOCK_FACTOR: String(clockFactor),
    },
  })
  await once(child.stdout!, 'data')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close')
  child.kill('SIGKILL')
  await closed
  // The lease would end by itself after a minute and a half.
  await sql`update device_states set lease_until = null, lease_owner = null`.execute(owner())
}

/** Ends the connections of the collector in the middle of whatever they do. */
const killConnections = () =>
  sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like '%interface_counters%' and pid <> pg_backend_pid()`.execute(
    owner(),
  )

describe('a collector that is killed', { timeout: 600_000 }, () => {
  it(`loses and doubles no octet in ${kills} kills, seed ${testSeed}`, async (t) => {
    const random = createRandom(testSeed)
    const start = Date.now()
    await addDevices()
    let child = await startCollector(start)
    const isRead = async () => (await readings()).length === devices * portsOfDevice
    while (!(await isRead())) await sleep(20)
    await kill(child)
    // Counting has a known beginning from here on.
    await sql`truncate port_samples`.execute(owner())
    await sql`update interface_counters set open = null, dropped = null`.execute(owner())
    const first = await readings()
    for (let killed = 0; killed < kills; killed++) {
      child = await startCollector(start)
      for (let cut = random.below(3); cut > 0; cut--) {
        await sleep(random.below(150))
        await killConnections()
      }
      await sleep(random.below(300))
      await kill(child)
    }
    const minutes = async () => {
      const { rows } = await sql<{ n: number }>`select count(*)::integer as n from port_samples`.execute(
        owner(),
      )
      return rows[0]!.n
    }
    // On a busy machine the collectors between two kills may not get far.
    child = await startCollector(start)
    while ((await minutes()) <= first.length * 3) await sleep(50)
    await kill(child)
    const last = await readings()
    const sums = await counted()
    for (const [at, { port, octets, at: since }] of first.entries()) {
      const { octets: lastOctets, at: until, dropped } = last[at]!
      assert.equal(dropped, null, `port ${port}`)
      assert.equal(BigInt(sums[at]!.octets), BigInt(lastOctets) - BigInt(octets), `port ${port}: octets`)
      assert.equal(sums[at]!.covered, until - since, `port ${port}: time`)
    }
    t.diagnostic(`${await minutes()} minutes of ${first.length} ports`)
  })
})
