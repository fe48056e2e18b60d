// Webhooks: whom the team tells what. What became of each message stands on the page of the webhook.
import { Anchor, Badge, Button, Card, Group, Skeleton, Stack, Text } from '@mantine/core'
import { createWebhookRoute, listWebhooksRoute, type Webhook } from '@pharos/contract/webhook'
import type { MessageType } from '@pharos/contract/webhook-message'
import { IconWebhook } from '@tabler/icons-react'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { forget, useAnswer } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import type { RoomProps } from './team.tsx'
import { Fields, nothing, Secret } from './webhook-fields.tsx'
import { WebhookView } from './webhook.tsx'

const disabledWords = {
  user: 'switched off',
  gone: 'it answered 410: gone',
  failing: 'it took nothing for five days',
} as const

export function Webhooks({ isAdmin }: RoomProps) {
  const { id } = useParams({ strict: false }) as { id?: string }
  if (id !== undefined) return <WebhookView id={Number(id)} isAdmin={isAdmin} />
  return <AllWebhooks isAdmin={isAdmin} />
}

function AllWebhooks({ isAdmin }: RoomProps) {
  const answer = useAnswer(listWebhooksRoute, { query: { limit: 1000 } }, { refetchInterval: 10_000 })
  return (
    <Stack>
      {isAdmin && (
        <Group>
          <Make />
        </Group>
      )}
      {answer.error && !answer.data && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data?.count === 0 && (
        <Empty title="No webhooks">
          Tell a system of yours when a prefix changes, a check fails, or an attack begins and ends: signed,
          and tried again over three days.
        </Empty>
      )}
      {answer.data?.results.map((webhook) => (
        <WebhookCard key={webhook.id} webhook={webhook} />
      ))}
    </Stack>
  )
}

function WebhookCard({ webhook: { id, url, description, events, ...rest } }: { webhook: Webhook }) {
  return (
    <Card component="section" aria-label={url} padding="sm">
      <Group justify="space-between" gap="xs">
        <Anchor
          component={Link}
          to={`/team/webhooks/${id}` as never}
          fw={600}
          ff="monospace"
          size="sm"
          maw="100%"
          truncate
        >
          {url}
        </Anchor>
        <WebhookState webhook={rest} />
      </Group>
      <Text size="sm">{description}</Text>
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed">
          {events.join(', ')}
        </Text>
        <LastTaken webhook={rest} />
      </Group>
    </Card>
  )
}

type State = Pick<Webhook, 'enabled' | 'disabled_reason' | 'failing_since' | 'last_delivery'>

export function WebhookState({ webhook: { enabled, disabled_reason, failing_since } }: { webhook: State }) {
  if (!enabled) return <Badge color="gray">{disabled_reason ? disabledWords[disabled_reason] : 'off'}</Badge>
  return failing_since ? <Badge color="orange">failing</Badge> : <Badge color="teal">on</Badge>
}

export const LastTaken = ({ webhook: { failing_since, last_delivery } }: { webhook: State }) => (
  <Text size="xs" c="dimmed">
    last taken <Time at={last_delivery} none="never" />
    {failing_since && (
      <>
        {' '}
        · failing since <Time at={failing_since} />
      </>
    )}
  </Text>
)

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
        const { body } = await call(createWebhookRoute, {
          body: { ...draft, events: draft.events as MessageType[] },
        })
        setSecret(body.secret)
        await forget(listWebhooksRoute)
      }}
    >
      {(error) =>
        secret ? <Secret secret={secret} /> : <Fields draft={draft} setDraft={setDraft} error={error} />
      }
    </Dialog>
  )
}
