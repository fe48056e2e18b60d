// Informs staff on every page that sending is paused until they decide about the differences of a restored database.
import { Alert } from '@mantine/core'
import { listRestoresRoute } from '@pharos/contract/operator/restore'
import { IconDatabaseExclamation } from '@tabler/icons-react'
import { useLocation } from '@tanstack/react-router'
import { useAnswer } from '../api/queries.ts'
import { TextLink } from '../ui/link.tsx'
import { words } from './words.ts'

const { restore: t } = words

export function RestoreBanner() {
  const { data } = useAnswer(
    listRestoresRoute,
    { query: { state: ['open'], limit: 1 } },
    { refetchInterval: 30_000 },
  )
  const { pathname } = useLocation()
  if (!data || data.count === 0 || pathname === '/staff/restore') return null
  return (
    <Alert color="bad" role="status" mb="md" icon={<IconDatabaseExclamation size={16} />} title={t.banner}>
      <TextLink to="/staff/restore" size="sm">
        {t.bannerLink}
      </TextLink>
    </Alert>
  )
}
