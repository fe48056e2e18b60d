// Routers with real daemons: draining a router in a region of two, losing a router, and black holes of hosts.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import {
  agentKeys,
  createHandedFiles,
  createHandedReader,
  handedFile,
  parseAgentKey,
} from '../../server/src/byoip/regions/handed-routes.ts'
import { createKeyRing } from '../../server/src/runtime/secrets.ts'
import { freePort } from './address.ts'
import { type Lab, createLab } from './network.ts'
import { Pharos } from './pharos.ts'
import { skipWithout } from './program.ts'
import { waitFor } from './wait.ts'

const prefixes = ['198.51.100.0/24', '2001:db8:a::/48', '203.0.113.0/24']
const password = 'a-password-for-the-lab'
const waitOptions = { timeoutMs: 120_000 }

describe('two routers in one region', { skip: skipWithout('gobgpd', 'gobgp', 'bird', 'birdc') }, () => {
  it('drains one only once the other carries its routes, withdraws nothing elsewhere, and undrains it', async () => {
    await using lab = await createLab({ regions: ['r1', 'r2', 'fra'], deferralSeconds: 5 })
    await using pharos = await startPharos(lab)
    await allSeen(lab, ['r1', 'r2', 'fra'])
    await until('no problems', async () => (await pharos.command('status')) === 0)
    using r1 = lab.watchBirdRoutes('r1')
    using r2 = lab.watchBirdRoutes('r2')
    using fra = lab.watchBirdRoutes('fra')

    assert.equal(await pharos.command('drain', 'ams', 'r1'), 0)
    await until('r1 is empty', async () => (await lab.birdRoutes('r1')).length === 0)
    assert.deepEqual(r1.lost.toSorted(), prefixes)
    assert.deepEqual([r2.lost, fra.lost], [[], []], 'nothing elsewhere')
    assert.equal(await pharos.command('drain', 'ams', 'r2'), 1, 'the last router is not drained')

    assert.equal(await pharos.command('undrain', 'ams', 'r1'), 0)
    await allSeen(lab, ['r1', 'r2', 'fra'])
    assert.deepEqual([r2.lost, fra.lost], [[], []])

    // Without a session the other router has no neighbor to announce the routes to.
    await lab.region('r2').bird.stop()
    await until('r2 has no session', async () => (await neighborsOf(pharos, 'r2')) === 0)
    assert.equal(await pharos.command('drain', 'ams', 'r1'), 1)
    assert.equal((await lab.birdRoutes('r1')).length, prefixes.length)
    assert.equal(await pharos.command('status'), 1)
  })

  it('leaves the region announced when one of two is killed and the quorum is one', async () => {
    await using lab = await createLab({ regions: ['r1', 'r2', 'fra'], deferralSeconds: 5, supervise: false })
    await using pharos = await startPharos(lab, { quorum: 1 })
    await allSeen(lab, ['r1', 'r2', 'fra'])
    const staff = await signIn(pharos)
    await until(
      'the region is in its desired state',
      async () => (await staff.region('ams'))?.last_check_result === true,
    )
    using r1 = lab.watchBirdRoutes('r1')
    using fra = lab.watchBirdRoutes('fra')
    await lab.killGobgpd('r2', 'SIGKILL')
    await until('r2 is reported', async () => (await staff.router('ams', 'r2'))?.last_check_result === false)
    const ams = await staff.region('ams')
    assert.equal(ams?.last_check_result, true)
    assert.deepEqual(
      await staff.statuses(),
      prefixes.map(() => 'announced'),
    )
    assert.deepEqual([r1.lost, fra.lost], [[], []])
  })

  it('does not report a new route as announced if one of two is killed and all are needed', async () => {
    await using lab = await createLab({ regions: ['r1', 'r2', 'fra'], deferralSeconds: 5, supervise: false })
    await using pharos = await startPharos(lab)
    await allSeen(lab, ['r1', 'r2', 'fra'])
    const staff = await signIn(pharos)
    await until(
      'the region is in its desired state',
      async () => (await staff.region('ams'))?.last_check_result === true,
    )
    const [first] = await staff.announcements()
    await staff.patch(first!.id, { enabled: false })
    await until('it is withdrawn', async () => (await lab.birdRoutes('r2')).length === prefixes.length - 1)
    using r1 = lab.watchBirdRoutes('r1')
    await lab.killGobgpd('r2', 'SIGKILL')
    await until(
      'the region is reported',
      async () => (await staff.region('ams'))?.last_check_result === false,
    )
    await staff.patch(first!.id, { enabled: true })
    await until('r1 carries it', async () => (await lab.birdRoutes('r1')).length === prefixes.length)
    await until('fra carries it', async () => (await lab.birdRoutes('fra')).length === prefixes.length)
    const statusNow = async () => (await staff.announcements()).find(({ id }) => id === first!.id)?.status
    await until('fra alone announces it', async () => (await statusNow()) === 'partially_announced')
    assert.deepEqual(r1.lost, [])
    await lab.startGobgpd('r2')
    await until('it is announced', async () =>
      (await staff.announcements()).every(({ status }) => status === 'announced'),
    )
  })
})

describe(
  'a router that the platform file no longer names',
  { skip: skipWithout('gobgpd', 'gobgp', 'bird', 'birdc') },
  () => {
    it('is emptied once the router at the new address announces each route, and a new owner replaces the old one without an outage', async () => {
      await using lab = await createLab({ regions: ['r1', 'r2', 'fra'], deferralSeconds: 5 })
      await using pharos = await startPharos(lab, { routers: { r1: 'r1' } })
      await allSeen(lab, ['r1', 'fra'])
      await until('no problems', async () => (await pharos.command('status')) === 0)
      const staff = await signIn(pharos)
      using r1 = lab.watchBirdRoutes('r1')
      using r2 = lab.watchBirdRoutes('r2')

      await applyFile(lab, pharos, { routers: { r1: 'r2' } })
      await until('the former router loses routes', () => Promise.resolve(r1.lost.length > 0))
      assert.equal((await lab.birdRoutes('r2')).length, prefixes.length, 'the new one had them before')
      await until('it is empty', async () => (await lab.birdRoutes('r1')).length === 0)
      assert.deepEqual(r1.lost.toSorted(), prefixes)
      await until('no problems', async () => (await pharos.command('status')) === 0)

      const [first] = await staff.announcements()
      await staff.patch(first!.id, { enabled: false })
      await until('it is withdrawn', async () => (await lab.birdRoutes('r2')).length === prefixes.length - 1)
      await staff.patch(first!.id, { enabled: true })
      await allSeen(lab, ['r2', 'fra'])
      const lostBefore = [...r2.lost]

      await applyFile(lab, pharos, { routers: { r1: 'r2' }, owner: '64500:1:2' })
      await until('all have the new owner', async () =>
        (await lab.birdRoutes('r2')).every(({ largeCommunities }) => largeCommunities.includes('64500:1:2')),
      )
      await until('no problems', async () => (await pharos.command('status')) === 0)
      assert.deepEqual(r2.lost, lostBefore)
      assert.equal((await lab.birdRoutes('r2')).length, prefixes.length)
    })
  },
)

describe('the agent beside gobgpd', { skip: skipWithout('gobgpd', 'gobgp', 'bird', 'birdc') }, () => {
  it('gives a restarted gobgpd its routes back while no process of Pharos runs, and ends black holes only', async () => {
    await using lab = await createLab({ regions: ['r1', 'r2', 'fra'], deferralSeconds: 20 })
    await using pharos = await startPharos(lab)
    await allSeen(lab, ['r1', 'r2', 'fra'])
    const staff = await signIn(pharos)
    await staff.blackhole({ host: '203.0.113.77', force: true })
    const handedOver = handedFile(join(pharos.dataDir, 'agents'), 'fra', 'fra')
    const ring = createKeyRing([readFileSync(join(pharos.dataDir, 'secret'), 'utf8').trim()])
    const keys = agentKeys(ring)
    const readOver = createHandedReader({
      file: handedOver,
      stateDir: join(lab.folder, 'read'),
      keys: keys.map(parseAgentKey),
      now: () => new Date(),
    })
    const isWritten = () => existsSync(handedOver) && readOver().handed?.blackholes.length === 1
    await until('the routes are handed over', async () => isWritten())
    await pharos.kill()

    const copies = join(lab.folder, 'copies')
    const file = handedFile(copies, 'fra', 'fra')
    const handed = readOver().handed!
    const files = createHandedFiles(copies, ring)
    await files.save(handed)
    const { apiAddress } = lab.region('fra')
    const state = ['--state', join(lab.folder, 'state'), '--key', keys.join(',')]
    void pharos.command('agent', '--file', file, ...state, '--address', apiAddress, '--owner', '64500:1:1')
    await until('the agent runs', async () => readFileSync(pharos.logFile, 'utf8').includes('agent started'))
    using fra = lab.watchBirdRoutes('fra')
    await lab.killGobgpd('fra')
    await fra.sawRestarts(1)
    assert.deepEqual(fra.lost, [])
    assert.equal((await lab.birdRoutes('fra')).length, prefixes.length + 1)

    const blackholes = handed.blackholes.map((one) => ({ ...one, until: new Date().toISOString() }))
    await files.save({ ...handed, blackholes })
    await until('the black hole ends', async () => (await lab.birdRoutes('fra')).length === prefixes.length)
    assert.deepEqual(fra.lost, ['203.0.113.77/32'])
  })
})

describe('a black hole', { skip: skipWithout('gobgpd', 'gobgp', 'bird', 'birdc') }, () => {
  const hosts = ['203.0.113.77', '2001:db8:a::77']
  const hostRoutes = async (lab: Lab) =>
    (await lab.birdRoutes('fra')).filter(({ prefix }) => /\/(32|128)$/.test(prefix))

  it('reaches the neighbor with BLACKHOLE, and goes at its end while the networks stay', async () => {
    await using lab = await createLab({ regions: ['r1', 'r2', 'fra'], deferralSeconds: 5 })
    await using pharos = await startPharos(lab)
    await allSeen(lab, ['r1', 'r2', 'fra'])
    const staff = await signIn(pharos)
    using fra = lab.watchBirdRoutes('fra')
    for (const host of hosts) await staff.blackhole({ host, force: true })
    await until('fra holds both hosts', async () => (await hostRoutes(lab)).length === 2)
    for (const { prefix, asPath, nextHop, communities, largeCommunities } of await hostRoutes(lab)) {
      assert.deepEqual([asPath, communities], [[64500, 64496], ['65535:666']])
      assert.deepEqual(largeCommunities, ['64500:1:1'])
      assert.equal(nextHop, prefix.includes(':') ? '100::1' : '192.0.2.1')
    }
    await until('they are shown as active', async () =>
      (await staff.blackholes()).every(({ status }) => status === 'active'),
    )
    // Each replaces the previous one, and ends by itself.
    const expires = new Date(Date.now() + 3_000).toISOString()
    for (const host of hosts) await staff.blackhole({ host, expires, force: true })
    await until('they are gone', async () => (await hostRoutes(lab)).length === 0)
    assert.deepEqual(fra.lost.toSorted(), ['2001:db8:a::77/128', '203.0.113.77/32'])
    await until('they are shown as ended', async () =>
      (await staff.blackholes()).every(({ status }) => status === 'ended'),
    )
  })
})

const until = (what: string, condition: () => Promise<boolean>) => waitFor(what, condition, waitOptions)

async function allSeen(lab: Lab, names: readonly string[]): Promise<void> {
  for (const name of names)
    await until(
      `${name} holds all routes`,
      async () => (await lab.birdRoutes(name)).length === prefixes.length,
    )
}

type Options = {
  readonly quorum?: number
  /** The routers of the region ams by their name in it. */
  readonly routers?: Readonly<Record<string, string>>
  readonly owner?: string
}

/** Writes the platform file and returns its path. */
function writePlatform(
  lab: Lab,
  { quorum, routers = { r1: 'r1', r2: 'r2' }, owner = '64500:1:1' }: Options = {},
): string {
  const platformFile = join(lab.folder, 'platform.yaml')
  const speakerOf = (name: string, owner: string) => {
    const { apiAddress, nextHop6 } = lab.region(name)
    return { kind: 'gobgp', address: apiAddress, owner, next_hop: { ipv6: nextHop6 } }
  }
  const speakers = Object.entries(routers).map(([name, router]) => ({ name, ...speakerOf(router, owner) }))
  const platform = {
    locations: [{ key: 'lab', name: 'Laboratory', country: 'NL', timezone: 'Europe/Amsterdam' }],
    regions: [
      { slug: 'ams', name: 'ams', location: 'lab', speakers, ...(quorum === undefined ? {} : { quorum }) },
      { slug: 'fra', name: 'fra', location: 'lab', speaker: speakerOf('fra', '64500:1:1') },
    ],
    teams: [{ slug: 'lab', name: 'Laboratory', modules: ['ipam', 'shield'] }],
    users: [{ email: 'lab@lab.example', password, staff: true, teams: [{ team: 'lab', admin: true }] }],
    asns: [{ team: 'lab', asn: 64496, verified: true }],
    announcements: prefixes.map((prefix) => ({
      team: 'lab',
      prefix,
      origin_asn: 64496,
      regions: ['ams', 'fra'],
      enabled: true,
      validated: true,
    })),
  }
  // JSON is a subset of YAML.
  writeFileSync(platformFile, JSON.stringify(platform))
  return platformFile
}

async function applyFile(lab: Lab, pharos: Pharos, options: Options): Promise<void> {
  writePlatform(lab, options)
  await pharos.apply()
}

async function startPharos(lab: Lab, options: Options = {}): Promise<Pharos> {
  const platformFile = writePlatform(lab, options)
  const settings = { PHAROS_RECONCILE_INTERVAL_SECONDS: '2' }
  const pharos = new Pharos({ folder: lab.folder, platformFile, port: await freePort(), settings })
  await pharos.start()
  await pharos.apply()
  return pharos
}

const blackholes = '/lighthouse/security/shield/blackholes'

type Announcement = { id: number; status: string }
type Region = {
  slug: string
  last_check_result: boolean | null
  routers: { name: string; last_check_result: boolean | null; neighbors: { state: string }[] }[]
}

async function signIn({ url }: Pharos) {
  const json = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/v3/session/token`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ email: 'lab@lab.example', password }),
  })
  const { access } = (await response.json()) as { access: string }
  const call = async (path: string, init: { method?: string; body?: string } = {}) => {
    const headers = { ...json, authorization: `Bearer ${access}` }
    return (await fetch(`${url}/v3${path}`, { ...init, headers })).json()
  }
  const region = async (slug: string) =>
    ((await call('/admin/regions')) as { results: Region[] }).results.find((one) => one.slug === slug)
  const announcements = async () =>
    ((await call('/ipam/announcements')) as { results: Announcement[] }).results
  return {
    region,
    router: async (slug: string, name: string) =>
      (await region(slug))?.routers.find((one) => one.name === name),
    announcements,
    statuses: async () => (await announcements()).map(({ status }) => status),
    blackhole: (body: object) => call(blackholes, { method: 'POST', body: JSON.stringify(body) }),
    blackholes: async () => ((await call(blackholes)) as { results: { status: string }[] }).results,
    patch: (id: number, body: object) =>
      call(`/ipam/announcements/${id}`, { method: 'PATCH', body: JSON.stringify(body) }),
  }
}

async function neighborsOf(pharos: Pharos, name: string): Promise<number> {
  const router = await (await signIn(pharos)).router('ams', name)
  return router?.neighbors.filter(({ state }) => state === 'established').length ?? -1
}
