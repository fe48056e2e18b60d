import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Lab, createLab } from './network.ts'
import { skipWithout } from './program.ts'
// The lab is independent of Pharos; its test uses the driver on the real network.
import { createGobgpSpeaker } from '../../server/src/drivers/gobgp/speaker.ts'
import type { Route, Speaker } from '../../server/src/byoip/regions/speaker.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import { scaled } from '../../server/src/runtime/testing-scale.ts'
import { until } from './wait.ts'

const owner = '64500:1:1'
const rounds = scaled(3)

describe('the lab', { skip: skipWithout('gobgpd', 'gobgp', 'bird', 'birdc') }, () => {
  it('delivers announcements of the driver to the neighbor, IPv4 and IPv6, with path and communities', async () => {
    await using lab = await createLab({ regions: ['ams'] })
    const speaker = speakerOf(lab, 'ams')
    using log = lab.watchBirdRoutes('ams')
    const customer = { asPath: [64496], communities: ['64500:100'], largeCommunities: ['64500:2:3'] }
    await speaker.announce([
      route('198.51.100.0/24', customer),
      route('2001:db8:a::/48', customer),
      route('203.0.113.0/24'),
    ])
    await Promise.all(
      ['198.51.100.0/24', '2001:db8:a::/48', '203.0.113.0/24'].map((prefix) => log.saw('announced', prefix)),
    )
    const routes = new Map((await lab.birdRoutes('ams')).map((one) => [one.prefix, one]))
    const seen = {
      asPath: [64500, 64496],
      communities: ['64500:100'],
      largeCommunities: ['64500:2:3', '64500:1:1'],
    }
    const address = lab.region('ams').gobgpd.options.address
    assert.deepEqual(routes.get('198.51.100.0/24'), { prefix: '198.51.100.0/24', nextHop: address, ...seen })
    assert.deepEqual(routes.get('2001:db8:a::/48'), {
      prefix: '2001:db8:a::/48',
      nextHop: '2001:db8::1',
      ...seen,
    })
    assert.deepEqual(routes.get('203.0.113.0/24')?.asPath, [64500])

    await speaker.withdraw([route('198.51.100.0/24'), route('2001:db8:a::/48')])
    await Promise.all(['198.51.100.0/24', '2001:db8:a::/48'].map((prefix) => log.saw('removed', prefix)))
    assert.deepEqual(
      (await lab.birdRoutes('ams')).map(({ prefix }) => prefix),
      ['203.0.113.0/24'],
    )
    await speaker.close()
  })

  it('changes the attributes of a route without withdrawing it', async () => {
    await using lab = await createLab({ regions: ['ams'] })
    const speaker = speakerOf(lab, 'ams')
    using log = lab.watchBirdRoutes('ams')
    await speaker.announce([route('198.51.100.0/24')])
    await log.saw('announced', '198.51.100.0/24')
    log.clear()
    await speaker.announce([route('198.51.100.0/24', { asPath: [64496] })])
    await log.saw('announced', '198.51.100.0/24')
    assert.deepEqual(log.lost, [])
    await speaker.close()
  })

  it('keeps the route of another source for a prefix when ours is withdrawn', async () => {
    await using lab = await createLab({ regions: ['ams'] })
    const speaker = speakerOf(lab, 'ams')
    using log = lab.watchBirdRoutes('ams')
    await lab.region('ams').gobgpd.gobgp('global', 'rib', 'add', '198.51.100.0/24', 'community', '64500:9')
    await log.saw('announced', '198.51.100.0/24')
    await speaker.announce([route('198.51.100.0/24')])
    await speaker.withdraw([route('198.51.100.0/24')])
    await speaker.announce([route('203.0.113.0/24')])
    await log.saw('announced', '203.0.113.0/24')
    assert.deepEqual(log.lost, [])
    const kept = (await lab.birdRoutes('ams')).find(({ prefix }) => prefix === '198.51.100.0/24')
    assert.deepEqual(kept?.communities, ['64500:9'])
    await speaker.close()
  })

  it('accepts no routes from the neighbor', async () => {
    await using lab = await createLab({
      regions: ['ams'],
      birdAnnounces: ['192.0.2.0/24', '2001:db8:dead::/48'],
    })
    const speaker = speakerOf(lab, 'ams')
    await speaker.announce([route('198.51.100.0/24')])
    const { gobgpd, bird } = lab.region('ams')
    await until(async () =>
      /192\.0\.2\.0\/24/.test(await gobgpd.gobgp('neighbor', bird.options.address, 'adj-in')),
    )
    const table = await gobgpd.gobgp('global', 'rib')
    assert.match(table, /198\.51\.100\.0\/24/)
    assert.doesNotMatch(table, /192\.0\.2\.0\/24/)
    await speaker.close()
  })

  it(`loses no prefix at the neighbor in ${rounds} crashes of gobgpd, announced again at once`, async () => {
    await using lab = await createLab({ regions: ['ams'], supervise: false, deferralSeconds: 2 })
    const speaker = speakerOf(lab, 'ams')
    const routes = numbered(200)
    using log = await announced(lab, speaker, routes)
    for (let round = 1; round <= rounds; round++) {
      log.clear()
      await lab.killGobgpd('ams', 'SIGKILL')
      await lab.startGobgpd('ams')
      await announceAtOnce(speaker, routes)
      await log.sawRestarts(1)
      assert.deepEqual(log.lost, [])
      assert.equal((await lab.birdRoutes('ams')).length, routes.length)
    }
    await speaker.close()
  })

  it('loses no prefix if they are announced only after the session is established again', async () => {
    await using lab = await createLab({ regions: ['ams'], deferralSeconds: 4 })
    const speaker = speakerOf(lab, 'ams')
    const routes = numbered(50)
    using log = await announced(lab, speaker, routes)
    const { bird } = lab.region('ams')
    await lab.killGobgpd('ams', 'SIGKILL')
    await until(() => bird.isEstablished())
    await sleep(1_000)
    await announceAtOnce(speaker, routes)
    await log.sawRestarts(1)
    assert.deepEqual(log.lost, [])
    await speaker.close()
  })

  it('drops a prefix that is not announced again at the neighbor when the restart ends', async () => {
    await using lab = await createLab({ regions: ['ams'], deferralSeconds: 1 })
    const speaker = speakerOf(lab, 'ams')
    using log = await announced(lab, speaker, numbered(3))
    await lab.killGobgpd('ams', 'SIGKILL')
    await announceAtOnce(speaker, numbered(2))
    await log.saw('removed', '10.0.2.0/24', 20_000)
    assert.deepEqual(log.lost, ['10.0.2.0/24'])
    await speaker.close()
  })

  it('withdraws everything at once on SIGTERM, which is why the unit file does not send it', async () => {
    await using lab = await createLab({ regions: ['ams'] })
    const speaker = speakerOf(lab, 'ams')
    using log = await announced(lab, speaker, numbered(3))
    await lab.killGobgpd('ams', 'SIGTERM')
    await log.saw('removed', '10.0.2.0/24')
    assert.equal(log.lost.length, 3)
    await speaker.close()
  })

  it('has regions that are independent of each other', async () => {
    await using lab = await createLab()
    const speakers = lab.regions.map(({ name }) => speakerOf(lab, name))
    assert.deepEqual(
      lab.regions.map(({ name }) => name),
      ['ams', 'fra'],
    )
    using log = lab.watchBirdRoutes('ams')
    await speakers[0]!.announce([route('198.51.100.0/24')])
    await log.saw('announced', '198.51.100.0/24')
    assert.deepEqual(await lab.birdRoutes('fra'), [])
    await Promise.all(speakers.map((speaker) => speaker.close()))
  })

  it('records the time of a change to the millisecond', async () => {
    await using lab = await createLab({ regions: ['ams'] })
    const speaker = speakerOf(lab, 'ams')
    using log = lab.watchBirdRoutes('ams')
    const delaysMs: number[] = []
    for (const one of numbered(20)) {
      const beforeMs = performance.timeOrigin + performance.now()
      await speaker.announce([one])
      delaysMs.push((await log.saw('announced', one.prefix)).atMs - beforeMs)
    }
    assert.ok(Math.min(...delaysMs) > -1, `BIRD saw a route before it was announced: ${delaysMs.join(' ')}`)
    // The times are of one clock: a log that is read late, or in whole seconds, would be off by more.
    assert.ok(Math.min(...delaysMs) < 500, `the quickest took ${Math.min(...delaysMs)} ms`)
    await speaker.close()
  })
})

function speakerOf(lab: Lab, region: string): Speaker {
  return createGobgpSpeaker({ address: lab.region(region).apiAddress, owner })
}

/** Announces, and waits until the neighbor has all of it. */
async function announced(lab: Lab, speaker: Speaker, routes: readonly Route[]) {
  const log = lab.watchBirdRoutes('ams')
  await speaker.announce(routes)
  await Promise.all(routes.map(({ prefix }) => log.saw('announced', prefix)))
  log.clear()
  return log
}

/** Repeats a change until it is accepted, as the reconciler's loop does when the daemon is back. */
async function announceAtOnce(speaker: Speaker, routes: readonly Route[]): Promise<void> {
  await until(() =>
    speaker.announce(routes).then(
      () => true,
      () => false,
    ),
  )
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function numbered(count: number): Route[] {
  return Array.from({ length: count }, (_, at) => route(`10.${at >> 8}.${at & 255}.0/24`))
}

function route(prefix: string, rest: Partial<Route> = {}): Route {
  const nextHop = prefix.includes(':') ? '2001:db8::1' : '0.0.0.0'
  return { prefix: parsePrefix(prefix), asPath: [], nextHop, communities: [], largeCommunities: [], ...rest }
}
