// Conditions of alert rules as fields of a form and as text. Pure.
import {
  alertKinds,
  alertLimitOf,
  alertObjectOf,
  type AlertCondition,
  type AlertKind,
  type AlertRule,
} from '@pharos/contract/alert/alert-rule'
import { words } from './words.ts'

/** The address of a new rule, as a chart links to it. `object`: id; `part`: id of a port of the service. */
export type AlertDraft = {
  kind: AlertKind
  object: number
  direction: string
  measure: string
  part: number
}

export type AlertValues = {
  readonly name: string
  readonly kind: AlertKind
  readonly object: string
  readonly part: string
  readonly direction: 'in' | 'out' | 'either'
  readonly measure: 'percentile' | 'forecast'
  /** Empty: not entered yet. */
  readonly threshold: number | ''
  readonly for_minutes: number | ''
  readonly clear_minutes: number | ''
  readonly severity: AlertRule['severity']
}

const isKind = (text: string): text is AlertKind => alertKinds.some((kind) => kind === text)

export function valuesOfDraft(draft: Readonly<Partial<Record<keyof AlertDraft, unknown>>>): AlertValues {
  const kind = String(draft.kind ?? '')
  const direction = String(draft.direction ?? '')
  return {
    name: '',
    kind: isKind(kind) ? kind : 'port_utilisation',
    object: draft.object === undefined ? '' : String(draft.object),
    part: draft.part === undefined ? '' : String(draft.part),
    direction: direction === 'in' || direction === 'out' ? direction : 'either',
    measure: draft.measure === 'forecast' ? 'forecast' : 'percentile',
    threshold: '',
    for_minutes: 15,
    clear_minutes: kind === 'commit' ? 60 : 15,
    severity: 'warning',
  }
}

export function valuesOfRule({ name, condition, clear_minutes, severity }: AlertRule): AlertValues {
  return {
    ...valuesOfDraft({}),
    name,
    kind: condition.kind,
    object: String(alertObjectOf(condition).id),
    part: condition.kind === 'commit' && condition.port_id !== null ? String(condition.port_id) : '',
    ...(condition.kind === 'port_utilisation' ? { direction: condition.direction } : {}),
    ...(condition.kind === 'commit' ? { measure: condition.measure } : {}),
    threshold: alertLimitOf(condition).threshold,
    for_minutes: condition.kind === 'commit' ? 15 : condition.for_minutes,
    clear_minutes,
    severity,
  }
}

type Bounds = readonly [low: number, high: number]

/** The bounds of the limit of each kind, in its unit. */
export const boundsOf: Readonly<Record<AlertKind, Bounds>> = {
  port_utilisation: [0.1, 100],
  commit: [1, 10_000],
  light_margin: [-40, 40],
  visibility: [0.1, 100],
}

/** The bounds of both times, in minutes. */
export const minutesBounds: Bounds = [5, 10_080]

export const isWithin = (value: number | '', [low, high]: Bounds): value is number =>
  value !== '' && value >= low && value <= high

/** Undefined until an object and a possible threshold and time are entered. */
export function conditionOf(values: AlertValues, threshold = values.threshold): AlertCondition | undefined {
  const { kind, object, part, direction, measure, for_minutes } = values
  if (object === '' || !isWithin(threshold, boundsOf[kind])) return undefined
  const id = Number(object)
  if (kind === 'commit')
    return {
      kind,
      service_id: id,
      port_id: part === '' ? null : Number(part),
      measure,
      above_percent: threshold,
    }
  if (!isWithin(for_minutes, minutesBounds)) return undefined
  switch (kind) {
    case 'port_utilisation':
      return { kind, port_id: id, direction, above_percent: threshold, for_minutes }
    case 'light_margin':
      return { kind, port_id: id, below_db: threshold, for_minutes }
    case 'visibility':
      return { kind, announcement_id: id, heard_below_percent: threshold, for_minutes }
  }
}

/** A possible threshold for the first trial, before one is proposed. */
export const firstThreshold: Readonly<Record<AlertKind, number>> = {
  port_utilisation: 80,
  commit: 100,
  light_margin: 2,
  visibility: 50,
}

/** Returns a value with the unit of its rule, such as `84.1 %`. */
export const quantityText = (value: number, unit: AlertRule['unit']): string =>
  `${Number(value.toFixed(1))} ${unit === 'percent' ? '%' : unit}`

/** Returns the condition as a phrase, such as `received traffic above 80 % of the speed for 15 min`. */
export function conditionText(condition: AlertCondition): string {
  const { threshold, unit, forMinutes } = alertLimitOf(condition)
  const limit = quantityText(threshold, unit)
  const { text } = words
  switch (condition.kind) {
    case 'port_utilisation':
      return text.port(text.directions[condition.direction], limit, minutesText(forMinutes))
    case 'commit':
      return text.commit(text.measures[condition.measure], limit)
    case 'light_margin':
      return text.light(limit, minutesText(forMinutes))
    case 'visibility':
      return text.visibility(limit, minutesText(forMinutes))
  }
}

/** Returns `15 min`, `2 h` or `1 h 30 min`. */
export function minutesText(minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return [hours > 0 ? `${hours} h` : '', rest > 0 || hours === 0 ? `${rest} min` : '']
    .filter(Boolean)
    .join(' ')
}

/** Returns the path of the object in the portal. */
export function pathOfObject({ type, id }: Pick<AlertRule['object'], 'type' | 'id'>): string {
  const folders = { port: 'ports', service: 'services', announcement: 'announcements' } as const
  return `/${folders[type]}/${id}`
}
