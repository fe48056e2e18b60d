// A plan as text and as JSON. The values of secret fields are in neither.
import { counted } from '@pharos/contract/counted'
import type { PlatformChange, ElementFieldChange, Kind } from './kind.ts'
import { printValue, type ApplyPlan } from './plan.ts'
import type { Registry } from './registry.ts'

/** One line for each change and each changed field, the notices, and a summary. */
export function printPlan(registry: Registry, plan: ApplyPlan): string {
  const lines = plan.changes.flatMap((change) => linesOf(registry.get(change.kind), change))
  const notices = plan.notices.map((notice) => `! ${notice}`)
  return [...lines, ...notices, summaryOf(registry, plan)].join('\n')
}

/** `= 3 to create, 1 to change, 0 to delete, 12 unchanged (2 teams, ...)`. */
function summaryOf({ kinds }: Registry, { changes, unchanged }: ApplyPlan): string {
  const count = (action: PlatformChange['action']) =>
    changes.filter((change) => change.action === action).length
  const parts = kinds
    .map(({ name, plural }) => ({ name, plural, number: unchanged[name] ?? 0 }))
    .filter(({ number }) => number > 0)
  const total = parts.reduce((sum, { number }) => sum + number, 0)
  const list = parts.map(({ name, plural, number }) => counted(number, name, plural)).join(', ')
  const kept = `${total} unchanged${list && ` (${list})`}`
  return `= ${count('create')} to create, ${count('update')} to change, ${count('delete')} to delete, ${kept}`
}

function linesOf(kind: Kind, change: PlatformChange): string[] {
  const name = `${change.kind} ${change.key}`
  if (change.action === 'create') return [`+ ${name}${detailsOf(kind, change.fields)}`]
  if (change.action === 'delete') return [`- ${name}`]
  return change.changes.map((one) => `~ ${name} ${changeOf(kind, one)}`)
}

function detailsOf(kind: Kind, fields: Readonly<Record<string, unknown>>): string {
  const shown = Object.keys(kind.fields)
    .filter((name) => kind.fields[name]!.isShown)
    .map((name) => ({ name, value: fields[name] }))
    .filter(({ value }) => value !== undefined && value !== '' && value !== false)
    .map(({ name, value }) => `${name} ${printValue(value)}`)
  return shown.length > 0 ? ` (${shown.join(', ')})` : ''
}

function changeOf(kind: Kind, { field, before, after }: ElementFieldChange): string {
  const secret = kind.fields[field]?.secret
  return secret ? `${secret.name}: changed` : `${field}: ${printValue(before)} -> ${printValue(after)}`
}

/** A plan as values of JSON. */
type PlanData = {
  readonly changes: readonly ChangeData[]
  readonly unchanged: ApplyPlan['unchanged']
  readonly notices: ApplyPlan['notices']
}

type ChangeData = Pick<PlatformChange, 'action' | 'kind' | 'key'> & {
  readonly fields?: Readonly<Record<string, unknown>>
  readonly changes?: readonly Partial<ElementFieldChange>[]
}

export function planAsData(registry: Registry, { changes, unchanged, notices }: ApplyPlan): PlanData {
  return {
    changes: changes.map((change) => changeAsData(registry.get(change.kind), change)),
    unchanged,
    notices,
  }
}

/** A change without its row and without the values of secret fields. */
function changeAsData({ fields }: Kind, change: PlatformChange): ChangeData {
  const { action, kind, key } = change
  const isSecret = (name: string) => fields[name]?.secret !== undefined
  if (change.action === 'delete') return { action, kind, key }
  if (change.action === 'create') {
    const shown = Object.entries(change.fields).filter(([name]) => !isSecret(name))
    return { action, kind, key, fields: Object.fromEntries(shown) }
  }
  const shown = change.changes.map((one) => (isSecret(one.field) ? { field: one.field } : one))
  return { action, kind, key, changes: shown }
}
