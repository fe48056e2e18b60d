import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { skipWithoutNamespaces } from '@pharos/lab/namespace'
import { createPacketPath, type PacketPath } from '@pharos/lab/packet-path'
import { skipWithout } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { type ScrubberFixture, scrubberConformance } from '../../shield/scrubber.conformance.ts'
import { type CompiledRule, planLists } from '../../shield/scrubber.ts'
import type { FilterAction } from '../../net/filter-rule.ts'
import type { FlowMatch, FlowPacket } from '../../net/flow-match.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import type { ScrubberSettings } from '../../shield/scrubber-driver.ts'
import { scrubberDrivers } from '../scrubbers.ts'
import { NftablesScrubber } from './scrubber.ts'
import type { Hook } from './table.ts'
import { onlyInLongRun } from '../../runtime/testing-scale.ts'

const ownerOf = (settings: ScrubberSettings) => scrubberDrivers.find(settings['kind'])?.ownerOf(settings)

const run = promisify(execFile)
const skip = skipWithoutNamespaces() || skipWithout('nft', 'ip')
const prefix4 = parsePrefix('203.0.113.0/24')
const prefix6 = parsePrefix('2001:db8:a::/48')
const prefixes = [prefix4, prefix6]

scrubberConformance('nftables', makeFixture, skip || undefined)

describe('nftables with packets', { skip: skip || onlyInLongRun }, () => {
  it('lets none of the denied packets pass during 50 replacements, and counts all of them', async (t) => {
    const { path, scrubber } = await startPath(t)
    const denied = rule(1, { protocol: [[17, 17]], destinationPort: [[53, 53]] })
    const others = (count: number) =>
      Array.from({ length: count }, (_, at) =>
        rule(100 + at, { protocol: [[6, 6]], destinationPort: [[at, at]] }),
      )
    await scrubber.apply([{ prefix: prefix4, rules: [denied] }])
    const flood = path.flood(packet({ destinationPort: 53 }), 5_000)
    await waitFor('packets are counted', async () => ((await scrubber.hits()).get(1)?.packets ?? 0) > 100)
    for (let round = 0; round < 50; round++) {
      const before = others(round % 7)
      await scrubber.apply([{ prefix: prefix4, rules: [...before, denied, ...others(20).slice(7)] }])
      if (round % 10 === 9)
        await scrubber.apply([{ prefix: prefix6, rules: [rule(900 + round, { destination: prefix6 })] }])
    }
    const { sent } = await flood.stop()
    assert.ok(sent > 500, `${sent} packets`)
    await waitFor('all are counted', async () => (await scrubber.hits()).get(1)?.packets === sent)
    assert.equal(await path.received(), 0)
  })

  for (const [name, limit, perSecond] of [
    ['packets', { kind: 'rate_limit', pps: 100 }, 100],
    ['bits', { kind: 'rate_limit', bps: 100 * 500 * 8 }, 100],
  ] as const) {
    it(`passes the packets that conform to a limit in ${name}, and drops the excess`, async (t) => {
      const { path, scrubber } = await startPath(t)
      const rules = [rule(1, { protocol: [[17, 17]] }, limit), rule(2)]
      await scrubber.apply([{ prefix: prefix4, rules }])
      const flood = path.flood(packet({ packetLength: 500 }), 1_000)
      await waitFor(
        'many packets are counted',
        async () => ((await scrubber.hits()).get(1)?.packets ?? 0) > 1_500,
      )
      const { sent, seconds } = await flood.stop()
      await waitFor('all are counted', async () => (await scrubber.hits()).get(1)?.packets === sent)
      const passed = await path.received()
      // Burst: a tenth of a second of packets; a second of octets and 64 kB.
      const burst = 'pps' in limit ? 15 : 240
      assert.ok(passed <= perSecond * seconds * 1.1 + burst, `${passed} of ${sent} in ${seconds} s`)
      assert.ok(passed >= Math.min(sent, perSecond * seconds * 0.5), `${passed} of ${sent} in ${seconds} s`)
      // Neither the conforming packets nor the excess reach the next rule.
      assert.equal((await scrubber.hits()).get(2)?.packets, 0)
    })
  }

  it('accepts its greatest rates, and refuses greater ones before the kernel does', async (t) => {
    const { scrubber } = await startPath(t)
    const limits = ({ bps, pps }: { readonly bps: number; readonly pps: number }) => ({
      prefix: prefix4,
      rules: [
        rule(1, { protocol: [[17, 17]] }, { kind: 'rate_limit', bps }),
        rule(2, { protocol: [[6, 6]] }, { kind: 'rate_limit', pps }),
      ],
    })
    const { rateMax } = scrubber.can
    await scrubber.apply([limits(rateMax)])
    const installed = await scrubber.list()
    assert.equal(installed[0]?.ruleCount, 2)
    for (const greater of [
      { ...rateMax, bps: rateMax.bps + 8 },
      { ...rateMax, pps: rateMax.pps + 1 },
    ])
      await assert.rejects(scrubber.apply([limits(greater)]), /the rate exceeds/)
    assert.deepEqual(await scrubber.list(), installed)
  })

  it('moves to another hook, and lets none of the denied packets pass', async (t) => {
    const { path, scrubber } = await startPath(t)
    const list = { prefix: prefix4, rules: [rule(1)] }
    await scrubber.apply([list])
    const before = await scrubber.list()
    const flood = path.flood(packet(), 5_000)
    const packets = async () => (await scrubber.hits()).get(1)?.packets ?? 0
    await waitFor('packets are counted', async () => (await packets()) > 100)
    const other = { prefix: prefix6, rules: [rule(2, { destination: prefix6 })] }
    for (const [hook, changed] of [
      ['prerouting', list],
      ['forward', list],
      ['prerouting', other],
    ] as const) {
      const moved = scrubberWith(path.nft, 'pharos_shield', 30_000, hook)
      assert.notEqual((await moved.list())[0]?.fingerprint, before[0]?.fingerprint)
      await moved.apply([changed])
      assert.deepEqual((await moved.list())[0], before[0])
      const counted = await packets()
      await waitFor('packets are counted', async () => (await packets()) > counted)
    }
    await flood.stop()
    assert.equal(await path.received(), 0)
  })

  it('notices that packets do not reach a list, and repairs it', async (t) => {
    const { path, scrubber } = await startPath(t)
    const nft = async (...args: string[]) => void (await run(path.nft[0]!, [...path.nft.slice(1), ...args]))
    const host = parsePrefix('203.0.113.9/32')
    const lists = [
      { prefix: prefix4, rules: [rule(1)] },
      { prefix: host, rules: [rule(2, { destination: host, protocol: [[6, 6]] })] },
      { prefix: prefix6, rules: [rule(3, { destination: prefix6 })] },
    ]
    await scrubber.apply(lists)
    const before = await scrubber.list()
    assert.deepEqual(planLists(lists, before, 'sequence'), { apply: [], remove: [] })
    const table = ['inet', 'pharos_shield'] as const
    const entry = [...table, 'shield'] as const
    for (const [change, changed] of [
      [['flush', 'chain', ...entry], 3],
      [['insert', 'rule', ...entry, 'accept'], 3],
      [['chain', ...entry, '{', 'policy', 'drop', ';', '}'], 3],
      [['flush', 'map', ...table, 'prefixes4'], 2],
      [['delete', 'element', ...table, 'prefixes4', '{', '203.0.113.9', '}'], 2],
      [['add', 'element', ...table, 'prefixes4', '{', '192.0.2.1', ':', 'drop', '}'], 2],
      [['flush', 'map', ...table, 'prefixes6'], 1],
      [['flush', 'chain', ...table, 'call4_cb007109_32'], 1],
      [['insert', 'rule', ...table, 'call4_cb007109_32', 'return'], 1],
    ] as const) {
      await nft(...change)
      const { apply, remove } = planLists(lists, await scrubber.list(), 'sequence')
      assert.deepEqual([apply.length, remove], [changed, []], change.join(' '))
      await scrubber.apply(apply)
      assert.deepEqual(await scrubber.list(), before, change.join(' '))
    }
    await path.send([packet()], 5)
    await waitFor('packets are counted', async () => (await scrubber.hits()).get(1)?.packets === 5)
    assert.equal(await path.received(), 0)
  })

  it('restores a list that was changed by hand', async (t) => {
    const { path, scrubber } = await startPath(t)
    const list = {
      prefix: prefix4,
      rules: [rule(1, { protocol: [[17, 17]] }, { kind: 'rate_limit', pps: 10 }), rule(2)],
    }
    await scrubber.apply([list])
    const [before] = await scrubber.list()
    const chain = ['inet', 'pharos_shield', 'list4_cb007100_24']
    const nft = async (...args: string[]) => void (await run(path.nft[0]!, [...path.nft.slice(1), ...args]))
    await nft('insert', 'rule', ...chain, 'accept')
    assert.notEqual((await scrubber.list())[0]?.fingerprint, before?.fingerprint)
    await scrubber.apply([list])
    assert.deepEqual(await scrubber.list(), [before])
    await nft('flush', 'chain', ...chain)
    assert.deepEqual(await scrubber.list(), [])
    await scrubber.apply([list])
    assert.deepEqual(await scrubber.list(), [before])
  })
})

it('rejects an answer that is not of nft, and one of another program, as no list', async () => {
  const answers: readonly (readonly [script: string, kind: DriverError['kind']])[] = [
    ['echo hello', 'protocol'],
    ['echo "{}"', 'protocol'],
    ['echo no; exit 1', 'refused'],
    ['exit 255', 'unreachable'],
    ['kill -9 $$', 'unreachable'],
    ['sleep 60', 'unreachable'],
  ]
  for (const [script, kind] of answers) {
    const scrubber = scrubberWith(['sh', '-c', script], 'pharos_shield', script === 'sleep 60' ? 300 : 20_000)
    await assert.rejects(
      scrubber.list(),
      (error) => error instanceof DriverError && error.kind === kind,
      script,
    )
  }
})

it('is created from checked settings only', () => {
  assert.deepEqual(scrubberDrivers.check({ kind: 'nftables' }), [])
  const remote = ['ssh', '-o', 'BatchMode=yes', 'root@198.51.100.1', 'pharos-nft']
  assert.deepEqual(
    scrubberDrivers.check({ kind: 'nftables', command: remote, table: 'shield2', hook: 'input' }),
    [],
  )
  for (const wrong of [
    { command: [] },
    { command: 'nft' },
    { command: ['nft', 'a\nb'] },
    { command: [''] },
    { table: 'a b' },
    { table: '-f' },
    { hook: 'output' },
    { owner: 'x' },
  ])
    assert.equal(scrubberDrivers.check({ kind: 'nftables', ...wrong }).length, 1, JSON.stringify(wrong))
  assert.equal(ownerOf({ kind: 'nftables' }), ownerOf({ kind: 'nftables', hook: 'input' }))
  assert.notEqual(ownerOf({ kind: 'nftables' }), ownerOf({ kind: 'nftables', command: remote }))
})

function rule(
  id: number,
  match: Partial<FlowMatch> = {},
  action: FilterAction = { kind: 'deny' },
): CompiledRule {
  return { id, match: { destination: prefix4, ...match }, action }
}

function packet(rest: Partial<FlowPacket> = {}): FlowPacket {
  return {
    source: parsePrefix('198.51.100.7/32'),
    destination: parsePrefix('203.0.113.9/32'),
    protocol: 17,
    sourcePort: 4_000,
    destinationPort: 53,
    packetLength: 100,
    dscp: 0,
    fragment: false,
    ...rest,
  }
}

function scrubberWith(
  command: readonly string[],
  table = 'pharos_shield',
  timeoutMs = 30_000,
  hook: Hook = 'forward',
): NftablesScrubber {
  return new NftablesScrubber({ command, table, hook, rulesMax: 10_000, timeoutMs })
}

async function startPath(t: TestContext): Promise<{ path: PacketPath; scrubber: NftablesScrubber }> {
  const path = await createPacketPath(prefixes)
  t.after(() => path.stop())
  return { path, scrubber: scrubberWith(path.nft) }
}

async function makeFixture(): Promise<ScrubberFixture> {
  const path = await createPacketPath(prefixes)
  const folder = await mkdtemp(join(tmpdir(), 'pharos-nft-test-'))
  const nft = async (...args: string[]) => (await run(path.nft[0]!, [...path.nft.slice(1), ...args])).stdout
  const scrubber = scrubberWith(path.nft)
  const hand = ['inet', 'by_hand'] as const
  return {
    scrubber,
    stranger: scrubberWith(path.nft, 'pharos_other'),
    connect: () => scrubberWith(path.nft),
    absent: { scrubber: scrubberWith([join(folder, 'no-nft')]), timeoutMs: 1_000 },
    async addByHand() {
      await nft('add', 'table', ...hand)
      await nft('add', 'chain', ...hand, 'forward', '{ type filter hook forward priority 0; }')
      await nft('add', 'rule', ...hand, 'forward', 'ip', 'daddr', '203.0.113.77', 'drop')
    },
    hasByHand: async () => (await nft('list', 'ruleset')).includes('203.0.113.77'),
    clearByHand: async () => void (await nft('delete', 'table', ...hand)),
    // A host that restarts has no rules.
    restart: async () => void (await nft('flush', 'ruleset')),
    keepsRules: false,
    async interrupt(call) {
      // nft is killed before it has read the transaction.
      const script = join(folder, 'slow-nft')
      await writeFile(
        script,
        `#!/bin/sh\ncase "$*" in *-f*) kill -9 $$;; esac\nexec ${path.nft.join(' ')} "$@"\n`,
        { mode: 0o755 },
      )
      const slow = scrubberWith([script])
      await assert.rejects(slow.apply([{ prefix: prefix4, rules: [rule(1)] }]), DriverError)
      await call()
    },
    async decide(packets) {
      const decided: (FilterAction['kind'] | null)[] = []
      for (const one of packets) decided.push(await decide(path, scrubber, nft, one))
      return decided
    },
    send: (one, count) => path.send([one], count),
    async stop() {
      await scrubber.close()
      await path.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Sends the packet, and returns the action of the rule that counted it, which must agree with whether it arrived. */
async function decide(
  path: PacketPath,
  scrubber: NftablesScrubber,
  nft: (...args: string[]) => Promise<string>,
  one: FlowPacket,
): Promise<FilterAction['kind'] | null> {
  const [hitsBefore, receivedBefore] = [await scrubber.hits(), await path.received()]
  await path.send([one])
  return waitFor('the packet is counted or arrives', async () => {
    const [hits, received] = [await scrubber.hits(), await path.received()]
    const counted = [...hits].filter(([id, { packets }]) => packets > (hitsBefore.get(id)?.packets ?? 0))
    const arrived = received - receivedBefore
    assert.ok(counted.length <= 1 && arrived <= 1, JSON.stringify({ counted, arrived }))
    const [id] = counted[0] ?? []
    if (id === undefined) return arrived === 1 ? ('none' as const) : undefined
    const kind = kindOf(await nft('-n', 'list', 'table', 'inet', 'pharos_shield'), id)
    if ((kind === 'deny') !== (arrived === 0)) return undefined
    return kind
  }).then((kind) => (kind === 'none' ? null : kind))
}

function kindOf(table: string, id: number): FilterAction['kind'] {
  const line = table.split('\n').find((text) => text.includes(`counter name "rule${id}"`))!
  if (line.includes('limit rate')) return 'rate_limit'
  return line.includes(' accept ') ? 'allow' : 'deny'
}
