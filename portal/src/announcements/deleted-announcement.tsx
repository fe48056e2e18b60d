// The page of a deleted announcement, with the days left to restore it, or of an unknown announcement.
import { Group, Skeleton, Stack, Text } from '@mantine/core'
import { getAnnouncementRoute, listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import { invalidate, useAnswer } from '../api/queries.ts'
import { ButtonLink, TextLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { daysText, RestoreButton } from './restore.tsx'
import { words } from './words.ts'

const { deleted: texts } = words

/** `error` is the answer to the request for the announcement itself. */
export function DeletedAnnouncement({ id, error }: { id: number; error: unknown }) {
  const answer = useAnswer(listAnnouncementsRoute, {
    query: { deleted: true, limit: 1000, include: 'details' },
  })
  if (answer.isPending)
    return (
      <Page title={words.title}>
        <Skeleton height={240} />
      </Page>
    )
  const announcement = answer.data?.results.find((one) => one.id === id)
  if (!announcement)
    return (
      <Page title={words.notFound}>
        <Problem error={error} />
        <TextLink to="/announcements" size="sm">
          {words.all}
        </TextLink>
      </Page>
    )
  const { cidr, origin_asn, details, regions } = announcement
  const deleted = details?.deleted ?? announcement.created
  return (
    <Page
      title={cidr}
      mono
      state={<StatePill color="idle">{texts.pill}</StatePill>}
      note={`${details?.description ? `${details.description} · ` : ''}${words.head.origin} AS${origin_asn}`}
      actions={
        <RestoreButton
          announcement={announcement}
          size="sm"
          onRestored={() => invalidate(getAnnouncementRoute)}
        />
      }
    >
      <Section title={texts.title}>
        <Stack gap="xs" maw={640}>
          <Text size="sm">
            {texts.deletedOn} <Time at={deleted} />. {texts.left(daysText(deleted))}
          </Text>
          <Text size="sm">
            {texts.starts} {regions.length > 0 && texts.keeps(regions.join(', '))}
          </Text>
          <Group>
            <ButtonLink variant="default" to="/announcements" search={{ deleted: true }}>
              {texts.list}
            </ButtonLink>
          </Group>
        </Stack>
      </Section>
    </Page>
  )
}
