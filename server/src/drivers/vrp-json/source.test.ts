import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TouchedPrefixes, VrpSource } from '../../registry/vrp-source.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { silentLog } from '../../runtime/log.ts'
import { createVrpJsonSource, type VrpJsonLimits } from './source.ts'
import { parseVrpJsonUrl } from './url.ts'
import { until } from '../../../../lab/src/wait.ts'

const prefix = '192.0.2.0/24'

describe('a source of VRP exports', () => {
  it('reads a file, and again when it has changed', async (t) => {
    const { write, url } = exportFile(t)
    write(exported(64496))
    const source = follow(t, url)
    await until(() => source.current())
    assert.deepEqual([asns(source), source.status().problem], [[64496], null])
    write(exported(64497))
    await until(() => source.touched.length === 2)
    assert.deepEqual([asns(source), source.touched], [[64497], ['all', [prefix]]])
  })

  it('keeps the last valid export if the next one is invalid, reports the problem, and uses the next valid one', async (t) => {
    const { write, remove, url } = exportFile(t)
    write(exported(64496))
    const source = follow(t, url)
    await until(() => source.current())
    for (const [bad, reason] of [
      ['{"roas":', /not JSON/],
      ['{"roas":[{}]}', /roas\[0\]\.asn/],
    ] as const) {
      write(bad)
      await until(() => reason.test(source.status().problem ?? ''))
      await sleep(60)
      assert.match(source.status().problem!, reason)
      assert.deepEqual([asns(source), source.status().state], [[64496], 'current'])
    }
    remove()
    await until(() => source.status().problem?.includes('ENOENT'))
    assert.deepEqual(asns(source), [64496])
    write(exported(64497))
    await until(() => source.status().problem === null)
    assert.deepEqual(asns(source), [64497])
  })

  it('starts before its file exists', async (t) => {
    const { write, url } = exportFile(t)
    const source = follow(t, url)
    await until(() => source.status().problem?.includes('ENOENT'))
    assert.equal(source.current(), undefined)
    write(exported(64496))
    await until(() => source.current())
  })

  it('does not use an export whose date is too old, however often it is fetched', async (t) => {
    const { write, url } = exportFile(t)
    write(exported(64496, { generated: Math.floor(Date.now() / 1000) - 7_200 }))
    const source = follow(t, url, { expireMs: 3_600_000 })
    await until(() => source.status().problem === 'the export is too old')
    assert.deepEqual([source.current(), source.status().vrps], [undefined, 1])
    write(exported(64497, { generated: Math.floor(Date.now() / 1000) }))
    await until(() => source.current())
    assert.deepEqual(source.touched, ['all'])
  })

  it('uses an export without a date while the file exists, and only briefly after it is deleted', async (t) => {
    const { write, remove, url } = exportFile(t)
    write(exported(64496))
    const source = follow(t, url, { expireMs: 4_000 })
    await until(() => source.current())
    await sleep(5_000)
    assert.ok(source.current())
    remove()
    await until(() => source.touched.length === 2)
    assert.deepEqual([source.touched, source.current()], [['all', 'all'], undefined])
  })

  it('removes a VRP when it expires, without a change of the file', async (t) => {
    const { write, url } = exportFile(t)
    const roa = { asn: 64497, prefix, maxLength: 24, expires: Math.ceil(Date.now() / 1000) + 2 }
    write(JSON.stringify({ roas: [{ asn: 64496, prefix, maxLength: 24 }, roa] }))
    const source = follow(t, url)
    await until(() => source.status().vrps === 2)
    await until(() => source.touched.length === 2)
    assert.deepEqual([asns(source), source.touched[1]], [[64496], [prefix]])
  })

  it('fetches an export only if it changed', async (t) => {
    let etag = '"1"'
    let asn = 64496
    const served: number[] = []
    const url = await serve(t, (request, response) => {
      assert.equal(request.headers.authorization, `Basic ${Buffer.from('user:p@ss').toString('base64')}`)
      const status = request.headers['if-none-match'] === etag ? 304 : 200
      served.push(status)
      response.writeHead(status, { etag }).end(status === 304 ? undefined : exported(asn))
    })
    const source = follow(t, url.replace('http://', 'http://user:p%40ss@'))
    await until(() => served.length > 3)
    assert.deepEqual([served[0], ...new Set(served.slice(1))], [200, 304])
    assert.deepEqual([asns(source), source.status().problem, source.name], [[64496], null, `${url}/`])
    ;[etag, asn] = ['"2"', 64497]
    await until(() => source.touched.length === 2)
    assert.deepEqual([asns(source), source.touched], [[64497], ['all', [prefix]]])
  })

  it('keeps the last valid export while a server fails, is slow, or sends too much', async (t) => {
    let answer = (response: ServerResponse): void => void response.end(exported(64496))
    const url = await serve(t, (_, response) => answer(response))
    const source = follow(t, url, { timeoutMs: 150, octetsMax: 1_000 })
    await until(() => source.current())
    const failures: readonly [typeof answer, RegExp][] = [
      [(response) => void response.writeHead(500).end('no'), /HTTP status 500/],
      [(response) => void response.writeHead(304).end(), /HTTP status 304/],
      [(response) => void response.write('{"roas":['), /time/],
      [(response) => void response.end(exported(1).padEnd(2_000)), /longer than 1000 octets/],
      [(response) => void response.destroy(), /fetch failed: .|terminated/],
    ]
    for (const [failure, reason] of failures) {
      answer = failure
      await until(() => reason.test(source.status().problem ?? ''))
      assert.deepEqual(asns(source), [64496])
    }
    answer = (response) => void response.end(exported(64497))
    await until(() => asns(source)[0] === 64497)
  })

  it('does not wait for a server when it is stopped', async (t) => {
    let isRequested = false
    const source = follow(t, await serve(t, () => void (isRequested = true)))
    await until(() => isRequested)
    // The server never answers.
    await source.stop?.()
  })

  it('stops', async (t) => {
    const { write, url } = exportFile(t)
    write(exported(64496))
    const source = follow(t, url)
    await until(() => source.current())
    await source.stop?.()
    write(exported(64497))
    await sleep(100)
    assert.deepEqual(asns(source), [64496])
  })
})

function exported(asn: number, metadata = {}): string {
  return JSON.stringify({ metadata, roas: [{ asn: `AS${asn}`, prefix, maxLength: 24, ta: 'test' }] })
}

function exportFile(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'vrps-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'vrps.json')
  return {
    url: `file:${file}`,
    write: (text: string) => {
      writeFileSync(`${file}.new`, text)
      renameSync(`${file}.new`, file)
    },
    remove: () => rmSync(file),
  }
}

async function serve(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

type Followed = VrpSource & { readonly touched: TouchedPrefixes[] }

function follow(t: TestContext, url: string, limits: Partial<VrpJsonLimits> = {}): Followed {
  const source = createVrpJsonSource({
    ...parseVrpJsonUrl(url),
    log: silentLog,
    now: () => new Date(),
    confirmMs: 0,
    limits: { pollMs: 20, ...limits },
  })
  const touched: TouchedPrefixes[] = []
  source.onChange((one) => touched.push(one))
  void source.start?.()
  t.after(() => source.stop?.())
  return Object.assign(source, { touched })
}

function asns(source: VrpSource): number[] {
  return (
    source
      .current()
      ?.table.judge(parsePrefix(prefix), 1)
      .covering.map(({ asn }) => asn) ?? []
  )
}
