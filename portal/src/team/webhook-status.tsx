// Whether a webhook is enabled and delivers.
import { Text } from '@mantine/core'
import type { Webhook } from '@pharos/contract/webhook'
import { Time } from '../ui/time.tsx'
import { StatePill } from '../ui/status.tsx'

const disabledReasons: Record<NonNullable<Webhook['disabled_reason']>, string> = {
  user: 'Disabled',
  gone: 'Disabled: endpoint returned 410',
  failing: 'Disabled after 5 days of failures',
}

type Status = Pick<Webhook, 'enabled' | 'disabled_reason' | 'failing_since' | 'last_delivery'>

export function WebhookBadge({ webhook: { enabled, disabled_reason, failing_since } }: { webhook: Status }) {
  if (!enabled)
    return (
      <StatePill color="idle">{disabled_reason ? disabledReasons[disabled_reason] : 'Disabled'}</StatePill>
    )
  return failing_since ? (
    <StatePill color="warn">Failing</StatePill>
  ) : (
    <StatePill color="ok">Enabled</StatePill>
  )
}

export const LastDelivery = ({ webhook: { failing_since, last_delivery } }: { webhook: Status }) => (
  <Text size="xs" c="dimmed">
    Last delivered: <Time at={last_delivery} none="never" />
    {failing_since && (
      <>
        {' '}
        · failing since <Time at={failing_since} />
      </>
    )}
  </Text>
)
