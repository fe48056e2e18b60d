// Letters of authorization of an announcement: a draft to sign, an upload, and what became of those that were sent.
import { Badge, Button, Card, Group, Skeleton, Stack, Table, Text } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip'
import { getLetterFileRoute, listLettersRoute, type Letter } from '@pharos/contract/letter'
import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { answerOf } from '../api/queries.ts'
import { download } from '../ui/download.ts'
import { Empty } from '../ui/empty.tsx'
import { Problem, tellProblem } from '../ui/problem.tsx'
import { daysUntil, Time } from '../ui/time.tsx'
import { LetterDraft } from './letter-draft.tsx'
import { LetterUpload } from './letter-upload.tsx'
import { useMayChange } from './restore.tsx'
import classes from './announcements.module.css'

export function Letters({ announcement }: { announcement: Announcement }) {
  const { id } = announcement
  const mayChange = useMayChange()
  // A decision about a letter alone is not told by the stream: it is looked for at the same pace with it or without.
  const letters = useQuery({
    ...answerOf(listLettersRoute, { query: { announcement_id: [id], limit: 100 } }),
    refetchInterval: 10_000,
  })
  return (
    <Stack>
      <Card component="section" aria-label="Send a letter">
        <Stack gap="sm">
          <Group justify="space-between">
            <Text size="sm">
              Sign the draft, or write your own on your letterhead, and send it here. The provider reads it
              and decides.
            </Text>
            <LetterDraft announcement={announcement} />
          </Group>
          {mayChange ? (
            <LetterUpload announcement={announcement} />
          ) : (
            <Text size="sm" c="dimmed">
              An admin of the team sends it.
            </Text>
          )}
        </Stack>
      </Card>
      {letters.error && !letters.data && <Problem error={letters.error} />}
      {letters.isPending && <Skeleton height={80} />}
      {letters.data?.count === 0 && <Empty title="No letter was sent yet" />}
      {letters.data && letters.data.count > 0 && <Sent letters={letters.data.results} />}
    </Stack>
  )
}

function Sent({ letters }: { letters: readonly Letter[] }) {
  return (
    <Table.ScrollContainer minWidth={860}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>File</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Sent</Table.Th>
            <Table.Th>Read</Table.Th>
            <Table.Th>Valid until</Table.Th>
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
                <LetterState letter={letter} />
              </Table.Td>
              <Table.Td className={classes['one-line']!}>
                <Time at={letter.uploaded} />
              </Table.Td>
              <Table.Td className={classes['one-line']!}>
                <Time at={letter.reviewed} none="not yet" />
              </Table.Td>
              <Table.Td className={classes['one-line']!}>
                <Time at={letter.valid_until} none="no end" />
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

/** The last days of a letter in which its team is told to renew it. */
const warnDays = 30

function shownOf({ status, valid_until: until }: Letter): { label: string; color: string } {
  if (status === 'pending_review') return { label: 'waits for the provider', color: 'blue' }
  if (status === 'rejected') return { label: 'rejected', color: 'red' }
  if (until === null) return { label: 'accepted', color: 'teal' }
  const days = daysUntil(until)
  if (days === 0) return { label: 'expired', color: 'orange' }
  return days <= warnDays
    ? { label: `accepted, ends in ${days} ${days === 1 ? 'day' : 'days'}`, color: 'yellow' }
    : { label: 'accepted', color: 'teal' }
}

function LetterState({ letter }: { letter: Letter }) {
  const { label, color } = shownOf(letter)
  return (
    <>
      <Badge color={color}>{label}</Badge>
      {letter.reason && <Text size="xs">{letter.reason}</Text>}
    </>
  )
}

function FileButton({ id, filename }: { id: number; filename: string }) {
  async function take() {
    const { body } = await call(getLetterFileRoute, { params: { letter_id: id } })
    download(filename, body as unknown as Blob)
  }
  return (
    <Button
      variant="subtle"
      size="compact-xs"
      title={`Download ${filename}`}
      maw={260}
      onClick={() => void take().catch(tellProblem)}
    >
      {filename}
    </Button>
  )
}
