// One webhook: its state, its settings, and its deliveries.
import { Button, Skeleton, Switch, Text } from '@mantine/core'
import {
  deleteWebhookRoute,
  getWebhookRoute,
  listWebhookDeliveriesRoute,
  listWebhooksRoute,
  rotateWebhookSecretRoute,
  testWebhookRoute,
  updateWebhookRoute,
  type Webhook,
} from '@pharos/contract/messages/webhook'
import { useMutation } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { Dimmed } from '../ui/cells.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { changesOf } from '../ui/form-changes.ts'
import { Facts } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import { notifyFailure, notifyProblem, notifySuccess } from '../ui/notify.ts'
import { Grid, Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { formatDuration, Time } from '../ui/time.tsx'
import { Deliveries } from './deliveries.tsx'
import classes from './team.module.css'
import { bodyOf, NewSecret, webhookFields } from './webhook-fields.tsx'
import { SuccessCell, WebhookBadge } from './webhook-status.tsx'
import { words } from './words.ts'

const { webhook: t } = words

export function WebhookPage() {
  const id = Number(useParams({ from: '/frame/team/webhooks/$id' }).id)
  const canManage = useGrant('webhooks.manage')
  const answer = useAnswer(getWebhookRoute, { params: { webhook_id: id } }, { refetchInterval: 10_000 })
  if (answer.error && !answer.data)
    return (
      <Page title={t.one}>
        <Problem error={answer.error} retry={answer.refetch} />
        <TextLink to="/team/webhooks">{t.all}</TextLink>
      </Page>
    )
  if (!answer.data) return <Skeleton height={120} />
  const webhook = answer.data
  return (
    <Page
      title={webhook.url}
      mono
      state={<WebhookBadge webhook={webhook} />}
      note={webhook.description}
      actions={canManage && <Actions webhook={webhook} />}
    >
      <Grid min={340}>
        <Section title={t.facts} fill>
          <EndpointFacts webhook={webhook} canManage={canManage} />
        </Section>
        <Section title={t.eventsSent} note={<Dimmed>{webhook.events.length}</Dimmed>} fill>
          <ul className={classes['events']}>
            {webhook.events.map((type) => (
              <li key={type}>{t.message[type].label}</li>
            ))}
          </ul>
        </Section>
      </Grid>
      <h2 className={classes['heading']}>{t.deliveries}</h2>
      <Deliveries webhookId={id} canSend={canManage && webhook.enabled} />
    </Page>
  )
}

function EndpointFacts({ webhook, canManage }: { webhook: Webhook; canManage: boolean }) {
  const { id, enabled, created, last_delivery, failing_since } = webhook
  const change = useMutation({
    mutationFn: (enable: boolean) =>
      call(updateWebhookRoute, { params: { webhook_id: id }, body: { enabled: enable } }),
    onSuccess: () => invalidate(getWebhookRoute, listWebhooksRoute),
    onError: notifyProblem,
  })
  return (
    <>
      <Facts
        facts={[
          [t.success, <SuccessCell key="success" webhookId={id} />],
          [t.lastDelivered, <Time key="last" at={last_delivery} none={t.never} />],
          [t.failingSince, failing_since ? <Time key="failing" at={failing_since} /> : undefined],
          [t.createdAt, <Time key="created" at={created} />],
        ]}
      />
      <Switch
        mt="sm"
        label={t.sends}
        checked={enabled}
        disabled={!canManage || change.isPending}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
    </>
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
    <>
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
        {t.test}
      </Button>
      <Edit webhook={webhook} />
      <RotateSecret id={webhook.id} />
      <Delete webhook={webhook} />
    </>
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
    onSubmit={async (values, opened) => {
      const body = changesOf(bodyOf(opened), bodyOf(values))
      await call(updateWebhookRoute, { params: { webhook_id: id }, body })
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
