// Why a shield rule has its status, and what a list is warned about: closed lists of codes, each with its sentence.
type Attrs = Readonly<Record<string, unknown>>

const n = (value: unknown): string => String(value)
const names = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : n(value))

/** Texts name rules by their sequence, as warnings do. */
const ruleName = (sequence: unknown, unknown: string): string =>
  sequence === undefined || sequence === null ? unknown : `rule ${n(sequence)}`

/** What a scrubber may be unable to do. */
const featureTexts = {
  packet_rate: 'limit packets per second',
  ip_version: 'filter packets of the IP version of the prefix',
  destination: 'match these addresses',
} as const
export type ShieldFeature = keyof typeof featureTexts
export const shieldFeatures = Object.keys(featureTexts) as [ShieldFeature, ...ShieldFeature[]]
export const isShieldFeature = (code: unknown): code is ShieldFeature =>
  (shieldFeatures as readonly unknown[]).includes(code)

/** Reasons of the status of a rule. */
const reasonTexts = {
  disabled: () => 'The rule is not enabled.',
  waiting: () => 'The scrubbers have not applied the rule yet.',
  no_scrubber: () => 'The provider has no scrubber for this prefix, so that no rule is applied.',
  scrubber_unreachable: ({ scrubbers }) =>
    `The provider's scrubber does not answer, or is not connected to a router (${names(scrubbers)}): it keeps the rules that it has. Rules that expire or are reverted meanwhile end when it answers again.`,
  rules_may_be_lost: ({ scrubbers }) =>
    `The provider's scrubber does not answer, or is not connected to a router (${names(scrubbers)}): the routers remove its rules when its daemon or the sessions with it end, so that the attack may pass. They get the rules again when it answers.`,
  scrubber_refused: ({ scrubbers }) =>
    `The provider's scrubber refused the list (${names(scrubbers)}). Contact the provider.`,
  routers_may_validate: () =>
    'The rule was sent to the routers as FlowSpec. They do not report whether they accepted it.',
  limit_in_parts: ({ count }) =>
    `The rule is applied as ${n(count)} parts, each with the whole rate: up to ${n(count)} times as much may pass.`,
  cannot_order: ({ rule_sequence: rule, other_sequence: other }) =>
    `The routers order rules by their own rules (RFC 8955) and cannot evaluate ${ruleName(rule, 'this rule')} in its place before ${ruleName(other, 'another one')}. Make their matches disjoint or equal.`,
  unsupported: ({ feature }) =>
    `The scrubber cannot ${isShieldFeature(feature) ? featureTexts[feature] : 'apply it'}.`,
  unreadable: () =>
    'A stored rule cannot be read by this version of Pharos, so that the scrubbers keep the list that they have. Contact the provider.',
  rate_too_high: ({ field, max }) =>
    `The scrubber accepts limits of at most ${n(max)} ${field === 'rate_pps' ? 'packets' : 'bits'} per second.`,
  too_many_rules: ({ max }) =>
    `The scrubber accepts at most ${n(max)} rules of all lists together, and has no room for those of this list.`,
  held: () => 'The list could drop wanted traffic, so that the provider must approve it first.',
  not_approved: () =>
    'The provider did not approve the list, since it could drop wanted traffic. Change its rules, or contact the provider.',
  shadowed: ({ other_sequence: other }) =>
    `Everything that this rule matches is matched by ${ruleName(other, 'another one')} before it.`,
  expired: () => 'The rule has ended.',
} satisfies Record<string, (attrs: Attrs) => string>

export type ShieldReason = keyof typeof reasonTexts
export const shieldReasonCodes = Object.keys(reasonTexts) as [ShieldReason, ...ShieldReason[]]

/** Returns the sentence of a reason. */
export function shieldReasonText(code: ShieldReason, attrs: Attrs): string {
  const text: (attrs: Attrs) => string = reasonTexts[code]
  return text(attrs)
}

/** Measures of a share of normal traffic. */
export const shieldMeasureTexts = {
  bytes: 'octets of normal traffic',
  packets: 'packets of normal traffic',
  flows: 'flows (connections) of normal traffic',
} as const
const isMeasure = (code: unknown): code is keyof typeof shieldMeasureTexts =>
  typeof code === 'string' && Object.hasOwn(shieldMeasureTexts, code)

/** Warnings about a list; `other` is the sequence of the other rule. */
const warningTexts = {
  shadowed: ({ other }) => `The rule never matches: rule ${n(other)} before it matches all of its packets.`,
  duplicate: ({ other }) => `The rule has the same match and action as rule ${n(other)}.`,
  contradicting: ({ other }) =>
    `The rule has the same match as rule ${n(other)} before it, with another action, and is never used.`,
  whole_prefix: () =>
    'The rule drops or limits everything that reaches it. The provider must approve it before it is applied.',
  expired: () => '`expires` is in the past: the rule is not applied.',
  no_scrubber: () => 'The provider has no scrubber for this prefix: the list is stored and not applied.',
  what_if_unavailable: () =>
    'Flows cannot be read now, so that it is unknown what the list would drop of the normal traffic.',
  no_flows: () => 'No flow towards the prefix was seen in the last hour, so that nothing could be checked.',
  drops_normal_traffic: ({ percent, measure }) =>
    `In the last hour the list would have dropped ${n(percent)} % of the ${isMeasure(measure) ? shieldMeasureTexts[measure] : 'normal traffic'}.`,
  takes_service: ({ services, more, percent }) =>
    `The rule drops at least ${n(percent)} % of a service that was used in the last day: ${names(services)}${Number(more) > 0 ? ` and ${n(more)} more` : ''}.`,
  limits_new_connections: ({ percent }) =>
    `While the limit is exceeded, ${n(percent)} % of new connections pass, wanted ones too: it saves the server, not its users.`,
  services_unknown: () =>
    'It could not be checked whether a rule drops a service that was used in the last day.',
} satisfies Record<string, (attrs: Attrs) => string>

export type ShieldWarningCode = keyof typeof warningTexts
export const shieldWarningCodes = Object.keys(warningTexts) as [ShieldWarningCode, ...ShieldWarningCode[]]

/** Returns the sentence of a warning. */
export function shieldWarningText(code: ShieldWarningCode, attrs: Attrs): string {
  const text: (attrs: Attrs) => string = warningTexts[code]
  return text(attrs)
}

/**
 * Limits of an estimate from flows. `length`: the average of the flow, not of each packet; `tcp_flags`: the union over the packets of a flow;
 * `fragment`: most fragments are not marked; `sampled`: exporters send a sample; `rate`: of a limit, what exceeds it in each minute
 * counts as dropped; `unknown_sampling`: an exporter did not say how it samples; `services`: the services of the last day could not be read.
 */
export const shieldWhatIfNotes = [
  'length',
  'tcp_flags',
  'fragment',
  'sampled',
  'rate',
  'unknown_sampling',
  'services',
] as const
