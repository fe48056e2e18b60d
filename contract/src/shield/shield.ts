// Shield: ordered rule lists of the team's prefixes, which the provider's scrubbers apply. The first rule that matches decides.
import { Type, type Static } from 'typebox'
import { flowDelay } from '../flow/flow-delay.ts'
import { route } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Include,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
} from '../scalar.ts'
import {
  shieldFeatures,
  shieldReasonCodes,
  shieldWarningCodes,
  shieldWhatIfNotes,
} from '../reason/shield-reason.ts'
import { Line } from '../text.ts'

export const shieldReading = {
  credential: 'any',
  module: 'shield',
  scope: 'shield:read',
  grant: 'shield.see',
} as const
export const shieldWriting = {
  credential: 'any',
  module: 'shield',
  scope: 'shield:write',
  grant: 'shield.apply',
} as const

/** Most rules of one prefix. */
const shieldRulesPerPrefix = 100
/** Most rules of one team. */
export const shieldRulesPerTeam = 1000
/** Bounds of the time in which a list must be confirmed, in seconds. */
const shieldConfirmSeconds = { min: 30, max: 86_400 } as const

export const shieldActions = ['allow', 'deny', 'rate_limit'] as const
export type ShieldAction = (typeof shieldActions)[number]

const shieldFragments = ['any', 'yes', 'no'] as const

/** Observed: `pending`: not at all scrubbers yet; `rejected`: a scrubber cannot apply the rule. */
export const shieldRuleStatuses = ['pending', 'active', 'rejected', 'expired'] as const
export type ShieldRuleStatus = (typeof shieldRuleStatuses)[number]

const shieldListStatuses = ['pending', 'active', 'error'] as const

const ranges = (description: string, digits: number, example: string) =>
  Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: `^[0-9]{1,${digits}}(-[0-9]{1,${digits}})?(,[0-9]{1,${digits}}(-[0-9]{1,${digits}})?)*$`,
    description,
    expects: `numbers and ranges, separated by commas, such as ${example}`,
  })

const Ports = (of: string) =>
  ranges(
    `${of} ports of TCP or UDP: \`53\`, \`1024-65535\` or a list such as \`53,123,1900-1910\`; null for any`,
    5,
    '53,123,1900-1910',
  )

const Octets = (maximum: number, description: string) => Type.Integer({ minimum: 0, maximum, description })

/** The conditions on a packet. Null or `any` matches every packet. */
const matchFields = {
  protocol: Type.String({
    pattern: '^(any|tcp|udp|icmp|gre|esp|ah|0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$',
    description:
      '`any`, `tcp`, `udp`, `icmp` (for IPv6: ICMPv6), `gre`, `esp`, `ah`, or a protocol number from 0 to 255',
    expects: 'any, tcp, udp, icmp, gre, esp, ah or a number from 0 to 255',
  }),
  source: Nullable(
    Type.String({
      minLength: 2,
      maxLength: 50,
      description: 'address or prefix of the sender; null for any',
    }),
  ),
  source_port: Nullable(Ports('source')),
  destination: Nullable(
    Type.String({
      minLength: 2,
      maxLength: 50,
      description: 'address or prefix inside the prefix of the list; null for the whole prefix',
    }),
  ),
  destination_port: Nullable(Ports('destination')),
  tcp_flags: Nullable(
    Type.String({
      pattern: '^!?(fin|syn|rst|psh|ack|urg|ece|cwr)(,!?(fin|syn|rst|psh|ack|urg|ece|cwr)){0,7}$',
      description: 'TCP flags that are set, or with `!` not set, all of them: `syn,!ack`; null for any',
      expects: 'flags, separated by commas, such as syn,!ack',
    }),
  ),
  icmp_type: Nullable(Octets(255, 'type of the ICMP message; null for any')),
  icmp_code: Nullable(Octets(255, 'code of the ICMP message; null for any')),
  fragment: {
    ...Enumeration('ShieldFragment', shieldFragments),
    description: '`yes`: only fragments; `no`: only whole packets',
  },
  packet_length: Nullable(
    ranges('length of the IP packet in octets: `40` or `0-100`; null for any', 5, '0-100'),
  ),
  dscp: Nullable(Octets(63, 'differentiated services code point; null for any')),
} as const

const limitFields = {
  rate_bps: Nullable(
    Type.Integer({
      minimum: 8,
      maximum: 10_000_000_000_000,
      description: 'for `rate_limit`: bits per second that pass; null for other actions',
    }),
  ),
  rate_pps: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: 10_000_000_000,
      description: 'for `rate_limit`: packets per second that pass, instead of `rate_bps`; null otherwise',
    }),
  ),
} as const

const actionField = {
  ...Enumeration('ShieldAction', shieldActions),
  description:
    '`allow`: later rules are not evaluated; `deny`: drop; `rate_limit`: drop what exceeds `rate_bps` or `rate_pps`',
} as const
const Comment = Line({ maxLength: 500, description: 'text of the team' })
const Expires = Nullable({ ...Time, description: 'when the rule ends; null for never' })
const Sequence = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: 'place in the list: the rule with the least number that matches decides',
})

export const NewShieldRule = Component('NewShieldRule', {
  sequence: Optional({
    ...Sequence,
    description:
      'place in the list, rising from rule to rule; either all rules have one or none: then they are numbered 10, 20, 30, ...',
  }),
  enabled: Optional(Type.Boolean({ description: 'false: kept in the list, and not applied. Default: true' })),
  action: actionField,
  protocol: Optional(matchFields.protocol),
  source: Optional(matchFields.source),
  source_port: Optional(matchFields.source_port),
  destination: Optional(matchFields.destination),
  destination_port: Optional(matchFields.destination_port),
  tcp_flags: Optional(matchFields.tcp_flags),
  icmp_type: Optional(matchFields.icmp_type),
  icmp_code: Optional(matchFields.icmp_code),
  fragment: Optional(matchFields.fragment),
  packet_length: Optional(matchFields.packet_length),
  dscp: Optional(matchFields.dscp),
  rate_bps: Optional(limitFields.rate_bps),
  rate_pps: Optional(limitFields.rate_pps),
  comment: Optional(Comment),
  expires: Optional(Expires),
})
export type NewShieldRule = Static<typeof NewShieldRule>

const ShieldHits = Component('ShieldHits', {
  packets: Type.Integer({
    minimum: 0,
    description: 'packets that the rule has matched since it was created',
  }),
  bytes: Type.Integer({ minimum: 0, description: 'octets of these packets' }),
  last_hit: { ...NullableTime, description: 'when the counters were last seen rising; null for never' },
})

const ShieldStatusReason = Component('ShieldStatusReason', {
  code: { ...Enumeration('ShieldReason', shieldReasonCodes), description: 'code of the reason' },
  detail: Type.String({ description: 'the reason as text' }),
  other: Nullable({ ...Id, description: 'id of the other rule concerned; null if there is none' }),
  feature: Nullable({
    ...Enumeration('ShieldFeature', shieldFeatures),
    description: 'for `unsupported`: what the scrubber is unable to do; null for other codes',
  }),
})

export const ShieldRule = Component('ShieldRule', {
  id: {
    ...Id,
    description: 'id of the rule; kept while its content is the same, wherever it is in the list',
  },
  prefix: Type.String({ description: 'prefix of the list' }),
  sequence: Sequence,
  enabled: Type.Boolean({ description: 'whether the rule is to be applied' }),
  action: actionField,
  ...matchFields,
  ...limitFields,
  comment: Type.String({ description: 'text of the team' }),
  expires: Expires,
  status: {
    ...Enumeration('ShieldRuleStatus', shieldRuleStatuses),
    description:
      'observed: `active`: every scrubber of the provider holds the rule; `pending`: not yet, or not enabled; `rejected`: a ' +
      'scrubber cannot apply it; `expired`: it has ended',
  },
  status_reason: Nullable(ShieldStatusReason),
  version: Type.Integer({ minimum: 1, description: 'version of the list' }),
  created: { ...Time, description: 'when the rule was created' },
  modified: { ...Time, description: 'when its content was last changed' },
  hits: Optional(
    Nullable({
      ...ShieldHits,
      description: 'with `include=hits`: of all scrubbers that count; null if none of them does',
    }),
  ),
})
export type ShieldRule = Static<typeof ShieldRule>

export const ShieldWarning = Component('ShieldWarning', {
  code: { ...Enumeration('ShieldWarningCode', shieldWarningCodes), description: 'code of the warning' },
  loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
    description: 'place in the request, such as `["body","rules",3]`',
  }),
  detail: Type.String({ description: 'the warning as text' }),
  other: Nullable(Type.Integer({ minimum: 0, description: 'index in `rules` of the other rule concerned' })),
})
export type ShieldWarning = Static<typeof ShieldWarning>

export const ShieldVolume = (description: string) =>
  Component(
    'ShieldVolume',
    {
      packets: Type.Integer({ minimum: 0, description: 'packets, estimated from the sampling rate' }),
      bytes: Type.Integer({ minimum: 0, description: 'octets, estimated from the sampling rate' }),
      flows: Type.Integer({
        minimum: 0,
        description: 'flow records, not multiplied: each is about one connection or one question',
      }),
    },
    { description },
  )

export const Share = (description: string) => Nullable(Type.Number({ minimum: 0, maximum: 1, description }))

/** The same part by three measures: a service of few octets is seen by its packets and flows. */
export const ShieldShares = (description: string) =>
  Component(
    'ShieldShares',
    {
      bytes: Share('part of the octets; null without traffic'),
      packets: Share('part of the packets; null without traffic'),
      flows: Share('part of the flow records; null without traffic'),
    },
    { description },
  )

const ShieldTakenService = Component('ShieldTakenService', {
  address: Type.String({ description: 'address of the team' }),
  protocol: Type.Integer({ minimum: 0, maximum: 255, description: '6 for TCP, 17 for UDP' }),
  port: Type.Integer({ minimum: 0, maximum: 65_535, description: 'the lower one of both ports' }),
  share: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'part of the flow records of the service in the last day that the rule drops',
  }),
})

export const ShieldWhatIf = Component('ShieldWhatIf', {
  state: {
    ...Enumeration('ShieldWhatIfState', ['complete', 'no_flows', 'unavailable']),
    description:
      '`complete`; `no_flows`: no flow towards the prefix was seen; `unavailable`: flows cannot be read now',
  },
  start: { ...Time, description: 'beginning of the window' },
  end: { ...Time, description: 'end of the window' },
  normal: ShieldVolume(
    'traffic towards the prefix outside of security events; the minute before an event counts neither as normal nor as attack traffic for its targets',
  ),
  attack: ShieldVolume('traffic towards targets of security events while they lasted'),
  dropped_normal: ShieldVolume(
    'the part of `normal` that the list would drop. A rule that drops SYN drops the whole connection. Of a limit, what exceeds it in each minute',
  ),
  dropped_attack: ShieldVolume('the part of `attack` that the list would drop'),
  dropped_normal_share: Share(
    'octets of `dropped_normal` divided by those of `normal`; null without traffic',
  ),
  dropped_attack_share: Share(
    'octets of `dropped_attack` divided by those of `attack`; null without traffic',
  ),
  dropped_normal_shares: ShieldShares(
    '`dropped_normal` divided by `normal`; `would_drop` compares the largest of them',
  ),
  dropped_attack_shares: ShieldShares('`dropped_attack` divided by `attack`'),
  rules: Type.Array(
    Component('ShieldRuleWhatIf', {
      index: Type.Integer({ minimum: 0, description: 'index in `rules` of the request' }),
      normal: ShieldVolume('normal traffic that the rule would decide'),
      attack: ShieldVolume('attack traffic that the rule would decide'),
      services: Type.Array(ShieldTakenService, {
        description:
          'services used in the last day of which a rule with `deny` would drop 90 % or more, the largest first; at most 10. A service is an ' +
          'address, a protocol and a port below 32768, with 20 flow records or 1 % of those of the prefix outside of security events',
      }),
      new_connections_share: Share(
        'of a limit on SYN: the part of the new connections that pass in the minutes in which it is exceeded; null if it never is, and for other rules',
      ),
    }),
    { description: 'what each enabled rule would have decided' },
  ),
  sampled: Type.Boolean({ description: 'whether an exporter sends only a sample of the packets' }),
  ...flowDelay,
  partial: Type.Boolean({
    description:
      'whether flows of the window are missing: `delay_seconds` is more than 30 within it, or a collector lost flows of it',
  }),
  notes: Type.Array(Enumeration('ShieldWhatIfNote', shieldWhatIfNotes), {
    description: 'limits of the estimate that concern these rules',
  }),
})
export type ShieldWhatIf = Static<typeof ShieldWhatIf>

const PrefixOfList = Type.String({
  minLength: 2,
  maxLength: 50,
  description: 'prefix of the team, or a prefix or address inside one',
})

const NewRules = Type.Array(NewShieldRule, {
  maxItems: shieldRulesPerPrefix,
  description: 'the whole list in order; empty removes all rules',
})

export const ShieldRulesUpdate = Component('ShieldRulesUpdate', {
  prefix: PrefixOfList,
  rules: NewRules,
  version: Optional(
    Type.Integer({
      minimum: 0,
      maximum: 999_999_999,
      description:
        'version that is replaced, 0 if the prefix has no list yet: 412 if it is another, as with `If-Match`',
    }),
  ),
  confirm_within: Optional(
    Type.Integer({
      minimum: shieldConfirmSeconds.min,
      maximum: shieldConfirmSeconds.max,
      description:
        'seconds: unless the same rules are PUT again without this field before, the last confirmed list is restored; revertShieldList does it at once',
    }),
  ),
  strict: Optional(Type.Boolean({ description: 'warnings are errors. Default: false' })),
  force: Optional(
    Type.Boolean({
      description:
        'apply the list although it would drop more of the normal traffic than the provider allows, or although that cannot be ' +
        'estimated. Default: false',
    }),
  ),
})
export type ShieldRulesUpdate = Static<typeof ShieldRulesUpdate>

const listFields = {
  prefix: Type.String({ description: 'prefix of the list' }),
  version: Type.Integer({ minimum: 0, description: 'version of the list; 0 if it never had a rule' }),
  status: {
    ...Enumeration('ShieldListStatus', shieldListStatuses),
    description: 'observed: `active`: every scrubber holds this version; `error`: a scrubber cannot apply it',
  },
  confirm_by: {
    ...NullableTime,
    description: 'until when the list must be confirmed; null if it need not be',
  },
} as const

export const ShieldRulesAnswer = Component('ShieldRules', {
  ...listFields,
  results: Type.Array(ShieldRule, { description: 'the rules in order' }),
  count: Type.Integer({ minimum: 0, description: 'number of rules' }),
  warnings: Type.Array(ShieldWarning, {
    description:
      'rules that never match, that repeat or that contradict others, that take a service or limit new connections, a list that no scrubber applies, and ' +
      'what could not be checked',
  }),
  what_if: Optional({
    ...ShieldWhatIf,
    description: 'with `dry_run=true`: what the list would have done with the flows of the last hour',
  }),
})
export type ShieldRulesAnswer = Static<typeof ShieldRulesAnswer>

export const ShieldList = Component('ShieldList', {
  id: { ...Id, description: 'id of the list' },
  ...listFields,
  rule_count: Type.Integer({ minimum: 0, description: 'number of rules' }),
  previous_version: Nullable(
    Type.Integer({ minimum: 0, description: 'version that is restored at `confirm_by`; null if none is' }),
  ),
  status_reason: Nullable(ShieldStatusReason),
  created: { ...Time, description: 'when the list was created' },
  modified: { ...Time, description: 'when this version was stored' },
})
export type ShieldList = Static<typeof ShieldList>

export const listShieldRulesRoute = route({
  name: 'listShieldRules',
  group: 'Shield',
  method: 'GET',
  path: '/v3/lighthouse/security/shield/rules',
  summary: 'Shield Rules List',
  description:
    'The rules of the team, by prefix and in order: the first one that matches a packet decides. If `prefix` is exactly the prefix of ' +
    'one list, `ETag` is that of the list, for `If-Match` of updateShieldRules.',
  permission: shieldReading,
  query: Strict({
    prefix: Optional(
      Repeatable(
        Type.String({ minLength: 2, maxLength: 50, description: 'address or prefix that the list overlaps' }),
      ),
    ),
    enabled: Optional(Type.Boolean({ description: 'whether the rule is to be applied' })),
    action: Optional(
      Repeatable({ ...Enumeration('ShieldAction', shieldActions), description: 'action of the rule' }),
    ),
    search: Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'contained in the comment, the prefix, an address or a port of the rule, case-insensitive',
      }),
    ),
    include: Optional(Include('ShieldRuleInclude', ['hits'])),
    ordering: Ordering(['prefix', 'sequence', 'id', 'created', 'modified', 'expires'], 'prefix,sequence'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(ShieldRule),
  success: 200,
})

export const updateShieldRulesRoute = route({
  name: 'updateShieldRules',
  group: 'Shield',
  method: 'PUT',
  path: '/v3/lighthouse/security/shield/rules',
  summary: 'Shield Rules Update',
  description:
    'Replaces the list of one prefix as a whole, which becomes a new version; the scrubbers never apply half of it. The prefix must be ' +
    'held by the team, and destinations are inside it. Rules that are the same as before keep their id and hits. The same list again ' +
    `changes nothing. With \`confirm_within\` the earlier list comes back unless the same rules are PUT again without it. Returns 409 \`would_drop\` ` +
    "if the list would drop more of the last hour's normal traffic (octets, packets or flows) than the provider allows, or if this cannot be estimated: check it " +
    `with \`dry_run=true\`, then repeat with \`force\`. At most ${shieldRulesPerPrefix} rules for a prefix and ${shieldRulesPerTeam} for a team.`,
  permission: shieldWriting,
  body: ShieldRulesUpdate,
  response: ShieldRulesAnswer,
  success: 200,
  dryRun: true,
  conditional: true,
  errors: ['would_drop', 'quota_exceeded', 'precondition_failed'],
})

export const listShieldListsRoute = route({
  name: 'listShieldLists',
  group: 'Shield',
  method: 'GET',
  path: '/v3/lighthouse/security/shield/lists',
  summary: 'List shield lists',
  description:
    'The lists of the team by prefix, with their version, until when they must be confirmed, and why they are not applied.',
  permission: shieldReading,
  query: Strict({
    prefix: Optional(
      Repeatable(
        Type.String({ minLength: 2, maxLength: 50, description: 'address or prefix that the list overlaps' }),
      ),
    ),
    ordering: Ordering(['prefix', 'id', 'created', 'modified', 'confirm_by'], 'prefix'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(ShieldList),
  success: 200,
})

export const revertShieldListRoute = route({
  name: 'revertShieldList',
  group: 'Shield',
  method: 'POST',
  path: '/v3/lighthouse/security/shield/lists/{list_id}/revert',
  summary: 'Revert shield list',
  description:
    'Restores the last confirmed list of the prefix at once, instead of at `confirm_by`: its rules with their ids and hits become a new version. Returns 409 ' +
    '`conflict` unless the list waits for a confirmation and the team still holds the prefix. To confirm it instead, PUT the same rules again without `confirm_within`.',
  permission: shieldWriting,
  params: Strict({ list_id: Id }),
  body: Component('ShieldRevert', {
    version: Optional(
      Type.Integer({
        minimum: 1,
        maximum: 999_999_999,
        description: 'version that is reverted: 412 if the list has another one, as with `If-Match`',
      }),
    ),
  }),
  response: ShieldRulesAnswer,
  success: 200,
  dryRun: true,
  conditional: true,
  ifMatch: true,
  errors: ['conflict', 'precondition_failed'],
})

export const simulateShieldRoute = route({
  name: 'simulateShield',
  group: 'Shield',
  method: 'POST',
  path: '/v3/lighthouse/security/shield/simulate',
  summary: 'Simulate shield rules',
  description:
    'Returns what a list would have done with flows of the past, by rule, apart for normal traffic and for attacks. Stores nothing. The ' +
    'answer is an estimate: flows are sampled, and lack fields that packets have; `notes` names the limits. If flows cannot be read now, ' +
    '`state` is `unavailable`.',
  permission: shieldReading,
  body: Component('ShieldSimulation', {
    prefix: PrefixOfList,
    rules: NewRules,
    start: Optional({ ...Time, description: 'default: an hour before `end`' }),
    end: Optional({ ...Time, description: 'default: now; at most 24 hours after `start`' }),
  }),
  response: Component('ShieldSimulationResult', {
    what_if: ShieldWhatIf,
    warnings: Type.Array(ShieldWarning, { description: 'as in the answer of updateShieldRules' }),
  }),
  success: 200,
  keyless: 'read',
})

export const shieldRoutes = [
  listShieldRulesRoute,
  updateShieldRulesRoute,
  listShieldListsRoute,
  revertShieldListRoute,
  simulateShieldRoute,
]
