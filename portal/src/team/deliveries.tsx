// The messages of a webhook, and of one of them what was sent and each attempt. Which one stands in the address.
import { Badge, Button, Code, Group, Modal, Skeleton, Stack, Table, Text } from '@mantine/core'
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
import { forget, useAnswer } from '../api/queries.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type Column } from '../ui/list.tsx'
import { Problem, tellProblem } from '../ui/problem.tsx'
import { formatDuration, Time } from '../ui/time.tsx'
import { useListSearch } from '../ui/use-list-search.ts'

const colors: Record<DeliveryState, string> = {
  pending: 'blue',
  delivered: 'teal',
  failed: 'red',
  cancelled: 'gray',
}

const columnsWith = (open: (id: number) => void): readonly Column<Delivery>[] => [
  {
    id: 'created',
    header: 'When',
    cell: ({ id, created }) => (
      <Button variant="subtle" size="compact-xs" px={0} onClick={() => open(id)}>
        <Time at={created} />
      </Button>
    ),
  },
  { id: 'type', header: 'What', cell: ({ type }) => type },
  { id: 'state', header: 'State', cell: ({ state }) => <Badge color={colors[state]}>{state}</Badge> },
  { id: 'attempts', header: 'Attempts', align: 'right', cell: ({ attempt_count }) => attempt_count },
  { id: 'status', header: 'Answer', cell: ({ last_status, last_error }) => last_error ?? last_status ?? '' },
  {
    id: 'took',
    header: 'Took',
    align: 'right',
    cell: ({ duration_ms }) => (duration_ms === null ? '' : formatDuration(duration_ms)),
  },
  { id: 'next', header: 'Next attempt', cell: ({ next_attempt }) => <Time at={next_attempt} none="" /> },
  {
    id: 'message',
    header: 'Message id',
    hidden: true,
    cell: ({ message_id }) => (
      <Text span size="sm" ff="monospace">
        {message_id}
      </Text>
    ),
  },
]

export function Deliveries({ webhookId, canSend }: { webhookId: number; canSend: boolean }) {
  const { filters: search, setFilters } = useListSearch()
  const { delivery: chosen, ...rest } = search
  // By what they say, so that opening one does not ask for the list anew.
  const key = JSON.stringify(rest)
  const filters = useMemo(() => JSON.parse(key) as object as Record<string, unknown>, [key])
  const params = useMemo(() => ({ webhook_id: webhookId }), [webhookId])
  const columns = useMemo(() => columnsWith((id) => setFilters({ delivery: id })), [key])
  return (
    <>
      <List<Delivery>
        name="deliveries"
        route={listWebhookDeliveriesRoute}
        params={params}
        filters={filters}
        columns={columns}
        ordering={undefined}
        onOrdering={() => {}}
        refetchMs={5_000}
        empty={
          key === '{}' ? (
            <Empty title="Nothing was sent yet">Test it, or wait until something happens.</Empty>
          ) : (
            <Empty title="No message is like that" />
          )
        }
      />
      <Modal
        opened={chosen !== undefined}
        onClose={() => setFilters({ delivery: undefined })}
        title="What was sent"
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
  const again = useMutation({
    mutationFn: () => call(redeliverWebhookRoute, { params }),
    onSuccess: () => forget(getWebhookDeliveryRoute, listWebhookDeliveriesRoute),
    onError: tellProblem,
  })
  if (answer.error && !answer.data) return <Problem error={answer.error} />
  if (!answer.data) return <Skeleton height={240} />
  const { message_id, type, state, payload, attempts } = answer.data
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Group gap="xs" maw="100%">
          <Text size="sm" fw={600}>
            {type}
          </Text>
          <Badge color={colors[state]}>{state}</Badge>
          <Text size="xs" ff="monospace" c="dimmed" truncate>
            {message_id}
          </Text>
          <CopyIcon text={message_id} label="Copy the id of the message" />
        </Group>
        {canSend && (
          <Button variant="default" loading={again.isPending} onClick={() => again.mutate()}>
            Send again
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
              {['Attempt', 'Status', 'Why it did not count', 'Took', 'Answer'].map((name) => (
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
                <Table.Td>{status ?? 'no answer'}</Table.Td>
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
          No attempt was made yet.
        </Text>
      )}
    </Stack>
  )
}
