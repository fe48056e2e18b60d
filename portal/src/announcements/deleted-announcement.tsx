// The page of an announcement that is not there: deleted, with the days left to restore it, or of nobody here.
import { Alert, Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { getAnnouncementRoute, listAnnouncementsRoute } from '@pharos/contract/byoip'
import { Link } from '@tanstack/react-router'
import { forget, useAnswer } from '../api/queries.ts'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { DaysLeft, RestoreButton } from './restore.tsx'

/** `error`: what the server said when it was asked for as one that is there. */
export function DeletedAnnouncement({ id, error }: { id: number; error: unknown }) {
  const answer = useAnswer(listAnnouncementsRoute, {
    query: { deleted: true, limit: 1000, include: 'details' },
  })
  if (answer.isPending) return <Skeleton height={240} />
  const announcement = answer.data?.results.find((one) => one.id === id)
  if (!announcement) return <Problem error={error} />
  const { cidr, origin_asn, details, regions } = announcement
  const deleted = details?.deleted ?? announcement.created
  return (
    <Page title={cidr} note={`AS${origin_asn}${details?.description ? ` · ${details.description}` : ''}`}>
      <Alert color="yellow" title="Deleted">
        <Stack gap="xs">
          <Text size="sm">
            On <Time at={deleted} />. It is announced nowhere. Left to restore it:{' '}
            <DaysLeft deleted={deleted} />; then it is gone, with its letters and its history.
          </Text>
          <Text size="sm">
            Restored, it is switched off and checked anew
            {regions.length > 0 && `, with its regions ${regions.join(', ')}`}; its letters and its history
            come back too.
          </Text>
          <Group>
            <RestoreButton announcement={announcement} onRestored={() => forget(getAnnouncementRoute)} />
            <Button
              variant="default"
              component={Link}
              to="/announcements"
              search={{ deleted: true } as never}
            >
              All that were deleted
            </Button>
          </Group>
        </Stack>
      </Alert>
    </Page>
  )
}
