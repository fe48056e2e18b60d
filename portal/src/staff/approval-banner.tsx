// Shows staff on every page that changes are paused until they decide.
import { Alert } from '@mantine/core'
import { listApprovalsRoute } from '@pharos/contract/operator/approval'
import { IconGavel } from '@tabler/icons-react'
import { useLocation } from '@tanstack/react-router'
import { useAnswer } from '../api/queries.ts'
import { TextLink } from '../ui/link.tsx'
import { words } from './words.ts'

export function ApprovalBanner() {
  const { data } = useAnswer(
    listApprovalsRoute,
    { query: { state: ['open'], limit: 1 } },
    { refetchInterval: 30_000 },
  )
  const { pathname } = useLocation()
  if (!data || data.count === 0 || ['/staff', '/staff/inbox'].includes(pathname)) return null
  return (
    <Alert
      color="warn"
      role="status"
      mb="md"
      icon={<IconGavel size={16} />}
      title={words.approval.banner(data.count)}
    >
      <TextLink to="/staff/inbox" size="sm">
        {words.approval.bannerLink}
      </TextLink>
    </Alert>
  )
}
