// One webhook: whether it sends, what can be done with it, and what became of each message.
import { Anchor, Button, Card, Group, Skeleton, Stack, Switch, Text } from '@mantine/core'
import {
  deleteWebhookRoute,
  deliveryStates,
  getWebhookRoute,
  listWebhookDeliveriesRoute,
  listWebhooksRoute,
  rotateWebhookSecretRoute,
  sentTypes,
  testWebhookRoute,
  updateWebhookRoute,
  type Webhook,
} from '@pharos/contract/webhook'
import type { MessageType } from '@pharos/contract/webhook-message'
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { forget, useAnswer } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { SeveralOf } from '../ui/filter-fields.tsx'
import { Problem, tell, tellProblem } from '../ui/problem.tsx'
import { formatDuration } from '../ui/time.tsx'
import { useListSearch } from '../ui/use-list-search.ts'
import { Deliveries } from './deliveries.tsx'
import { Fields, Secret } from './webhook-fields.tsx'
import { LastTaken, WebhookState } from './webhooks.tsx'

export function WebhookView({ id, isAdmin }: { id: number; isAdmin: boolean }) {
  const answer = useAnswer(getWebhookRoute, { params: { webhook_id: id } }, { refetchInterval: 10_000 })
  if (answer.error && !answer.data) return <Problem error={answer.error} />
  if (!answer.data) return <Skeleton height={120} />
  return (
    <Stack>
      <WebhookHead webhook={answer.data} isAdmin={isAdmin} />
      <DeliveryFilters />
      <Deliveries webhookId={id} canSend={isAdmin && answer.data.enabled} />
    </Stack>
  )
}

function WebhookHead({ webhook, isAdmin }: { webhook: Webhook; isAdmin: boolean }) {
  const { url, description, events, enabled } = webhook
  const params = { webhook_id: webhook.id }
  const change = useMutation({
    mutationFn: (enable: boolean) => call(updateWebhookRoute, { params, body: { enabled: enable } }),
    onSuccess: () => forget(getWebhookRoute, listWebhooksRoute),
    onError: tellProblem,
  })
  return (
    <Card component="section" aria-label={url} padding="sm">
      <Anchor component={Link} to={'/team/webhooks' as never} size="xs">
        All webhooks
      </Anchor>
      <Group justify="space-between" gap="xs">
        <Group gap="xs" maw="100%">
          <Text fw={600} ff="monospace" size="sm" truncate>
            {url}
          </Text>
          <WebhookState webhook={webhook} />
        </Group>
        {isAdmin && <Actions webhook={webhook} />}
      </Group>
      <Text size="sm">{description}</Text>
      <Text size="xs" c="dimmed">
        {events.join(', ')}
      </Text>
      <Group justify="space-between" mt="xs">
        <Switch
          size="xs"
          label={enabled ? 'Sends' : 'Sends nothing'}
          checked={enabled}
          disabled={!isAdmin || change.isPending}
          onChange={(event) => change.mutate(event.currentTarget.checked)}
        />
        <LastTaken webhook={webhook} />
      </Group>
    </Card>
  )
}

function Actions({ webhook }: { webhook: Webhook }) {
  const navigate = useNavigate()
  const params = { webhook_id: webhook.id }
  const test = useMutation({
    mutationFn: () => call(testWebhookRoute, { params }),
    onSuccess: async ({ body }) => {
      tell(
        body.state === 'delivered'
          ? `It was taken in ${formatDuration(body.duration_ms ?? 0)}.`
          : `It was not taken: ${body.last_error ?? body.state}`,
      )
      await forget(listWebhookDeliveriesRoute, getWebhookRoute)
    },
    onError: tellProblem,
  })
  return (
    <Group gap="xs">
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
        Test
      </Button>
      <Edit webhook={webhook} />
      <Rotate id={webhook.id} />
      <Dialog
        title={`Delete the webhook to ${webhook.url}?`}
        action="Delete"
        danger
        trigger={(open) => (
          <Button variant="default" onClick={open}>
            Delete
          </Button>
        )}
        onSubmit={async () => {
          await call(deleteWebhookRoute, { params })
          await forget(listWebhooksRoute)
          await navigate({ to: '/team/webhooks' as never })
        }}
      >
        <Text size="sm">What is still to be sent is not sent; its deliveries are gone.</Text>
      </Dialog>
    </Group>
  )
}

function Edit({ webhook: { id, url, description, events } }: { webhook: Webhook }) {
  const [draft, setDraft] = useState({ url, description, events: [...events] as string[] })
  return (
    <Dialog
      title="Change the webhook"
      action="Save"
      trigger={(open) => (
        <Button
          variant="default"
          onClick={() => {
            setDraft({ url, description, events: [...events] })
            open()
          }}
        >
          Change
        </Button>
      )}
      onSubmit={async () => {
        const body = { ...draft, events: draft.events as MessageType[] }
        await call(updateWebhookRoute, { params: { webhook_id: id }, body })
        await forget(getWebhookRoute, listWebhooksRoute)
      }}
    >
      {(error) => <Fields draft={draft} setDraft={setDraft} error={error} />}
    </Dialog>
  )
}

function Rotate({ id }: { id: number }) {
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
        setSecret((await call(rotateWebhookSecretRoute, { params: { webhook_id: id } })).body.secret)
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

function DeliveryFilters() {
  const { filters, setFilters } = useListSearch()
  return (
    <Group gap="xs">
      {(
        [
          ['state', 'Any state', deliveryStates],
          ['type', 'Any kind', sentTypes],
        ] as const
      ).map(([name, label, values]) => (
        <SeveralOf
          key={name}
          label={label}
          none={label}
          width={220}
          options={values}
          value={filters[name]}
          onChange={(chosen) => setFilters({ [name]: chosen })}
        />
      ))}
    </Group>
  )
}
