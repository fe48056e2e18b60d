// The process of Pharos starts together with gobgpd while the database is away: the last known routes are at gobgpd before its restart
// deferral of 30 s ends, from the start of the process and not only from that of its loops. The neighbor loses no route.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { freePort } from '../../lab/src/address.ts'
import { createLab, type Lab } from '../../lab/src/network.ts'
import { Pharos } from '../../lab/src/pharos.ts'
import { skipWithout } from '../../lab/src/program.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { createTestDatabase, type TestDatabase } from '../src/db/testing.ts'
import { TcpProxy } from './support/tcp-proxy.ts'

/** The deferral of docs/operating/gobgpd.toml. */
const deferralSeconds = 30
const prefixes = Array.from({ length: 50 }, (_, at) => `10.1.${at}.0/24`)
const timeoutMs = 180_000

describe('a start without the database', { skip: skipWithout('gobgpd', 'gobgp', 'bird', 'birdc') }, () => {
  let database: TestDatabase
  let lab: Lab
  let proxy: TcpProxy
  let pharos: Pharos
  before(async () => {
    database = await createTestDatabase()
    proxy = await TcpProxy.create(database.databaseUrl)
    lab = await createLab({ regions: ['ams'], deferralSeconds })
    const platformFile = join(lab.folder, 'platform.yaml')
    writeFileSync(platformFile, platformOf(lab))
    const settings = { DATABASE_URL: proxy.databaseUrl }
    pharos = new Pharos({ folder: lab.folder, platformFile, port: await freePort(), settings })
    await pharos.start()
    await pharos.apply()
    await pharos.kill()
  })
  after(async () => {
    await pharos?.[Symbol.asyncDispose]()
    await lab?.stop()
    await proxy?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  for (const state of ['refusing', 'silent'] as const)
    it(`loses no route while it is ${state}`, async () => {
      proxy.open()
      await pharos.start()
      await waitFor(
        'the neighbor has all routes',
        async () => (await lab.birdRoutes('ams')).length === prefixes.length,
        { timeoutMs },
      )
      await waitFor('they are kept', () => existsSync(join(pharos.dataDir, 'reconciler', 'ams.plan')), {
        timeoutMs,
      })
      await pharos.kill()
      if (state === 'silent') proxy.silence()
      else proxy.refuse()

      const before = readFileSync(pharos.logFile, 'utf8').length
      using seen = lab.watchBirdRoutes('ams')
      const restarted = lab.killGobgpd('ams')
      pharos.startWithoutDatabase()
      await restarted
      await seen.sawRestarts(1)
      assert.deepEqual(seen.lost, [])
      assert.equal((await lab.birdRoutes('ams')).length, prefixes.length)
      assert.equal(await pharos.isReady(), false, 'the database is still away')
      const log = readFileSync(pharos.logFile, 'utf8').slice(before)
      const at = ['the database does not answer yet', 'announced the last known routes'].map((text) =>
        log.indexOf(text),
      )
      assert.ok(at[0]! >= 0 && at[0]! < at[1]!, 'the new process announced them')
      await pharos.kill()
    })
})

/** JSON is a subset of YAML. */
function platformOf(lab: Lab): string {
  const { apiAddress } = lab.region('ams')
  return JSON.stringify({
    locations: [{ key: 'lab', name: 'Laboratory', country: 'NL', timezone: 'Europe/Amsterdam' }],
    regions: [
      {
        slug: 'ams',
        name: 'ams',
        location: 'lab',
        speaker: { kind: 'gobgp', address: apiAddress, owner: '64500:1:1' },
      },
    ],
    teams: [{ slug: 'lab', name: 'Laboratory', modules: ['ipam'] }],
    asns: [{ team: 'lab', asn: 64496, verified: true }],
    announcements: prefixes.map((prefix) => ({
      team: 'lab',
      prefix,
      origin_asn: 64496,
      regions: ['ams'],
      enabled: true,
      validated: true,
    })),
  })
}
