// Our RTR client against a real cache. Its data is checked through the port, which the rest of the product uses too.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createRpki } from '../../server/src/registry/rpki.ts'
import type { Rpki } from '../../server/src/registry/rpki.ts'
import type { TouchedPrefixes, VrpSource } from '../../server/src/registry/vrp-source.ts'
import { vrpSourceConformance } from '../../server/src/registry/vrp-source.conformance.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import { vrpDrivers } from '../../server/src/drivers/vrp-sources.ts'
import { silentLog } from '../../server/src/runtime/log.ts'
import { freePort, randomSubnet } from './address.ts'
import { skipWithout } from './program.ts'
import { Stayrtr, type LabVrp, type StayrtrOptions } from './stayrtr.ts'
import { waitFor } from './wait.ts'

const skip = skipWithout('stayrtr')
const one = { prefix: '192.0.2.0/24', maxLength: 25, asn: 64500 }
const two = { prefix: '2001:db8::/32', maxLength: 48, asn: 4_200_000_001 }
const three = { prefix: '198.51.100.0/24', maxLength: 24, asn: 0 }

vrpSourceConformance(
  'RTR with stayrtr',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stayrtr-'))
    const address = `${randomSubnet()}.1`
    const stayrtr = new Stayrtr({ folder, address, port: await freePort(address) })
    await stayrtr.setVrps([])
    await stayrtr.start()
    return {
      source: vrpDrivers.createAll([`rtr://${address}:${stayrtr.options.port}`], {
        log: silentLog,
        confirmMs: 1_000,
        now: () => new Date(),
      })[0]!,
      setVrps: (vrps) => stayrtr.setVrps(vrps),
      hide: () => stayrtr.kill(),
      show: () => stayrtr.start(),
      stop: async () => {
        await stayrtr.stop()
        rmSync(folder, { recursive: true })
      },
    }
  },
  skip,
)

describe('the RTR client with stayrtr', { skip }, () => {
  for (const protocol of [2, 1, 0] as const) {
    it(`has the data of a cache of at most version ${protocol}`, async (t) => {
      const { stayrtr, url } = await startStayrtr(t, [one, two, three], { protocol })
      const source = follow(t, url)
      await waitFor('the first set', () => source.current())
      assert.deepEqual(source.status().vrps, 3)
      assert.equal(source.status().problem, null)
      for (const vrp of [one, two, three]) assert.deepEqual(covering(source, vrp.prefix), [vrp])
      assert.deepEqual(source.touched, ['all'])
      await stayrtr.setVrps([one])
      await waitFor('the change', () => source.status().vrps === 1)
    })
  }

  it('has a change soon after the edit, and reports the affected prefixes', async (t) => {
    const { stayrtr, url } = await startStayrtr(t, [one, two])
    const source = follow(t, url)
    await waitFor('the first set', () => source.current())
    const began = performance.now()
    await stayrtr.setVrps([one, { ...two, maxLength: 40 }, three])
    await waitFor('the change', () => source.touched.length === 2, { everyMs: 2 })
    const tookMs = performance.now() - began
    assert.deepEqual([...source.touched[1]!].sort(), [three.prefix, two.prefix])
    assert.deepEqual(covering(source, two.prefix), [{ ...two, maxLength: 40 }])
    t.diagnostic(`from the edit to the client: ${tookMs.toFixed(0)} ms`)
  })

  it('answers from its data while the cache is down, and uses the new session when it is back', async (t) => {
    const { stayrtr, url } = await startStayrtr(t, [one])
    const source = follow(t, url)
    await waitFor('the first set', () => source.current())
    await stayrtr.kill()
    await waitFor('the loss', () => source.status().problem !== null)
    assert.deepEqual(covering(source, one.prefix), [one])
    await stayrtr.setVrps([two])
    await stayrtr.start()
    await waitFor('the new set', () => source.status().problem === null)
    await waitFor('what it touches', () => source.touched.length === 2)
    assert.deepEqual([covering(source, one.prefix), covering(source, two.prefix)], [[], [two]])
    assert.deepEqual([...source.touched[1]!].sort(), [one.prefix, two.prefix])
  })

  it('may start before the cache', async (t) => {
    const { stayrtr, url } = await startStayrtr(t, [one])
    await stayrtr.stop()
    const source = follow(t, url)
    await waitFor('a failure', () => source.status().problem?.includes('ECONNREFUSED'))
    await stayrtr.start()
    await waitFor('the first set', () => source.current())
  })

  it('handles 50,000 VRPs and a change of 5,000 of them', async (t) => {
    const many = Array.from({ length: 50_000 }, (_, i) => ({
      prefix: `10.${i >> 8}.${i & 255}.0/24`,
      maxLength: 24,
      asn: i + 1,
    }))
    const some = many.map((vrp, i) => (i % 10 === 0 ? { ...vrp, asn: 1 } : vrp))
    const { stayrtr, url } = await startStayrtr(t, many)
    const source = follow(t, url)
    await waitFor('the first set', () => source.current())
    assert.equal(source.status().vrps, 50_000)
    await stayrtr.setVrps(some)
    const last = some[49_990]!
    await waitFor('the change', () => covering(source, last.prefix)[0]?.asn === 1)
    assert.deepEqual([source.status().vrps, source.status().problem], [50_000, null])
  })

  it('that was reinstalled, and is empty, makes no verdict invalid, and is used again once it has its data', async (t) => {
    const ten = numbered(10)
    const { stayrtr, url } = await startStayrtr(t, ten)
    const rpki = await judging(t, [url])
    await waitFor('the first set', () => verdict(rpki) === `valid ${url}`)
    const { asOf } = rpki.status().sources[0]!
    await stayrtr.setVrps([])
    await waitFor('the doubt', () => rpki.status().sources[0]!.suspicious)
    assert.deepEqual([verdict(rpki), rpki.status().sources[0]!.asOf! >= asOf!], [`valid ${url}`, true])
    await stayrtr.kill()
    await stayrtr.start()
    await waitFor('the empty cache again', () => /0 VRPs instead of 10/.test(problemOf(rpki)))
    assert.equal(verdict(rpki), `valid ${url}`)
    await stayrtr.setVrps(ten.slice(0, 9))
    await waitFor('the data', () => !rpki.status().sources[0]!.suspicious)
    assert.deepEqual([rpki.status().sources[0]!.vrps, problemOf(rpki)], [9, 'null'])
  })

  it('that is empty from the beginning gives no verdict', async (t) => {
    const { stayrtr, url } = await startStayrtr(t, [])
    const rpki = await judging(t, [url])
    await waitFor('the doubt', () => rpki.status().sources[0]!.suspicious)
    assert.equal(verdict(rpki), 'unavailable null')
    await stayrtr.setVrps(numbered(1))
    await waitFor('the first set', () => verdict(rpki) === `valid ${url}`)
  })

  it('that is empty does not hide a second one with a smaller and good set', async (t) => {
    const [one, two] = [await startStayrtr(t, numbered(10)), await startStayrtr(t, numbered(4))]
    const rpki = await judging(t, [one.url, two.url])
    await waitFor('both sets', () => rpki.status().sources.every(({ vrps }) => vrps > 0))
    await one.stayrtr.setVrps([])
    await waitFor('the second', () => verdict(rpki) === `valid ${two.url}`)
    await two.stayrtr.setVrps([])
    await waitFor('both doubts', () => rpki.status().sources.every(({ suspicious }) => suspicious))
    assert.equal(verdict(rpki), `valid ${one.url}`)
  })

  it('that loses many VRPs at once, as another one does, is used, and so is the other', async (t) => {
    const [one, two] = [await startStayrtr(t, numbered(20)), await startStayrtr(t, numbered(20))]
    const rpki = await judging(t, [one.url, two.url])
    await waitFor('both sets', () => rpki.status().sources.every(({ vrps }) => vrps === 20))
    await one.stayrtr.setVrps(numbered(10))
    await waitFor('the doubt', () => rpki.status().sources[0]!.suspicious)
    assert.deepEqual([verdict(rpki), rpki.status().sources[0]!.vrps], [`valid ${two.url}`, 20])
    await two.stayrtr.setVrps(numbered(11))
    await waitFor('the agreement', () => rpki.status().sources.every(({ suspicious }) => !suspicious))
    assert.deepEqual(
      rpki.status().sources.map(({ vrps }) => vrps),
      [10, 11],
    )
    assert.equal(verdict(rpki), `valid ${one.url}`)
  })

  const noOpenssl = skipWithout('openssl')
  it('uses TLS, and rejects a cache whose certificate it cannot verify', { skip: noOpenssl }, async (t) => {
    const folder = temporaryFolder(t)
    const [own, other] = ['own', 'other'].map((name) => certificate(folder, name)) as [Pem, Pem]
    const { port, address } = await startStayrtr(t, [one], { pem: own })
    const source = follow(t, `rtrs://${address}:${port}?ca=${own.certFile}`)
    await waitFor('the first set', () => source.current())
    assert.deepEqual(covering(source, one.prefix), [one])
    for (const parameters of [`?ca=${other.certFile}`, '']) {
      const verifying = follow(t, `rtrs://${address}:${port}${parameters}`)
      await waitFor('the refusal', () =>
        /self.signed|unable to verify/.test(verifying.status().problem ?? ''),
      )
      assert.equal(verifying.current(), undefined)
    }
  })
})

const numbered = (count: number): LabVrp[] =>
  Array.from({ length: count }, (_, i) => ({ prefix: `10.0.${i}.0/24`, maxLength: 24, asn: 64500 }))

async function judging(t: TestContext, urls: readonly string[]): Promise<Rpki> {
  const sources = vrpDrivers.createAll(urls, { log: silentLog, confirmMs: 3_600_000, now: () => new Date() })
  const rpki = createRpki({ sources, log: silentLog })
  t.after(() => rpki.stop?.())
  await rpki.start?.()
  return rpki
}

/** The state of the first of the numbered caches, and the cache in use. */
function verdict(rpki: Rpki): string {
  const { state } = rpki.judge(parsePrefix('10.0.0.0/24'), 64500)
  return `${state} ${rpki.status().source}`
}

const problemOf = (rpki: Rpki): string => String(rpki.status().sources[0]!.problem)

type Pem = { readonly certFile: string; readonly keyFile: string }
type Extra = Pick<StayrtrOptions, 'protocol'> & { readonly pem?: Pem }

async function startStayrtr(t: TestContext, vrps: readonly LabVrp[], { pem, ...extra }: Extra = {}) {
  const address = pem ? '127.0.0.1' : `${randomSubnet()}.1`
  const port = await freePort(address)
  const tls = pem && { port: await freePort(address), ...pem }
  const folder = temporaryFolder(t)
  const stayrtr = new Stayrtr({ folder, address, port, ...extra, ...(tls ? { tls } : {}) })
  t.after(() => stayrtr.stop())
  await stayrtr.setVrps(vrps)
  await stayrtr.start()
  return { stayrtr, address, port: tls?.port ?? port, url: `rtr://${address}:${port}` }
}

type Followed = VrpSource & { readonly touched: TouchedPrefixes[] }

function follow(t: TestContext, url: string): Followed {
  const source = vrpDrivers.createAll([url], {
    log: silentLog,
    confirmMs: 3_600_000,
    now: () => new Date(),
  })[0]!
  const touched: TouchedPrefixes[] = []
  source.onChange((change) => touched.push(change))
  void source.start?.()
  t.after(() => source.stop?.())
  return Object.assign(source, { touched })
}

function covering(source: VrpSource, prefix: string): readonly LabVrp[] {
  return source.current()?.table.judge(parsePrefix(prefix), 1).covering ?? []
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'stayrtr-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Self-signed: the certificate is the authority that verifies it. */
function certificate(folder: string, name: string): Pem {
  const [keyFile, certFile] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)]
  const request = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '1',
  ]
  const subject = ['-subj', '/CN=stayrtr', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', [...request, ...subject, '-keyout', keyFile, '-out', certFile], { stdio: 'ignore' })
  return { certFile, keyFile }
}
