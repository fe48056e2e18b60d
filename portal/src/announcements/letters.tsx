// Letters of authorization of an announcement: a draft to sign, the upload, and the review of each.
import { Button, Group, Skeleton, Stack, Table, Text } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip/announcement'
import { getLetterFileRoute, listLettersRoute, type Letter } from '@pharos/contract/byoip/letter'
import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { answerOf } from '../api/queries.ts'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { download } from '../ui/export-file.ts'
import { Empty } from '../ui/empty.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { daysUntil, Time } from '../ui/time.tsx'
import { LetterDraft } from './letter-draft.tsx'
import { LetterUpload } from './letter-upload.tsx'
import classes from './announcements.module.css'
import { StatePill, type Shown } from '../ui/status.tsx'
import { Section } from '../ui/section.tsx'
import { words } from './words.ts'

const { letters: texts } = words

export function Letters({ announcement }: { announcement: Announcement }) {
  const { id } = announcement
  const canManage = useGrant('ipam.manage')
  // The stream does not announce the review of a letter: it is polled with the stream or without.
  const letters = useQuery({
    ...answerOf(listLettersRoute, { query: { announcement_id: [id], limit: 100 } }),
    refetchInterval: 10_000,
  })
  return (
    <Stack>
      <Section title={texts.upload}>
        <Stack gap="sm">
          <Group justify="space-between">
            <Text size="sm">{texts.intro}</Text>
            <LetterDraft announcement={announcement} />
          </Group>
          {canManage ? (
            <LetterUpload announcement={announcement} />
          ) : (
            <Text size="sm" c="dimmed">
              {onlyWith('ipam.manage')}
            </Text>
          )}
        </Stack>
      </Section>
      {letters.error && !letters.data && <Problem error={letters.error} retry={() => letters.refetch()} />}
      {letters.isPending && <Skeleton height={80} />}
      {letters.data?.count === 0 && <Empty title={texts.none} />}
      {letters.data && letters.data.count > 0 && (
        <Section title={texts.title} flush>
          <LetterTable letters={letters.data.results} />
        </Section>
      )}
    </Stack>
  )
}

function LetterTable({ letters }: { letters: readonly Letter[] }) {
  return (
    <Table.ScrollContainer minWidth={860} type="native" tabIndex={0}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.file}</Table.Th>
            <Table.Th>{texts.status}</Table.Th>
            <Table.Th>{texts.uploaded}</Table.Th>
            <Table.Th>{texts.reviewed}</Table.Th>
            <Table.Th>{texts.validUntil}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {letters.map((letter) => (
            <Table.Tr key={letter.id}>
              <Table.Td>
                <FileButton id={letter.id} filename={letter.filename} />{' '}
                <Text span size="xs" c="dimmed">
                  {sizeText(letter.size)}
                </Text>
              </Table.Td>
              <Table.Td maw={320}>
                <LetterBadge letter={letter} />
              </Table.Td>
              <Table.Td className={classes['one-line']!}>
                <Time at={letter.uploaded} />
              </Table.Td>
              <Table.Td className={classes['one-line']!}>
                <Time at={letter.reviewed} none={texts.notYet} />
              </Table.Td>
              <Table.Td className={classes['one-line']!}>
                <Time at={letter.valid_until} none={texts.noExpiry} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

const sizeText = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`

/** Days before expiry from which a letter is marked as expiring. */
const warnDays = 30

function badgeOf({ status, valid_until: until }: Letter): Shown {
  if (status === 'pending_review') return { label: texts.inReview, color: 'info' }
  if (status === 'rejected') return { label: texts.rejected, color: 'bad' }
  if (until === null) return { label: texts.accepted, color: 'ok' }
  const days = daysUntil(until)
  if (days === 0) return { label: texts.expired, color: 'warn' }
  return days <= warnDays
    ? { label: texts.expires(days), color: 'warn' }
    : { label: texts.accepted, color: 'ok' }
}

function LetterBadge({ letter }: { letter: Letter }) {
  const { label, color } = badgeOf(letter)
  return (
    <>
      <StatePill color={color}>{label}</StatePill>
      {letter.reason && <Text size="xs">{letter.reason}</Text>}
    </>
  )
}

function FileButton({ id, filename }: { id: number; filename: string }) {
  async function downloadFile() {
    const { body } = await call(getLetterFileRoute, { params: { letter_id: id } })
    download(filename, body as unknown as Blob)
  }
  return (
    <Button
      variant="subtle"
      size="compact-xs"
      title={texts.download(filename)}
      maw={260}
      onClick={() => void downloadFile().catch(notifyProblem)}
    >
      {filename}
    </Button>
  )
}
