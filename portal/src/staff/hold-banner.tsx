// Shows staff on every page that changes are paused until they decide.
import { Alert, Anchor } from '@mantine/core'
import { listHoldsRoute } from '@pharos/contract/hold'
import { IconGavel } from '@tabler/icons-react'
import { Link, useLocation } from '@tanstack/react-router'
import { useAnswer } from '../api/queries.ts'

export function HoldBanner() {
  const { data } = useAnswer(
    listHoldsRoute,
    { query: { state: ['open'], limit: 1 } },
    { refetchInterval: 30_000 },
  )
  const { pathname } = useLocation()
  if (!data || data.count === 0 || pathname === '/staff/holds') return null
  const what = data.count === 1 ? 'Changes in 1 region need' : `Changes in ${data.count} regions need`
  return (
    <Alert color="warn" role="status" mb="md" icon={<IconGavel size={16} />} title={`${what} approval`}>
      <Anchor component={Link} to="/staff/holds" size="sm">
        Review paused changes
      </Anchor>
    </Alert>
  )
}
