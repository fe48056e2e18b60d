// The plan of a change: what is created, changed and deleted, field by field, and why something is kept.
import { Alert, Checkbox, Stack, Table, Text } from '@mantine/core'
import type { PlatformPlan } from '@pharos/contract/operator/platform'
import { Mono } from '../ui/cells.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { fieldLabel, words } from './words.ts'
import classes from './platform.module.css'

type PlanProps = {
  readonly plan: PlatformPlan
  /** Whether a person has confirmed many deletions. */
  readonly isConfirmed: boolean
  readonly onConfirm: (isConfirmed: boolean) => void
}

export function PlanView({ plan, isConfirmed, onConfirm }: PlanProps) {
  const { changes, notices, held } = plan
  return (
    <Stack gap="sm">
      {changes.length === 0 && <Text size="sm">{words.nothingChanges}</Text>}
      {changes.map((change) => (
        <ChangeView key={`${change.kind} ${change.key}`} change={change} />
      ))}
      {notices.map((notice) => (
        <Alert key={notice} color="warn">
          {notice}
        </Alert>
      ))}
      {held.length > 0 && (
        <Alert color="bad" title={words.heldTitle}>
          <Stack gap="xs">
            <Text size="sm">
              {words.held(
                held.map(({ kind, deletions, limit }) => words.heldOf(deletions, kind, limit)).join(', '),
              )}
            </Text>
            <Checkbox
              label={words.confirmHeld}
              checked={isConfirmed}
              onChange={(event) => onConfirm(event.currentTarget.checked)}
            />
          </Stack>
        </Alert>
      )}
    </Stack>
  )
}

type Change = PlatformPlan['changes'][number]

const colors: Readonly<Record<Change['action'], StateColor>> = { create: 'ok', update: 'warn', delete: 'bad' }

function ChangeView({ change: { action, kind, key, fields } }: { change: Change }) {
  const isShown = ({ field, before, after }: Change['fields'][number]): boolean =>
    // The manager of a new element is the portal; the column names that of an import.
    field !== 'managed_by' && (action === 'update' || !isNothing(after) || !isNothing(before))
  const shown = fields.filter(isShown)
  return (
    <section aria-label={`${words.actions[action]} ${kind} ${key}`}>
      <div className={classes['change']}>
        <StatePill color={colors[action]}>{words.actions[action]}</StatePill>
        <Text size="sm" fw={500}>
          {kind.replaceAll('_', ' ')} <Mono>{key}</Mono>
        </Text>
      </div>
      {shown.length > 0 && (
        <Table verticalSpacing={4} className={classes['fields']!}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.field}</Table.Th>
              {action === 'update' && <Table.Th>{words.before}</Table.Th>}
              <Table.Th>{words.after}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map(({ field, before, after }) => (
              <Table.Tr key={field}>
                <Table.Td>{fieldLabel(field)}</Table.Td>
                {action === 'update' && <Table.Td>{shownValue(before)}</Table.Td>}
                <Table.Td>
                  {isNothing(before) && isNothing(after) ? words.secretChanged : shownValue(after)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </section>
  )
}

const isNothing = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

function shownValue(value: unknown): string {
  if (isNothing(value)) return '–'
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ') || '–'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
