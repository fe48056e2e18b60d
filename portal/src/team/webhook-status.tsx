// Whether a webhook is enabled and delivers.
import { Text } from '@mantine/core'
import { listWebhookDeliveriesRoute, type Webhook } from '@pharos/contract/webhook'
import { useAnswer } from '../api/queries.ts'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { successRate } from './success-rate.ts'
import { words } from './words.ts'

const { webhook: t } = words

type Status = Pick<Webhook, 'enabled' | 'disabled_reason' | 'failing_since' | 'last_delivery'>

export function WebhookBadge({ webhook: { enabled, disabled_reason, failing_since } }: { webhook: Status }) {
  if (!enabled)
    return (
      <StatePill color={disabled_reason === 'failing' || disabled_reason === 'gone' ? 'bad' : 'idle'}>
        {disabled_reason ? t.disabled[disabled_reason] : t.isDisabled}
      </StatePill>
    )
  return failing_since ? (
    <StatePill color="bad">{t.failing}</StatePill>
  ) : (
    <StatePill color="ok">{t.enabled}</StatePill>
  )
}

export const LastDelivery = ({ webhook: { failing_since, last_delivery } }: { webhook: Status }) => (
  <Text size="xs" c="dimmed">
    {t.lastDelivered} <Time at={last_delivery} none="never" />
    {failing_since && (
      <>
        {' · '}
        {t.failingSince} <Time at={failing_since} />
      </>
    )}
  </Text>
)

/** Of how many deliveries the rate is computed. */
const sampleSize = 100

/** The share of the newest deliveries that arrived. */
export function SuccessRateText({ webhookId }: { webhookId: number }) {
  const params = { webhook_id: webhookId }
  const answer = useAnswer(
    listWebhookDeliveriesRoute,
    { params, query: { limit: sampleSize } },
    { refetchInterval: 30_000 },
  )
  if (answer.error && !answer.data) return t.successUnknown
  if (!answer.data) return '…'
  const rate = successRate(answer.data.results)
  return rate ? t.successOf(rate.percent, rate.count) : t.successNone
}
