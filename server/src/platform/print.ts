// A plan as the operator reads it. Passwords and secrets are only said to change.
import type { Change, FieldChange, Plan } from './plan.ts'
import { kinds, sectionOf } from './platform.ts'

/** One line for each change and each changed field, and a summary at the end. */
export function printPlan(plan: Plan): string {
  const lines = plan.changes.flatMap(linesOf)
  const notices = plan.notices.map((notice) => `! ${notice}`)
  return [...lines, ...notices, summaryOf(plan)].join('\n')
}

/** `3 to create, 1 to change, 0 to delete, 12 unchanged (2 teams, ...)`. */
function summaryOf({ changes, unchanged }: Plan): string {
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length
  const kept = kinds.filter((kind) => unchanged[kind] > 0)
  const total = kept.reduce((sum, kind) => sum + unchanged[kind], 0)
  const parts = kept.map(
    (kind) => `${unchanged[kind]} ${kind === 'membership' ? 'memberships' : sectionOf[kind]}`,
  )
  const list = parts.length > 0 ? ` (${parts.join(', ')})` : ''
  return `= ${count('create')} to create, ${count('update')} to change, ${count('delete')} to delete, ${total} unchanged${list}`
}

function linesOf(change: Change): string[] {
  const name = `${change.kind} ${change.key}`
  if (change.action === 'create') return [`+ ${name}${detailsOf(change.fields)}`]
  if (change.action === 'delete') return [`- ${name}`]
  return change.changes.map((field) => `~ ${name} ${changeOf(field)}`)
}

const secretFields = new Set(['password_hash', 'secret_mac'])
const shownAtCreation = ['name', 'origin_asn', 'enabled', 'regions', 'admin', 'staff', 'demo', 'kind']

function detailsOf(fields: object): string {
  const given = fields as Readonly<Record<string, unknown>>
  const shown = shownAtCreation
    .filter((field) => given[field] !== undefined && given[field] !== '' && given[field] !== false)
    .map((field) => `${field} ${shortly(given[field])}`)
  return shown.length > 0 ? ` (${shown.join(', ')})` : ''
}

function changeOf({ field, before, after }: FieldChange): string {
  if (field === 'password_hash') return 'password: changed'
  if (field === 'secret_mac') return 'secret: changed'
  return `${field}: ${shortly(before)} -> ${shortly(after)}`
}

function shortly(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '""' : value
  return Array.isArray(value) ? `[${value.join(', ')}]` : JSON.stringify(value)
}

/** The plan for programs; the values of secret fields are left out. */
export function planAsJson(plan: Plan): object {
  const hide = (fields: object) =>
    Object.fromEntries(Object.entries(fields).filter(([field]) => !secretFields.has(field)))
  const changes = plan.changes.map((change) => {
    if (change.action === 'delete') return change
    if (change.action === 'create') return { ...change, fields: hide(change.fields) }
    const { action, kind, key } = change
    const shown = change.changes.map((one) => (secretFields.has(one.field) ? { field: one.field } : one))
    return { action, kind, key, changes: shown }
  })
  return { changes, unchanged: plan.unchanged, notices: plan.notices }
}
