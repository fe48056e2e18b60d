// The team's webhooks. The page of a webhook has its deliveries.
import { Button, Card, Group, Skeleton, Stack, Text } from '@mantine/core'
import { createWebhookRoute, listWebhooksRoute, type Webhook } from '@pharos/contract/webhook'
import { IconWebhook } from '@tabler/icons-react'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { useIsAdmin } from '../api/use-session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { bodyOf, newWebhook, NewSecret, webhookFields } from './webhook-fields.tsx'
import { LastDelivery, SuccessRateText, WebhookBadge } from './webhook-status.tsx'
import { words } from './words.ts'

const { webhook: t } = words

export function Webhooks() {
  const isAdmin = useIsAdmin()
  const answer = useAnswer(listWebhooksRoute, { query: { limit: 1000 } }, { refetchInterval: 10_000 })
  return (
    <Stack>
      {isAdmin && (
        <Group>
          <AddWebhook />
        </Group>
      )}
      {answer.error && !answer.data && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data?.count === 0 && <Empty title={t.noneTitle}>{t.noneText}</Empty>}
      {answer.data?.results.map((webhook) => (
        <WebhookCard key={webhook.id} webhook={webhook} />
      ))}
    </Stack>
  )
}

function WebhookCard({ webhook }: { webhook: Webhook }) {
  const { id, url, description, events } = webhook
  return (
    <Card component="section" aria-label={url} padding="sm">
      <Group justify="space-between" gap="xs">
        <TextLink
          to="/team/webhooks/$id"
          params={{ id: String(id) }}
          fw={600}
          ff="monospace"
          size="sm"
          maw="100%"
          truncate
        >
          {url}
        </TextLink>
        <WebhookBadge webhook={webhook} />
      </Group>
      <Text size="sm">{description}</Text>
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed">
          {events.map((type) => t.message[type].label).join(', ')}
        </Text>
        <Text size="xs" c="dimmed" data-figure>
          {t.success}: <SuccessRateText webhookId={id} />
        </Text>
        <LastDelivery webhook={webhook} />
      </Group>
    </Card>
  )
}

const AddWebhook = () => (
  <Dialog
    title={t.add}
    action={t.add}
    size="lg"
    route={createWebhookRoute}
    declared={webhookFields}
    initialValues={newWebhook}
    trigger={(open) => (
      <Button leftSection={<IconWebhook size={14} />} onClick={open}>
        {t.add}
      </Button>
    )}
    onSubmit={async (values) => {
      const { body } = await call(createWebhookRoute, { body: bodyOf(values) })
      await invalidate(listWebhooksRoute)
      return body
    }}
    result={({ secret }) => <NewSecret secret={secret} />}
  />
)
