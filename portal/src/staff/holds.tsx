// Plans that the guard has held: what would be withdrawn, why it stopped, and the decision.
import {
  Badge,
  Box,
  Button,
  Card,
  Group,
  List as Bullets,
  SegmentedControl,
  Skeleton,
  Stack,
  Text,
} from '@mantine/core'
import { approveHold, listHolds, rejectHold, type Hold, type HoldState } from '@pharos/contract/hold'
import { call } from '../api/call.ts'
import { forget, useAnswer } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch } from '../ui/use-list-search.ts'
import classes from './holds.module.css'

const colors: Record<HoldState, string> = {
  open: 'orange',
  approved: 'teal',
  rejected: 'red',
  closed: 'gray',
}

export function Holds() {
  const { filters, setFilters } = useListSearch()
  const state = filters['state'] === 'all' ? 'all' : 'open'
  const answer = useAnswer(
    listHolds,
    { query: { limit: 100, ...(state === 'open' ? { state: ['open'] } : {}) } },
    { refetchInterval: 5_000 },
  )
  return (
    <Page
      title="Held plans"
      note="The reconciler stops where it would withdraw too much, and waits for you."
      actions={
        <SegmentedControl
          size="xs"
          data={[
            { value: 'open', label: 'Open' },
            { value: 'all', label: 'All' },
          ]}
          value={state}
          aria-label="Which"
          onChange={(next) => setFilters({ state: next === 'all' ? next : undefined })}
        />
      }
    >
      {answer.error && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data?.count === 0 && (
        <Empty title="Nothing is held">Every region is as its teams want it, or on the way.</Empty>
      )}
      {answer.data?.results.map((hold) => (
        <HoldCard key={hold.id} hold={hold} />
      ))}
    </Page>
  )
}

function HoldCard({ hold }: { hold: Hold }) {
  const { id, region, reason, detail, withdrawals, state, created, decided } = hold
  return (
    <Card component="section" aria-label={`Hold ${id}`}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600}>{region}</Text>
          <Badge color={colors[state]}>{state}</Badge>
          <Text size="sm">{reason.replaceAll('_', ' ')}</Text>
        </Group>
        <Text size="xs" c="dimmed">
          held <Time at={created} />
          {decided && (
            <>
              {' '}
              · decided <Time at={decided} />
            </>
          )}
        </Text>
      </Group>
      <Text size="sm" my="xs">
        {detail}
      </Text>
      <Text size="sm">
        It would withdraw {withdrawals.length} {withdrawals.length === 1 ? 'route' : 'routes'}:
      </Text>
      {/* All of them: who decides must be able to read each one. */}
      <Box
        mah={280}
        className={classes['withdrawals']!}
        tabIndex={0}
        role="group"
        aria-label="What it would withdraw"
      >
        <Bullets size="sm" ff="monospace">
          {withdrawals.map((cidr) => (
            <Bullets.Item key={cidr}>{cidr}</Bullets.Item>
          ))}
        </Bullets>
      </Box>
      {state === 'open' && (
        <Group mt="sm">
          <Decide hold={hold} kind="approve" />
          <Decide hold={hold} kind="reject" />
        </Group>
      )}
    </Card>
  )
}

function Decide({ hold: { id, region, withdrawals }, kind }: { hold: Hold; kind: 'approve' | 'reject' }) {
  const isApproval = kind === 'approve'
  return (
    <Dialog
      title={
        isApproval
          ? `Withdraw ${withdrawals.length} routes in ${region}?`
          : `Keep them announced in ${region}?`
      }
      action={isApproval ? 'Withdraw them' : 'Keep them'}
      danger={isApproval}
      trigger={(open) => (
        <Button
          variant={isApproval ? 'filled' : 'default'}
          color={isApproval ? 'red' : 'gray'}
          onClick={open}
        >
          {isApproval ? 'Approve' : 'Reject'}
        </Button>
      )}
      onSubmit={async () => {
        await call(isApproval ? approveHold : rejectHold, { params: { hold_id: id } })
        await forget(listHolds)
      }}
    >
      <Stack gap="xs">
        <Text size="sm">
          {isApproval
            ? 'What has no other path becomes unreachable.'
            : 'They stay as they are; the reconciler will hold again as long as it is asked for the same.'}
        </Text>
      </Stack>
    </Dialog>
  )
}
