// The port's conformance suite, on each kind of source with a simulated other side. The tests of the lab use a real RTR cache.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vrpSourceConformance } from '../../registry/vrp-source.conformance.ts'
import type { VrpSourceFixture } from '../../registry/vrp-source.conformance.ts'
import type { Vrp } from '../../registry/objects/vrp.ts'
import { silentLog } from '../../runtime/log.ts'
import { createRtrSource } from '../rtr/source.ts'
import { startVrpCache } from '../rtr/testing.ts'
import { createVrpJsonSource } from '../vrp-json/source.ts'
import { parseVrpJsonUrl } from '../vrp-json/url.ts'

const common = { log: silentLog, now: () => new Date(), confirmMs: 1_000 }

vrpSourceConformance('RTR', async () => {
  const { cache, set } = await startVrpCache()
  const address = { name: 'rtr://test', host: '127.0.0.1', port: cache.port }
  return {
    source: createRtrSource({ ...address, ...common, limits: { firstRetryMs: 20 } }),
    setVrps: async (vrps) => set(vrps.map(({ prefix, maxLength, asn }) => `${prefix}-${maxLength} AS${asn}`)),
    hide: async () => cache.hide(true),
    show: async () => cache.hide(false),
    stop: async () => cache[Symbol.asyncDispose](),
  }
})

vrpSourceConformance('VRP export in a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vrps-'))
  const [file, aside] = [join(folder, 'vrps.json'), join(folder, 'aside')]
  const write = (to: string, text: string): void => {
    writeFileSync(`${to}.new`, text)
    renameSync(`${to}.new`, to)
  }
  let place = file
  return jsonFixture(`file:${file}`, {
    setVrps: async (vrps) => write(place, exportOf(vrps)),
    hide: async () => renameSync(file, (place = aside)),
    show: async () => renameSync(aside, (place = file)),
    stop: async () => rmSync(folder, { recursive: true }),
  })
})

vrpSourceConformance('VRP export by HTTP', async () => {
  let text = ''
  let version = 0
  let isHidden = false
  const server = createServer((request, response) => {
    const etag = `"${version}"`
    const status = isHidden ? 503 : request.headers['if-none-match'] === etag ? 304 : 200
    response.writeHead(status, { etag }).end(status === 200 ? text : undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return jsonFixture(`http://127.0.0.1:${(server.address() as { port: number }).port}/`, {
    setVrps: async (vrps) => {
      text = exportOf(vrps)
      version++
    },
    hide: async () => void (isHidden = true),
    show: async () => void (isHidden = false),
    stop: async () => {
      server.closeAllConnections()
      server.close()
    },
  })
})

function jsonFixture(url: string, rest: Omit<VrpSourceFixture, 'source'>): VrpSourceFixture {
  const address = parseVrpJsonUrl(url)
  return { source: createVrpJsonSource({ ...address, ...common, limits: { pollMs: 50 } }), ...rest }
}

function exportOf(vrps: readonly Vrp[]): string {
  return JSON.stringify({ roas: vrps.map((vrp) => ({ ...vrp, asn: `AS${vrp.asn}`, ta: 'test' })) })
}
