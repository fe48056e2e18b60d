import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startFlowspecPeers } from '@pharos/lab/flowspec-peers'
import { skipWithout } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { type ScrubberFixture, scrubberConformance } from '../../shield/scrubber.conformance.ts'
import type { FilterRule } from '../../net/filter-rule.ts'
import { filterRuleText } from '../../net/filter-rule.ts'
import { matchesPacket } from '../../net/flow-match.ts'
import { compareFlowspec, encodeComponents } from '../../net/flowspec/nlri.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { fingerprint } from '../../text/fingerprint.ts'
import { startFakeGobgpd } from '../gobgp/testing.ts'
import type { ScrubberSettings } from '../../shield/scrubber-driver.ts'
import { createScrubber, scrubberDrivers } from '../scrubbers.ts'
import { FlowspecScrubber } from './scrubber.ts'
import { birdRules } from './testing.ts'

const ownerOf = (settings: ScrubberSettings) => scrubberDrivers.find(settings['kind'])?.ownerOf(settings)

const owner = '64500:2:1'
const skip = skipWithout('gobgpd', 'gobgp', 'bird', 'birdc')

scrubberConformance('FlowSpec', makeFixture, skip || undefined)

it('reports routers, and keeps the session with every rule that it sends', { skip }, async (t) => {
  const { gobgpd, bird, stop } = await startFlowspecPeers()
  t.after(stop)
  const scrubber = scrubberAt(gobgpd.apiAddress)
  t.after(() => scrubber.close())
  assert.deepEqual((await scrubber.probe()).neighbors, { established: 1, configured: 1 })
  await bird.stop()
  await waitFor('the session is lost', async () => (await scrubber.probe()).neighbors?.established === 0)
})

it('sends nothing if one rule of any list cannot be sent', async (t) => {
  const fake = await startFakeGobgpd({ list: (call) => call.end() })
  t.after(fake.stop)
  const scrubber = scrubberAt(fake.address)
  t.after(() => scrubber.close())
  const prefix = parsePrefix('203.0.113.0/24')
  const rule = (id: number, rest: Partial<FilterRule> = {}): FilterRule => ({
    id,
    match: { destination: prefix },
    action: { kind: 'deny' },
    ...rest,
  })
  const destinationPort = Array.from({ length: 80 }, (_, at) => [1000 + 2 * at, 1000 + 2 * at] as const)
  const bad = [
    rule(2, { match: { destination: prefix, destinationPort } }),
    rule(2 ** 33),
    rule(1.5),
    rule(2, { action: { kind: 'rate_limit', bps: Infinity } }),
    rule(2, { action: { kind: 'rate_limit', bps: 1e300 } }),
  ]
  for (const one of bad) {
    const many = Array.from({ length: 600 }, (_, at) =>
      rule(at, { match: { destination: prefix, protocol: [[17, 17]], destinationPort: [[at, at]] } }),
    )
    await assert.rejects(
      scrubber.apply([{ prefix, rules: [...many, one] }]),
      (error) => error instanceof DriverError && error.kind === 'refused',
      JSON.stringify(one),
    )
  }
  assert.deepEqual(fake.changes, [])
})

it('is created from checked settings only', () => {
  const settings = { kind: 'flowspec', address: 'localhost:50052', owner }
  assert.deepEqual(scrubberDrivers.check(settings), [])
  assert.equal(ownerOf(settings), 'localhost:50052 64500:2:1')
  const cases: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
    [{ ...settings, address: '192.0.2.1:50051' }, /without authentication/],
    [{ ...settings, owner: '64500:2' }, /large community/],
    [{ ...settings, families: [5] }, /families/],
    [{ ...settings, tls: { ca_file: '/a', cert_file: '/b' } }, /key_file/],
    [{ ...settings, next_hop: {} }, /not a known field/],
  ]
  for (const [wrong, expected] of cases)
    assert.match(scrubberDrivers.check(wrong)[0]?.message ?? '', expected)
  const { can } = createScrubber({ ...settings, families: [4] }, { name: 'edge', rulesMax: 3 })
  assert.deepEqual([can.families, can.rulesMax, can.packetRate, can.hits], [[4], 3, false, false])
})

function scrubberAt(address: string, timeoutMs = 10_000, community = owner): FlowspecScrubber {
  return new FlowspecScrubber({ address, owner: community, rulesMax: 10_000, packetRate: true, timeoutMs })
}

async function makeFixture(): Promise<ScrubberFixture> {
  const peers = await startFlowspecPeers()
  const { gobgpd, bird, stop } = peers
  const scrubber = scrubberAt(gobgpd.apiAddress)
  const stranger = scrubberAt(gobgpd.apiAddress, 10_000, '64500:2:2')
  const absent = scrubberAt('127.0.0.1:1', 500)
  const byHand = '203.0.113.77/32'
  const restart = async (): Promise<void> => {
    await gobgpd.start()
    await untilReachable(scrubber)
    await untilReachable(stranger)
    await waitFor('the session is established again', () => bird.isEstablished())
  }
  /** The rules of BIRD once they are the installed ones, in the order of RFC 8955. */
  const rules = async (): Promise<FilterRule[]> => {
    const installed = await scrubber.list()
    const expected = installed.flatMap((list) => list.fingerprint.split(',')).toSorted()
    const found = await waitFor('BIRD has the rules', async () => {
      const all = await birdRules(peers, owner)
      const actual = all.map((rule) => fingerprint(filterRuleText(rule))).toSorted()
      return actual.join() === expected.join() ? all : undefined
    })
    return found.toSorted((a, b) => compareFlowspec(encodeComponents(a.match), encodeComponents(b.match)))
  }
  return {
    scrubber,
    stranger,
    connect: () => scrubberAt(gobgpd.apiAddress),
    absent: { scrubber: absent, timeoutMs: 500 },
    async addByHand() {
      const rule = ['match', 'destination', byHand, 'then', 'discard']
      await gobgpd.gobgp('global', 'rib', 'add', '-a', 'ipv4-flowspec', ...rule)
    },
    hasByHand: async () => (await gobgpd.gobgp('global', 'rib', '-a', 'ipv4-flowspec')).includes(byHand),
    async clearByHand() {
      await gobgpd.gobgp('global', 'rib', 'del', '-a', 'ipv4-flowspec', 'match', 'destination', byHand)
    },
    async restart() {
      await gobgpd.kill('SIGKILL')
      await restart()
    },
    keepsRules: false,
    async interrupt(call) {
      process.kill(gobgpd.pid!, 'SIGSTOP')
      // Its threads stop one after the other: a running thread could still answer.
      await waitFor('gobgpd stands still', () => isStopped(gobgpd.pid!))
      const rejected = assert.rejects(call(), DriverError)
      await sleep(50)
      await gobgpd.kill('SIGKILL')
      await rejected
      await restart()
    },
    async decide(packets) {
      const all = await rules()
      return packets.map(
        (packet) => all.find(({ match }) => matchesPacket(match, packet))?.action.kind ?? null,
      )
    },
    async stop() {
      await Promise.all([scrubber, stranger, absent].map((one) => one.close()))
      await stop()
    },
  }
}

/** The connection of a client to a restarted daemon is restored within half a second. */
async function untilReachable(scrubber: FlowspecScrubber): Promise<void> {
  await waitFor('gobgpd answers', async () => {
    try {
      return (await scrubber.list()).length === 0
    } catch {
      return false
    }
  })
}

/** Whether all threads of the process are stopped (proc(5), state T). */
const isStopped = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).every((thread) =>
    /\) T /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')),
  )
