// The conformance suite of every scrubber. It uses only the port; tests that need the enforcing program itself (a foreign rule, a
// restart, a packet) use the fixture.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FilterAction } from '../net/filter-rule.ts'
import { type FlowMatch, type FlowPacket, icmpOf } from '../net/flow-match.ts'
import { parsePrefix, type Prefix } from '../net/prefix.ts'
import { compileLists, type OrderedList } from './compile.ts'
import {
  type CompiledList,
  type CompiledRule,
  fingerprintOf,
  planLists,
  type RuleHits,
  type Scrubber,
  ScrubberError,
} from './scrubber.ts'
import { isLongRun } from '../runtime/testing-scale.ts'

export type ScrubberFixture = {
  readonly scrubber: Scrubber
  /** Another owner on the same program. */
  readonly stranger: Scrubber
  /** Another client of the same owner on the same program, which the test closes. */
  connect(): Scrubber
  /** A scrubber whose program does not exist, and its configured timeout. */
  readonly absent: { readonly scrubber: Scrubber; readonly timeoutMs: number }
  /** Installs a rule as an operator would, beside ours, and reports whether it is still there. */
  addByHand(): Promise<void>
  hasByHand(): Promise<boolean>
  clearByHand(): Promise<void>
  /** Restarts the program; resolves when it answers again. */
  restart(): Promise<void>
  /** Whether rules survive a restart. */
  readonly keepsRules: boolean
  /** Stops the program in the middle of the call, which is then rejected, and starts it again. */
  interrupt(call: () => Promise<void>): Promise<void>
  /** Returns the action for each packet, as the program that enforces it has it: null for packets that no rule matches. */
  decide(packets: readonly FlowPacket[]): Promise<readonly (FilterAction['kind'] | null)[]>
  /** Lets a packet be counted; undefined if there are no hits. */
  send?(packet: FlowPacket, count: number): Promise<void>
  stop(): Promise<void>
}

const prefix4 = parsePrefix('203.0.113.0/24')
const prefix6 = parsePrefix('2001:db8:a::/48')

type Addresses = {
  readonly prefix: Prefix
  /** Four hosts of the prefix. */
  readonly hosts: readonly [Prefix, Prefix, Prefix, Prefix]
  /** The half of the prefix with the first three hosts. */
  readonly half: Prefix
  readonly sender: Prefix
  readonly otherSender: Prefix
}

const worlds: Readonly<Record<4 | 6, Addresses>> = {
  4: {
    prefix: prefix4,
    hosts: hostsOf('203.0.113.9/32', '203.0.113.10/32', '203.0.113.11/32', '203.0.113.200/32'),
    half: parsePrefix('203.0.113.0/25'),
    sender: parsePrefix('198.51.100.7/32'),
    otherSender: parsePrefix('198.51.100.8/32'),
  },
  6: {
    prefix: prefix6,
    hosts: hostsOf('2001:db8:a::9/128', '2001:db8:a::10/128', '2001:db8:a::11/128', '2001:db8:a:8000::9/128'),
    half: parsePrefix('2001:db8:a::/49'),
    sender: parsePrefix('2001:db8:5::7/128'),
    otherSender: parsePrefix('2001:db8:5::8/128'),
  },
}

function hostsOf(...texts: readonly string[]): Addresses['hosts'] {
  return texts.map(parsePrefix) as unknown as Addresses['hosts']
}

const deny: FilterAction = { kind: 'deny' }
const allow: FilterAction = { kind: 'allow' }
const udp = { protocol: [[17, 17]] } as const
const tcp = { protocol: [[6, 6]] } as const

/** Runs the suite; `make` starts one program for all tests. `skip` is the reason to skip it. */
export function scrubberConformance(name: string, make: () => Promise<ScrubberFixture>, skip?: string): void {
  describe(`the ${name} scrubber`, { skip: skip ?? false }, () => {
    let fixture: ScrubberFixture
    before(async () => {
      fixture = await make()
    })
    after(async () => {
      await fixture?.stop()
    })

    it('returns its identity', async () => {
      const identity = await fixture.scrubber.probe()
      assert.ok(identity.name.length > 0 && identity.version.length > 0)
    })

    it('installs nothing for an empty list', async () => {
      await starting(fixture, [])
      await fixture.scrubber.apply([])
      await fixture.scrubber.apply([{ prefix: prefix4, rules: [] }])
      await fixture.scrubber.remove([])
      assert.deepEqual(await fixture.scrubber.list(), [])
    })

    it('lists what was applied, and changes nothing when it is applied again', async () => {
      const lists = [rich(4), rich(6)]
      const compiled = await starting(fixture, lists)
      await fixture.scrubber.apply(compiled)
      await assertInstalled(fixture.scrubber, compiled)
      const plan = planLists(compiled, await fixture.scrubber.list(), fixture.scrubber.can.ordering)
      assert.deepEqual(plan, { apply: [], remove: [] })
    })

    it('replaces a list without keeping a rule of the one before', async () => {
      await starting(fixture, [rich(4), rich(6)])
      const { sender, hosts } = worlds[4]
      const next = compiledFor(fixture, [
        { prefix: prefix4, rules: [rule(90, 4, { ...tcp, destinationPort: [[25, 25]] })] },
      ])
      await fixture.scrubber.apply(next)
      await assertInstalled(fixture.scrubber, [...next, ...compiledFor(fixture, [rich(6)])])
      const old = packet(4, {
        destination: hosts[0],
        source: sender,
        protocol: 17,
        destinationPort: 53,
        sourcePort: 1,
      })
      const mail = { ...old, protocol: 6, destinationPort: 25, tcpFlags: 2 }
      assert.deepEqual(await fixture.decide([old, mail]), [null, 'deny'])
    })

    it('removes a list when an empty one is applied, and keeps the others', async () => {
      const compiled = await starting(fixture, [rich(4), rich(6)])
      await fixture.scrubber.apply([{ prefix: prefix4, rules: [] }])
      const second = compiled.filter(({ prefix }) => prefix === prefix6)
      await assertInstalled(fixture.scrubber, second)
    })

    it('removes one of two prefixes, and ignores absent, covering and more specific ones', async () => {
      const compiled = await starting(fixture, [rich(4), rich(6)])
      const others = ['203.0.113.0/25', '203.0.0.0/16', '192.0.2.0/24', '2001:db8:a::/49'].map(parsePrefix)
      await fixture.scrubber.remove(others)
      await assertInstalled(fixture.scrubber, compiled)
      await fixture.scrubber.remove([prefix6])
      await assertInstalled(
        fixture.scrubber,
        compiled.filter(({ prefix }) => prefix === prefix4),
      )
    })

    it('neither lists nor removes rules of others', async () => {
      const [ours] = await starting(fixture, [rich(4)])
      await fixture.addByHand()
      const theirs = compiledFor(fixture, [
        { ...rich(4), rules: rich(4).rules.map((one) => ({ ...one, id: one.id + 500 })) },
      ])
      await fixture.stranger.apply(theirs)
      await assertInstalled(fixture.scrubber, [ours!])
      await assertInstalled(fixture.stranger, theirs)
      await fixture.scrubber.remove([prefix4])
      assert.deepEqual(await fixture.scrubber.list(), [])
      await assertInstalled(fixture.stranger, theirs)
      assert.equal(await fixture.hasByHand(), true)
      await fixture.stranger.remove([prefix4])
      await fixture.clearByHand()
    })

    it('keeps installed rules when a client closes its connection', async () => {
      const compiled = await starting(fixture, [])
      const client = fixture.connect()
      const lists = compiledFor(fixture, [rich(4)])
      await client.apply(lists)
      await client.close()
      await assert.rejects(client.list(), isScrubberError)
      assert.deepEqual(compiled, [])
      await assertInstalled(fixture.scrubber, lists)
    })

    for (const family of isLongRun ? ([4, 6] as const) : ([Math.random() < 0.5 ? 4 : 6] as const)) {
      const world = worlds[family]
      const [first, second, third, fourth] = world.hosts
      const to = (destination: Prefix, rest: Partial<FlowPacket>): FlowPacket =>
        packet(family, { destination, source: world.sender, ...rest })
      const dns = (destination: Prefix): FlowPacket =>
        to(destination, { protocol: 17, sourcePort: 4_000, destinationPort: 53 })

      it(`decides IPv${family} packets by the first rule that matches, in every order of overlaps`, async () => {
        const cases: readonly (readonly [
          CompiledRule[],
          FilterAction['kind'] | null,
          FilterAction['kind'] | null,
        ])[] = [
          // An exception for DNS before a rule for a host, and the other way round.
          [
            [
              rule(1, family, { ...udp, destinationPort: [[53, 53]] }, allow),
              rule(2, family, { destination: first }),
            ],
            'allow',
            'allow',
          ],
          [
            [
              rule(1, family, { destination: first }),
              rule(2, family, { ...udp, destinationPort: [[53, 53]] }, allow),
            ],
            'deny',
            'allow',
          ],
          // Three rules deep.
          [
            [
              rule(1, family, { source: world.sender, ...udp }, allow),
              rule(2, family, { destination: world.half, ...udp, destinationPort: [[1, 1_000]] }),
              rule(3, family, {}, allow),
            ],
            'allow',
            'allow',
          ],
          [
            [
              rule(1, family, { destination: first, ...udp, destinationPort: [[50, 60]] }),
              rule(2, family, { destination: world.half }, allow),
              rule(3, family, { ...udp }),
            ],
            'deny',
            'allow',
          ],
          [[rule(1, family, { destination: fourth })], null, null],
        ]
        for (const [rules, forFirst, forSecond] of cases) {
          await starting(fixture, [{ prefix: world.prefix, rules }])
          assert.deepEqual(
            await fixture.decide([dns(first), dns(second)]),
            [forFirst, forSecond],
            JSON.stringify(rules),
          )
        }
      })

      it(`matches IPv${family} ports: one, a list, ranges, and 80 of them`, async () => {
        const many = Array.from({ length: 80 }, (_, at) => [10_000 + 2 * at, 10_000 + 2 * at] as const)
        await starting(fixture, [
          {
            prefix: world.prefix,
            rules: [
              rule(1, family, { destination: first, ...udp, destinationPort: [[53, 53]] }),
              rule(2, family, {
                destination: second,
                ...tcp,
                destinationPort: [
                  [80, 80],
                  [443, 443],
                  [8_000, 8_999],
                ],
              }),
              rule(3, family, { destination: third, ...udp, sourcePort: [[0, 1_023]] }),
              rule(4, family, { destination: fourth, ...udp, destinationPort: many }),
            ],
          },
        ])
        const ports = (
          destination: Prefix,
          protocol: number,
          destinationPort: number,
          sourcePort = 5_000,
        ): FlowPacket =>
          to(destination, {
            protocol,
            destinationPort,
            sourcePort,
            ...(protocol === 6 ? { tcpFlags: 2 } : {}),
          })
        const expected: readonly (readonly [FlowPacket, 'deny' | null])[] = [
          [ports(first, 17, 53), 'deny'],
          [ports(first, 17, 54), null],
          [ports(first, 6, 53), null],
          [ports(second, 6, 80), 'deny'],
          [ports(second, 6, 8_500), 'deny'],
          [ports(second, 6, 9_000), null],
          [ports(third, 17, 53, 1_023), 'deny'],
          [ports(third, 17, 53, 1_024), null],
          [ports(fourth, 17, 10_000), 'deny'],
          [ports(fourth, 17, 10_158), 'deny'],
          [ports(fourth, 17, 10_001), null],
        ]
        assert.deepEqual(
          await fixture.decide(expected.map(([one]) => one)),
          expected.map(([, kind]) => kind),
        )
      })

      it(`matches IPv${family} flags, types, lengths, code points, protocols and sources`, async () => {
        const icmp = { protocol: [[icmpOf(family), icmpOf(family)]] } as const
        await starting(fixture, [
          {
            prefix: world.prefix,
            rules: [
              rule(1, family, { destination: first, ...tcp, tcpFlags: { set: 2, unset: 16 } }),
              rule(2, family, { destination: first, ...icmp, icmpType: [[128, 128]], icmpCode: [[0, 0]] }),
              rule(3, family, { destination: second, ...udp, packetLength: [[1_000, 1_200]] }),
              rule(4, family, { destination: third, ...udp, dscp: [[46, 46]] }),
              rule(5, family, { destination: fourth, source: world.sender, protocol: [[47, 47]] }),
            ],
          },
        ])
        const syn = { protocol: 6, sourcePort: 4_000, destinationPort: 80 }
        const datagram = { protocol: 17, sourcePort: 4_000, destinationPort: 80 }
        const echo = { protocol: icmpOf(family), icmpType: 128, icmpCode: 0 }
        const expected: readonly (readonly [FlowPacket, 'deny' | null])[] = [
          [to(first, { ...syn, tcpFlags: 2 }), 'deny'],
          [to(first, { ...syn, tcpFlags: 18 }), null],
          [to(first, { ...syn, tcpFlags: 16 }), null],
          [to(first, echo), 'deny'],
          [to(first, { ...echo, icmpType: 129 }), null],
          [to(second, { ...datagram, packetLength: 1_000 }), 'deny'],
          [to(second, { ...datagram, packetLength: 1_200 }), 'deny'],
          [to(second, { ...datagram, packetLength: 999 }), null],
          [to(second, { ...datagram, packetLength: 1_201 }), null],
          [to(third, { ...datagram, dscp: 46 }), 'deny'],
          [to(third, { ...datagram, dscp: 0 }), null],
          [to(fourth, { protocol: 47 }), 'deny'],
          [to(fourth, { protocol: 47, source: world.otherSender }), null],
        ]
        assert.deepEqual(
          await fixture.decide(expected.map(([one]) => one)),
          expected.map(([, kind]) => kind),
        )
      })

      it(`matches IPv${family} fragments, and never the ports of later ones`, async () => {
        await starting(fixture, [
          {
            prefix: world.prefix,
            rules: [
              rule(1, family, { destination: first, fragment: true }),
              rule(2, family, { destination: second, ...udp, destinationPort: [[0, 65_535]] }),
              rule(3, family, { destination: third, fragment: false }),
            ],
          },
        ])
        const whole = { protocol: 17, sourcePort: 4_000, destinationPort: 80 }
        const later = { protocol: 17, fragment: true }
        const packets = [first, second, third].flatMap((host) => [to(host, whole), to(host, later)])
        assert.deepEqual(await fixture.decide(packets), [null, 'deny', 'deny', null, 'deny', null])
      })

      it(`distinguishes limits of IPv${family} packets from other actions`, async () => {
        const limits: FilterAction[] = [{ kind: 'rate_limit', bps: 8_000_000 }]
        if (fixture.scrubber.can.packetRate) limits.push({ kind: 'rate_limit', pps: 1_000 })
        const rules = limits.map((limit, at) =>
          rule(at + 1, family, { destination: [first, second][at]!, ...udp }, limit),
        )
        const compiled = await starting(fixture, [
          { prefix: world.prefix, rules: [...rules, rule(9, family)] },
        ])
        await assertInstalled(fixture.scrubber, compiled)
        assert.deepEqual(await fixture.decide([dns(first), dns(third)]), ['rate_limit', 'deny'])
      })
    }

    it('treats packets of a nested prefix by its own list first, and then by the outer one', async () => {
      const { prefix, half, hosts } = worlds[4]
      const datagram = { protocol: 17, sourcePort: 4_000, destinationPort: 53 }
      const outer = { prefix, rules: [rule(1, 4, { ...udp }), rule(2, 4, { ...tcp }, allow)] }
      const inner = {
        prefix: half,
        rules: [rule(3, 4, { destination: half, ...udp, destinationPort: [[53, 53]] }, allow)],
      }
      const packets = [
        packet(4, { destination: hosts[0], ...datagram }),
        packet(4, { destination: hosts[0], ...datagram, destinationPort: 54 }),
        packet(4, { destination: hosts[3], ...datagram }),
        packet(4, { destination: hosts[0], ...datagram, protocol: 6, tcpFlags: 2 }),
      ]
      await starting(fixture, [outer, inner])
      assert.deepEqual(await fixture.decide(packets), ['allow', 'deny', 'deny', 'allow'])
      await fixture.scrubber.remove([half])
      await fixture.scrubber.apply(compiledFor(fixture, [outer]))
      assert.deepEqual(await fixture.decide(packets), ['deny', 'deny', 'deny', 'allow'])
    })

    it('refuses destinations outside of the prefix, other families and unknown numbers, and installs nothing', async () => {
      const compiled = await starting(fixture, [rich(6)])
      const bad: readonly Partial<FlowMatch>[] = [
        { destination: parsePrefix('203.0.112.0/23') },
        { destination: parsePrefix('198.51.100.9/32') },
        { destination: parsePrefix('2001:db8:a::9/128') },
        { destination: '203.0.113.9/24' as Prefix },
        { source: parsePrefix('2001:db8::/32') },
        { source: '198.51.100.1/24' as Prefix },
        { dscp: [[64, 64]] },
        { ...udp, destinationPort: [[70_000, 70_000]] },
        { ...udp, destinationPort: [[2, 1]] },
      ]
      for (const match of bad) {
        const lists = [{ prefix: prefix4, rules: [rule(1, 4), rule(2, 4, match)] }]
        await assert.rejects(
          fixture.scrubber.apply(lists),
          (error) => isScrubberError(error) && (error as ScrubberError).kind === 'refused',
          JSON.stringify(match),
        )
      }
      await assertInstalled(fixture.scrubber, compiled)
    })

    it('holds 1,000 rules, and removes them', async () => {
      const rules = Array.from({ length: 1_000 }, (_, at) =>
        rule(at + 1, 4, {
          ...udp,
          destinationPort: [[at + 1, at + 1]],
          destination: worlds[4].hosts[at % 4]!,
        }),
      )
      const compiled = await starting(fixture, [{ prefix: prefix4, rules }])
      assert.equal((await fixture.scrubber.list())[0]?.ruleCount, 1_000)
      await assertInstalled(fixture.scrubber, compiled)
      await fixture.scrubber.remove([prefix4])
      assert.deepEqual(await fixture.scrubber.list(), [])
    })

    it('has the rules, or none of them, after a restart, and installs them again', async () => {
      const compiled = await starting(fixture, [rich(4), rich(6)])
      await fixture.restart()
      if (fixture.keepsRules) await assertInstalled(fixture.scrubber, compiled)
      else assert.deepEqual(await fixture.scrubber.list(), [])
      await fixture.scrubber.apply(compiled)
      await assertInstalled(fixture.scrubber, compiled)
    })

    it('notifies a watcher when it is reachable', async () => {
      const client = fixture.connect()
      try {
        const up = Promise.withResolvers<void>()
        const stop = client.watch(() => up.resolve())
        await Promise.race([up.promise, deadline('onUp')])
        stop()
      } finally {
        await client.close()
      }
    })

    it('rejects a change during which the program stops, and completes it when it is repeated', async () => {
      await starting(fixture, [rich(6)])
      const lists = compiledFor(fixture, [rich(4), rich(6)])
      await fixture.interrupt(() => fixture.scrubber.apply(lists))
      await fixture.scrubber.apply(lists)
      await assertInstalled(fixture.scrubber, lists)
    })

    it('rejects every call if the program does not exist', async () => {
      const { scrubber } = fixture.absent
      const calls = [
        () => scrubber.probe(),
        () => scrubber.list(),
        () => scrubber.apply(compiledFor(fixture, [rich(4)])),
        () => scrubber.remove([prefix4]),
        ...(scrubber.can.hits ? [() => scrubber.hits()] : []),
      ]
      for (const call of calls)
        await assert.rejects(
          call,
          (error) => isScrubberError(error) && (error as ScrubberError).kind === 'unreachable',
        )
    })

    it('counts hits that never fall, survive a replacement, and begin at 0 for a new id', async () => {
      if (!fixture.scrubber.can.hits || !fixture.send) {
        assert.equal(fixture.scrubber.can.hits, false)
        assert.deepEqual(await fixture.scrubber.hits(), new Map())
        return
      }
      const { hosts, prefix } = worlds[4]
      const denied = packet(4, {
        destination: hosts[0],
        protocol: 17,
        sourcePort: 4_000,
        destinationPort: 53,
      })
      const dropDns = rule(71, 4, { ...udp, destinationPort: [[53, 53]] })
      await starting(fixture, [{ prefix, rules: [dropDns, rule(72, 4)] }])
      const before = await hitsOf(fixture, 71)
      await fixture.send(denied, 10)
      await untilHits(fixture, 71, (before?.packets ?? 0) + 10)
      const reordered = [rule(73, 4, { ...tcp }), dropDns]
      await fixture.scrubber.apply(compiledFor(fixture, [{ prefix, rules: reordered }]))
      const after = await hitsOf(fixture, 71)
      assert.equal(after?.packets, (before?.packets ?? 0) + 10)
      assert.ok(after!.bytes >= 10 * 28, JSON.stringify(after))
      assert.equal((await hitsOf(fixture, 73))?.packets, 0)
      await fixture.send(denied, 5)
      await untilHits(fixture, 71, (before?.packets ?? 0) + 15)
      await fixture.scrubber.apply(compiledFor(fixture, [{ prefix, rules: [rule(74, 4, dropDns.match)] }]))
      assert.equal((await hitsOf(fixture, 74))?.packets, 0)
      assert.equal(await hitsOf(fixture, 71), undefined)
    })
  })
}

async function hitsOf({ scrubber }: ScrubberFixture, id: number): Promise<RuleHits | undefined> {
  return (await scrubber.hits()).get(id)
}

async function untilHits(fixture: ScrubberFixture, id: number, packets: number): Promise<void> {
  for (const endMs = performance.now() + 60_000; ;) {
    const hits = await hitsOf(fixture, id)
    if (hits?.packets === packets) return
    if (performance.now() > endMs) assert.equal(hits?.packets, packets)
    await sleep(20)
  }
}

/** A list with every condition and action. */
function rich(family: 4 | 6): OrderedList {
  const { prefix, hosts, sender } = worlds[family]
  return {
    prefix,
    rules: [
      rule(family * 10 + 1, family, {
        ...udp,
        destinationPort: [
          [53, 53],
          [1_000, 2_000],
        ],
        source: sender,
      }),
      rule(
        family * 10 + 2,
        family,
        { destination: hosts[1], ...tcp, tcpFlags: { set: 2, unset: 16 } },
        allow,
      ),
      rule(
        family * 10 + 3,
        family,
        { destination: hosts[2], fragment: true },
        { kind: 'rate_limit', bps: 8_000_000 },
      ),
      rule(family * 10 + 4, family, {
        protocol: [[icmpOf(family), icmpOf(family)]],
        icmpType: [[3, 3]],
        dscp: [[0, 9]],
      }),
      rule(family * 10 + 5, family, { protocol: [[47, 47]], packetLength: [[0, 100]] }, allow),
    ],
  }
}

function rule(
  id: number,
  family: 4 | 6,
  match: Partial<FlowMatch> = {},
  action: FilterAction = deny,
): CompiledRule {
  return { id, match: { destination: worlds[family].prefix, ...match }, action }
}

function packet(family: 4 | 6, fields: Partial<FlowPacket>): FlowPacket {
  const { hosts, sender } = worlds[family]
  return {
    source: sender,
    destination: hosts[0],
    protocol: 17,
    packetLength: 100,
    dscp: 0,
    fragment: false,
    ...fields,
  }
}

/** Removes all lists, and installs these. Returns them as compiled for the scrubber. */
async function starting(
  fixture: ScrubberFixture,
  lists: readonly OrderedList[],
): Promise<readonly CompiledList[]> {
  const { scrubber } = fixture
  await scrubber.remove((await scrubber.list()).map(({ prefix }) => prefix))
  const compiled = compiledFor(fixture, lists)
  await scrubber.apply(compiled)
  return compiled
}

function compiledFor({ scrubber }: ScrubberFixture, lists: readonly OrderedList[]): readonly CompiledList[] {
  const { lists: compiled, refused } = compileLists(lists, scrubber.can)
  assert.deepEqual(refused, [])
  return compiled
}

async function assertInstalled(scrubber: Scrubber, expected: readonly CompiledList[]): Promise<void> {
  const installed = await scrubber.list()
  const byPrefix = new Map(installed.map((list) => [list.prefix, list]))
  for (const list of expected) {
    const found = byPrefix.get(list.prefix)
    assert.equal(found?.fingerprint, fingerprintOf(list, scrubber.can.ordering), `the list of ${list.prefix}`)
    assert.equal(found?.ruleCount, list.rules.length)
  }
  assert.equal(installed.length, expected.length, 'lists that were never applied')
}

function isScrubberError(error: unknown): boolean {
  assert.ok(error instanceof ScrubberError, String(error))
  return true
}

async function deadline(name: string): Promise<never> {
  await sleep(60_000, undefined, { ref: false })
  throw new Error(`${name}: not within a minute`)
}
