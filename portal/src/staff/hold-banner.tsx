// Shows staff on every page that changes are paused until they decide.
import { Alert } from '@mantine/core'
import { listHoldsRoute } from '@pharos/contract/hold'
import { IconGavel } from '@tabler/icons-react'
import { useLocation } from '@tanstack/react-router'
import { useAnswer } from '../api/queries.ts'
import { TextLink } from '../ui/link.tsx'
import { words } from './words.ts'

export function HoldBanner() {
  const { data } = useAnswer(
    listHoldsRoute,
    { query: { state: ['open'], limit: 1 } },
    { refetchInterval: 30_000 },
  )
  const { pathname } = useLocation()
  if (!data || data.count === 0 || pathname === '/staff/holds' || pathname === '/staff/inbox') return null
  return (
    <Alert
      color="warn"
      role="status"
      mb="md"
      icon={<IconGavel size={16} />}
      title={words.holds.banner(data.count)}
    >
      <TextLink to="/staff/inbox" size="sm">
        {words.holds.bannerLink}
      </TextLink>
    </Alert>
  )
}
