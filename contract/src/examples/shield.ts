// Examples of shield: a list that drops an amplification attack and lets resolvers through.
import { example } from '../example.ts'
import { changesBetween } from '../field-change.ts'
import {
  listShieldListsRoute,
  listShieldRulesRoute,
  revertShieldListRoute,
  simulateShieldRoute,
  updateShieldRulesRoute,
  type NewShieldRule,
  type ShieldRule,
  type ShieldRulesAnswer,
  type ShieldWhatIf,
} from '../shield/shield.ts'
import { suggestShieldRulesRoute } from '../shield/suggestion.ts'
import { eventId, web } from './world.ts'

const anything = {
  protocol: 'any',
  source: null,
  source_port: null,
  destination: null,
  destination_port: null,
  tcp_flags: null,
  icmp_type: null,
  icmp_code: null,
  fragment: 'any',
  packet_length: null,
  dscp: null,
  rate_bps: null,
  rate_pps: null,
} as const

const resolvers: ShieldRule = {
  id: 901,
  prefix: web.cidr,
  sequence: 10,
  enabled: true,
  action: 'allow',
  ...anything,
  protocol: 'udp',
  source: '198.51.100.0/24',
  source_port: '53',
  comment: 'Our resolvers',
  expires: null,
  status: 'active',
  status_reason: null,
  version: 4,
  created: '2026-03-02T09:14:07.318Z',
  modified: '2026-03-02T09:14:07.318Z',
}
const amplification: ShieldRule = {
  ...resolvers,
  id: 914,
  sequence: 20,
  action: 'deny',
  source: null,
  source_port: '53,123',
  destination: '203.0.113.77/32',
  comment: 'Amplification',
  expires: '2026-04-02T10:00:00.000Z',
  created: '2026-04-01T10:04:31.204Z',
  modified: '2026-04-01T10:04:31.204Z',
}
const hits = { packets: 48_211_730, bytes: 67_978_539_300, last_hit: '2026-04-01T10:09:44.190Z' }

const waiting = {
  status: 'pending',
  status_reason: {
    code: 'waiting',
    detail: 'The scrubbers have not applied the rule yet.',
    other: null,
    feature: null,
  },
} as const

const rules: NewShieldRule[] = [
  {
    action: 'allow',
    protocol: 'udp',
    source: '198.51.100.0/24',
    source_port: '53',
    comment: 'Our resolvers',
  },
  {
    action: 'deny',
    protocol: 'udp',
    source_port: '53,123',
    destination: '203.0.113.77',
    comment: 'Amplification',
    expires: '2026-04-02T10:00:00Z',
  },
]

const before: ShieldRulesAnswer = {
  prefix: web.cidr,
  version: 3,
  status: 'active',
  confirm_by: null,
  results: [{ ...resolvers, version: 3 }],
  count: 1,
  warnings: [],
}
const after: ShieldRulesAnswer = {
  prefix: web.cidr,
  version: 4,
  status: 'pending',
  confirm_by: '2026-04-01T10:14:31.204Z',
  results: [resolvers, { ...amplification, ...waiting }],
  count: 2,
  warnings: [],
}

const reverted: ShieldRulesAnswer = {
  ...before,
  version: 5,
  status: 'pending',
  results: [{ ...resolvers, version: 5 }],
}

const suggested: NewShieldRule = {
  action: 'deny',
  protocol: 'udp',
  source_port: '53',
  packet_length: '1024-65535',
  destination: '203.0.113.77',
  comment: `Event ${eventId}`,
}

const shares = (bytes: number, packets: number, flows: number) => ({ bytes, packets, flows })

const whatIf: ShieldWhatIf = {
  state: 'complete',
  start: '2026-04-01T09:04:31.000Z',
  end: '2026-04-01T10:04:31.000Z',
  normal: { packets: 91_204_000, bytes: 70_114_300_000, flows: 60_200 },
  attack: { packets: 48_300_000, bytes: 68_103_000_000, flows: 46_900 },
  dropped_normal: { packets: 41_000, bytes: 5_330_000, flows: 38 },
  dropped_attack: { packets: 48_190_000, bytes: 67_940_000_000, flows: 46_800 },
  dropped_normal_share: 0.0001,
  dropped_attack_share: 0.9976,
  dropped_normal_shares: shares(0.0001, 0.0004, 0.0006),
  dropped_attack_shares: shares(0.9976, 0.9977, 0.9979),
  rules: [
    {
      index: 0,
      normal: { packets: 310_000, bytes: 46_500_000, flows: 290 },
      attack: { packets: 0, bytes: 0, flows: 0 },
      services: [],
      new_connections_share: null,
    },
    {
      index: 1,
      normal: { packets: 41_000, bytes: 5_330_000, flows: 38 },
      attack: { packets: 48_190_000, bytes: 67_940_000_000, flows: 46_800 },
      services: [],
      new_connections_share: null,
    },
  ],
  sampled: true,
  delay_seconds: 1,
  complete_until: '2026-04-01T10:04:30.000Z',
  partial: false,
  notes: ['sampled'],
}

export const shieldExamples = [
  example(listShieldRulesRoute, {
    query: { prefix: [web.cidr], include: 'hits' },
    response: {
      results: [
        { ...resolvers, hits: { packets: 310_442, bytes: 46_566_300, last_hit: '2026-04-01T10:09:40.010Z' } },
        { ...amplification, hits },
      ],
      count: 2,
    },
  }),
  example(updateShieldRulesRoute, {
    body: { prefix: web.cidr, rules, version: 3, confirm_within: 600 },
    response: after,
    changes: changesBetween(before, { ...after, what_if: whatIf }),
  }),
  example(listShieldListsRoute, {
    query: { prefix: ['203.0.113.77'] },
    response: {
      results: [
        {
          id: 71,
          prefix: web.cidr,
          version: 4,
          status: 'active',
          confirm_by: '2026-04-01T10:14:31.204Z',
          rule_count: 2,
          previous_version: 3,
          status_reason: null,
          created: '2026-03-02T09:14:07.318Z',
          modified: '2026-04-01T10:04:31.204Z',
        },
      ],
      count: 1,
    },
  }),
  example(revertShieldListRoute, {
    params: { list_id: 71 },
    body: { version: 4 },
    response: reverted,
    changes: changesBetween(after, reverted),
  }),
  example(suggestShieldRulesRoute, {
    params: { event_id: eventId },
    body: { action: 'deny' },
    response: {
      event_id: eventId,
      prefix: web.cidr,
      start: '2026-04-01T03:12:09.120Z',
      end: '2026-04-01T03:31:44.870Z',
      source: 'flows',
      suggestions: [
        {
          rule: suggested,
          attack_share: 0.981,
          normal_share: 0.0004,
          attack_shares: shares(0.981, 0.978, 0.975),
          normal_shares: shares(0.0004, 0.0003, 0.0006),
          attack_bps: 7_112_400_000,
          rule_id: null,
        },
      ],
      attack_share: 0.981,
      normal_share: 0.0004,
      attack_shares: shares(0.981, 0.978, 0.975),
      normal_shares: shares(0.0004, 0.0003, 0.0006),
      usual: 'days',
      measure: 'bytes',
      in_place_share: 0,
      rules: [suggested],
      version: 0,
      what_if: whatIf,
      warnings: [],
    },
  }),
  example(simulateShieldRoute, {
    body: { prefix: web.cidr, rules, start: '2026-04-01T09:04:31Z', end: '2026-04-01T10:04:31Z' },
    response: { what_if: whatIf, warnings: [] },
  }),
]
