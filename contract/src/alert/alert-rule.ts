// Alert rules: a condition on a series that a chart shows, evaluated by a loop. A series without data is unknown, never ok.
import { Type, type Static } from 'typebox'
import { alertReasons } from '../reason/alert-reason.ts'
import { route } from '../route.ts'
import {
  Actor,
  Component,
  Enumeration,
  Id,
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
import { Line } from '../text.ts'
import { Timeseries } from '../timeseries.ts'

/** The most rules of a team. */
export const alertRulesMax = 200
/** Time without data after which a rule is unknown, and after which the team is notified of that. */
export const alertUnknownAfterMinutes = 15
export const alertTellUnknownAfterMinutes = 60
/** The past against which a condition is tried. */
export const alertTrialDays = 30

const alertDirections = ['in', 'out', 'either'] as const
const alertMeasures = ['percentile', 'forecast'] as const
export const alertSeverities = ['info', 'warning', 'critical'] as const
export type AlertSeverity = (typeof alertSeverities)[number]
const alertStates = ['ok', 'firing', 'unknown'] as const
export type AlertState = (typeof alertStates)[number]
export const alertObjectTypes = ['port', 'service', 'announcement'] as const
export type AlertObjectType = (typeof alertObjectTypes)[number]
const alertComparisons = ['above', 'below'] as const

const Minutes = (description: string) => Type.Integer({ minimum: 5, maximum: 10_080, description })
const forMinutes = Minutes(
  'how long the value must be measured beyond the limit before the rule fires; values are of 5 minutes',
)

const PortUtilisation = Component('PortUtilisationCondition', {
  kind: { ...Enumeration('PortUtilisationKind', ['port_utilisation']), description: '`port_utilisation`' },
  port_id: { ...Id, description: 'id of the port' },
  direction: {
    ...Enumeration('AlertDirection', alertDirections),
    description: '`in` is received by the customer; `either`: the greater of both directions',
  },
  above_percent: Type.Number({
    minimum: 0.1,
    maximum: 100,
    description: 'limit in percent of the speed of the port',
  }),
  for_minutes: forMinutes,
})
const Commit = Component('CommitCondition', {
  kind: { ...Enumeration('CommitKind', ['commit']), description: '`commit`' },
  service_id: { ...Id, description: 'id of the service' },
  port_id: Nullable({
    ...Id,
    description: 'the bill of this port; null: the greatest of all bills of the service',
  }),
  measure: {
    ...Enumeration('AlertMeasure', alertMeasures),
    description:
      '`percentile`: the billed rate of the month so far; `forecast`: the rate that is expected at its end',
  },
  above_percent: Type.Number({
    minimum: 1,
    maximum: 10_000,
    description: 'limit in percent of the committed rate',
  }),
})
const LightMargin = Component('LightMarginCondition', {
  kind: { ...Enumeration('LightMarginKind', ['light_margin']), description: '`light_margin`' },
  port_id: { ...Id, description: 'id of the port' },
  below_db: Type.Number({
    minimum: -40,
    maximum: 40,
    description:
      'limit of the received light in dB above the low limit that the module states; the weakest lane counts',
  }),
  for_minutes: forMinutes,
})
const HeardBy = Component('VisibilityCondition', {
  kind: { ...Enumeration('VisibilityKind', ['visibility']), description: '`visibility`' },
  announcement_id: { ...Id, description: 'id of the announcement' },
  heard_below_percent: Type.Number({
    minimum: 0.1,
    maximum: 100,
    description: 'limit of the share of route collectors that have the announcement with its origin',
  }),
  for_minutes: forMinutes,
})

export const AlertCondition = Type.Union([PortUtilisation, Commit, LightMargin, HeardBy], {
  title: 'AlertCondition',
})
export type AlertCondition = Static<typeof AlertCondition>
export type AlertKind = AlertCondition['kind']
export type ConditionOf<K extends AlertKind> = Extract<AlertCondition, { readonly kind: K }>

export const alertKinds = [
  'port_utilisation',
  'commit',
  'light_margin',
  'visibility',
] as const satisfies readonly AlertKind[]

/** The module that shows the series of each kind. */
export const alertModules = {
  port_utilisation: 'inventory',
  commit: 'inventory',
  light_margin: 'inventory',
  visibility: 'ipam',
} as const satisfies Record<AlertKind, string>

export type AlertLimit = {
  readonly threshold: number
  readonly unit: 'percent' | 'dB'
  readonly comparison: (typeof alertComparisons)[number]
  /** How long the value must be beyond the threshold. */
  readonly forMinutes: number
}

/** Returns the limit of a condition, in the unit of its series. */
export function alertLimitOf(condition: AlertCondition): AlertLimit {
  switch (condition.kind) {
    case 'port_utilisation':
      return above(condition.above_percent, condition.for_minutes)
    case 'commit':
      return above(condition.above_percent, 0)
    case 'light_margin':
      return below(condition.below_db, 'dB', condition.for_minutes)
    case 'visibility':
      return below(condition.heard_below_percent, 'percent', condition.for_minutes)
  }
}

const above = (threshold: number, forMinutes: number): AlertLimit => ({
  threshold,
  unit: 'percent',
  comparison: 'above',
  forMinutes,
})
const below = (threshold: number, unit: AlertLimit['unit'], forMinutes: number): AlertLimit => ({
  threshold,
  unit,
  comparison: 'below',
  forMinutes,
})

/** Returns the type and the id of the object that the condition is about. */
export function alertObjectOf(condition: AlertCondition): {
  readonly type: AlertObjectType
  readonly id: number
} {
  switch (condition.kind) {
    case 'commit':
      return { type: 'service', id: condition.service_id }
    case 'visibility':
      return { type: 'announcement', id: condition.announcement_id }
    case 'port_utilisation':
    case 'light_margin':
      return { type: 'port', id: condition.port_id }
  }
}

export const AlertObject = Component('AlertObject', {
  type: { ...Enumeration('AlertObjectType', alertObjectTypes), description: 'type of the object' },
  id: { ...Id, description: 'id of the object' },
  name: Type.String({ description: 'name of the object; empty if the team no longer has it' }),
})
export const AlertKindName = Enumeration('AlertKind', alertKinds)
export const AlertSeverityName = Enumeration('AlertSeverity', alertSeverities)
const StateName = Enumeration('AlertState', alertStates)
export const AlertReasonName = Enumeration('AlertReason', alertReasons)
export const AlertUnit = Enumeration('AlertUnit', ['percent', 'dB'])
export const AlertComparison = Enumeration('AlertComparison', alertComparisons)

const name = Line({ minLength: 1, maxLength: 100, description: 'name of the rule' })
const severity = { ...AlertSeverityName, description: 'how urgent a firing is; for the receivers' }
const enabled = Type.Boolean({ description: 'whether the rule is evaluated' })
const clearMinutes = Minutes('how long the value must be measured within the limit before a firing ends')

export const AlertRule = Component('AlertRule', {
  id: { ...Id, description: 'id of the rule' },
  name,
  condition: { ...AlertCondition, description: 'what fires the rule' },
  severity,
  enabled,
  clear_minutes: clearMinutes,
  object: { ...AlertObject, description: 'what the rule is about' },
  state: {
    ...StateName,
    description: `\`unknown\`: no data for ${alertUnknownAfterMinutes} minutes, or the rule is disabled`,
  },
  since: { ...Time, description: 'since when it has the state' },
  reason: Nullable({ ...AlertReasonName, description: 'why the state is unknown; null if it is not' }),
  firing_since: {
    ...NullableTime,
    description:
      'start of the open firing, which continues while the state is unknown; null if there is none',
  },
  value: Nullable(Type.Number({ description: 'the last measured value, in `unit`; null without one' })),
  threshold: Type.Number({ description: 'the limit of the condition, in `unit`' }),
  unit: { ...AlertUnit, description: 'unit of the series' },
  comparison: { ...AlertComparison, description: 'on which side of the threshold the rule fires' },
  evaluated_until: { ...NullableTime, description: 'end of the last evaluated value; null before the first' },
  created: { ...Time, description: 'when it was created' },
  created_by: Actor,
  modified: { ...Time, description: 'when it was last changed' },
})
export type AlertRule = Static<typeof AlertRule>

const endings = ['cleared', 'changed', 'disabled', 'deleted'] as const
export type AlertEnding = (typeof endings)[number]
export const AlertEndingName = Enumeration('AlertEnding', endings)

export const AlertFiring = Component('AlertFiring', {
  id: { ...Id, description: 'id of the firing' },
  started: { ...Time, description: 'when the value went beyond the limit' },
  fired: { ...Time, description: 'when it had been beyond it for long enough' },
  ended: { ...NullableTime, description: 'when it ended; null while it is open' },
  ending: Nullable({
    ...AlertEndingName,
    description: '`cleared`: the value was within the limit for long enough; else what happened to the rule',
  }),
  value: Type.Number({ description: 'the value that fired it, in the unit of the rule' }),
  threshold: Type.Number({ description: 'the limit at that time' }),
})
export type AlertFiring = Static<typeof AlertFiring>

export const AlertTrial = Component('AlertTrial', {
  threshold: Type.Number({ description: 'the limit of the condition, in `unit`' }),
  unit: { ...AlertUnit, description: 'unit of the series' },
  comparison: { ...AlertComparison, description: 'on which side of the threshold a rule fires' },
  firings: Type.Array(
    Component('AlertTrialFiring', {
      started: { ...Time, description: 'when the value went beyond the limit' },
      fired: { ...Time, description: 'when a rule would have fired' },
      ended: { ...NullableTime, description: 'when it would have ended; null: not before the end' },
    }),
    { description: 'when a rule would have fired, oldest first' },
  ),
  measured_percent: Type.Number({
    minimum: 0,
    maximum: 100,
    description: 'part of the time with a value: at other times a rule would have been unknown',
  }),
  value_interval: Type.Integer({ minimum: 1, description: 'seconds of a value that is compared' }),
  proposed_threshold: Nullable(
    Type.Number({ description: 'a threshold just beyond the usual values; null without values' }),
  ),
  reason: Nullable({ ...AlertReasonName, description: 'why there are no values; null if there are some' }),
  timeseries: {
    ...Timeseries,
    description:
      'the compared values; of a longer bucket the one that is closest to firing. Of a bill, the figure at the end of each day',
  },
})
export type AlertTrial = Static<typeof AlertTrial>

const reading = { credential: 'any', scope: 'alerts:read', grant: 'alerts.see' } as const
const changing = { credential: 'any', scope: 'alerts:write', grant: 'alerts.manage' } as const
const params = Strict({ alert_rule_id: Id })

export const listAlertRulesRoute = route({
  name: 'listAlertRules',
  group: 'Alerts',
  method: 'GET',
  path: '/v3/alert-rules',
  summary: 'List alert rules',
  description: 'The alert rules of the team with their state.',
  permission: reading,
  query: Strict({
    state: Optional(Repeatable({ ...StateName, description: 'state of the rule' })),
    kind: Optional(Repeatable({ ...AlertKindName, description: 'kind of the condition' })),
    severity: Optional(Repeatable({ ...AlertSeverityName, description: 'severity' })),
    enabled: Optional(Type.Boolean({ description: 'whether the rule is evaluated' })),
    search: Optional(Type.String({ minLength: 1, maxLength: 100, description: 'part of the name' })),
    ordering: Ordering(['id', 'name', 'state', 'since', 'severity', 'created'], 'id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(AlertRule),
  success: 200,
})

export const getAlertRuleRoute = route({
  name: 'getAlertRule',
  group: 'Alerts',
  method: 'GET',
  path: '/v3/alert-rules/{alert_rule_id}',
  summary: 'Get alert rule',
  description: 'Returns one alert rule of the team with its state.',
  permission: reading,
  params,
  response: AlertRule,
  success: 200,
  conditional: true,
})

export const createAlertRuleRoute = route({
  name: 'createAlertRule',
  group: 'Alerts',
  method: 'POST',
  path: '/v3/alert-rules',
  summary: 'Create alert rule',
  description:
    'Watches a series from now on. The rule fires once the value has been beyond the limit for `for_minutes`, and the firing ends ' +
    'once it has been within it for `clear_minutes`; missing values count for neither. The rate of a commit is compared every hour. ' +
    'Each firing is a message `alert.fired`, its end `alert.cleared`; ' +
    `after ${alertTellUnknownAfterMinutes} minutes without data there is one \`alert.unknown\`. Members get them as the notification \`alert\`. At most ${alertRulesMax} rules for each team.`,
  permission: changing,
  body: Strict({
    name,
    condition: AlertCondition,
    severity: Optional(severity),
    enabled: Optional(enabled),
    clear_minutes: Optional(clearMinutes),
  }),
  response: AlertRule,
  success: 201,
  creates: getAlertRuleRoute,
  errors: ['quota_exceeded', 'module_disabled'],
  conditional: true,
})

export const updateAlertRuleRoute = route({
  name: 'updateAlertRule',
  group: 'Alerts',
  method: 'PATCH',
  path: '/v3/alert-rules/{alert_rule_id}',
  summary: 'Update alert rule',
  description:
    'Changes the given fields; `condition` is replaced as a whole. A changed condition, and disabling, end an open firing and start the ' +
    'evaluation again.',
  permission: changing,
  params,
  body: Strict({
    name: Optional(name),
    condition: Optional(AlertCondition),
    severity: Optional(severity),
    enabled: Optional(enabled),
    clear_minutes: Optional(clearMinutes),
  }),
  response: AlertRule,
  success: 200,
  errors: ['module_disabled'],
  conditional: true,
})

export const deleteAlertRuleRoute = route({
  name: 'deleteAlertRule',
  group: 'Alerts',
  method: 'DELETE',
  path: '/v3/alert-rules/{alert_rule_id}',
  summary: 'Delete alert rule',
  description: 'Deletes the rule and its history. An open firing ends.',
  permission: changing,
  params,
  success: 204,
  conditional: true,
})

export const listAlertFiringsRoute = route({
  name: 'listAlertFirings',
  group: 'Alerts',
  method: 'GET',
  path: '/v3/alert-rules/{alert_rule_id}/firings',
  summary: 'List the firings of an alert rule',
  description: 'When the rule fired, by default the newest first. Firings are kept for 400 days.',
  permission: reading,
  params,
  query: Strict({
    ordering: Ordering(['id', 'started'], '-id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(AlertFiring),
  success: 200,
})

export const tryAlertConditionRoute = route({
  name: 'tryAlertCondition',
  group: 'Alerts',
  method: 'POST',
  path: '/v3/alert-rules/try',
  summary: 'Try a condition against the past',
  description:
    `Returns when a rule with the condition would have fired in a window of the past, by default the last ${alertTrialDays} days, and the values that it would have compared. ` +
    'It is evaluated with the same code and the same values as a rule. The rate of a commit is compared once a day here. How many collectors heard an announcement is ' +
    'recorded from the time at which a rule watches it.',
  permission: reading,
  body: Strict({
    condition: AlertCondition,
    clear_minutes: Optional(clearMinutes),
    start: Optional({
      ...Time,
      description: `start of the window, at most ${alertTrialDays} days before its end`,
    }),
    end: Optional({ ...Time, description: 'end of the window; now by default' }),
  }),
  response: AlertTrial,
  success: 200,
  keyless: 'read',
  errors: ['module_disabled'],
})

export const alertRuleRoutes = [
  listAlertRulesRoute,
  getAlertRuleRoute,
  createAlertRuleRoute,
  updateAlertRuleRoute,
  deleteAlertRuleRoute,
  listAlertFiringsRoute,
  tryAlertConditionRoute,
]
