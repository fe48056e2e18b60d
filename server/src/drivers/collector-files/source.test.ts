// Visibility from files: tables of routes and alerts, as the operator's tools write them.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { CollectorView } from '../../byoip/visibility/collector-view.ts'
import type { VisibilitySource } from '../../byoip/visibility/visibility-source.ts'
import { visibilitySourceConformance } from '../../byoip/visibility/visibility-source.conformance.ts'
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { createLog } from '../../runtime/log.ts'
import { visibilityDrivers } from '../visibility-sources.ts'
import { createCollectorFileSource, documentsOf } from './source.ts'
import { until } from '../../../../lab/src/wait.ts'

const log = createLog({ logLevel: 'silent', logFormat: 'json' })
const prefix = parsePrefix('203.0.113.0/24')
const isSix = (text: string): boolean => text.includes(':')
const peersOf = (of: Prefix) => [1, 2, 3].map((n) => (isSix(of) ? `2001:db8:ffff::${n}` : `192.0.2.${n}`))

/** A document as RIPEstat's BGP State returns it. */
const tableOf = (routes: ReadonlyMap<Prefix, number>, queried: readonly string[], at = new Date()) =>
  JSON.stringify({
    status: 'ok',
    data: {
      resource: queried.join(','),
      query_time: at.toISOString().slice(0, 23),
      bgp_state: [...routes].flatMap(([target_prefix, origin]) =>
        peersOf(target_prefix).map((peer) => ({
          target_prefix,
          source_id: `21-${peer}`,
          path: [64601, 64500, origin],
        })),
      ),
    },
  })

/** An alert as BGPalerter's reportFile writes it. */
const alertOf = (type: 'announcement' | 'withdrawal', of: Prefix, origin: number, at = Date.now()) =>
  JSON.stringify({
    id: `${origin}-${of}`,
    truncated: false,
    origin: type === 'withdrawal' ? 'withdrawal-detection' : 'basic-hijack-detection',
    earliest: at,
    latest: at,
    affected: 64496,
    message: 'text',
    data: peersOf(of).map((peer) => ({
      timestamp: at,
      affected: 64496,
      matchedRule: { prefix: of, group: 'noc', asn: [64496] },
      matchedMessage:
        type === 'withdrawal'
          ? { type, prefix: of, peer, timestamp: at }
          : {
              type,
              prefix: of,
              peer,
              path: [64601, 64500, origin],
              originAS: [origin],
              nextHop: peer,
              timestamp: at,
            },
      extra: {},
    })),
  })

async function put(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text)
  await rename(`${path}.new`, path)
}

for (const kind of ['a file', 'a folder', 'HTTP'] as const)
  visibilitySourceConformance(`from tables in ${kind}`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pharos-collectors-'))
    const path = join(folder, 'table.json')
    const routes = new Map<Prefix, number>()
    let text = ''
    let isHidden = false
    const server = createServer((_request, response) => {
      response.statusCode = isHidden ? 503 : 200
      response.end(text)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    let writing = Promise.resolve()
    const writeNow = (): Promise<void> => {
      text = tableOf(routes, ['0.0.0.0/0', '::/0'], new Date())
      return put(path, text)
    }
    const write = () => (writing = writing.then(writeNow))
    await write()
    const location =
      kind === 'HTTP'
        ? ({
            kind: 'http',
            url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
          } as const)
        : ({ kind: 'file', path: kind === 'a file' ? path : folder } as const)
    // Data are old after two seconds, and the outage is that the writer has stopped.
    const limits = { pollMs: 50, ageMsMax: 2_000 }
    const writer = setInterval(() => {
      if (!isHidden) void write()
    }, 300)
    return {
      source: createCollectorFileSource({ name: 'files', location, log, now: () => new Date(), limits }),
      announce: async (changed, origin) => {
        routes.set(changed, origin)
        await write()
      },
      withdraw: async (changed) => {
        routes.delete(changed)
        await write()
      },
      outage: {
        begin: async () => void (isHidden = true),
        end: async () => void (isHidden = false),
      },
      stop: async () => {
        clearInterval(writer)
        await writing
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
        await rm(folder, { recursive: true })
      },
    }
  })

describe('visibility from alerts of BGPalerter', () => {
  let folder: string
  let source: VisibilitySource
  let view: CollectorView
  let now = () => new Date()
  const inner = parsePrefix('203.0.113.0/25')
  const origins = (of: Prefix) =>
    view
      .read(of)
      .states.map(({ origin }) => origin)
      .filter((origin) => origin !== 0)
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pharos-alerts-'))
    await mkdir(join(folder, 'other.json'))
    await put(join(folder, 'notes.txt'), 'not JSON')
    const location = { kind: 'file', path: folder } as const
    const limits = { pollMs: 30 }
    source = createCollectorFileSource({ name: 'alerts', location, log, now: () => now(), limits })
    view = new CollectorView({ ourAsn: null })
    view.setPrefixes([prefix])
    source.connect(view)
    source.follow([{ prefix, originAsn: parseAsn(64496), change: null }])
    await source.start?.()
  })
  after(async () => {
    await source.stop?.()
    await rm(folder, { recursive: true })
  })

  it('has the origins of a hijack, also of a part of the prefix, and is never complete', async () => {
    await put(join(folder, 'alert-1-1-1.json'), alertOf('announcement', prefix, 64511))
    await put(join(folder, 'alert-2-2-1.json'), alertOf('announcement', inner, 64510))
    await until(() => origins(prefix).length === 3 && view.read(prefix).moreSpecifics.length === 1)
    assert.deepEqual(origins(prefix), [64511, 64511, 64511])
    assert.equal(view.read(prefix).isComplete, false)
    assert.equal(source.status().state, 'current')
  })

  it('counts a withdrawal of a later alert', async () => {
    await put(join(folder, 'alert-3-3-1.json'), alertOf('withdrawal', prefix, 64511))
    await until(() => origins(prefix).length === 0)
  })

  it('reads the other files if one is not valid', async () => {
    await put(join(folder, 'alert-4-4-1.json'), '{"data": 1}')
    await put(join(folder, 'alert-5-5-1.json'), alertOf('announcement', prefix, 64511))
    await until(() => origins(prefix).length === 3)
  })

  it('does not count a table that became old, although alerts are new', async () => {
    const old = new Date(Date.now() - 3_599_500)
    await put(join(folder, 'table.json'), tableOf(new Map([[prefix, 64496]]), [prefix], old))
    await until(() => view.read(prefix).isComplete)
    await until(() => !view.read(prefix).isComplete)
    assert.equal(source.status().state, 'current')
    await until(() => origins(prefix).length === 3)
  })

  it('does not count an alert after a day, and is unavailable without newer files', async () => {
    now = () => new Date(Date.now() + 25 * 3_600_000)
    await until(() => origins(prefix).length === 0 && view.read(prefix).moreSpecifics.length === 0)
    const { state, problem } = source.status()
    assert.equal(state, 'unavailable')
    assert.match(problem!, /alert-4-4-1.json: neither an alert of BGPalerter nor a table of routes/)
  })
})

describe('a document', () => {
  it('is one, a list, or one per line', () => {
    assert.deepEqual(documentsOf('{"a":1}'), [{ a: 1 }])
    assert.deepEqual(documentsOf('[{"a":1},2]'), [{ a: 1 }, 2])
    assert.deepEqual(documentsOf('{"a":1}\n\n{"b":2}\n'), [{ a: 1 }, { b: 2 }])
    assert.throws(() => documentsOf('{'), SyntaxError)
    assert.throws(() => documentsOf('{"a":1}\n{'), SyntaxError)
  })

  it('that is older than the last table is not used', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pharos-collectors-'))
    const path = join(folder, 'table.json')
    const at = new Date()
    const newer = tableOf(new Map([[prefix, 64496]]), [prefix], at)
    const older = tableOf(new Map([[prefix, 64511]]), [prefix], new Date(at.getTime() - 60_000))
    await put(path, `${newer}\n${older}\n`)
    const [source] = visibilityDrivers.createAll([pathToFileURL(path).href], {
      log,
      ourAsn: null,
      now: () => new Date(),
    })
    const view = new CollectorView({ ourAsn: null })
    view.setPrefixes([prefix])
    source!.connect(view)
    source!.follow([{ prefix, originAsn: parseAsn(64496), change: null }])
    await source!.start?.()
    await until(() => source!.status().state === 'current')
    const { states, isComplete } = view.read(prefix)
    assert.deepEqual([states.map(({ origin }) => origin), isComplete], [[64496, 64496, 64496], true])
    await source!.stop?.()
    await rm(folder, { recursive: true })
  })
})
