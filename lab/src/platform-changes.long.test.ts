// Changes of the platform file and of the platform document, on real routers: changes that may reach the neighbors
// without an approval, and changes that must not affect routes.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { freePort } from './address.ts'
import { type Lab, createLab } from './network.ts'
import { Pharos } from './pharos.ts'
import { skipWithout } from './program.ts'
import { waitFor } from './wait.ts'

const person = { email: 'lab@lab.example', password: 'a-password-for-the-lab' }
const origins = { red: 64496, blue: 64497 }
type Team = keyof typeof origins
const skip = skipWithout('gobgpd', 'gobgp', 'bird', 'birdc')
const until = (what: string, condition: () => Promise<boolean>) =>
  waitFor(what, condition, { timeoutMs: 120_000 })

describe('a platform document that leaves out nearly all announcements', { skip }, () => {
  it('withdraws none of them without an approval, while each withdrawal that a request names is sent', async () => {
    await using lab = await createLab({ regions: ['ams', 'fra'] })
    const prefixes = Array.from({ length: 50 }, (_, at) => `198.18.${at}.0/24`)
    const { announcements } = platformOf(lab, prefixes)
    await using pharos = await startPharos(lab, prefixes)
    const staff = await signIn(pharos)
    for (const name of ['ams', 'fra']) await holds(lab, name, prefixes)
    using ams = lab.watchBirdRoutes('ams')
    using fra = lab.watchBirdRoutes('fra')

    const document = { announcements: announcements.slice(0, 2) }
    const refused = await staff.call('POST', '/admin/apply?prune=true', document)
    assert.equal(refused.status, 409)
    const { result } = (await staff.call('POST', '/admin/apply?prune=true&dry_run=true', document)).body
    const approval = `deletions=${result.held[0].deletions}&evidence=${result.evidence}`
    const applied = await staff.call('POST', `/admin/apply?prune=true&${approval}`, document)
    assert.deepEqual([applied.status, applied.body.applied], [200, true])
    const open = async () => (await staff.call('GET', '/admin/approvals?state=open')).body.results
    await until('both regions wait for an approval', async () => (await open()).length === 2)
    assert.deepEqual(
      (await open()).map(({ item_count: count }: { item_count: number }) => count),
      [48, 48],
    )
    // Long enough for several runs.
    await until('the status names the approvals', async () => (await pharos.command('status')) === 1)
    assert.deepEqual([ams.lost, fra.lost], [[], []])

    // A request that names an announcement again explains the withdrawal.
    const one = (await staff.announcements()).find(({ cidr }) => cidr === prefixes[10])!
    await staff.call('PATCH', `/ipam/announcements/${one.id}`, { enabled: true })
    await staff.call('PATCH', `/ipam/announcements/${one.id}`, { enabled: false })
    await ams.saw('removed', one.cidr)
    await fra.saw('removed', one.cidr)
    assert.deepEqual([ams.lost, fra.lost], [[one.cidr], [one.cidr]])
  })
})

describe('a platform file', { skip }, () => {
  const prefixes = ['203.0.113.0/24', '2001:db8:a::/48', '198.51.100.0/24']

  it('closes a region in use, opens it again, and moves an announcement to another team, without a change of any route', async () => {
    await using lab = await createLab({ regions: ['ams', 'fra'] })
    await using pharos = await startPharos(lab, prefixes)
    const staff = await signIn(pharos)
    for (const name of ['ams', 'fra']) await holds(lab, name, prefixes)
    using ams = lab.watchBirdRoutes('ams')
    using fra = lab.watchBirdRoutes('fra')
    const isOpen = async () =>
      (await staff.call('GET', '/admin/regions')).body.results.find(
        ({ slug }: { slug: string }) => slug === 'fra',
      ).open
    const run = async (...options: string[]) =>
      assert.equal(await pharos.command('apply', '-f', fileOf(lab), '--yes', ...options), 0)

    const { regions, announcements: _, ...rest } = platformOf(lab, prefixes)
    write(lab, { ...rest, regions: regions.slice(0, 1) })
    await run('--prune')
    assert.equal(await isOpen(), false)
    write(lab, platformOf(lab, prefixes))
    await run()
    assert.equal(await isOpen(), true)

    const moved = prefixes[0]!
    const { announcements } = platformOf(lab, prefixes)
    const origin_asn = origins.red
    write(lab, {
      asns: [
        { team: 'red', asn: origin_asn, verified: false },
        { team: 'blue', asn: origin_asn, verified: true },
      ],
      announcements: announcements.map((one) =>
        one.prefix === moved ? { ...one, team: 'blue' as Team } : one,
      ),
    })
    await run()
    const teamOf = async () => (await staff.announcements()).some(({ cidr }) => cidr === moved)
    assert.equal(await teamOf(), false, 'it is no announcement of the former team')
    await until('the checks have been repeated', async () => (await pharos.command('status')) === 0)
    await staff.call('PATCH', `/ipam/announcements/${(await staff.announcements())[0]!.id}`, {
      enabled: false,
    })
    await until('a later change is applied', async () => ams.lost.length > 0 && fra.lost.length > 0)
    assert.ok(!ams.lost.includes(moved) && !fra.lost.includes(moved))
    assert.deepEqual([ams.lost.length, fra.lost.length], [1, 1])
    const changed = [...ams.changes, ...fra.changes].filter(({ prefix }) => prefix === moved)
    assert.deepEqual(changed, [], 'not even another path')
  })
})

const fileOf = (lab: Lab): string => join(lab.folder, 'platform.yaml')

/** JSON is a subset of YAML. */
const write = (lab: Lab, platform: object): void => writeFileSync(fileOf(lab), JSON.stringify(platform))

const holds = (lab: Lab, name: string, prefixes: readonly string[]) =>
  until(`${name} holds all routes`, async () => (await lab.birdRoutes(name)).length === prefixes.length)

function platformOf(lab: Lab, prefixes: readonly string[]) {
  const regions = lab.regions.map(({ name, apiAddress, nextHop6 }) => {
    const next_hop = { ipv6: nextHop6 }
    const speaker = { kind: 'gobgp', address: apiAddress, owner: '64500:1:1', next_hop }
    return { slug: name, name, location: 'lab', speaker }
  })
  return {
    locations: [{ key: 'lab', name: 'Laboratory', country: 'NL', timezone: 'Europe/Amsterdam' }],
    regions,
    teams: Object.keys(origins).map((slug) => ({ slug, name: slug, modules: ['ipam'] })),
    users: [{ ...person, staff: true, teams: [{ team: 'red', admin: true }] }],
    asns: Object.entries(origins).map(([team, asn]) => ({ team, asn, verified: true })),
    announcements: prefixes.map((prefix) => ({
      team: 'red' as Team,
      prefix,
      origin_asn: origins.red,
      regions: regions.map(({ slug }) => slug),
      enabled: true,
      validated: true,
    })),
  }
}

async function startPharos(lab: Lab, prefixes: readonly string[]): Promise<Pharos> {
  write(lab, platformOf(lab, prefixes))
  const settings = { PHAROS_RECONCILE_INTERVAL_SECONDS: '2' }
  const pharos = new Pharos({
    folder: lab.folder,
    platformFile: fileOf(lab),
    port: await freePort(),
    settings,
  })
  await pharos.start()
  await pharos.apply()
  return pharos
}

type Announcement = { readonly id: number; readonly cidr: string }

async function signIn({ url }: Pharos) {
  const json = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/v3/session/token`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify(person),
  })
  const { access } = (await response.json()) as { access: string }
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${url}/v3${path}`, {
      method,
      headers: { ...(body && json), authorization: `Bearer ${access}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    // Any shape: each caller reads the fields of its operation.
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    return { status: response.status, body: (await response.json()) as any }
  }
  return {
    call,
    announcements: async () =>
      (await call('GET', '/ipam/announcements?limit=1000')).body.results as Announcement[],
  }
}
