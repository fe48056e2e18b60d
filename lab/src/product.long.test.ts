// The whole product on real routers: the neighbors receive the customer's changes, and no crash of any part withdraws a
// prefix (R2 of the goals; the part of Pharos itself is crash.test.ts of the server).
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { freePort } from './address.ts'
import { type Lab, createLab } from './network.ts'
import { Pharos } from './pharos.ts'
import { skipWithout } from './program.ts'
import { waitFor } from './wait.ts'
import { scaled } from '../../server/src/runtime/testing-scale.ts'

const kills = scaled(8)
/** Time to announce all routes after a restart of gobgpd. A loaded machine needs several seconds for 1,000 of them; operators should allow 30. */
const deferralSeconds = 8
const routers = ['ams', 'fra']
const password = 'a-password-for-the-lab'
/** Long intervals, so that no scheduled run happens during the test. */
const rarely = { PHAROS_RECONCILE_INTERVAL_SECONDS: '600' }

type Announcement = {
  id: number
  cidr: string
  status: string
  region_states: { region: string; state: string }[]
}

describe('the product in the lab', { skip: skipWithout('gobgpd', 'gobgp', 'bird', 'birdc') }, () => {
  it('delivers an enabled announcement to the neighbors, and keeps the others through every crash', async () => {
    await using lab = await createLab({ regions: routers, deferralSeconds })
    const prefixes = ['203.0.113.0/24', '2001:db8:a::/48', '198.51.100.0/24']
    await using pharos = await startPharos(lab, prefixes)
    const api = await signIn(pharos)
    using ams = lab.watchBirdRoutes('ams')
    using fra = lab.watchBirdRoutes('fra')
    await allSeen(lab, prefixes.length)

    const [first] = (await api.list()) ?? []
    ams.clear()
    fra.clear()
    assert.equal((await api.patch(first!.id, { enabled: false, region: 'ams' })).status, 200)
    await ams.saw('removed', first!.cidr)
    await api.patch(first!.id, { enabled: true, region: 'ams' })
    await ams.saw('announced', first!.cidr)
    await waitFor(
      'the announcement is announced',
      async () => (await api.get(first!.id)).status === 'announced',
      { timeoutMs: 180_000 },
    )
    assert.deepEqual(ams.lost, [first!.cidr])
    assert.deepEqual(fra.lost, [], 'the other region was not changed')

    for (const death of [killPharos, killPostgres, killRouter]) {
      ams.clear()
      fra.clear()
      await death(lab, pharos)
      await waitFor(
        `everything is announced again after ${death.name}`,
        async () => (await api.again())?.every(({ status }) => status === 'announced'),
        { timeoutMs: 180_000 },
      )
      assert.deepEqual([ams.lost, fra.lost], [[], []], death.name)
      assert.equal((await lab.birdRoutes('ams')).length, prefixes.length, death.name)
    }
  })

  it('never announces again a prefix that was disabled while gobgpd was suspended', async () => {
    await using lab = await createLab({ regions: ['ams'], holdSeconds: 9 })
    const prefixes = ['203.0.113.0/24', '2001:db8:a::/48', '198.51.100.0/24']
    await using pharos = await startPharos(lab, prefixes, rarely)
    const api = await signIn(pharos)
    await allSeen(lab, prefixes.length)
    const [first, ...others] = (await api.list()) ?? []
    using ams = lab.watchBirdRoutes('ams')
    const { pid } = lab.region('ams').gobgpd
    process.kill(pid!, 'SIGSTOP')
    try {
      assert.equal((await api.patch(first!.id, { enabled: false })).status, 200)
      for (const { cidr } of others) await ams.saw('removed', cidr)
    } finally {
      process.kill(pid!, 'SIGCONT')
    }
    for (const { cidr } of others) await ams.saw('announced', cidr)
    await waitFor('it is withdrawn', async () => (await api.get(first!.id)).status === 'withdrawn')
    const announced = ams.changes.filter(({ kind }) => kind === 'announced').map(({ prefix }) => prefix)
    assert.deepEqual(announced.sort(), others.map(({ cidr }) => cidr).sort())
  })

  it('announces a route again at once if another client removed it from the router', async () => {
    await using lab = await createLab({ regions: ['ams'] })
    const prefixes = numbered(100)
    await using pharos = await startPharos(lab, prefixes, rarely)
    await allSeen(lab, prefixes.length)
    const { gobgpd } = lab.region('ams')
    using ams = lab.watchBirdRoutes('ams')
    // More than once: a full run that was due anyway also repairs it.
    for (let time = 1; time <= 5; time++) {
      ams.clear()
      await gobgpd.gobgp('global', 'rib', 'del', 'all')
      await gobgpd.gobgp('global', 'rib', 'del', 'all', '-a', 'ipv6')
      for (const prefix of prefixes) {
        await ams.saw('removed', prefix)
        await ams.saw('announced', prefix)
      }
      await allSeen(lab, prefixes.length)
    }
    assert.equal(await pharos.isReady(), true)
  })

  it(
    `keeps 1,000 prefixes at the neighbor through ${kills} crashes of gobgpd`,
    { timeout: kills * 20_000 + 300_000 },
    async () => {
      await using lab = await createLab({ regions: ['ams'], deferralSeconds })
      const prefixes = numbered(1_000)
      await using pharos = await startPharos(lab, prefixes)
      await allSeen(lab, prefixes.length)
      using log = lab.watchBirdRoutes('ams')
      for (let kill = 1; kill <= kills; kill++) {
        log.clear()
        await lab.killGobgpd('ams', 'SIGKILL')
        await log.sawRestarts(1)
        assert.deepEqual(log.lost, [], `kill ${kill}`)
      }
      assert.equal((await lab.birdRoutes('ams')).length, prefixes.length)
      assert.equal(await pharos.isReady(), true)
    },
  )
})

async function killPharos(_lab: Lab, pharos: Pharos): Promise<void> {
  await pharos.kill('SIGKILL')
  await pharos.start()
}

async function killPostgres(_lab: Lab, pharos: Pharos): Promise<void> {
  const pid = Number(
    readFileSync(join(pharos.dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n', 1)[0],
  )
  process.kill(pid, 'SIGKILL')
  await waitFor('PostgreSQL answers again', () => pharos.isReady(), { timeoutMs: 180_000 })
}

async function killRouter(lab: Lab): Promise<void> {
  using log = lab.watchBirdRoutes('ams')
  await lab.killGobgpd('ams', 'SIGKILL')
  await log.sawRestarts(1)
}

/** Resolves when every neighbor has that many routes. */
async function allSeen(lab: Lab, count: number): Promise<void> {
  for (const { name } of lab.regions) {
    await waitFor(
      `${name} holds ${count} routes`,
      async () => (await lab.birdRoutes(name)).length === count,
      { timeoutMs: 180_000 },
    )
  }
}

async function startPharos(
  lab: Lab,
  prefixes: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Pharos> {
  const platformFile = join(lab.folder, 'platform.yaml')
  writeFileSync(platformFile, platformOf(lab, prefixes))
  const pharos = new Pharos({ folder: lab.folder, platformFile, port: await freePort(), settings })
  await pharos.start()
  await pharos.apply()
  return pharos
}

/** JSON is a subset of YAML. */
function platformOf(lab: Lab, prefixes: readonly string[]): string {
  return JSON.stringify({
    locations: [{ key: 'lab', name: 'Laboratory', country: 'NL', timezone: 'Europe/Amsterdam' }],
    regions: lab.regions.map(({ name, apiAddress }) => ({
      slug: name,
      name,
      location: 'lab',
      speaker: {
        kind: 'gobgp',
        address: apiAddress,
        owner: '64500:1:1',
        next_hop: { ipv6: '2001:db8::1' },
        timeout_ms: 2_000,
      },
    })),
    teams: [{ slug: 'lab', name: 'Laboratory', modules: ['ipam', 'lighthouse'] }],
    users: [{ email: 'lab@lab.example', password, teams: [{ team: 'lab', admin: true }] }],
    asns: [{ team: 'lab', asn: 64496, verified: true }],
    announcements: prefixes.map((prefix) => ({
      team: 'lab',
      prefix,
      origin_asn: 64496,
      regions: lab.regions.map(({ name }) => name),
      enabled: true,
      validated: true,
    })),
  })
}

/** Half of each family: benchmarking and documentation space. */
function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, at) =>
    at % 2 === 0
      ? `198.${18 + Math.floor(at / 512)}.${Math.floor(at / 2) % 256}.0/24`
      : `2001:db8:${(at + 4096).toString(16)}::/48`,
  )
}

async function signIn({ url }: Pharos) {
  const json = { 'content-type': 'application/json' }
  const fresh = async (): Promise<string> => {
    const response = await fetch(`${url}/v3/session/token`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ email: 'lab@lab.example', password }),
    })
    return ((await response.json()) as { access: string }).access
  }
  let access = await fresh()
  const call = (path: string, init: { method?: string; body?: string } = {}) =>
    fetch(`${url}/v3/ipam/announcements${path}`, {
      ...init,
      headers: { ...json, authorization: `Bearer ${access}` },
    })
  const list = async () =>
    ((await (await call('?include=region_states')).json()) as { results?: Announcement[] }).results
  return {
    list,
    /** Lists with a new session, since the server may be another process; undefined while it does not answer. */
    again: async () => {
      access = await fresh()
      return list()
    },
    get: async (id: number) => (await (await call(`/${id}`)).json()) as Announcement,
    patch: (id: number, body: object) => call(`/${id}`, { method: 'PATCH', body: JSON.stringify(body) }),
  }
}
