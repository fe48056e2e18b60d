// Whether a webhook is enabled and delivers.
import { listWebhookDeliveriesRoute, type Webhook } from '@pharos/contract/messages/webhook'
import { useAnswer } from '../api/queries.ts'
import { Spark } from '../charts/spark.tsx'
import { StatePill } from '../ui/status.tsx'
import { successRate, successSeries } from './success-rate.ts'
import classes from './team.module.css'
import { words } from './words.ts'

const { webhook: t } = words

type Status = Pick<Webhook, 'enabled' | 'disabled_reason' | 'failing_since'>

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

/** Number of deliveries for the rate. */
const sampleSize = 100

/** The share of the newest deliveries that arrived, and how it changed. */
export function SuccessCell({ webhookId }: { webhookId: number }) {
  const params = { webhook_id: webhookId }
  const answer = useAnswer(
    listWebhookDeliveriesRoute,
    { params, query: { limit: sampleSize } },
    { refetchInterval: 30_000 },
  )
  if (answer.error && !answer.data) return t.successUnknown
  if (!answer.data) return '…'
  const rate = successRate(answer.data.results)
  if (!rate) return t.successNone
  return (
    <span className={classes['success']}>
      <Spark
        label={t.success}
        values={successSeries(answer.data.results)}
        unit="percent"
        color={rate.percent < goodPercent ? 'bad' : 'ok'}
        width={72}
        height={20}
      />
      {t.successOf(rate.percent, rate.count)}
    </span>
  )
}

/** Rate from which failures count as exceptions. */
const goodPercent = 95
