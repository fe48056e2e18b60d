// The paused changes of one region: every withdrawal with its customer and request, every changed route, and the decision.
import { Group, Skeleton, Stack, Table, Text } from '@mantine/core'
import {
  approveHoldRoute,
  getHoldRoute,
  rejectHoldRoute,
  type HoldDetails,
  type HoldItem,
} from '@pharos/contract/hold'
import { call } from '../api/call.ts'
import { useAnswer } from '../api/queries.ts'
import { Mono } from '../ui/cells.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { decisionProps, useDecisionKeys } from './decision.tsx'
import { Effects } from './effects.tsx'
import { refreshInbox } from './inbox-rows.ts'
import { words } from './words.ts'
import classes from './staff.module.css'

const { holds: t, change } = words

export function HoldView({ id }: { id: number }) {
  const { data: hold, error, refetch } = useAnswer(getHoldRoute, { params: { hold_id: id } })
  useDecisionKeys()
  if (error && !hold) return <Problem error={error} retry={refetch} />
  if (!hold) return <Skeleton height={240} />
  const { detail, withdrawals, items, items_truncated, changes, state } = hold
  return (
    <Stack gap="sm">
      <Text size="sm">{detail}</Text>
      {state === 'open' && (
        <Group gap="xs">
          <Decide hold={hold} kind="approve" />
          <Decide hold={hold} kind="reject" />
        </Group>
      )}
      {withdrawals.length > 0 && (
        <HeldTable
          title={t.withdraws(withdrawals.length)}
          head={[change.prefix, t.team, t.requestedBy]}
          rows={items.map((item) => [
            item.cidr,
            item.team?.name ?? change.noTeam,
            <Asked key="by" item={item} />,
          ])}
        />
      )}
      {items_truncated && (
        <Text size="xs" c="dimmed">
          {change.partial}
        </Text>
      )}
      {changes.length > 0 && (
        <HeldTable
          title={t.changes(changes.length)}
          head={[change.prefix, t.router, t.from, t.to]}
          rows={changes.map(({ cidr, router, from, to }) => [cidr, router, from, to])}
        />
      )}
    </Stack>
  )
}

type HeldTableProps = {
  readonly title: string
  readonly head: readonly string[]
  /** The first cell is a prefix. */
  readonly rows: readonly (readonly React.ReactNode[])[]
}

const HeldTable = ({ title, head, rows }: HeldTableProps) => (
  <div>
    <Text size="sm" fw={600} mb={4}>
      {title}
    </Text>
    <div className={classes['scroll']} tabIndex={0} role="group" aria-label={title}>
      <Table fz="sm">
        <Table.Thead>
          <Table.Tr>
            {head.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(([prefix, ...rest], at) => (
            <Table.Tr key={at}>
              <Table.Td>
                <Mono>{prefix}</Mono>
              </Table.Td>
              {rest.map((cell, column) => (
                <Table.Td key={column}>{cell}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  </div>
)

function Asked({ item: { requested_by, requested_by_name, requested_at } }: { item: HoldItem }) {
  if (requested_by === null || requested_at === null) return change.nobody
  return (
    <>
      {requested_by_name ?? requested_by}, <Time at={requested_at} />
    </>
  )
}

function Decide({ hold, kind }: { hold: HoldDetails; kind: 'approve' | 'reject' }) {
  const { id, region, withdrawals, changes } = hold
  const isApproval = kind === 'approve'
  const changed = new Set(changes.map(({ cidr }) => cidr)).size
  return (
    <Dialog
      title={isApproval ? t.approveTitle(region) : t.rejectTitle(region)}
      {...decisionProps(isApproval)}
      danger={isApproval}
      onSubmit={async () => {
        await call(isApproval ? approveHoldRoute : rejectHoldRoute, { params: { hold_id: id } })
        await refreshInbox()
      }}
    >
      <Effects
        confirms
        texts={
          isApproval
            ? [
                ...(withdrawals.length > 0 ? [change.withdraws(withdrawals.length, region)] : []),
                ...(changed > 0 ? [change.changes(changed, region)] : []),
                change.approval,
              ]
            : [change.rejection]
        }
      />
    </Dialog>
  )
}
