// The deliveries of a webhook, and the details of one delivery with its message and attempts. The address names the open one.
import { Button, Code, Group, Skeleton, Stack, Table, Text } from '@mantine/core'
import {
  deliveryStates,
  getWebhookDeliveryRoute,
  listWebhookDeliveriesRoute,
  redeliverWebhookRoute,
  sentTypes,
  type Delivery,
  type DeliveryState,
} from '@pharos/contract/messages/webhook'
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
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { words } from './words.ts'

const t = words.delivery

const colors: Record<DeliveryState, StateColor> = {
  pending: 'info',
  delivered: 'ok',
  failed: 'bad',
  cancelled: 'idle',
}

const StateOfDelivery = ({ state }: { state: DeliveryState }) => (
  <StatePill color={colors[state]}>{words.webhook.state[state]}</StatePill>
)

const columns: readonly Column<Delivery>[] = [
  timeColumn('created', t.created, ({ created }) => created, { card: 'primary' }),
  {
    id: 'type',
    header: t.type,
    width: 220,
    card: 'secondary',
    cell: ({ type }) => words.webhook.sent[type],
  },
  {
    id: 'state',
    header: t.state,
    width: 120,
    card: 'state',
    cell: ({ state }) => <StateOfDelivery state={state} />,
  },
  {
    id: 'attempts',
    header: t.attempts,
    align: 'right',
    width: 100,
    cell: ({ attempt_count }) => attempt_count,
  },
  {
    id: 'status',
    header: t.response,
    width: 180,
    grows: true,
    cell: ({ last_status, last_error }) => last_error ?? last_status ?? '',
  },
  {
    id: 'took',
    header: t.duration,
    align: 'right',
    width: 100,
    cell: ({ duration_ms }) => (duration_ms === null ? '' : formatDuration(duration_ms)),
  },
  timeColumn('next', t.next, ({ next_attempt }) => next_attempt, { none: '' }),
  monoColumn('message', t.messageId, ({ message_id }) => message_id, { hidden: true, width: 240 }),
]

const declaration: ListDeclaration = {
  filters: [
    {
      kind: 'choice',
      name: 'state',
      label: t.state,
      options: deliveryStates.map((state) => ({
        value: state,
        label: words.webhook.state[state],
        color: colors[state],
      })),
    },
    {
      kind: 'choice',
      name: 'type',
      label: t.type,
      options: sentTypes.map((type) => ({ value: type, label: words.webhook.sent[type] })),
    },
  ],
}

export function Deliveries({ webhookId, canSend }: { webhookId: number; canSend: boolean }) {
  const view = useListSearch('/team/webhooks/$id', declaration)
  const params = useMemo(() => ({ webhook_id: webhookId }), [webhookId])
  return (
    <List<Delivery>
      name="deliveries"
      things={t.things}
      route={listWebhookDeliveriesRoute}
      params={params}
      view={view}
      columns={columns}
      panel={{
        title: (delivery) => (delivery ? words.webhook.sent[delivery.type] : t.one),
        render: (id) => <DeliveryView key={id} webhookId={webhookId} id={Number(id)} canSend={canSend} />,
      }}
      refetchMs={5_000}
      empty={<Empty title={t.none}>{t.noneText}</Empty>}
    />
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
          <CopyIcon text={message_id} label={t.copyId} />
        </Group>
        {canSend && (
          <Button variant="default" loading={resend.isPending} onClick={() => resend.mutate()}>
            {words.webhook.resend}
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
              {[t.time, t.status, t.error, t.duration, t.response].map((name) => (
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
                <Table.Td>{status ?? t.noResponse}</Table.Td>
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
          {t.notAttempted}
        </Text>
      )}
    </Stack>
  )
}
