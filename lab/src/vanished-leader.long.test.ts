// A reconciler that vanished: its machine loses its link, or its process is suspended. Neither its TCP connection nor its lock is
// released, and another reconciler must still take over its regions (docs/operating/failures.md, "When a machine vanishes").
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openPostgres, type Postgres } from '../../server/src/db/postgres.ts'
import { freePort } from './address.ts'
import type { BirdLog } from './bird-log.ts'
import { createNamespace, skipWithoutNamespaces, type Namespace } from './namespace.ts'
import { createLab, type Lab } from './network.ts'
import { Pharos } from './pharos.ts'
import { labPerson, prefixPlatform } from './prefix-platform.ts'
import { skipWithout } from './program.ts'
import { startTcpPostgres } from './tcp-postgres.ts'
import { waitFor } from './wait.ts'

const prefixes = ['203.0.113.0/24', '198.51.100.0/24', '192.0.2.0/24', '2001:db8:a::/48', '2001:db8:b::/48']
const skip = skipWithout('gobgpd', 'gobgp', 'bird', 'birdc', 'setpriv') || skipWithoutNamespaces()

describe('a leader that vanished', { skip, timeout: 600_000 }, () => {
  const stack = new AsyncDisposableStack()
  let namespace: Namespace
  let lab: Lab
  let postgres: Postgres
  let remote: Pharos
  let local: Pharos
  let bird: BirdLog

  before(async () => {
    namespace = stack.use(await createNamespace())
    lab = stack.use(await createLab({ regions: ['ams'], subnets: [namespace.subnet] }))
    const { databaseUrl } = stack.use(await startTcpPostgres(lab.folder, `${namespace.subnet}.1`))
    postgres = stack.use(await openPostgres({ databaseUrl, dataDir: '' }))
    const platformFile = join(lab.folder, 'platform.yaml')
    writeFileSync(platformFile, JSON.stringify(prefixPlatform(lab, prefixes)))
    const build = async (name: string, rest: object) => {
      const folder = join(lab.folder, name)
      mkdirSync(folder)
      const settings = { DATABASE_URL: databaseUrl, PHAROS_SECRET: 'a secret of 32 bytes for the lab only' }
      return stack.use(new Pharos({ folder, platformFile, port: await freePort(), settings, ...rest }))
    }
    local = await build('local', {})
    remote = await build('remote', { host: namespace.address, within: namespace.command })
    await local.command('migrate')
    await local.apply()
    await remote.start()
    await waitFor('every prefix is announced', async () => {
      return (await lab.birdRoutes('ams')).length === prefixes.length
    })
    await local.start()
    bird = stack.use(lab.watchBirdRoutes('ams'))
  })
  after(() => stack.disposeAsync())

  /** The address of the process with the region's lock, and its epoch. */
  async function leader(): Promise<{ address: string; epoch: number } | undefined> {
    const client = await postgres.directConnection()
    try {
      const { rows } = await client.query<{ address: string; epoch: number }>(`
        select host(a.client_addr) as address, r.epoch
        from regions r join pg_locks l on l.locktype = 'advisory' and l.objid = r.id::oid and l.objsubid = 2 and l.granted
          and l.classid = ${0x70686172} join pg_stat_activity a on a.pid = l.pid`)
      return rows[0]
    } finally {
      await client.end()
    }
  }

  /** Resolves when a session of that address has tried in vain to acquire the region's lock since the call. */
  async function waitsFor(address: string): Promise<void> {
    const client = await postgres.directConnection()
    try {
      const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now')
      await waitFor(`${address} is a standby`, async () => {
        const asked = await client.query(
          `select from pg_stat_activity where host(client_addr) = $1 and query_start > $2
            and query like '%pg_try_advisory_lock($1, $2)%'
            and pid not in (select pid from pg_locks where locktype = 'advisory' and classid = ${0x70686172})`,
          [address, rows[0]!.now],
        )
        return asked.rowCount! > 0
      })
    } finally {
      await client.end()
    }
  }

  /** Withdraws a prefix at the remaining one, while the leader is away, and checks everything. */
  async function lose(
    left: Pharos,
    vanish: () => Promise<void>,
    comeBack: () => Promise<void>,
    prefix: string,
  ) {
    const api = await signIn(left)
    const announcement = (await api.list()).find(({ cidr }) => cidr === prefix)!
    const before = (await leader())!
    bird.clear()
    await vanish()
    try {
      assert.equal((await api.patch(announcement.id, { enabled: false })).status, 200)
      await bird.saw('removed', prefix)
    } finally {
      await comeBack()
    }
    const after = (await leader())!
    assert.notEqual(after.address, before.address)
    assert.ok(after.epoch > before.epoch)
    await waitsFor(before.address)
    assert.deepEqual(await leader(), after, 'the region was taken over again')
    assert.equal((await api.patch(announcement.id, { enabled: true })).status, 200)
    await bird.saw('announced', prefix)
    await waitFor('the status', async () => (await api.get(announcement.id)).status === 'announced')
    assert.deepEqual(bird.lost, [prefix], 'nothing else was withdrawn')
    assert.equal((await lab.birdRoutes('ams')).length, prefixes.length)
    assert.equal(await remote.isReady(), true)
    assert.equal(await local.isReady(), true)
  }

  it('is detected by the server, which sends probes on every direct connection', async () => {
    const client = await postgres.directConnection()
    const { rows } = await client.query(
      `select name, setting from pg_settings where name ~ '^tcp_(user|keep)' order by name`,
    )
    await client.end()
    assert.deepEqual(
      rows.map(({ name, setting }) => `${name} ${setting}`),
      [
        'tcp_keepalives_count 3',
        'tcp_keepalives_idle 10',
        'tcp_keepalives_interval 5',
        'tcp_user_timeout 20000',
      ],
    )
  })

  it('with its link is replaced, and is a standby once the link is back', async () => {
    assert.equal((await leader())?.address, namespace.address)
    const [down, up] = [() => namespace.setLink('down'), () => namespace.setLink('up')]
    await lose(local, down, up, prefixes[0]!)
    assert.equal((await leader())?.address, `${namespace.subnet}.1`)
  })

  it('that is suspended is replaced, and is a standby when it continues', async () => {
    const isRemote = (await leader())?.address === namespace.address
    const [leading, standby] = isRemote ? [remote, local] : [local, remote]
    const stop = async () => leading.signal('SIGSTOP')
    const goOn = async () => leading.signal('SIGCONT')
    await lose(standby, stop, goOn, prefixes[1]!)
  })
})

async function signIn({ url }: Pharos) {
  const json = { 'content-type': 'application/json' }
  const body = JSON.stringify(labPerson)
  const signedIn = await fetch(`${url}/v3/session/token`, { method: 'POST', headers: json, body })
  const { access } = (await signedIn.json()) as { access: string }
  const headers = { ...json, authorization: `Bearer ${access}` }
  const call = (path: string, init: object = {}) =>
    fetch(`${url}/v3/ipam/announcements${path}`, { headers, signal: AbortSignal.timeout(180_000), ...init })
  type Announcement = { id: number; cidr: string; status: string }
  return {
    list: async () => ((await (await call('')).json()) as { results: Announcement[] }).results,
    get: async (id: number) => (await (await call(`/${id}`)).json()) as Announcement,
    patch: (id: number, patch: object) => call(`/${id}`, { method: 'PATCH', body: JSON.stringify(patch) }),
  }
}
