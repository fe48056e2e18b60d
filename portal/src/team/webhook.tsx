// One webhook: its state, its settings, and its deliveries.
import { Button, Card, Group, Skeleton, Stack, Switch, Text, Title } from '@mantine/core'
import {
  deleteWebhookRoute,
  getWebhookRoute,
  listWebhookDeliveriesRoute,
  listWebhooksRoute,
  rotateWebhookSecretRoute,
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
import { TextLink } from '../ui/link.tsx'
import { notifyFailure, notifyProblem, notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { formatDuration, Time } from '../ui/time.tsx'
import { Deliveries } from './deliveries.tsx'
import classes from './team.module.css'
import { bodyOf, NewSecret, webhookFields } from './webhook-fields.tsx'
import { LastDelivery, SuccessRateText, WebhookBadge } from './webhook-status.tsx'
import { words } from './words.ts'

const { webhook: t } = words

export function WebhookPage() {
  const id = Number(useParams({ from: '/frame/team/webhooks/$id' }).id)
  const isAdmin = useIsAdmin()
  const answer = useAnswer(getWebhookRoute, { params: { webhook_id: id } }, { refetchInterval: 10_000 })
  if (answer.error && !answer.data)
    return (
      <Stack>
        <TextLink to="/team/webhooks">{t.all}</TextLink>
        <Problem error={answer.error} retry={answer.refetch} />
      </Stack>
    )
  if (!answer.data) return <Skeleton height={120} />
  return (
    <Stack>
      <Summary webhook={answer.data} isAdmin={isAdmin} />
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
        {t.all}
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
      <dl className={classes['facts']}>
        <dt>{t.success}</dt>
        <dd data-figure>
          <SuccessRateText webhookId={webhook.id} />
        </dd>
        <dt>{t.eventsSent}</dt>
        <dd>{events.map((type) => t.message[type].label).join(', ')}</dd>
        <dt>{t.createdAt}</dt>
        <dd>
          <Time at={webhook.created} />
        </dd>
      </dl>
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
      if (state === 'delivered') notifySuccess(t.delivered(formatDuration(duration_ms ?? 0)))
      else notifyFailure(t.failed(last_error ?? t.noAnswer))
      await invalidate(listWebhookDeliveriesRoute, getWebhookRoute)
    },
    onError: notifyProblem,
  })
  return (
    <Group gap="xs">
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
        {t.test}
      </Button>
      <Edit webhook={webhook} />
      <RotateSecret id={webhook.id} />
      <Delete webhook={webhook} />
    </Group>
  )
}

const Edit = ({ webhook: { id, url, description, events } }: { webhook: Webhook }) => (
  <Dialog
    title={t.editTitle}
    action={words.save}
    size="lg"
    route={updateWebhookRoute}
    declared={webhookFields}
    initialValues={{ url, description, events: [...events] }}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        {words.edit}
      </Button>
    )}
    onSubmit={async (values) => {
      await call(updateWebhookRoute, { params: { webhook_id: id }, body: bodyOf(values) })
      await invalidate(getWebhookRoute, listWebhooksRoute)
    }}
  />
)

const RotateSecret = ({ id }: { id: number }) => (
  <Dialog
    title={t.rotateTitle}
    action={t.rotate}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        {t.rotate}
      </Button>
    )}
    onSubmit={async () => (await call(rotateWebhookSecretRoute, { params: { webhook_id: id } })).body}
    result={({ secret }) => <NewSecret secret={secret} />}
  >
    <Text size="sm">{t.rotateText}</Text>
  </Dialog>
)

function Delete({ webhook: { id, url } }: { webhook: Webhook }) {
  const navigate = useNavigate()
  return (
    <Dialog
      title={t.deleteTitle(url)}
      action={words.delete}
      danger
      trigger={(open) => (
        <Button variant="default" onClick={open}>
          {words.delete}
        </Button>
      )}
      onSubmit={async () => {
        await call(deleteWebhookRoute, { params: { webhook_id: id } })
        await invalidate(listWebhooksRoute)
        await navigate({ to: '/team/webhooks' })
      }}
    >
      <Text size="sm">{t.deleteText}</Text>
    </Dialog>
  )
}
