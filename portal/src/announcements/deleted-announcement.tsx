// The page of an announcement that was deleted, with the days left to restore it, or that the team does not have.
import { Alert, Group, Skeleton, Stack, Text } from '@mantine/core'
import { getAnnouncementRoute, listAnnouncementsRoute } from '@pharos/contract/byoip'
import { invalidate, useAnswer } from '../api/queries.ts'
import { ButtonLink, TextLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { DaysLeft, RestoreButton } from './restore.tsx'

/** `error` is the answer to the request for the announcement itself. */
export function DeletedAnnouncement({ id, error }: { id: number; error: unknown }) {
  const answer = useAnswer(listAnnouncementsRoute, {
    query: { deleted: true, limit: 1000, include: 'details' },
  })
  if (answer.isPending) return <Skeleton height={240} />
  const announcement = answer.data?.results.find((one) => one.id === id)
  if (!announcement)
    return (
      <Page title="Not found">
        <Problem error={error} />
        <TextLink to="/announcements" size="sm">
          All announcements
        </TextLink>
      </Page>
    )
  const { cidr, origin_asn, details, regions } = announcement
  const deleted = details?.deleted ?? announcement.created
  return (
    <Page title={cidr} note={`AS${origin_asn}${details?.description ? ` · ${details.description}` : ''}`}>
      <Alert color="warn" title="Deleted">
        <Stack gap="xs">
          <Text size="sm">
            Deleted on <Time at={deleted} />. You have <DaysLeft deleted={deleted} /> to restore it; after
            that it is removed for good, with its letters and history.
          </Text>
          <Text size="sm">
            A restored announcement starts disabled and is checked again
            {regions.length > 0 && `. It keeps its regions: ${regions.join(', ')}`}.
          </Text>
          <Group>
            <RestoreButton announcement={announcement} onRestored={() => invalidate(getAnnouncementRoute)} />
            <ButtonLink variant="default" to="/announcements" search={{ deleted: true }}>
              View deleted announcements
            </ButtonLink>
          </Group>
        </Stack>
      </Alert>
    </Page>
  )
}
