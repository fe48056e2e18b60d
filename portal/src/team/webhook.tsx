// One webhook: its state, its settings, and its deliveries.
import { Button, Card, Group, Skeleton, Stack, Switch, Text, Title } from '@mantine/core'
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
import { useMutation } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { useIsAdmin } from '../api/use-session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { MultiSelectFilter, optionsOf } from '../ui/filter-fields.tsx'
import { TextLink } from '../ui/link.tsx'
import { notifyFailure, notifyProblem, notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { formatDuration } from '../ui/time.tsx'
import { usePageSearch } from '../ui/use-page-search.ts'
import { Deliveries } from './deliveries.tsx'
import { bodyOf, Secret, WebhookFields } from './webhook-fields.tsx'
import { LastDelivery, WebhookBadge } from './webhook-status.tsx'

export function WebhookPage() {
  const id = Number(useParams({ from: '/frame/team/webhooks/$id' }).id)
  const isAdmin = useIsAdmin()
  const answer = useAnswer(getWebhookRoute, { params: { webhook_id: id } }, { refetchInterval: 10_000 })
  if (answer.error && !answer.data) return <Problem error={answer.error} />
  if (!answer.data) return <Skeleton height={120} />
  return (
    <Stack>
      <Summary webhook={answer.data} isAdmin={isAdmin} />
      <DeliveryFilters />
      <Deliveries webhookId={id} canSend={isAdmin && answer.data.enabled} />
    </Stack>
  )
}

function Summary({ webhook, isAdmin }: { webhook: Webhook; isAdmin: boolean }) {
  const { url, description, events, enabled } = webhook
  const params = { webhook_id: webhook.id }
  const change = useMutation({
    mutationFn: (enable: boolean) => call(updateWebhookRoute, { params, body: { enabled: enable } }),
    onSuccess: () => invalidate(getWebhookRoute, listWebhooksRoute),
    onError: notifyProblem,
  })
  return (
    <Card component="section" aria-label={url} padding="sm">
      <TextLink to="/team/webhooks" size="xs">
        All webhooks
      </TextLink>
      <Group justify="space-between" gap="xs">
        <Group gap="xs" maw="100%">
          <Title order={2} size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {url}
          </Title>
          <WebhookBadge webhook={webhook} />
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
          label="Enabled"
          checked={enabled}
          disabled={!isAdmin || change.isPending}
          onChange={(event) => change.mutate(event.currentTarget.checked)}
        />
        <LastDelivery webhook={webhook} />
      </Group>
    </Card>
  )
}

function Actions({ webhook }: { webhook: Webhook }) {
  const params = { webhook_id: webhook.id }
  const test = useMutation({
    mutationFn: () => call(testWebhookRoute, { params }),
    onSuccess: async ({ body: { state, duration_ms, last_error } }) => {
      if (state === 'delivered') notifySuccess(`Delivered in ${formatDuration(duration_ms ?? 0)}.`)
      else notifyFailure(`Delivery failed: ${last_error ?? state}`)
      await invalidate(listWebhookDeliveriesRoute, getWebhookRoute)
    },
    onError: notifyProblem,
  })
  return (
    <Group gap="xs">
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
        Send test
      </Button>
      <Edit webhook={webhook} />
      <RotateSecret id={webhook.id} />
      <Delete webhook={webhook} />
    </Group>
  )
}

const Edit = ({ webhook: { id, url, description, events } }: { webhook: Webhook }) => (
  <Dialog
    title="Edit webhook"
    action="Save"
    initialValues={{ url, description, events: [...events] }}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        Edit
      </Button>
    )}
    onSubmit={async (values) => {
      await call(updateWebhookRoute, { params: { webhook_id: id }, body: bodyOf(values) })
      await invalidate(getWebhookRoute, listWebhooksRoute)
    }}
  >
    {(fields) => <WebhookFields fields={fields} />}
  </Dialog>
)

const RotateSecret = ({ id }: { id: number }) => (
  <Dialog
    title="Rotate the secret?"
    action="Rotate secret"
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        Rotate secret
      </Button>
    )}
    onSubmit={async () => (await call(rotateWebhookSecretRoute, { params: { webhook_id: id } })).body}
    result={({ secret }) => <Secret secret={secret} />}
  >
    <Text size="sm">Both secrets sign messages for 24 hours, so you can switch without losing any.</Text>
  </Dialog>
)

function Delete({ webhook: { id, url } }: { webhook: Webhook }) {
  const navigate = useNavigate()
  return (
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
        await call(deleteWebhookRoute, { params: { webhook_id: id } })
        await invalidate(listWebhooksRoute)
        await navigate({ to: '/team/webhooks' })
      }}
    >
      <Text size="sm">Pending messages are dropped and the delivery log is deleted.</Text>
    </Dialog>
  )
}

function DeliveryFilters() {
  const { search, setSearch } = usePageSearch('/team/webhooks/$id')
  return (
    <Group gap="xs">
      <MultiSelectFilter
        label="State"
        placeholder="Any state"
        width={220}
        options={optionsOf(deliveryStates)}
        value={search.state}
        onChange={(state) => setSearch({ state })}
      />
      <MultiSelectFilter
        label="Event type"
        placeholder="Any event type"
        width={220}
        options={sentTypes.map((type) => ({ value: type, label: type }))}
        value={search.type}
        onChange={(type) => setSearch({ type })}
      />
    </Group>
  )
}
