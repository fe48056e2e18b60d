// Changes that the reconciler does not apply without approval: why, whose routes they are, who asked, and the decision.
import { Box, Button, Card, Group, SegmentedControl, Skeleton, Stack, Table, Text } from '@mantine/core'
import {
  approveHoldRoute,
  getHoldRoute,
  listHoldsRoute,
  rejectHoldRoute,
  type Hold,
  type HoldItem,
  type HoldState,
} from '@pharos/contract/hold'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { usePageSearch } from '../ui/use-page-search.ts'
import classes from './holds.module.css'
import { StatePill, type StateColor } from '../ui/status.tsx'

const colors: Record<HoldState, StateColor> = {
  open: 'warn',
  approved: 'ok',
  rejected: 'bad',
  closed: 'idle',
}

const labels: Record<HoldState, string> = {
  open: 'Open',
  approved: 'Approved',
  rejected: 'Rejected',
  closed: 'Closed',
}

export function Holds() {
  const { search, setSearch } = usePageSearch('/staff/holds')
  const state = search.state === 'all' ? 'all' : 'open'
  const answer = useAnswer(
    listHoldsRoute,
    { query: { limit: 100, ...(state === 'open' ? { state: ['open'] } : {}) } },
    { refetchInterval: 5_000 },
  )
  return (
    <Page
      title="Paused changes"
      note="Too many withdrawals or changed routes at once need approval before they are applied."
      actions={
        <SegmentedControl
          size="xs"
          data={[
            { value: 'open', label: 'Open' },
            { value: 'all', label: 'All' },
          ]}
          value={state}
          aria-label="State"
          onChange={(next) => setSearch({ state: next === 'all' ? next : undefined })}
        />
      }
    >
      {answer.error && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data?.count === 0 && (
        <Empty title={state === 'open' ? 'No paused changes' : 'No changes were paused yet'}>
          All requested changes are applied without approval.
        </Empty>
      )}
      {answer.data?.results.map((hold) => (
        <HoldCard key={hold.id} hold={hold} />
      ))}
    </Page>
  )
}

const countOf = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`
const prefixesOf = (count: number): string => countOf(count, 'prefix', 'prefixes')
const routesOf = (count: number): string => countOf(count, 'route', 'routes')

function HoldCard({ hold }: { hold: Hold }) {
  const { id, region, reason, detail, withdrawals, changes, state, created, decided } = hold
  return (
    <Card component="section" aria-label={`Hold ${id}`}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600}>{region}</Text>
          <StatePill color={colors[state]}>{labels[state]}</StatePill>
          <Text size="sm">{reason.replaceAll('_', ' ')}</Text>
        </Group>
        <Text size="xs" c="dimmed">
          Paused <Time at={created} />
          {decided && (
            <>
              {' '}
              · {labels[state].toLowerCase()} <Time at={decided} />
            </>
          )}
        </Text>
      </Group>
      <Text size="sm" my="xs">
        {detail}
      </Text>
      {withdrawals.length > 0 && <Withdrawals hold={hold} />}
      {changes.length > 0 && <Changes hold={hold} />}
      {state === 'open' && (
        <Group mt="sm">
          <Decide hold={hold} kind="approve" />
          <Decide hold={hold} kind="reject" />
        </Group>
      )}
    </Card>
  )
}

/** Lists all of them: the decision is about each one. */
function Withdrawals({ hold: { id, withdrawals } }: { hold: Hold }) {
  const { data, error } = useAnswer(getHoldRoute, { params: { hold_id: id } })
  const items: readonly Pick<HoldItem, 'cidr'>[] = data?.items ?? withdrawals.map((cidr) => ({ cidr }))
  return (
    <>
      {error && <Problem error={error} />}
      <Text size="sm">Withdraws {prefixesOf(withdrawals.length)}:</Text>
      <Box mah={280} className={classes['withdrawals']!} tabIndex={0} role="group" aria-label="Withdrawals">
        <Table fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Prefix</Table.Th>
              <Table.Th>Team</Table.Th>
              <Table.Th>Last request</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.map((item) => (
              <Table.Tr key={item.cidr}>
                <Table.Td ff="monospace">{item.cidr}</Table.Td>
                <Table.Td>{'team' in item ? teamOf(item as HoldItem) : ''}</Table.Td>
                <Table.Td>{'team' in item ? <Request item={item as HoldItem} /> : ''}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {data?.items_truncated && (
          <Text size="sm" ff="monospace">
            {withdrawals.slice(data.items.length).join(', ')}
          </Text>
        )}
      </Box>
    </>
  )
}

const teamOf = ({ team }: HoldItem): string => team?.name ?? 'No team'

function Request({ item: { action, requested_by, requested_by_name, requested_at } }: { item: HoldItem }) {
  if (requested_by === null || requested_at === null) return 'No request found'
  return (
    <>
      {requested_by_name ?? requested_by}, {action}, <Time at={requested_at} />
    </>
  )
}

function Changes({ hold: { changes } }: { hold: Hold }) {
  return (
    <>
      <Text size="sm" mt="xs">
        Changes the origin or next hop of {routesOf(changes.length)}:
      </Text>
      <Box
        mah={280}
        className={classes['withdrawals']!}
        tabIndex={0}
        role="group"
        aria-label="Changed routes"
      >
        <Table fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Prefix</Table.Th>
              <Table.Th>Router</Table.Th>
              <Table.Th>From</Table.Th>
              <Table.Th>To</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changes.map(({ router, cidr, from, to }) => (
              <Table.Tr key={`${router} ${cidr}`}>
                <Table.Td ff="monospace">{cidr}</Table.Td>
                <Table.Td>{router}</Table.Td>
                <Table.Td>{from}</Table.Td>
                <Table.Td>{to}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Box>
    </>
  )
}

function Decide({ hold, kind }: { hold: Hold; kind: 'approve' | 'reject' }) {
  const { id, region, withdrawals, changes } = hold
  const isApproval = kind === 'approve'
  return (
    <Dialog
      title={isApproval ? `Approve changes in ${region}` : `Reject changes in ${region}`}
      action={isApproval ? 'Approve' : 'Reject'}
      danger={isApproval}
      trigger={(open) => (
        <Button variant={isApproval ? 'filled' : 'default'} onClick={open}>
          {isApproval ? 'Approve' : 'Reject'}
        </Button>
      )}
      onSubmit={async () => {
        await call(isApproval ? approveHoldRoute : rejectHoldRoute, { params: { hold_id: id } })
        await invalidate(listHoldsRoute, getHoldRoute)
      }}
    >
      <Stack gap="xs">
        {isApproval ? (
          <>
            {withdrawals.length > 0 && (
              <Text size="sm">
                Withdraws {prefixesOf(withdrawals.length)} from all routers in {region}. Networks without
                another path to them become unreachable.
              </Text>
            )}
            {changes.length > 0 && (
              <Text size="sm">
                Changes the origin or next hop of {routesOf(changes.length)}. Traffic takes another path.
              </Text>
            )}
            <Text size="sm">The approval covers the listed changes only and is valid for 15 minutes.</Text>
          </>
        ) : (
          <Text size="sm">
            The listed routes stay announced as they are for 24 hours, also after a restart of a router. A
            team that enables or disables its announcement again starts a new request.
          </Text>
        )}
      </Stack>
    </Dialog>
  )
}
