// The deliveries of a webhook, and one of them with its message and attempts. The address names the open one.
import { Button, Code, Group, Modal, Skeleton, Stack, Table, Text } from '@mantine/core'
import {
  getWebhookDeliveryRoute,
  listWebhookDeliveriesRoute,
  redeliverWebhookRoute,
  type Delivery,
  type DeliveryState,
} from '@pharos/contract/webhook'
import { useMutation } from '@tanstack/react-query'
import { useMemo } from 'react'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Empty } from '../ui/empty.tsx'
import { monoColumn, timeColumn } from '../ui/cells.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { formatDuration, Time } from '../ui/time.tsx'
import { usePageSearch, type Filters, type ListView } from '../ui/use-page-search.ts'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { words } from './words.ts'

const colors: Record<DeliveryState, StateColor> = {
  pending: 'info',
  delivered: 'ok',
  failed: 'bad',
  cancelled: 'idle',
}

const StateOfDelivery = ({ state }: { state: DeliveryState }) => (
  <StatePill color={colors[state]}>{words.webhook.state[state]}</StatePill>
)

const columnsWith = (open: (id: number) => void): readonly Column<Delivery>[] => [
  {
    id: 'created',
    header: 'Created',
    cell: ({ id, created }) => (
      <Button variant="subtle" size="compact-xs" px={0} onClick={() => open(id)}>
        <Time at={created} />
      </Button>
    ),
  },
  { id: 'type', header: 'Event type', cell: ({ type }) => words.webhook.sent[type] },
  { id: 'state', header: 'State', cell: ({ state }) => <StateOfDelivery state={state} /> },
  { id: 'attempts', header: 'Attempts', align: 'right', cell: ({ attempt_count }) => attempt_count },
  {
    id: 'status',
    header: 'Response',
    cell: ({ last_status, last_error }) => last_error ?? last_status ?? '',
  },
  {
    id: 'took',
    header: 'Duration',
    align: 'right',
    cell: ({ duration_ms }) => (duration_ms === null ? '' : formatDuration(duration_ms)),
  },
  timeColumn('next', 'Next attempt', ({ next_attempt }) => next_attempt, { none: '' }),
  monoColumn('message', 'Message ID', ({ message_id }) => message_id, { hidden: true }),
]

export function Deliveries({ webhookId, canSend }: { webhookId: number; canSend: boolean }) {
  const { search, setSearch } = usePageSearch('/team/webhooks/$id')
  const { delivery: chosen, ...rest } = search
  // Compared by value, so that opening a delivery does not request the list again.
  const key = JSON.stringify(rest)
  const view = useMemo(
    (): ListView => ({
      filters: JSON.parse(key) as Filters,
      ordering: undefined,
      setOrdering: () => {},
      clearFilters: () => setSearch({ state: undefined, type: undefined }),
    }),
    [key],
  )
  const params = useMemo(() => ({ webhook_id: webhookId }), [webhookId])
  const columns = useMemo(() => columnsWith((id) => setSearch({ delivery: id })), [key])
  return (
    <>
      <List<Delivery>
        name="deliveries"
        things={['delivery', 'deliveries']}
        route={listWebhookDeliveriesRoute}
        params={params}
        view={view}
        columns={columns}
        refetchMs={5_000}
        empty={<Empty title="No deliveries yet">Send a test event, or wait for the next one.</Empty>}
      />
      <Modal
        opened={chosen !== undefined}
        onClose={() => setSearch({ delivery: undefined })}
        title="Message"
        size="xl"
      >
        {chosen !== undefined && <DeliveryView webhookId={webhookId} id={Number(chosen)} canSend={canSend} />}
      </Modal>
    </>
  )
}

function DeliveryView({ webhookId, id, canSend }: { webhookId: number; id: number; canSend: boolean }) {
  const params = { webhook_id: webhookId, delivery_id: id }
  const answer = useAnswer(getWebhookDeliveryRoute, { params }, { refetchInterval: 5_000 })
  const resend = useMutation({
    mutationFn: () => call(redeliverWebhookRoute, { params }),
    onSuccess: () => invalidate(getWebhookDeliveryRoute, listWebhookDeliveriesRoute),
    onError: notifyProblem,
  })
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={answer.refetch} />
  if (!answer.data) return <Skeleton height={240} />
  const { message_id, type, state, payload, attempts } = answer.data
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Group gap="xs" maw="100%">
          <Text size="sm" fw={600}>
            {words.webhook.sent[type]}
          </Text>
          <StateOfDelivery state={state} />
          <Text size="xs" ff="monospace" c="dimmed" truncate>
            {message_id}
          </Text>
          <CopyIcon text={message_id} label="Copy message ID" />
        </Group>
        {canSend && (
          <Button variant="default" loading={resend.isPending} onClick={() => resend.mutate()}>
            Resend
          </Button>
        )}
      </Group>
      <Code block tabIndex={0}>
        {JSON.stringify(payload, undefined, 2)}
      </Code>
      <Table.ScrollContainer minWidth={420}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              {['Time', 'Status', 'Error', 'Duration', 'Response'].map((name) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {attempts.map(({ at, status, error, duration_ms, answer: text }) => (
              <Table.Tr key={at}>
                <Table.Td>
                  <Time at={at} />
                </Table.Td>
                <Table.Td>{status ?? 'No response'}</Table.Td>
                <Table.Td>{error}</Table.Td>
                <Table.Td>{formatDuration(duration_ms)}</Table.Td>
                <Table.Td>
                  <Text size="xs" truncate maw={240}>
                    {text}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {attempts.length === 0 && (
        <Text size="sm" c="dimmed">
          Not attempted yet.
        </Text>
      )}
    </Stack>
  )
}
