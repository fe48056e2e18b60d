// Rules of shield that would stop an attack, from its flows.
import { Type, type Static } from 'typebox'
import { route } from '../route.ts'
import { Component, Enumeration, Id, Nullable, Optional, Strict, Time } from '../scalar.ts'
import { NewShieldRule, Share, shieldReading, ShieldShares, ShieldWarning, ShieldWhatIf } from './shield.ts'

const ShieldSuggestion = Component('ShieldSuggestion', {
  rule: NewShieldRule,
  attack_share: Share('part of the octets of the attack that the rule matches'),
  normal_share: Share('part of the octets of normal traffic that the rule matches'),
  attack_shares: ShieldShares('part of the attack that the rule matches'),
  normal_shares: ShieldShares(
    'part of the usual traffic that the rule matches; of a rule that drops SYN, the whole connections; null if nothing usual is known',
  ),
  attack_bps: Type.Integer({ minimum: 0, description: 'average rate of the attack that the rule matches' }),
  rule_id: Nullable({
    ...Id,
    description:
      'id of an enabled rule of the team that drops or limits all that this one matches; null: none does. Its `status` is in listShieldRules',
  }),
})
export type ShieldSuggestion = Static<typeof ShieldSuggestion>

export const ShieldSuggestions = Component('ShieldSuggestions', {
  event_id: Type.String({ description: 'id of the event' }),
  prefix: Nullable(
    Type.String({ description: 'prefix of the team for the list; null if the target is in none' }),
  ),
  start: { ...Time, description: 'beginning of the window: of the event' },
  end: { ...Time, description: 'end of the window: of the event, or now' },
  source: {
    ...Enumeration('ShieldSuggestionSource', ['flows', 'event', 'none']),
    description:
      '`flows`: from flows of the attack; `event`: from what the detector reported, without flows; `none`: neither is enough',
  },
  suggestions: Type.Array(ShieldSuggestion, {
    description: 'rules, the one that catches most of the attack first; none if no rule fits',
  }),
  attack_share: Share('part of the octets of the attack that all of them match'),
  normal_share: Share('part of the octets of normal traffic that all of them match'),
  attack_shares: ShieldShares('part of the attack that all of them match'),
  normal_shares: ShieldShares(
    'part of the usual traffic that all of them match; null if nothing usual is known',
  ),
  usual: {
    ...Enumeration('ShieldUsual', ['days', 'hour', 'none']),
    description:
      'what the attack was compared with: `days`, the same hour of the seven days before; `hour`, the hour that ended 5 minutes before the ' +
      'event, if fewer than 3 of these days are known; `none`: neither is, so that only limits are suggested',
  },
  measure: {
    ...Enumeration('ShieldMeasure', ['bytes', 'packets']),
    description:
      'what the rules were chosen by: the measure whose limit the peak of the event exceeds by the larger factor',
  },
  in_place_share: Share(
    'part of the octets of the attack that the enabled rules of the team would have dropped or limited; null without traffic',
  ),
  rules: Type.Array(NewShieldRule, {
    description:
      'the list to PUT: the suggestions without `rule_id` before the rules that the prefix has now',
  }),
  version: Type.Integer({ minimum: 0, description: 'version of the list now, for the PUT' }),
  what_if: { ...ShieldWhatIf, description: 'what that list would have done in the window' },
  warnings: Type.Array(ShieldWarning, {
    description:
      'of the rules of the list: those that take a service, or limit new connections; places are in `rules`',
  }),
})
export type ShieldSuggestions = Static<typeof ShieldSuggestions>

export const suggestShieldRulesRoute = route({
  name: 'suggestShieldRules',
  group: 'Shield',
  method: 'POST',
  path: '/v3/lighthouse/security/events/related/{event_id}/suggest-rules',
  summary: 'Suggest shield rules for an event',
  description:
    'Returns rules that match an attack and as little other traffic as possible: the difference between the flows of the event and the usual ones, ' +
    'by octets, packets and flows. Traffic that looks like the usual one gets a limit: of a SYN flood, SYN is limited, never dropped. Stores ' +
    'nothing: send `rules` with updateShieldRules, best with `confirm_within`.',
  permission: shieldReading,
  params: Strict({ event_id: Type.String({ minLength: 1, maxLength: 64, description: 'id of the event' }) }),
  body: Component('ShieldSuggestionRequest', {
    action: Optional({
      ...Enumeration('ShieldSuggestionAction', ['deny', 'rate_limit']),
      description:
        'action of the rules. Default: `deny` for rules that spare the usual traffic, and `rate_limit` for others',
    }),
    rate_bps: Optional({
      ...Type.Integer({ minimum: 8, maximum: 10_000_000_000_000 }),
      description: 'for `rate_limit`: the rate of each rule; by default the normal rate of what it matches',
    }),
    coverage: Optional(
      Type.Number({
        minimum: 0.1,
        maximum: 1,
        description: 'part of the attack after which no further rule is added. Default: 0.95',
      }),
    ),
  }),
  bodyOptional: true,
  keyless: 'read',
  response: ShieldSuggestions,
  success: 200,
})

export const shieldSuggestionRoutes = [suggestShieldRulesRoute]
