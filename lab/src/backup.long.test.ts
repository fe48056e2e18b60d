// PostgreSQL is restored by pgBackRest to a time before 200 changes of five kinds, under a running Pharos with a real
// router, name server and scrubber: they do not change before staff decide, and then exactly by the decisions.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { freePort } from './address.ts'
import { startBackedUpPostgres, type BackedUpPostgres } from './backed-up-postgres.ts'
import type { BirdLog } from './bird-log.ts'
import { startFollower, type Follower, type FollowerKey } from './dns-follower.ts'
import { startFlowspecPeers, type FlowspecPeers } from './flowspec-peers.ts'
import { createLab, type Lab } from './network.ts'
import { Pharos } from './pharos.ts'
import { labPerson, prefixPlatform } from './prefix-platform.ts'
import { programPath, skipWithout } from './program.ts'
import { waitFor } from './wait.ts'

const run = promisify(execFile)
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)

/**
 * Announcements that the changes disable and enable, and announcements that they do not touch, with black holes and
 * shield lists.
 */
const disabled = numbers(60).map((at) => `10.1.${at}.0/24`)
const enabled = numbers(56).map((at) => `10.2.${at}.0/24`)
const kept = numbers(40).map((at) => `10.3.${at}.0/24`)
const hosts = kept.slice(0, 4).map((prefix) => prefix.replace('.0/24', '.9'))
const zones = numbers(4).map((at) => `zone${at}.example`)
const recordsOfZone = 10
const shielded = kept

const key: FollowerKey = {
  name: 'transfer.lab.example.',
  algorithm: 'hmac-sha256',
  secret: Buffer.from('a-key-of-32-octets-for-the-lab!!'),
}
const programs = ['gobgpd', 'gobgp', 'bird', 'birdc', 'knotd', 'dig', 'pgbackrest', 'setpriv'] as const

describe(
  'a database that pgBackRest has put back',
  { skip: skipWithout(...programs), timeout: 1_500_000 },
  () => {
    const stack = new AsyncDisposableStack()
    let lab: Lab
    let flowspec: FlowspecPeers
    let follower: Follower
    let postgres: BackedUpPostgres
    let pharos: Pharos
    let call: Call

    before(async () => {
      lab = stack.use(await createLab({ regions: ['ams'] }))
      flowspec = stack.use(await startFlowspecPeers())
      const folder = join(lab.folder, 'postgres')
      mkdirSync(folder)
      postgres = stack.use(await startBackedUpPostgres(folder))
      const dnsPort = await freePort('127.0.0.1')
      follower = stack.use(
        await startFollower('Knot', {
          primary: { address: '127.0.0.1', port: dnsPort },
          key,
          zones: [],
          catalog: 'catalog.pharos.invalid.',
        }),
      )
      const platformFile = join(lab.folder, 'platform.yaml')
      writeFileSync(platformFile, JSON.stringify(platform(lab, flowspec, follower)))
      const own = join(lab.folder, 'pharos')
      mkdirSync(own)
      const settings = {
        DATABASE_URL: postgres.databaseUrl,
        PHAROS_SECRET: 'a secret of 32 bytes for the lab only',
        PHAROS_DNS_LISTEN: `127.0.0.1:${dnsPort}`,
        PHAROS_DNS_ROOTS: '127.0.0.1:9',
        PHAROS_ALLOW_DOCUMENTATION_RESOURCES: 'true',
        PHAROS_ACCESS_TOKEN_LIFETIME_SECONDS: '3600',
        PHAROS_RATE_LIMIT_BURST: '100000',
      }
      const roles = ['api', 'reconciler', 'nameserver']
      pharos = stack.use(new Pharos({ folder: own, platformFile, port: await freePort(), settings, roles }))
      await pharos.command('migrate')
      await pharos.apply()
      await pharos.start()
      call = await signIn(pharos)
      for (const name of zones)
        await call('POST', '/dns/zones', {
          name,
          dnssec: false,
          recordsets: numbers(recordsOfZone).map((at) => ({
            name: `r${at}`,
            type: 'A',
            records: ['192.0.2.1'],
          })),
        })
      for (const prefix of shielded) await shield(prefix, [53])
      await settled([...disabled, ...kept], () => '192.0.2.1', shielded)
    })
    after(() => stack.disposeAsync())

    const shield = (prefix: string, ports: readonly number[]) =>
      call('PUT', '/lighthouse/security/shield/rules', {
        prefix,
        rules: ports.map((port) => ({ action: 'deny', protocol: 'udp', source_port: String(port) })),
        force: true,
      })

    const routes = async () => (await lab.birdRoutes('ams')).map(({ prefix }) => prefix).sort()
    /** The rules of the router. */
    const rules = async () => {
      const text = await flowspec.bird.birdc('show route table flow4tab')
      return [...text.matchAll(/flow4 \{ ([^}]*) \}/g)].map(([, rule]) => rule!).sort()
    }
    /** The records of a zone at the name server, with its serial. */
    async function transferred(zone: string): Promise<string[]> {
      const secret = `${key.algorithm}:${key.name}:${Buffer.from(key.secret).toString('base64')}`
      const place = [`@${follower.address}`, '-p', String(follower.port), '-y', secret]
      const { stdout } = await run(programPath('dig'), [...place, zone, 'AXFR', '+noall', '+answer'])
      const lines = stdout.split('\n').map((line) => line.replaceAll(/\s+/g, ' '))
      return lines.filter((line) => line !== '' && !line.startsWith(';')).sort()
    }
    const addressesOf = async (zone: string) =>
      (await transferred(zone)).filter((line) => line.includes(' A ')).map((line) => line.split(' ').at(-1)!)
    const everything = async () => ({
      routes: await routes(),
      rules: await rules(),
      zones: await Promise.all(zones.map(transferred)),
    })
    /** The NOTIFY messages and transfers of the name server. */
    const transfers = () =>
      readFileSync(join(follower.folder, 'out.log'), 'utf8')
        .split('\n')
        .filter((line) => /notify, incoming|[AI]XFR, incoming/.test(line))

    /** Resolves when the network has exactly these routes, addresses in all records of each zone, and rules for these prefixes. */
    async function settled(
      wanted: readonly string[],
      addressOf: (zone: string) => string,
      withRule: readonly string[],
      blackholes: readonly string[] = [],
    ): Promise<void> {
      const expected = [...wanted, ...blackholes.map((host) => `${host}/32`)].sort().join()
      await waitFor('the routes', async () => (await routes()).join() === expected, { everyMs: 200 })
      for (const zone of zones)
        await waitFor(
          `the records of ${zone}`,
          async () => {
            const addresses = await addressesOf(zone).catch(() => [])
            return addresses.length === recordsOfZone && addresses.every((one) => one === addressOf(zone))
          },
          { everyMs: 200 },
        )
      const lists = withRule.toSorted().join()
      await waitFor('the rules', async () => (await prefixesOf()).join() === lists, { everyMs: 200 })
    }
    const prefixesOf = async () => {
      const found = (await rules()).map((rule) => /dst (\S+?);/.exec(rule)?.[1] ?? rule)
      return [...new Set(found)].sort()
    }

    type Item = { id: string; area: string; subject: string; kind: string; adoptable: boolean }

    it('changes nothing on router, name server and scrubber before the decisions, and then what each says', async (t) => {
      await postgres.backup()
      const before = await postgres.now()
      type Announcement = { id: number; cidr: string }
      const listed = (await call('GET', '/ipam/announcements?limit=1000')) as { results: Announcement[] }
      const ids = new Map(listed.results.map(({ id, cidr }) => [cidr, id]))
      let changes = 0
      const change = async (...request: Parameters<Call>) => {
        await call(...request)
        changes++
      }
      for (const prefix of disabled)
        await change('PATCH', `/ipam/announcements/${ids.get(prefix)!}`, { enabled: false })
      for (const prefix of enabled)
        await change('PATCH', `/ipam/announcements/${ids.get(prefix)!}`, { enabled: true })
      for (const host of hosts)
        await change('POST', '/lighthouse/security/shield/blackholes', { host, force: true })
      for (const zone of zones)
        for (const at of numbers(recordsOfZone))
          await change('PUT', `/dns/zones/${zone}/recordsets/r${at}/A`, { records: ['192.0.2.2'] })
      for (const prefix of shielded) {
        await shield(prefix, [])
        changes++
      }
      assert.equal(changes, 200)
      await settled([...enabled, ...kept], () => '192.0.2.2', [], hosts)
      await rememberedHead()

      const seen: BirdLog = lab.watchBirdRoutes('ams')
      stack.defer(() => seen[Symbol.dispose]())
      const [network, transferredBefore] = [await everything(), transfers()]
      const startMs = performance.now()
      await postgres.restore(before)
      t.diagnostic(
        `seconds until PostgreSQL was restored: ${Math.round((performance.now() - startMs) / 1000)}`,
      )
      const id = await compared()
      t.diagnostic(
        `seconds until everything was compared: ${Math.round((performance.now() - startMs) / 1000)}`,
      )
      assert.deepEqual(seen.changes, [])
      assert.deepEqual(await everything(), network)
      assert.deepEqual(transfers(), transferredBefore, 'no NOTIFY and no transfer')

      const items = await postgres.query<Item>(
        `select id::text, area, subject, kind, adoptable from restore_items where restore_id = ${id} and area in ('routes', 'blackholes', 'shield', 'zones')`,
      )
      const of = (area: string, kind: string) =>
        items
          .filter((one) => one.area === area && one.kind === kind)
          .map(({ subject }) => subject)
          .sort()
      assert.deepEqual(of('routes', 'add'), disabled.toSorted())
      assert.deepEqual(of('routes', 'remove'), enabled.toSorted())
      assert.deepEqual(of('blackholes', 'remove'), hosts.map((host) => `${host}/32`).sort())
      assert.deepEqual(
        of('zones', 'change'),
        zones.map((zone) => `${zone}.`),
      )
      assert.deepEqual(of('shield', 'add'), shielded.toSorted())
      const known = ['routes add', 'routes remove', 'blackholes remove', 'zones change', 'shield add']
      const others = items.filter(({ area, kind }) => !known.includes(`${area} ${kind}`))
      assert.deepEqual(others, [], 'and nothing else')

      // Adopts every second adoptable item; everything else is applied.
      const adopts = items
        .filter(({ area }) => area === 'routes' || area === 'zones')
        .filter((_, at) => at % 2 === 0)
      assert.ok(adopts.every(({ adoptable }) => adoptable))
      for (const area of ['routes', 'zones', 'blackholes', 'shield']) {
        const [adopted, applied] = [adopts, items.filter((one) => !adopts.includes(one))].map((some) =>
          some.filter((one) => one.area === area).map((one) => one.id),
        ) as [string[], string[]]
        if (adopted.length > 0) await command('adopt', area, '--items', adopted.join())
        await command('apply', area, '--items', applied.join())
      }
      assert.deepEqual(seen.changes, [])
      assert.deepEqual(await everything(), network, 'a decision changes nothing before the close')
      await command('close')
      const isAdopted = (subject: string) => adopts.some((one) => one.subject === subject)
      await settled(
        [...disabled.filter((prefix) => !isAdopted(prefix)), ...enabled.filter(isAdopted), ...kept],
        (zone) => (isAdopted(`${zone}.`) ? '192.0.2.2' : '192.0.2.1'),
        shielded,
      )
      // No other route was touched on the way.
      const touched = new Set(seen.changes.map(({ prefix }) => prefix))
      assert.deepEqual(
        [...touched].filter((prefix) => isAdopted(prefix) || kept.includes(prefix)),
        [],
      )
    })

    const command = async (...args: readonly string[]): Promise<void> =>
      assert.equal(
        await pharos.command('restore', ...args),
        0,
        `restore ${args.join(' ')}: see ${pharos.logFile}`,
      )

    /** Resolves when the process remembers the newest seal in its witness. */
    async function rememberedHead(): Promise<void> {
      await waitFor(
        'the seals',
        async () => (await postgres.query('select from audit_unsealed limit 1')).length === 0,
      )
      const sealedAt = Date.parse(await postgres.now())
      await waitFor('the witness', () => {
        const { at } = JSON.parse(readFileSync(join(pharos.dataDir, 'witness.json'), 'utf8')) as {
          at: string
        }
        return Date.parse(at) > sealedAt
      })
    }

    /** Resolves with the restore that the process has opened, once every source is compared. */
    const compared = () =>
      waitFor('the comparison', async () => {
        const [open] = await postgres
          .query<{ id: number; left: string; sources: string }>(
            `select r.id, count(*) as sources, count(*) filter (where s.compared is null) as left from restores r
            join restore_sources s on s.restore_id = r.id where r.closed is null group by r.id`,
          )
          .catch(() => [])
        return open && Number(open.left) === 0 && Number(open.sources) >= 4 && open.id
      })
  },
)

function platform(lab: Lab, { gobgpd }: FlowspecPeers, { address, port }: Follower) {
  const base = prefixPlatform(lab, [...disabled, ...enabled, ...kept])
  const off = new Set(enabled)
  const driver = { kind: 'flowspec', address: gobgpd.apiAddress, owner: '64500:2:1', insecure: true }
  return {
    ...base,
    teams: [{ ...base.teams[0], modules: ['ipam', 'lighthouse', 'shield', 'dns'], enable_dns: true }],
    announcements: base.announcements.map((one) => ({ ...one, enabled: !off.has(one.prefix) })),
    prefixes: kept.map((prefix) => ({ team: 'lab', prefix, name: prefix, location: 'lab' })),
    scrubbers: [{ name: 'routers', driver }],
    dns: { hostmaster: 'hostmaster.lab.example' },
    tsig_keys: [{ name: key.name.slice(0, -1), secret: Buffer.from(key.secret).toString('base64') }],
    name_servers: [{ name: 'ns1.lab.example', address, port, tsig_key: key.name.slice(0, -1) }],
  }
}

type Call = (method: string, path: string, body?: object) => Promise<unknown>

async function signIn({ url }: Pharos): Promise<Call> {
  let access = ''
  const call: Call = async (method, path, body) => {
    const answer = await fetch(`${url}/v3${path}`, {
      method,
      headers: {
        ...(access && { authorization: `Bearer ${access}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? null : (JSON.parse(text) as unknown)
  }
  access = ((await call('POST', '/session/token', labPerson)) as { access: string }).access
  return call
}
