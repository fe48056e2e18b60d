// Webhooks: whom the team tells what, and what became of each message.
import {
  Alert,
  Badge,
  Button,
  Card,
  Code,
  Group,
  Modal,
  MultiSelect,
  Skeleton,
  Stack,
  Switch,
  Table,
  Text,
  TextInput,
} from '@mantine/core'
import {
  createWebhook,
  deleteWebhook,
  getWebhookDelivery,
  listWebhookDeliveries,
  listWebhooks,
  redeliverWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
  type Delivery,
  type DeliveryState,
  type Webhook,
} from '@pharos/contract/webhook'
import { messageTypes, type MessageType } from '@pharos/contract/webhook-message'
import { IconWebhook } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { call } from '../api/call.ts'
import { forget, useAnswer } from '../api/queries.ts'
import { CopyBlock } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type Column } from '../ui/list.tsx'
import { fieldError, Problem, tell, tellProblem } from '../ui/problem.tsx'
import { formatDuration, Time } from '../ui/time.tsx'
import type { RoomProps } from './team.tsx'

const disabledWords = {
  user: 'switched off',
  gone: 'it answered 410: gone',
  failing: 'it took nothing for five days',
} as const
const stateColors: Record<DeliveryState, string> = {
  pending: 'blue',
  delivered: 'teal',
  failed: 'red',
  cancelled: 'gray',
}

export function Webhooks({ isAdmin }: RoomProps) {
  const answer = useAnswer(listWebhooks, { query: { limit: 100 } }, { refetchInterval: 10_000 })
  const [opened, setOpened] = useState<Webhook>()
  return (
    <Stack>
      {isAdmin && (
        <Group>
          <Make />
        </Group>
      )}
      {answer.error && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data?.count === 0 && (
        <Empty title="No webhooks">
          Tell a system of yours when a prefix changes, a check fails, or an attack begins and ends: signed,
          and tried again over three days.
        </Empty>
      )}
      {answer.data?.results.map((webhook) => (
        <WebhookCard
          key={webhook.id}
          webhook={webhook}
          isAdmin={isAdmin}
          onDeliveries={() => setOpened(webhook)}
        />
      ))}
      <Modal
        opened={opened !== undefined}
        onClose={() => setOpened(undefined)}
        title={opened && `Deliveries to ${opened.url}`}
        size="90%"
      >
        {opened && <Deliveries webhook={opened} isAdmin={isAdmin} />}
      </Modal>
    </Stack>
  )
}

type Draft = { url: string; description: string; events: string[] }
const nothing: Draft = { url: '', description: '', events: [...messageTypes] }

function Fields({
  draft,
  setDraft,
  error,
}: {
  draft: Draft
  setDraft: (draft: Draft) => void
  error: unknown
}) {
  return (
    <>
      <TextInput
        label="URL"
        placeholder="https://hooks.acme.net/pharos"
        required
        data-autofocus
        value={draft.url}
        error={fieldError(error, 'url')}
        onChange={(event) => setDraft({ ...draft, url: event.currentTarget.value.trim() })}
      />
      <TextInput
        label="Description"
        maxLength={500}
        value={draft.description}
        onChange={(event) => setDraft({ ...draft, description: event.currentTarget.value })}
      />
      <MultiSelect
        label="Tell it of"
        data={[...messageTypes]}
        value={draft.events}
        error={fieldError(error, 'events')}
        onChange={(events) => setDraft({ ...draft, events })}
      />
    </>
  )
}

function Secret({ secret }: { secret: string }) {
  return (
    <>
      <Alert color="yellow">
        Copy the secret now: it is not shown again. The receiver checks signatures with it.
      </Alert>
      <CopyBlock text={secret} label="Copy the secret" />
    </>
  )
}

function Make() {
  const [draft, setDraft] = useState(nothing)
  const [secret, setSecret] = useState<string>()
  return (
    <Dialog
      title="Make a webhook"
      action="Make it"
      stays
      trigger={(open) => (
        <Button leftSection={<IconWebhook size={14} />} onClick={open}>
          Make a webhook
        </Button>
      )}
      onClose={() => {
        setDraft(nothing)
        setSecret(undefined)
      }}
      onSubmit={async () => {
        const { body } = await call(createWebhook, {
          body: { ...draft, events: draft.events as MessageType[] },
        })
        setSecret(body.secret)
        await forget(listWebhooks)
      }}
    >
      {(error) =>
        secret ? <Secret secret={secret} /> : <Fields draft={draft} setDraft={setDraft} error={error} />
      }
    </Dialog>
  )
}

function WebhookCard({
  webhook,
  isAdmin,
  onDeliveries,
}: {
  webhook: Webhook
  isAdmin: boolean
  onDeliveries: () => void
}) {
  const { id, url, description, events, enabled, disabled_reason, failing_since, last_delivery } = webhook
  const params = { webhook_id: id }
  const change = useMutation({
    mutationFn: (enable: boolean) => call(updateWebhook, { params, body: { enabled: enable } }),
    onSuccess: () => forget(listWebhooks),
    onError: tellProblem,
  })
  const test = useMutation({
    mutationFn: () => call(testWebhook, { params }),
    onSuccess: ({ body }) =>
      tell(
        body.state === 'delivered'
          ? `It was taken in ${formatDuration(body.duration_ms ?? 0)}.`
          : `It was not taken: ${body.last_error ?? body.state}`,
      ),
    onError: tellProblem,
  })
  return (
    <Card component="section" aria-label={url}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600} ff="monospace" size="sm">
            {url}
          </Text>
          {!enabled && <Badge color="gray">{disabled_reason ? disabledWords[disabled_reason] : 'off'}</Badge>}
          {enabled && failing_since && <Badge color="orange">failing</Badge>}
        </Group>
        <Group gap="xs">
          <Button variant="default" onClick={onDeliveries}>
            Deliveries
          </Button>
          {isAdmin && (
            <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
              Test
            </Button>
          )}
          {isAdmin && <Rotate webhook={webhook} />}
          {isAdmin && (
            <Dialog
              title={`Delete the webhook to ${url}?`}
              action="Delete"
              danger
              trigger={(open) => (
                <Button variant="default" onClick={open}>
                  Delete
                </Button>
              )}
              onSubmit={async () => {
                await call(deleteWebhook, { params })
                await forget(listWebhooks)
              }}
            >
              <Text size="sm">What is still to be sent is not sent; its deliveries are gone.</Text>
            </Dialog>
          )}
        </Group>
      </Group>
      {description && <Text size="sm">{description}</Text>}
      <Text size="sm" c="dimmed">
        {events.join(', ')}
      </Text>
      <Group justify="space-between" mt="xs">
        <Switch
          size="xs"
          label="Send"
          checked={enabled}
          disabled={!isAdmin || change.isPending}
          onChange={(event) => change.mutate(event.currentTarget.checked)}
        />
        <Text size="xs" c="dimmed">
          last taken <Time at={last_delivery} none="never" />
          {failing_since && (
            <>
              {' '}
              · failing since <Time at={failing_since} />
            </>
          )}
        </Text>
      </Group>
    </Card>
  )
}

function Rotate({ webhook: { id } }: { webhook: Webhook }) {
  const [secret, setSecret] = useState<string>()
  return (
    <Dialog
      title="A new secret?"
      action="Make a new one"
      stays
      trigger={(open) => (
        <Button variant="default" onClick={open}>
          New secret
        </Button>
      )}
      onClose={() => setSecret(undefined)}
      onSubmit={async () =>
        setSecret((await call(rotateWebhookSecret, { params: { webhook_id: id } })).body.secret)
      }
    >
      {secret ? (
        <Secret secret={secret} />
      ) : (
        <Text size="sm">
          For 24 hours messages are signed with both, so that the receiver can change over without losing one.
        </Text>
      )}
    </Dialog>
  )
}

const noFilters = {}

function Deliveries({ webhook: { id, enabled }, isAdmin }: { webhook: Webhook; isAdmin: boolean }) {
  const [chosen, setChosen] = useState<number>()
  const params = useMemo(() => ({ webhook_id: id }), [id])
  const columns = useMemo<readonly Column<Delivery>[]>(
    () => [
      { id: 'created', header: 'When', cell: ({ created }) => <Time at={created} /> },
      { id: 'type', header: 'What', cell: ({ type }) => type },
      {
        id: 'state',
        header: 'State',
        cell: ({ state }) => <Badge color={stateColors[state]}>{state}</Badge>,
      },
      { id: 'attempts', header: 'Attempts', align: 'right', cell: ({ attempt_count }) => attempt_count },
      {
        id: 'status',
        header: 'Answer',
        cell: ({ last_status, last_error }) => last_error ?? last_status ?? '',
      },
      {
        id: 'took',
        header: 'Took',
        align: 'right',
        cell: ({ duration_ms }) => (duration_ms === null ? '' : formatDuration(duration_ms)),
      },
      { id: 'next', header: 'Next attempt', cell: ({ next_attempt }) => <Time at={next_attempt} none="" /> },
      {
        id: 'open',
        header: 'Open',
        align: 'right',
        cell: (delivery) => (
          <Button variant="subtle" size="compact-xs" onClick={() => setChosen(delivery.id)}>
            Open
          </Button>
        ),
      },
    ],
    [],
  )
  return (
    <Stack>
      <List<Delivery>
        name="deliveries"
        route={listWebhookDeliveries}
        params={params}
        filters={noFilters}
        columns={columns}
        ordering={undefined}
        onOrdering={() => {}}
        refetchMs={5_000}
        height="45vh"
        empty={<Empty title="Nothing was sent yet">Test it, or wait until something happens.</Empty>}
      />
      {chosen !== undefined && <DeliveryCard webhookId={id} id={chosen} canSend={isAdmin && enabled} />}
    </Stack>
  )
}

function DeliveryCard({ webhookId, id, canSend }: { webhookId: number; id: number; canSend: boolean }) {
  const params = { webhook_id: webhookId, delivery_id: id }
  const answer = useAnswer(getWebhookDelivery, { params }, { refetchInterval: 5_000 })
  const again = useMutation({
    mutationFn: () => call(redeliverWebhook, { params }),
    onSuccess: () => forget(getWebhookDelivery, listWebhookDeliveries),
    onError: tellProblem,
  })
  if (answer.error) return <Problem error={answer.error} />
  if (!answer.data) return <Skeleton height={120} />
  const { message_id, payload, attempts } = answer.data
  return (
    <Card>
      <Group justify="space-between">
        <Text size="sm" ff="monospace">
          {message_id}
        </Text>
        {canSend && (
          <Button variant="default" loading={again.isPending} onClick={() => again.mutate()}>
            Send again
          </Button>
        )}
      </Group>
      <Code block mt="xs" tabIndex={0}>
        {JSON.stringify(payload, undefined, 2)}
      </Code>
      <Table mt="xs">
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
                <Text size="xs" truncate maw={300}>
                  {text}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  )
}
