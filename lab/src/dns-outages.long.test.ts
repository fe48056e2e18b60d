// A zone from enabling DNSSEC over a rollover to disabling it, while every part is killed and started again: no resolver fails, and no change that was
// acknowledged is lost.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort, randomSubnet } from './address.ts'
import { labKey, labZone, startDnsNetwork, type DnsNetwork } from './dns-network.ts'
import { DnsProber } from './dns-prober.ts'
import { writeLabPlatform } from './lab-platform.ts'
import { Pharos } from './pharos.ts'
import { programPath, skipWithout } from './program.ts'
import { startTcpPostgres, type TcpPostgres } from './tcp-postgres.ts'
import { waitFor } from './wait.ts'

const run = promisify(execFile)
const skip = skipWithout('nsd', 'named', 'knotd', 'knotc', 'unbound', 'dig', 'setpriv')

type Dnssec = {
  readonly status: string
  readonly ds_records: readonly string[]
  readonly keys: readonly { readonly state: string }[]
}

describe('a zone while parts of DNS are killed', { skip, timeout: 300_000 }, () => {
  const stack = new AsyncDisposableStack()
  let dns: DnsNetwork
  let postgres: TcpPostgres
  let api: Pharos
  let publisher: Pharos
  let nameserver: Pharos
  let token: string
  /** Names of record sets that were acknowledged. */
  const acknowledged: string[] = []

  before(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pharos-lab-'))
    if (process.env['PHAROS_LAB_KEEP'] !== '1')
      stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
    dns = stack.use(await startDnsNetwork({ folder }))
    postgres = stack.use(await startTcpPostgres(folder, `${randomSubnet()}.1`))
    const platformFile = await writeLabPlatform(folder, { dns })
    const settings = {
      ...dns.settings,
      DATABASE_URL: postgres.databaseUrl,
      PHAROS_SECRET: 'a secret of 32 bytes for the lab only',
      PHAROS_ALLOW_DOCUMENTATION_RESOURCES: 'true',
    }
    const build = async (role: string): Promise<Pharos> => {
      const own = join(folder, role)
      mkdirSync(own)
      const port = await freePort()
      return stack.use(new Pharos({ folder: own, platformFile, port, roles: [role], settings }))
    }
    api = await build('api')
    publisher = await build('reconciler')
    nameserver = await build('nameserver')
    await api.command('migrate')
    await api.apply()
    await Promise.all([api, publisher, nameserver].map((one) => one.start()))
    const body = { email: 'demo@demo.example', password: 'pharos-demo-password' }
    token = ((await call('POST', '/session/token', body)).body as { access: string }).access
  })
  after(() => stack.disposeAsync())

  async function call(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const response = await fetch(`${api.url}/v3${path}`, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }

  const zone = '/dns/zones/shop.example'
  const dnssec = async (): Promise<Dnssec> => (await call('GET', `${zone}/dnssec`)).body as Dnssec
  /** Resolves once the states of the keys, after that of the zone, are these. */
  const reaches = (...states: readonly string[]): Promise<Dnssec> =>
    waitFor(states.join(), async () => {
      const found = await dnssec().catch(() => undefined)
      const isThere =
        found?.keys && String([found.status, ...found.keys.map(({ state }) => state)]) === String(states)
      return isThere && found
    })
  const enterDs = async (): Promise<void> => dns.root.set(labZone, 'DS', (await dnssec()).ds_records)

  const restart = async (pharos: Pharos): Promise<void> => {
    await pharos.kill('SIGKILL')
    await pharos.start()
  }
  const restartFollower = async (at: number): Promise<void> => {
    await dns.followers[at]!.stop('SIGKILL')
    await sleep(500)
    await dns.followers[at]!.start()
  }

  /** Adds record sets until it is stopped; only an answer 201 counts. */
  async function write(stop: AbortSignal): Promise<void> {
    for (let at = 0; !stop.aborted; at++) {
      const name = `n${at}`
      const set = { name, type: 'TXT', records: [`"${at}"`] }
      const answer = await call('POST', `${zone}/recordsets`, set).catch(() => undefined)
      if (answer?.status === 201) acknowledged.push(name)
      await sleep(200)
    }
  }

  /** The records that a follower transfers, without SOA, sorted. */
  async function transferred(port: number): Promise<string[]> {
    const key = `${labKey.algorithm}:${labKey.name}:${Buffer.from(labKey.secret).toString('base64')}`
    const args = ['@127.0.0.1', '-p', String(port), '-y', key, labZone, 'AXFR', '+noall', '+answer']
    const { stdout } = await run(programPath('dig'), args)
    return stdout
      .split('\n')
      .map((line) => line.replaceAll(/\s+/g, ' '))
      .filter((line) => line !== '' && !line.includes(' SOA '))
      .sort()
  }

  it('is validated or insecure throughout, and ends with every change at every server', async () => {
    const created = await call('POST', '/dns/zones', {
      name: labZone,
      dnssec: false,
      recordsets: [{ name: '*', type: 'A', records: ['203.0.113.34'] }],
    })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    const serves = (status: string) =>
      waitFor(`the status ${status}`, async () => {
        const { body } = await call('GET', zone)
        return (body as { status: string }).status === status
      })
    await serves('ok')

    await using prober = new DnsProber(dns.ports.resolver, labZone)
    const writing = new AbortController()
    const writer = write(writing.signal)

    assert.equal((await call('POST', `${zone}/dnssec`)).status, 202)
    await Promise.all([restart(publisher), restartFollower(0)])
    await reaches('pending_ds', 'active')
    await enterDs()
    await restart(nameserver)
    await reaches('active', 'active')
    await waitFor('a validated answer', () => prober.counts.validated > 0)

    assert.equal((await call('POST', `${zone}/dnssec/rollover`)).status, 202)
    await Promise.all([postgres.crash(), restartFollower(1)])
    await reaches('active', 'retiring', 'active')
    await enterDs()
    await restart(publisher)
    await reaches('active', 'active')

    assert.equal((await call('DELETE', `${zone}/dnssec`)).status, 409)
    await dns.root.set(labZone, 'DS', [])
    await Promise.all([restart(nameserver), restartFollower(2)])
    await waitFor(
      'the removal is accepted',
      async () => (await call('DELETE', `${zone}/dnssec`)).status === 202,
    )
    await postgres.crash()
    await reaches('disabled')
    writing.abort()
    await writer
    await serves('ok')
    const { failures, answers } = prober.counts
    assert.deepEqual([failures, answers > 200], [0, true])

    assert.ok(acknowledged.length > 50, `${acknowledged.length} changes`)
    const [first, ...others] = await Promise.all(dns.followers.map(({ port }) => transferred(port)))
    for (const other of others) assert.deepEqual(other, first)
    const owners = new Set(first!.map((line) => line.split('.')[0]))
    assert.deepEqual(
      acknowledged.filter((name) => !owners.has(name)),
      [],
    )
    assert.ok(first!.every((line) => !line.includes('RRSIG')))
  })
})
