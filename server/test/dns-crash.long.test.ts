// Each part of DNS is killed (SIGKILL) at random moments while clients change record sets: the API, the publisher and its substitute, the name
// server, BIND and Knot behind it, and a process of PostgreSQL, which then recovers from its log. Afterwards every acknowledged record is served
// everywhere with the stored serial, and at no time was a zone missing on a name server that had it.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { freePort } from '@pharos/lab/address'
import { startFollower, type Follower } from '@pharos/lab/dns-follower'
import { skipWithout } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { createTestDatabase } from '../src/db/testing.ts'
import type { Db, Postgres } from '../src/db/postgres.ts'
import { seedZone } from '../src/dns/testing.ts'
import { createFollower } from '../src/drivers/dns-follower/name-server.ts'
import { testKey } from '../src/drivers/dns-server/testing.ts'
import { parseName, parseZoneName, type ZoneName } from '../src/net/dns/name.ts'
import { recordType } from '../src/net/dns/type.ts'
import { createKeyRing, mac, seal } from '../src/runtime/secrets.ts'
import { createApiToken, formatApiToken } from '../src/session/api-token-format.ts'
import { addTeam, type TestApi } from './api.ts'
import { untilAcknowledged } from './support/persistent-client.ts'
import { createRandom, testSeed, type Random } from './support/random.ts'
import { ServerProcess } from './support/server-process.ts'
import { scaled } from '../src/runtime/testing-scale.ts'

const kills = scaled(7)
const writers = 4
const zones = ['one', 'two', 'three'].map((label) => parseZoneName(`${label}.crash.example`))

type Writes = {
  /** The last acknowledged value of each name. */
  readonly values: Map<string, number>
  readonly count: () => number
  stop(): Promise<void>
}

/** Starts clients, each with its own names, so that its last acknowledged value must be served. */
function startWriters(url: string, authorization: string): Writes {
  const values = new Map<string, number>()
  const stopping = new AbortController()
  let count = 0
  const write = async (writer: number): Promise<void> => {
    const random = createRandom(testSeed + writer)
    for (let value = 1; !stopping.signal.aborted; value++) {
      const zone = random.pick(zones)
      const label = `w${writer}-${random.below(3)}`
      const path = `/v3/dns/zones/${zone.slice(0, -1)}/recordsets/${label}/TXT`
      const body = { ttl: 300, records: [`"${value}"`] }
      const request = { method: 'PUT', path, key: randomUUID(), authorization, body } as const
      await untilAcknowledged([url], request, random, new AbortController().signal)
      values.set(`${label}.${zone}`, value)
      count++
      await sleep(random.below(30))
    }
  }
  const all = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  all.catch(() => {})
  return {
    values,
    count: () => count,
    async stop() {
      stopping.abort()
      await all
    },
  }
}

type Server = { readonly name: string; readonly address: string; readonly port: number }

/** Queries a server for all zones continuously. A zone that disappears after it was served is an outage. */
class Watch {
  readonly missing = new Set<string>()
  polls = 0
  readonly #server: Server
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #hasAll = false
  /** A follower that was killed reads its catalog again after its start. */
  #starts = 0

  constructor(server: Server) {
    this.#server = server
    this.#running = this.#run()
  }

  restarted(): void {
    this.#starts++
    this.#hasAll = false
  }

  async #run(): Promise<void> {
    const { name, address, port } = this.#server
    const client = createFollower({ address, port, key: testKey, timeoutMs: 500 })
    for (; !this.#stopping.signal.aborted; await sleep(50)) {
      const starts = this.#starts
      const serials = await client.serials(zones).catch(() => undefined)
      if (!serials || starts !== this.#starts) continue
      this.polls++
      const absent = zones.filter((zone) => serials.get(zone) === 'absent')
      if (this.#hasAll) for (const zone of absent) this.missing.add(`${zone} at ${name}`)
      this.#hasAll ||= zones.every((zone) => typeof serials.get(zone) === 'number')
    }
    await client.close()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }
}

async function addToken({ owner }: Postgres, secret: string, teamId: number): Promise<string> {
  const token = createApiToken()
  const secret_mac = mac(createKeyRing([secret]), 'api-token', token.secret)
  const scopes = ['dns:read', 'dns:write']
  await owner
    .insertInto('api_tokens')
    .values({ id: token.id, team_id: teamId, name: 'writer', secret_mac, scopes })
    .execute()
  return `Token ${formatApiToken(token)}`
}

async function addServers(db: Db, secret: string, peers: readonly Follower[]): Promise<void> {
  const sealed = seal(createKeyRing([secret]), 'tsig-key', testKey.secret, testKey.name)
  await sql`insert into dns_tsig_keys (name, algorithm, secret_sealed)
    values (${testKey.name}, ${testKey.algorithm}, ${sealed})`.execute(db)
  for (const { name, address, port } of peers)
    await sql`insert into dns_servers (name, address, port, tsig_key_id)
      select ${`${name.toLowerCase()}.example.`}, ${address}, ${port}, id from dns_tsig_keys`.execute(db)
}

/** PostgreSQL ends all connections and recovers from its log when a process of it is killed. */
async function killPostgres(db: Db): Promise<void> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() limit 1`.execute(
    db,
  )
  if (rows[0]) process.kill(rows[0].pid, 'SIGKILL')
}

const until = (what: string, isSo: () => Promise<boolean>): Promise<unknown> =>
  waitFor(what, () => isSo().catch(() => false))

/** Asserts that a server serves the stored serial of every zone and every acknowledged value, and all of them the same records. */
async function assertServed(db: Db, servers: readonly Server[], values: Writes['values']): Promise<void> {
  const contents = await Promise.all(
    servers.map(async ({ name, address, port }) => {
      const client = createFollower({ address, port, key: testKey, timeoutMs: 2_000 })
      await until(`${name} has the stored serials`, async () => {
        const { rows } = await sql<{ name: ZoneName; serial: number; is_published: boolean }>`
          select name, serial::float8 as serial, version = published_version as is_published from dns_zones
          where not is_catalog`.execute(db)
        const serials = await client.serials(zones)
        return rows.every((row) => row.is_published && serials.get(row.name) === row.serial)
      })
      for (const [owner, value] of values) {
        const { answers } = await client.ask({ name: parseName(owner), type: recordType.TXT, class: 1 })
        assert.deepEqual(
          answers.map(({ rdata }) => Buffer.from(rdata.subarray(1)).toString()),
          [String(value)],
          `${owner} at ${name}`,
        )
      }
      const lines = await Promise.all(
        zones.map((zone) =>
          Array.fromAsync(
            client.read(zone),
            ({ name: owner, type, ttl, rdata }) =>
              `${owner} ${type} ${ttl} ${Buffer.from(rdata).toString('hex')}`,
          ),
        ),
      )
      await client.close()
      return lines.flat().sort()
    }),
  )
  for (const content of contents.slice(1)) assert.deepEqual(content, contents[0])
}

describe('kills', { skip: skipWithout('named', 'knotd') }, () => {
  it(`of every part, ${kills} in all, lose no acknowledged record and remove no zone`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-dns-crash-'))
    await using database = await createTestDatabase({ durable: true })
    const db = database.postgres.owner
    const secret = randomBytes(32).toString('hex')
    const port = await freePort()
    const settings = {
      PHAROS_SECRET: secret,
      PHAROS_RATE_LIMIT_PER_SECOND: '100000',
      PHAROS_RATE_LIMIT_BURST: '1000000',
      PHAROS_ALLOW_DOCUMENTATION_RESOURCES: 'true',
      PHAROS_DNS_LISTEN: `127.0.0.1:${port}`,
      DATABASE_URL: database.databaseUrl,
    }
    const create = (role: string) => ServerProcess.create({ folder, settings, roles: [role] })
    const api = await create('api')
    const publishers = [await create('reconciler'), await create('reconciler')]
    const nameServer = await create('nameserver')
    const processes = [api, ...publishers, nameServer]
    const peers: Follower[] = []
    const watches = new Map<string, Watch>()
    let load: Writes | undefined
    try {
      const { teamId } = await addTeam({ database } as TestApi, 'red')
      const authorization = await addToken(database.postgres, secret, teamId)
      for (const name of zones) await seedZone(database.postgres, { teamId, name })
      for (const one of processes) await one.start()
      for (const name of ['BIND', 'Knot'] as const)
        peers.push(
          await startFollower(name, {
            primary: { address: '127.0.0.1', port },
            key: testKey,
            zones: [],
            catalog: 'catalog.pharos.invalid.',
          }),
        )
      await addServers(db, secret, peers)
      const servers: Server[] = [{ name: 'Pharos', address: '127.0.0.1', port }, ...peers]
      await until('all servers have all zones', async () => {
        await assertServed(db, servers, new Map())
        return true
      })
      for (const server of servers) watches.set(server.name, new Watch(server))
      load = startWriters(api.url, authorization)
      const random = createRandom(testSeed)
      const victims: readonly (() => Promise<void>)[] = [
        ...processes.map((one) => () => restart(one, random)),
        ...peers.map((peer) => async () => {
          await peer.stop('SIGKILL')
          await sleep(random.below(500))
          watches.get(peer.name)!.restarted()
          await peer.start()
        }),
        () => killPostgres(db).catch(() => {}),
      ]
      for (let killed = 0; killed < kills; killed++) {
        const target = load.count() + 1 + random.below(10)
        for (let waited = 0; load.count() < target && waited < 3_000; waited += 10) await sleep(10)
        await victims[killed % victims.length]!()
      }
      await load.stop()
      await assertServed(db, servers, load.values)
      await Promise.all([...watches.values()].map((watch) => watch.stop()))
      assert.deepEqual(
        [...watches.values()].flatMap(({ missing }) => [...missing]),
        [],
      )
      const { rows } = await sql`
        select name from dns_zones where deleted is not null or withdrawn is not null
        union all select kind from approvals`.execute(db)
      assert.deepEqual(rows, [])
      const polls = [...watches.values()].map(({ polls }) => polls).join(', ')
      t.diagnostic(`${load.count()} changes acknowledged; serials read ${polls} times`)
      assert.ok(load.count() > kills, 'too few changes')
    } catch (error) {
      const logs = processes.map(({ url, lastOutput }) => `${url}:\n${lastOutput}`).join('\n')
      throw new Error(`PHAROS_TEST_SEED=${testSeed}; ${String(error)}\n${logs}`, { cause: error })
    } finally {
      await Promise.all([...watches.values()].map((watch) => watch.stop()))
      await Promise.all(processes.map((one) => one.kill()))
      for (const peer of peers) await peer[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

async function restart(server: ServerProcess, random: Random): Promise<void> {
  await server.kill('SIGKILL')
  await sleep(random.below(300))
  await server.start()
}
