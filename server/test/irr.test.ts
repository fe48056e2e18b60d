// The IRR sources with real connections and files: both kinds of source return the same for any registry, and checks follow changes
// of the registry, including across an outage.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { freePort } from '@pharos/lab/address'
import { IrrServer } from '@pharos/lab/irr-server'
import { createIrr } from '../src/registry/irr.ts'
import type { IrrSource } from '../src/registry/irr-source.ts'
import { createDumpSource } from '../src/drivers/irr/dump-source.ts'
import { createWhoisSource } from '../src/drivers/irr/whois-source.ts'
import { parseAsn, type Asn } from '../src/net/asn.ts'
import { parsePrefix, type Prefix } from '../src/net/prefix.ts'
import { silentLog } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { until } from '../../lab/src/wait.ts'

const never = new AbortController().signal
const prefix = parsePrefix('192.0.2.0/24')
const origin = parseAsn(64_496)

describe('a whois server and a dump of the same registry', () => {
  const prefixes = [
    '192.0.2.0/24',
    '192.0.2.0/25',
    '192.0.2.128/25',
    '192.0.0.0/16',
    '0.0.0.0/0',
    '198.51.100.0/24',
  ].concat(['2001:db8::/32', '2001:db8::/48', '2001:DB8:0:1::/64', '::/0'])
  const asns = [64_496, 64_497, 4_200_000_001]
  const sets = ['AS-A', 'AS-B', 'AS64496:AS-A']
  const maintainers = ['MAINT-A', 'MAINT-B']
  const source = fc.constantFrom('FIRST', 'SECOND', 'second', 'RIPE', 'OTHER')
  const members = fc.array(fc.constantFrom(...sets, ...asns.map((asn) => `AS${asn}`), 'AS-', 'x'), {
    maxLength: 4,
  })
  const objects = fc.oneof(
    fc
      .tuple(fc.constantFrom(...prefixes, '192.0.2.1/24'), fc.constantFrom(...asns, 0), source)
      .map(
        ([prefix, asn, source]) =>
          `${prefix.includes(':') ? 'route6' : 'route'}: ${prefix}\norigin: AS${asn}\nsource: ${source}`,
      ),
    fc
      .tuple(fc.constantFrom(...sets), members, fc.constantFrom('', 'ANY', ...maintainers), source)
      .map(
        ([name, members, by, source]) =>
          `as-set: ${name}\nmembers: ${members.join(', ')}\nmbrs-by-ref: ${by}\nsource: ${source}`,
      ),
    fc
      .tuple(fc.constantFrom(...asns), fc.constantFrom('', ...sets), fc.constantFrom(...maintainers), source)
      .map(
        ([asn, set, by, source]) => `aut-num: AS${asn}\nmember-of: ${set}\nmnt-by: ${by}\nsource: ${source}`,
      ),
  )

  it('return the same for any content', async (t) => {
    const { server, port, file } = await registryOf(t, ['FIRST', 'SECOND', 'RIPE'])
    const sources = ['FIRST', 'SECOND', 'RIPE']
    const whois = createWhoisSource({ host: '127.0.0.1', port, sources })
    t.after(() => whois.close())
    const met = { routes: 0, members: 0, autNums: 0 }
    const check = async (registry: readonly string[]): Promise<void> => {
      await server.setObjects(registry)
      const dump = createDumpSource({ file, sources, settleMs: 0, confirmMs: 0 })
      try {
        for (const prefix of prefixes) {
          const answers = await both([whois, dump], (source) => routesOf(source, parsePrefix(prefix)))
          met.routes += answers.length
        }
        for (const name of sets)
          if (await both([whois, dump], (source) => membersOf(source, name))) met.members++
        for (const asn of asns) {
          if (
            await both([whois, dump], (source) =>
              source.autNum(asn as Asn, never).then((found) => trimmed(found?.text)),
            )
          )
            met.autNums++
        }
      } finally {
        await dump.close()
      }
    }
    await fc.assert(fc.asyncProperty(fc.array(objects, { maxLength: 25 }), check), { numRuns: 100 })
    assert.ok(
      Object.values(met).every((count) => count > 20),
      JSON.stringify(met),
    )
  })
})

describe('a check result', () => {
  const route = 'route: 192.0.2.0/24\norigin: AS64496\nsource: LAB'

  it('follows the registry within a second, without a request', async (t) => {
    const { server, port } = await registryOf(t, ['LAB'])
    const irr = irrOf(t, createWhoisSource({ host: '127.0.0.1', port, sources: ['LAB'] }))
    let wake = (): void => {}
    irr.watch(() => wake())
    const changed = (): Promise<void> => new Promise((resolve) => (wake = resolve))
    const first = changed()
    await irr.start?.()
    await first
    assert.equal((await irr.judge(prefix, origin)).state, 'missing')
    for (const [objects, state] of [
      [[route], 'valid'],
      [[route.replace('64496', '64497')], 'mismatch_asn'],
      [[route.replace('192.0.2.0/24', '192.0.0.0/16')], 'mismatch_length'],
      [[], 'missing'],
    ] as const) {
      const next = changed()
      await server.setObjects(objects)
      await next
      assert.equal((await irr.judge(prefix, origin)).state, state)
    }
  })

  it('is kept during an outage of the server with its age, and updated after it', async (t) => {
    const { server, port } = await registryOf(t, ['LAB'])
    await server.setObjects([route])
    const irr = irrOf(t, createWhoisSource({ host: '127.0.0.1', port, sources: ['LAB'], timeoutMs: 300 }))
    await irr.start?.()
    await until(() => irr.status()[0]!.serial !== null)
    const before = await irr.judge(prefix, origin)
    assert.deepEqual([before.state, before.cached], ['valid', false])
    await server.stop()
    await until(() => irr.status()[0]!.state === 'down')
    const during = await irr.judge(prefix, origin)
    assert.deepEqual([during.state, during.cached, during.fetched], ['valid', true, before.fetched])
    const unknown = await irr.judge(parsePrefix('198.51.100.0/24'), origin)
    assert.equal(unknown.state, 'unavailable')
    assert.equal(unknown.reason, 'IRR server (LAB) does not answer')
    await server.setObjects([])
    await server.start()
    await until(() => irr.status()[0]!.state === 'up')
    await until(async () => (await irr.judge(prefix, origin)).state === 'missing')
  })
})

async function registryOf(t: TestContext, sources: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'irr-'))
  const file = join(folder, 'registry.rpsl')
  const port = await freePort()
  const server = new IrrServer({ file, address: '127.0.0.1', port, sources })
  await server.start()
  t.after(async () => {
    await server.stop()
    await rm(folder, { recursive: true })
  })
  return { server, port, file }
}

function irrOf(t: TestContext, ...sources: IrrSource[]) {
  const irr = createIrr({ sources, log: silentLog, metrics: createMetrics(), pollSeconds: 0.05 })
  t.after(() => irr.stop?.())
  return irr
}

async function both<T>(sources: readonly IrrSource[], ask: (source: IrrSource) => Promise<T>): Promise<T> {
  const [one, other] = await Promise.all(sources.map(ask))
  assert.deepEqual(one, other)
  return one!
}

async function routesOf(source: IrrSource, prefix: Prefix): Promise<string[]> {
  const routes = await source.routeObjects(prefix, never)
  return routes.map(({ prefix, origin, source }) => `${prefix} ${origin} ${source}`).sort()
}

async function membersOf(source: IrrSource, name: string) {
  const members = await source.asSetMembers(name, never)
  return members && { asns: new Set(members.asns), sets: new Set(members.sets) }
}

/** Two objects may be separated by additional line feeds. */
function trimmed(text: string | undefined): string | undefined {
  return text?.trimEnd()
}
