// Suggestions for an event, with and without flows: a list that can be sent unchanged, with its estimated effect.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { suggestShieldRulesRoute } from '@pharos/contract/shield/suggestion'
import { Compile } from 'typebox/compile'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { createTestFlowStore, type TestFlowStore } from '../drivers/clickhouse/testing.ts'
import { parsePrefix } from '../net/prefix.ts'
import type { Operation } from '../operation/operation.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { insertFlows, testFlow } from '../flow/testing.ts'
import { createWhatIf } from '../flow/what-if.ts'
import { addPrefix, addTeam } from '../events/testing.ts'
import { parseRules } from './shield-rule.ts'
import { suggestShieldRules, type SuggestDeps } from './suggest-shield-rules.ts'

const startMs = Date.parse('2026-03-14T11:50:00Z')
const now = new Date('2026-03-14T12:00:00Z')

let database: TestDatabase
let store: TestFlowStore
let teamId = 0
let other = 0

before(async () => {
  database = await createTestDatabase()
  store = await createTestFlowStore()
  const { owner } = database.postgres
  teamId = await addTeam(owner, 'one')
  other = await addTeam(owner, 'two')
  await addPrefix(owner, teamId, '203.0.113.0/24')
  const facet = await sql<{ id: number }>`
    insert into team_event_facets (team_id, flags, status, classification_key, source_key)
    values (${teamId}, 0, 0, 'udp.flood', 'test') returning id`.execute(owner)
  for (const [id, network] of [
    ['inside', '203.0.113.7/32'],
    ['outside', '198.51.100.7/32'],
  ] as const) {
    const details = JSON.stringify({ protocols: ['udp'], source_ports: [{ port: 123 }, { port: 40_000 }] })
    await sql`insert into events (id, source_key, source_event_id, flags, status, affected_network, source_timezone, start_at, end_at,
        source_resource_id, source_location_id, source_country, source_location, classification_key, description, affected_bps,
        affected_pps, parsed_data)
      values (${id}, 'test', ${id}, '{}', '{EVENT_ONGOING}', ${network}::cidr, 'UTC', ${new Date(startMs)}, null, '', '', '', '',
        'udp.flood', '', 0, 0, ${details}::jsonb)`.execute(owner)
    await sql`insert into team_events (team_id, event_id, start_at, end_at, affected_bps, affected_pps, flags, affected_network,
        classification_key, description, record, relationships, facet)
      values (${teamId}, ${id}, ${new Date(startMs)}, null, 0, 0, 0, ${network}::cidr, 'udp.flood', '', '{', '[]',
        ${facet.rows[0]!.id})`.execute(owner)
  }
  const attack = Array.from({ length: 300 }, (_, at) =>
    testFlow({
      teamId,
      time: new Date(startMs + at * 2_000),
      src: `198.51.100.${at % 200}`,
      dst: '203.0.113.7',
      srcPort: 53,
      dstPort: 1_000 + at,
      bytes: 1_400_000,
      packets: 1_000,
    }),
  )
  const normal = Array.from({ length: 8 * 100 }, (_, at) =>
    testFlow({
      teamId,
      time: new Date(startMs - (at % 8) * 86_400_000 + (at % 600) * 1_000),
      src: '192.0.2.9',
      dst: '203.0.113.7',
      protocol: 6,
      bytes: 9_000,
      packets: 10,
    }),
  )
  await insertFlows(store, [...attack, ...normal])
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const deps = (flowStore: SuggestDeps['flowStore'] = store): SuggestDeps => ({
  postgres: database.postgres,
  flowStore,
  estimate: createWhatIf({ db: database.postgres.front, flowStore }),
  checkScrubbers: async () => ({ scrubbers: 1, refusals: [] }),
  safelist: [],
  now: () => now,
})
const as = (id: number) => ({ actor: { teamId: id } }) as Operation
const absent: SuggestDeps['flowStore'] = {
  probe: () => store.probe(),
  insert: (...args) => store.insert(...args),
  command: (...args) => store.command(...args),
  query: async () => {
    throw new DriverError('unreachable', 'gone')
  },
  close: async () => {},
}

describe('suggestions for an event', () => {
  it('drop the attack and nothing else, as the estimate of the whole list confirms', async () => {
    const answer = await suggestShieldRules(deps(), as(teamId), 'inside', {})
    const check = Compile(suggestShieldRulesRoute.response)
    assert.ok(check.Check(answer), JSON.stringify(check.Errors(answer)))
    assert.deepEqual([answer.source, answer.prefix, answer.version], ['flows', '203.0.113.0/24', 0])
    assert.equal(answer.suggestions.length, 1)
    const { action, protocol, source_port, destination } = answer.suggestions[0]!.rule
    assert.deepEqual([action, protocol, source_port, destination], ['deny', 'udp', '53', '203.0.113.7'])
    assert.equal(answer.normal_share, 0)
    assert.equal(parseRules(answer.rules, parsePrefix('203.0.113.0/24')).length, 1)
    assert.equal(answer.what_if.dropped_attack.bytes, 300 * 1_400_000)
    assert.equal(answer.what_if.dropped_normal.bytes, 0)
    assert.equal(answer.suggestions[0]!.attack_bps, (300 * 1_400_000 * 8) / 600)
  })

  it('limit the rate if that is asked for', async () => {
    const { suggestions } = await suggestShieldRules(deps(), as(teamId), 'inside', {
      action: 'rate_limit',
      rate_bps: 5_000_000,
    })
    assert.deepEqual([suggestions[0]!.rule.action, suggestions[0]!.rule.rate_bps], ['rate_limit', 5_000_000])
    await assert.rejects(suggestShieldRules(deps(), as(teamId), 'inside', { rate_bps: 8 }), {
      code: 'invalid',
    })
  })

  it('come from the report of the detector without a store', async () => {
    const {
      source,
      suggestions,
      what_if: whatIf,
    } = await suggestShieldRules(deps(absent), as(teamId), 'inside', {})
    assert.deepEqual([source, whatIf.state], ['event', 'unavailable'])
    assert.deepEqual(
      suggestions.map(({ rule }) => [rule.source_port, rule.action, rule.rate_bps]),
      [['123', 'rate_limit', 1_000_000]],
      'nothing usual is known, so that nothing is dropped',
    )
  })

  it('are in place if an enabled rule of any list covers them, and are then not added again', async () => {
    const { owner } = database.postgres
    const list = await sql<{ id: number }>`
      insert into shield_lists (team_id, prefix, version) values (${teamId}, '203.0.113.0/25', 1) returning id`.execute(
      owner,
    )
    const match = { protocol: 'udp', source_port: '53,123', fragment: 'any' }
    const rule = await sql<{ id: number }>`
      insert into shield_rules (list_id, team_id, sequence, enabled, action, match)
      values (${list.rows[0]!.id}, ${teamId}, 10, true, 'rate_limit', ${JSON.stringify(match)}::jsonb) returning id`.execute(
      owner,
    )
    await sql`update shield_rules set rate_bps = 8000`.execute(owner)
    const suggest = async () => {
      const { suggestions, rules, in_place_share } = await suggestShieldRules(
        deps(),
        as(teamId),
        'inside',
        {},
      )
      return [suggestions.map(({ rule_id }) => rule_id), rules.length, in_place_share]
    }
    const [all, none, whole] = await suggest()
    assert.deepEqual([all, none], [[rule.rows[0]!.id], 0])
    assert.ok(Number(whole) > 0.99, String(whole))
    await sql`update shield_rules set match = match || '{"source": "198.51.100.0/25"}'`.execute(owner)
    const [ids, count, share] = await suggest()
    assert.deepEqual([ids, count], [[null], 1], 'it covers a part of the suggestion')
    // 228 of its 300 flows, and normal traffic in the window.
    assert.ok(Number(share) > 0.75 && Number(share) < 0.77, String(share))
    await sql`update shield_rules set enabled = false`.execute(owner)
    assert.deepEqual(await suggest(), [[null], 1, 0])
  })

  it('do not exist for a target outside of the prefixes of the team, and not for another team', async () => {
    const { source, prefix, rules } = await suggestShieldRules(deps(), as(teamId), 'outside', {})
    assert.deepEqual([source, prefix, rules], ['none', null, []])
    await assert.rejects(suggestShieldRules(deps(), as(other), 'inside', {}), { code: 'not_found' })
  })
})
