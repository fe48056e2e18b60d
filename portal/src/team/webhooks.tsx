// The team's webhooks. The page of a webhook has its deliveries.
import { Button } from '@mantine/core'
import { createWebhookRoute, listWebhooksRoute, type Webhook } from '@pharos/contract/messages/webhook'
import { IconWebhook } from '@tabler/icons-react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { Mono, timeColumn } from '../ui/cells.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { yesNo } from '../ui/list-filter.ts'
import { List } from '../ui/list.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { bodyOf, newWebhook, NewSecret, webhookFields } from './webhook-fields.tsx'
import { SuccessCell, WebhookBadge } from './webhook-status.tsx'
import { words } from './words.ts'

const { webhook: t } = words

const columns: readonly Column<Webhook>[] = [
  {
    id: 'url',
    header: t.url,
    orderBy: 'url',
    width: 300,
    grows: true,
    card: 'primary',
    cell: ({ id, url }) => (
      <RowLink to={`/team/webhooks/${id}`}>
        <Mono>{url}</Mono>
      </RowLink>
    ),
  },
  {
    id: 'state',
    header: t.stateTitle,
    width: 170,
    card: 'state',
    cell: (webhook) => <WebhookBadge webhook={webhook} />,
  },
  {
    id: 'success',
    header: t.success,
    width: 250,
    card: 'secondary',
    cell: ({ id }) => <SuccessCell webhookId={id} />,
  },
  { id: 'events', header: t.eventsSent, width: 170, cell: ({ events }) => t.eventsOf(events.length) },
  {
    id: 'description',
    header: t.description,
    width: 200,
    hidden: true,
    cell: ({ description }) => description,
  },
  timeColumn('last', t.lastDelivered, ({ last_delivery }) => last_delivery, { none: t.never }),
  timeColumn('created', t.createdAt, ({ created }) => created, { orderBy: 'created', hidden: true }),
]

const declaration: ListDeclaration = {
  sort: 'url',
  filters: [yesNo('enabled', t.stateTitle, t.enabled, t.isDisabled)],
}

export function Webhooks() {
  const canManage = useGrant('webhooks.manage')
  return (
    <List<Webhook>
      name="webhooks"
      things={t.things}
      route={listWebhooksRoute}
      view={useListSearch('/team/webhooks', declaration)}
      columns={columns}
      refetchMs={10_000}
      toolbar={canManage && <AddWebhook />}
      empty={<Empty title={t.noneTitle}>{t.noneText}</Empty>}
    />
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
