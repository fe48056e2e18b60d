// Two releases run on one database while clients work: the older one on the schema of the newer one, with each role
// once in the older and once in the newer release. No answer is 5xx, no route leaves the router, and every acknowledged
// change stays.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { freePort } from '../../lab/src/address.ts'
import { skipWithout } from '../../lab/src/program.ts'
import { seedAnnouncement, seedRegions, seedTeam } from '../src/byoip/announcement/testing.ts'
import { createTestDatabase, type TestDatabase } from '../src/db/testing.ts'
import { seedZone } from '../src/dns/testing.ts'
import { createKeyRing } from '../src/runtime/secrets.ts'
import { addApiToken } from './support/credentials.ts'
import { prepareReleases, type Release } from './support/releases.ts'
import { startRouter, watchRouter } from './support/router.ts'
import { ServerProcess } from './support/server-process.ts'

const secret = randomBytes(32).toString('hex')
const ownerCommunity = '64500:1:1'
const zone = 'harbor.example'
const listPrefix = '198.18.7.0/24'
const stable = Array.from({ length: 20 }, (_, at) => `100.64.${at}.0/24`)
const run = promisify(execFile)

type Scene = { readonly authorization: string; readonly toggled: number }

async function seed(database: TestDatabase, router: string): Promise<Scene> {
  const { postgres } = database
  const regions = await seedRegions(postgres, ['ams'])
  const speaker = { name: 'r1', kind: 'gobgp', address: router, owner: ownerCommunity, insecure: true }
  await sql`update regions set speakers = ${JSON.stringify([speaker])}::jsonb`.execute(postgres.owner)
  const teamId = await seedTeam(postgres, 'ours', ['ipam', 'dns', 'shield'])
  for (const prefix of [...stable, '203.0.113.0/24'])
    await seedAnnouncement(postgres, { teamId, prefix, enabled: true, regions: [regions['ams']!] })
  const { rows } = await sql<{
    id: number
  }>`select id from announcements where prefix = '203.0.113.0/24'`.execute(postgres.owner)
  await postgres.owner.insertInto('prefixes').values({ team_id: teamId, prefix: listPrefix }).execute()
  await seedZone(postgres, { teamId, name: zone })
  const scopes = ['ipam:read', 'ipam:write', 'dns:read', 'dns:write', 'shield:read', 'shield:write']
  const token = await addApiToken({ database, config: { secret: createKeyRing([secret]) } }, teamId, {
    scopes,
    isAdmin: true,
  })
  return { authorization: `Token ${token}`, toggled: rows[0]!.id }
}

/** Requests of one kind after the other, to a server that is in use when they are sent. */
class Load {
  readonly failures: string[] = []
  /** The number of rounds that were answered. */
  rounds = 0
  /** The server that further requests are sent to. */
  url: string
  readonly #scene: Scene
  #stopped = false
  readonly #clients: Promise<unknown>

  constructor(scene: Scene, url: string) {
    this.#scene = scene
    this.url = url
    this.#clients = Promise.all([this.#work(0), this.#work(1), this.#work(2)])
    this.#clients.catch(() => {})
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#clients
  }

  /** Resolves after this many further rounds. */
  async untilRounds(count: number): Promise<void> {
    const until = this.rounds + count
    for (const deadline = performance.now() + 300_000; this.rounds < until; await sleep(20))
      assert.ok(
        performance.now() < deadline,
        `${this.rounds} of ${until} rounds; ${this.failures.join('\n')}`,
      )
  }

  async #work(client: number): Promise<void> {
    for (let round = 0; !this.#stopped; round++) {
      const record = { name: `c${client}-${round}`, type: 'A', records: ['192.0.2.7'], ptr: false }
      const rules = [{ action: 'deny', protocol: 'udp', source_port: String(1 + (round % 9)) }]
      if (client === 0) {
        await this.#send('PATCH', `/v3/ipam/announcements/${this.#scene.toggled}`, {
          enabled: true,
          region: 'ams',
          description: `round ${round}`,
        })
        await this.#send('PUT', '/v3/lighthouse/security/shield/rules', {
          prefix: listPrefix,
          rules,
          force: true,
        })
      }
      if (round < 40) await this.#send('POST', `/v3/dns/zones/${zone}/recordsets`, record)
      await this.#send('GET', `/v3/dns/zones/${zone}`)
      await this.#send('GET', '/v3/ipam/announcements?limit=5')
      this.rounds++
    }
  }

  async #send(method: string, path: string, body?: object): Promise<void> {
    try {
      const response = await fetch(this.url + path, {
        method,
        headers: { authorization: this.#scene.authorization, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      if (!response.ok) this.failures.push(`${method} ${path}: ${response.status} ${text}`)
    } catch (error) {
      this.failures.push(`${method} ${path}: ${String((error as Error).cause ?? error)}`)
    }
  }
}

async function untilAnnounced({ postgres }: TestDatabase): Promise<void> {
  for (const deadline = performance.now() + 300_000; ; await sleep(100)) {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from announcement_regions where state = 'announced' or reason = 'no_neighbor'`.execute(
      postgres.owner,
    )
    if (rows[0]!.n === stable.length + 1) return
    assert.ok(performance.now() < deadline, `${rows[0]!.n} are announced`)
  }
}

describe('an upgrade', { skip: skipWithout('gobgpd', 'gobgp'), timeout: 1_800_000 }, () => {
  it('runs both releases side by side, and the older one until it is finished', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-upgrade-'))
    mkdirSync(join(folder, 'none'))
    await using database = await createTestDatabase({ migrations: join(folder, 'none') })
    const { old, next } = prepareReleases(folder)
    const dnsPort = await freePort()
    const settings = {
      DATABASE_URL: database.databaseUrl,
      // No flow store: rules of a list are saved with force.
      CLICKHOUSE_URL: 'http://127.0.0.1:1/pharos',
      PHAROS_SECRET: secret,
      PHAROS_RATE_LIMIT_PER_SECOND: '100000',
      PHAROS_RATE_LIMIT_BURST: '1000000',
      PHAROS_RECONCILE_INTERVAL_SECONDS: '1',
    }
    const servers: ServerProcess[] = []
    const start = async ({ program }: Release, ...roles: string[]) => {
      const server = await ServerProcess.create({
        folder,
        roles,
        program,
        settings: roles.includes('nameserver')
          ? { ...settings, PHAROS_DNS_LISTEN: `127.0.0.1:${dnsPort}`, PHAROS_DNS_REUSE_PORT: 'true' }
          : settings,
      })
      servers.push(server)
      await server.start()
      return server
    }
    const migrate = async ({ program }: Release, ...args: string[]) =>
      await run(process.execPath, [program, 'migrate', ...args], {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...settings },
      })

    await migrate(old)
    const router = await startRouter(folder)
    let load: Load | undefined
    try {
      const scene = await seed(database, router.apiAddress)
      const oldApi = await start(old, 'api')
      const oldReconciler = await start(old, 'reconciler', 'nameserver')
      await untilAnnounced(database)
      const stopWatching = watchRouter(router.apiAddress, ownerCommunity, stable)
      load = new Load(scene, oldApi.url)
      await load.untilRounds(9)

      const expanded = await migrate(next)
      assert.match(expanded.stdout, /^applied \d{3}-\S+\.sql\n/)
      await load.untilRounds(9)

      // The older api with the newer reconciler.
      const nextReconciler = await start(next, 'reconciler', 'nameserver')
      await oldReconciler.kill('SIGTERM')
      await load.untilRounds(9)
      await untilAnnounced(database)

      // The newer api with the older reconciler: the way back is open.
      const nextApi = await start(next, 'api')
      await oldReconciler.start()
      await nextReconciler.kill('SIGTERM')
      load.url = nextApi.url
      await load.untilRounds(9)
      await oldApi.kill('SIGTERM')
      await load.untilRounds(9)
      await untilAnnounced(database)
      await assert.rejects(migrate(next, '--finish'), ({ stderr }: { stderr: string }) => {
        assert.ok(stderr.startsWith(`Processes older than ${next.version} still run: `), stderr)
        assert.match(
          stderr,
          new RegExp(`\\(Pharos ${RegExp.escape(old.version)}, reconciler, nameserver, seen \\d+ s ago\\)`),
        )
        return true
      })

      await nextReconciler.start()
      await oldReconciler.kill('SIGTERM')
      const finished = await migrate(next, '--finish')
      assert.match(finished.stdout, /^applied \d{3}-\S+\.sql\n/)
      await load.untilRounds(9)

      await assert.rejects(oldReconciler.start(), /the server did not start/)
      assert.match(
        oldReconciler.lastOutput,
        new RegExp(
          `This is Pharos ${RegExp.escape(old.version)}, and the upgrade of the database to ${RegExp.escape(next.version)} was finished\\.`,
        ),
      )
      await load.stop()
      await untilAnnounced(database)
      assert.deepEqual(load.failures, [])
      const { missing, polls } = await stopWatching()
      assert.deepEqual([...missing], [], 'a prefix was missing on the router')
      await assertServed(database, dnsPort)
      t.diagnostic(`${load.rounds} rounds of requests, ${polls} polls of the router`)
    } catch (error) {
      const output = servers.map(({ url, lastOutput }) => `${url}:\n${lastOutput}`).join('\n')
      throw new Error(`${String(error)}\n${output}`, { cause: error })
    } finally {
      await load?.stop()
      await Promise.all(servers.map((server) => server.kill()))
      await router.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

it(
  'ends an older process that was out of reach when the upgrade was finished',
  { timeout: 600_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-upgrade-'))
    await using database = await createTestDatabase()
    const settings = { DATABASE_URL: database.databaseUrl, PHAROS_SECRET: secret }
    const server = await ServerProcess.create({ folder, settings, roles: ['api'] })
    try {
      await server.start()
      await sql`update installation set schema_floor = '99.0.0'`.execute(database.postgres.owner)
      assert.equal(await server.exit(), 0, server.lastOutput)
      assert.match(server.lastOutput, /the upgrade of the database to 99\.0\.0 was finished/)
    } finally {
      await server.kill()
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

/** Every record set that was created is stored, and the name server answers with it. */
async function assertServed({ postgres }: TestDatabase, port: number): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select distinct name from dns_recordsets where name ~ '^c[0-9]' order by name`.execute(postgres.owner)
  assert.ok(rows.length > 0)
  const resolver = new Resolver({ timeout: 5_000, tries: 2 })
  resolver.setServers([`127.0.0.1:${port}`])
  for (const { name } of rows) {
    const question = name.endsWith('.') ? name : `${name}.${zone}`
    const ask = () => resolver.resolve4(question).catch(() => [])
    for (const deadline = performance.now() + 120_000; (await ask()).length === 0; await sleep(100))
      assert.ok(performance.now() < deadline, `${question} is not served`)
  }
}
