// Suggestions against attacks of every kind on a customer with a web server, SSH, a name server and own clients. The
// matches of each rule are counted again from the flows, without SQL, and docs/suggested-rules.md has the figures.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { ShieldSuggestions } from '@pharos/contract/shield/suggestion'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { createTestFlowStore, type TestFlowStore } from '../drivers/clickhouse/testing.ts'
import { parsePrefix } from '../net/prefix.ts'
import type { Operation } from '../operation/operation.ts'
import { concernsFlow, insertFlows, matchesFlow, testFlow, type TestFlow } from '../flow/testing.ts'
import { createWhatIf } from '../flow/what-if.ts'
import { addPrefix, addTeam } from '../events/testing.ts'
import { parseRules } from './shield-rule.ts'
import { suggestShieldRules } from './suggest-shield-rules.ts'
import type { ListRefusal } from './update-shield.ts'

const startMs = Date.parse('2026-03-14T12:00:00Z')
const seconds = 600
const endMs = startMs + seconds * 1000
const dayMs = 86_400_000
const days = 4
/** Flows of the customer in ten minutes, and records of the attack. */
const usualCount = 600
const attackCount = 1_500
const page = new URL('../../../docs/suggested-rules.md', import.meta.url)

let state = 7
const whole = (below: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
  return Math.floor((state / 0x8000_0000) * below)
}
const pick = <T>(values: readonly T[]): T => values[whole(values.length)]!

const client = () => `${pick(['192.0.2', '198.18.4', '198.18.77', '198.19.9'])}.${1 + whole(250)}`
const host = '203.0.113.7'
const flowOf = (packets: number, octets: number, fields: Partial<TestFlow>): Partial<TestFlow> => ({
  packets,
  bytes: packets * octets,
  ...fields,
})

/** A flow of the customer: 55 % web, 8 % SSH, 18 % questions to the name server, and answers to its own clients. */
function usualFlow(): Partial<TestFlow> {
  const kind = whole(100)
  const port = 1_024 + whole(60_000)
  const tcp = { protocol: 6, srcPort: port }
  if (kind < 40)
    return flowOf(6 + whole(30), 70 + whole(400), {
      ...tcp,
      dstPort: 443,
      tcpFlags: pick([27, 27, 27, 31, 26]),
    })
  // Records of a connection that lasts, and some that a client aborted.
  if (kind < 52) return flowOf(20 + whole(80), 52 + whole(200), { ...tcp, dstPort: 443, tcpFlags: 24 })
  if (kind < 55) return flowOf(1 + whole(2), 40, { ...tcp, dstPort: 443, tcpFlags: pick([4, 20]) })
  if (kind < 63)
    return flowOf(10 + whole(200), 60 + whole(80), { ...tcp, dstPort: 22, tcpFlags: pick([27, 24]) })
  const udp = { protocol: 17 }
  if (kind < 81) return flowOf(1, 56 + whole(40), { ...udp, srcPort: port, dstPort: 53 })
  if (kind < 87) return flowOf(1, 100 + whole(400), { ...udp, srcPort: 53, dstPort: port })
  if (kind < 90) return flowOf(1, 76, { ...udp, srcPort: 123, dstPort: port })
  if (kind < 98) return flowOf(5 + whole(20), 200 + whole(1_000), { ...udp, srcPort: port, dstPort: 443 })
  return flowOf(1 + whole(4), 84, { protocol: 1, srcPort: 0, dstPort: 8 * 256 })
}
const usual = (teamId: number, fromMs: number, hosts: readonly string[]): TestFlow[] =>
  Array.from({ length: usualCount }, () =>
    testFlow({
      teamId,
      time: new Date(fromMs + whole(seconds) * 1000),
      src: client(),
      dst: pick(hosts),
      ...usualFlow(),
    }),
  )

type Attack = {
  readonly name: string
  readonly classification: string
  readonly flow: () => Partial<TestFlow>
  /** The least part of the attack that is dropped. */
  readonly droppedMin: number
  readonly network?: string
}
const spoofed = () => `${11 + whole(180)}.${whole(250)}.${whole(250)}.${whole(250)}`
const amplification = (name: string, kind: string, port: number, octets: () => number): Attack => ({
  name: `${name} amplification`,
  classification: `udp.amplification.${kind}`,
  droppedMin: 0.95,
  flow: () =>
    flowOf(200, octets(), {
      src: `${pick(['100.64', '100.65', '100.66'])}.${whole(250)}.${whole(250)}`,
      protocol: 17,
      srcPort: port,
      dstPort: 1_024 + whole(60_000),
    }),
})
const tcpFlood = (name: string, classification: string, tcpFlags: number, octets: number): Attack => ({
  name,
  classification,
  droppedMin: 0.95,
  flow: () =>
    flowOf(4_000, octets, {
      src: spoofed(),
      protocol: 6,
      srcPort: 1_024 + whole(60_000),
      dstPort: 443,
      tcpFlags,
    }),
})
const udpFlood = (name: string, fields: () => Partial<TestFlow>): Attack => ({
  name,
  classification: 'udp.flood',
  droppedMin: 0.9,
  flow: () => ({ src: spoofed(), protocol: 17, srcPort: 1_024 + whole(60_000), ...fields() }),
})
const dns = amplification('DNS', 'dns', 53, () => 1_180 + whole(300))
const attacks: readonly Attack[] = [
  dns,
  amplification('NTP', 'ntp', 123, () => 468),
  amplification('CLDAP', 'cldap', 389, () => 1_200 + whole(280)),
  amplification('SSDP', 'ssdp', 1900, () => 300 + whole(140)),
  amplification('memcached', 'memcached', 11_211, () => 1_428),
  {
    name: 'Fragments of UDP',
    classification: 'ip.fragment',
    droppedMin: 0.95,
    flow: () => flowOf(300, 1_500, { src: spoofed(), protocol: 17, srcPort: 0, dstPort: 0, fragment: 1 }),
  },
  tcpFlood('SYN, 40 octets', 'tcp.syn_flood', 2, 40),
  tcpFlood('SYN with options, 60 octets', 'tcp.syn_flood', 2, 60),
  tcpFlood('ACK, 40 octets', 'tcp.ack_flood', 16, 40),
  tcpFlood('RST, 40 octets', 'tcp.rst_flood', 4, 40),
  udpFlood('UDP, one length, any port', () => flowOf(5_000, 540, { dstPort: 1 + whole(65_000) })),
  udpFlood('UDP to the name server, any length', () => flowOf(5_000, 60 + whole(1_300), { dstPort: 53 })),
  {
    name: 'ICMP echo, 1,428 octets',
    classification: 'icmp.flood',
    droppedMin: 0.95,
    flow: () => flowOf(400, 1_428, { src: spoofed(), protocol: 1, srcPort: 0, dstPort: 8 * 256 }),
  },
  {
    ...dns,
    name: 'Carpet of DNS amplification over a /24',
    classification: 'carpet.udp',
    network: '203.0.113.0/24',
    flow: () => ({ ...dns.flow(), dst: `203.0.113.${whole(256)}` }),
  },
]

type Case = {
  readonly attack: Attack
  readonly teamId: number
  readonly attackFlows: readonly TestFlow[]
  /** In the window of the attack, and in that of the days before. */
  readonly usualNow: readonly TestFlow[]
  readonly usualBefore: readonly TestFlow[]
}

let database: TestDatabase
let store: TestFlowStore
const cases: Case[] = []

before(async () => {
  database = await createTestDatabase()
  store = await createTestFlowStore()
  const { owner } = database.postgres
  for (const [at, attack] of attacks.entries()) {
    const teamId = await addTeam(owner, `team-${at}`)
    // One prefix each: two teams cannot hold the same.
    await addPrefix(owner, teamId, '203.0.113.0/24')
    const network = attack.network ?? `${host}/32`
    const hosts = attack.network ? [host, '203.0.113.20', '203.0.113.21'] : [host]
    const usualNow = usual(teamId, startMs, hosts)
    const usualBefore = Array.from({ length: days }, (_, day) =>
      usual(teamId, startMs - (day + 1) * dayMs, hosts),
    ).flat()
    const attackFlows = Array.from({ length: attackCount }, () =>
      testFlow({ teamId, time: new Date(startMs + whole(seconds) * 1000), dst: host, ...attack.flow() }),
    )
    cases.push({ attack, teamId, attackFlows, usualNow, usualBefore })
    await addEvent(teamId, `event-${at}`, network, attack, attackFlows)
  }
  await insertFlows(
    store,
    cases.flatMap(({ attackFlows, usualNow, usualBefore }) => [...attackFlows, ...usualNow, ...usualBefore]),
  )
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

async function addEvent(
  teamId: number,
  id: string,
  network: string,
  { classification }: Attack,
  flows: readonly TestFlow[],
) {
  const { owner } = database.postgres
  const [bps, pps] = [
    Math.round((sumOf(flows).bytes * 8) / seconds),
    Math.round(sumOf(flows).packets / seconds),
  ]
  const details = JSON.stringify({ thresholds: { bps: 100_000_000, pps: 20_000 } })
  const facet = await sql<{ id: number }>`
    insert into team_event_facets (team_id, flags, status, classification_key, source_key)
    values (${teamId}, 0, 0, ${classification}, 'test') returning id`.execute(owner)
  const [start, end] = [new Date(startMs), new Date(endMs)]
  await sql`insert into events (id, source_key, source_event_id, flags, status, affected_network, source_timezone, start_at, end_at,
      source_resource_id, source_location_id, source_country, source_location, classification_key, description, affected_bps,
      affected_pps, parsed_data)
    values (${id}, 'test', ${id}, '{}', '{EVENT_ENDED}', ${network}::cidr, 'UTC', ${start}, ${end}, '', '', '', '',
      ${classification}, '', ${bps}, ${pps}, ${details}::jsonb)`.execute(owner)
  await sql`insert into team_events (team_id, event_id, start_at, end_at, affected_bps, affected_pps, flags, affected_network,
      classification_key, description, record, relationships, facet)
    values (${teamId}, ${id}, ${start}, ${end}, ${bps}, ${pps}, 0, ${network}::cidr, ${classification}, '', '{', '[]',
      ${facet.rows[0]!.id})`.execute(owner)
}

const measures = ['bytes', 'packets', 'flows'] as const
type Volume = Record<(typeof measures)[number], number>
function sumOf(flows: readonly TestFlow[]): Volume {
  const sum = { bytes: 0, packets: 0, flows: flows.length }
  for (const { bytes, packets, samplingRate } of flows) {
    sum.bytes += bytes * samplingRate
    sum.packets += packets * samplingRate
  }
  return sum
}
const sharesOf = (part: readonly TestFlow[], all: readonly TestFlow[]): Volume => {
  const [a, b] = [sumOf(part), sumOf(all)]
  return { bytes: a.bytes / b.bytes, packets: a.packets / b.packets, flows: a.flows / b.flows }
}

const answerOf = (
  { teamId }: Case,
  at: number,
  refusals: readonly ListRefusal[] = [],
): Promise<ShieldSuggestions> =>
  suggestShieldRules(
    {
      postgres: database.postgres,
      flowStore: store,
      estimate: createWhatIf({ db: database.postgres.front, flowStore: store }),
      checkScrubbers: async () => ({ scrubbers: 1, refusals }),
      safelist: [],
      now: () => new Date(endMs + 60_000),
    },
    { actor: { teamId } } as Operation,
    `event-${at}`,
    {},
  )

const near = (actual: number | null, expected: number, what: string) =>
  assert.ok(
    actual !== null && Math.abs(actual - expected) < 1e-6,
    `${what}: ${actual} instead of ${expected}`,
  )

const percent = (share: number): string => {
  const value = share * 100
  return value === 0
    ? '0'
    : value < 0.1
      ? '<0.1'
      : String(Math.min(Number(value.toFixed(1)), share < 1 ? 99.9 : 100))
}
const three = (shares: Volume): string => measures.map((measure) => percent(shares[measure])).join(' / ')

describe('suggestions against attacks of every kind', () => {
  const lines: string[] = []

  it('have the shares that a count without SQL finds, and drop at most 1 % of usual connections', async () => {
    for (const [at, one] of cases.entries()) {
      const { attack, attackFlows, usualNow, usualBefore } = one
      const answer = await answerOf(one, at)
      const rules = answer.suggestions.map(({ rule }) => rule)
      const parsed = parseRules(rules, parsePrefix('203.0.113.0/24'))
      const inWindow = [...attackFlows, ...usualNow]
      assert.ok(parsed.length > 0, `${attack.name}: no rule`)
      const dropped = new Set<TestFlow>()
      const harmed = new Set<TestFlow>()
      for (const [
        place,
        {
          parsed: { match, action },
        },
      ] of parsed.entries()) {
        const name = `${attack.name}, rule ${place}`
        const claimed = answer.suggestions[place]!
        const met = sharesOf(
          inWindow.filter((flow) => matchesFlow(match, flow)),
          inWindow,
        )
        const concerned = usualBefore.filter((flow) => concernsFlow(match, flow))
        for (const measure of measures) {
          near(claimed.attack_shares[measure], met[measure], `${name}, attack by ${measure}`)
          near(
            claimed.normal_shares[measure],
            sharesOf(concerned, usualBefore)[measure],
            `${name}, usual by ${measure}`,
          )
        }
        if (action.kind !== 'deny') continue
        for (const flow of attackFlows) if (matchesFlow(match, flow)) dropped.add(flow)
        for (const flow of usualNow) if (concernsFlow(match, flow)) harmed.add(flow)
      }
      const harm = sharesOf([...harmed], usualNow)
      for (const measure of measures)
        assert.ok(
          harm[measure] <= 0.01,
          `${attack.name}: drops ${percent(harm[measure])} % of usual ${measure}`,
        )
      const effect = answer.what_if.dropped_attack_shares
      if (parsed.every(({ action }) => action === 'deny')) {
        const share = sharesOf([...dropped], attackFlows).packets
        assert.ok(share >= attack.droppedMin, `${attack.name}: drops ${percent(share)} % of the attack`)
      } else {
        // Usual packets in the window of the attack count to it: no more than these are missing.
        assert.ok(effect.packets! >= attack.droppedMin - 0.05, `${attack.name}: ${JSON.stringify(effect)}`)
      }
      lines.push(lineOf(one, answer))
    }
  })

  it('limit a flood of SYN that looks like usual connections, and say how many of these pass', async () => {
    const at = attacks.findIndex(({ name }) => name.startsWith('SYN with options'))
    const { suggestions, warnings, what_if: effect } = await answerOf(cases[at]!, at)
    assert.deepEqual(
      suggestions.map(({ rule: { action, tcp_flags: flags } }) => [action, flags]),
      [['rate_limit', 'syn,!ack']],
    )
    assert.ok(suggestions[0]!.normal_shares.flows! > 0.3, 'usual connections are concerned')
    const refusal = {
      index: 0,
      field: 'rate_pps',
      reason: 'unsupported',
      detail: '',
      scrubber: 'edge',
    } as const
    const [bits] = (await answerOf(cases[at]!, at, [refusal])).suggestions
    assert.deepEqual(
      [bits!.rule.rate_pps, bits!.rule.rate_bps],
      [undefined, suggestions[0]!.rule.rate_pps! * 512],
      'a scrubber that limits no packets gets bits',
    )
    const { code, detail } = warnings[0]!
    assert.equal(code, 'limits_new_connections')
    const passing = effect.rules[0]!.new_connections_share!
    const rate = (attackCount * 4_000) / seconds
    assert.ok(Math.abs(passing - suggestions[0]!.rule.rate_pps! / rate) < 0.002, `${passing}`)
    assert.match(detail, /% of new connections pass/)
  })

  it('are in the page of the documentation as they are', () => {
    const table = [
      '| Attack | Rule | Share of the attack | Share of the usual | Dropped of the attack | Usual traffic meanwhile |',
      '|---|---|---|---|---|---|',
      ...lines,
    ].join('\n')
    const text = readFileSync(page, 'utf8')
    const [first, last] = ['<!-- table -->', '<!-- end -->']
    const updated = text.replace(new RegExp(`${first}[^]*${last}`), () => `${first}\n\n${table}\n\n${last}`)
    if (process.env['PHAROS_TEST_UPDATE']) writeFileSync(page, updated)
    else assert.equal(text, updated, 'PHAROS_TEST_UPDATE=1 writes it')
  })
})

function lineOf(
  { attack, attackFlows, usualBefore }: Case,
  { suggestions, what_if: effect }: ShieldSuggestions,
): string {
  const parsed = parseRules(
    suggestions.map(({ rule }) => rule),
    parsePrefix('203.0.113.0/24'),
  )
  const perRule = (text: (at: number) => string): string => parsed.map((_, at) => text(at)).join('<br>')
  const ofAttack = percent(Math.min(1, effect.dropped_attack.packets / sumOf(attackFlows).packets))
  const passing = effect.rules.flatMap(({ new_connections_share: share }) => (share === null ? [] : [share]))
  return `| ${[
    attack.name,
    perRule((at) => ruleText(suggestions[at]!.rule)),
    perRule((at) =>
      three(
        sharesOf(
          attackFlows.filter((flow) => matchesFlow(parsed[at]!.parsed.match, flow)),
          attackFlows,
        ),
      ),
    ),
    perRule((at) =>
      three(
        sharesOf(
          usualBefore.filter((flow) => concernsFlow(parsed[at]!.parsed.match, flow)),
          usualBefore,
        ),
      ),
    ),
    `${ofAttack} %`,
    passing.length > 0
      ? `${percent(passing[0]!)} % of new connections pass`
      : parsed.some(({ action }) => action === 'rate_limit')
        ? 'limited with the attack'
        : 'passes',
  ].join(' | ')} |`
}

function ruleText({
  action,
  rate_pps: pps,
  rate_bps: bps,
  comment: _comment,
  destination: _destination,
  ...conditions
}: ShieldSuggestions['rules'][number]): string {
  const limit = pps == null ? `${bps} bit/s` : `${pps} packets/s`
  const match = Object.entries(conditions).map(([name, value]) => `${name} ${value}`)
  return `${action === 'deny' ? 'drop' : `limit to ${limit}`}: ${match.join(', ')}`
}
