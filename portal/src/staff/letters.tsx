// Letters of authorization of all teams, for review.
import { Button, Card, Group, SegmentedControl, Skeleton, Text, Textarea } from '@mantine/core'
import {
  acceptLetterRoute,
  getLetterFileToReviewRoute,
  listLettersToReviewRoute,
  rejectLetterRoute,
  type ReviewedLetter,
} from '@pharos/contract/letter'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { download } from '../ui/export-file.ts'
import { Empty } from '../ui/empty.tsx'
import { Page } from '../ui/page.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { usePageSearch } from '../ui/use-page-search.ts'
import { LetterPages } from './letter-pages.tsx'
import { StatePill, type Shown } from '../ui/status.tsx'

const statuses: Record<ReviewedLetter['status'], Shown> = {
  pending_review: { label: 'To review', color: 'warn' },
  accepted: { label: 'Accepted', color: 'ok' },
  rejected: { label: 'Rejected', color: 'bad' },
}

export function LettersToReview() {
  const { search, setSearch } = usePageSearch('/staff/letters')
  const kind = search.status === 'all' ? 'all' : 'pending_review'
  const answer = useAnswer(
    listLettersToReviewRoute,
    { query: { limit: 100, ...(kind === 'all' ? { ordering: '-id' } : { status: ['pending_review'] }) } },
    { refetchInterval: 10_000 },
  )
  return (
    <Page
      title="LOA review"
      note="Oldest first"
      actions={
        <SegmentedControl
          size="xs"
          data={[
            { value: 'pending_review', label: 'To review' },
            { value: 'all', label: 'All' },
          ]}
          value={kind}
          aria-label="Status"
          onChange={(next) => setSearch({ status: next === 'all' ? next : undefined })}
        />
      }
    >
      {answer.error && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data?.count === 0 && (
        <Empty title="No letters to review">New letters appear here automatically.</Empty>
      )}
      {answer.data?.results.map((letter, index) => (
        <LetterCard key={letter.id} letter={letter} isFirst={index === 0} />
      ))}
    </Page>
  )
}

function LetterCard({ letter, isFirst }: { letter: ReviewedLetter; isFirst: boolean }) {
  const { id, filename, team, announcements, status, reason, uploaded, valid_until, sha256 } = letter
  // The server renders each page on request: a long list of them would exceed the rate limit.
  const [isOpen, setIsOpen] = useState(isFirst)
  async function downloadFile() {
    const { body } = await call(getLetterFileToReviewRoute, { params: { letter_id: id } })
    download(filename, body as unknown as Blob)
  }
  return (
    <Card component="section" aria-label={filename}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600}>{team.name}</Text>
          <StatePill color={statuses[status].color}>{statuses[status].label}</StatePill>
        </Group>
        <Text size="xs" c="dimmed">
          Uploaded <Time at={uploaded} /> ·{' '}
          {valid_until === null ? (
            'no expiry'
          ) : (
            <>
              valid until <Time at={valid_until} />
            </>
          )}
        </Text>
      </Group>
      {reason && <Text size="sm">{reason}</Text>}
      <Text size="sm" mt="xs">
        {announcements.map(({ cidr, origin_asn }) => `${cidr} · AS${origin_asn}`).join(', ')}
      </Text>
      <Text size="xs" c="dimmed" truncate>
        SHA-256 {sha256}
      </Text>
      {isOpen && <LetterPages letter={letter} />}
      <Group mt="sm">
        <Button variant="default" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? 'Hide pages' : 'Show pages'}
        </Button>
        <Button variant="default" onClick={() => void downloadFile().catch(notifyProblem)}>
          Download {filename}
        </Button>
        {status === 'pending_review' && (
          <>
            <Accept letter={letter} />
            <Reject letter={letter} />
          </>
        )}
      </Group>
    </Card>
  )
}

function Accept({ letter: { id, team } }: { letter: ReviewedLetter }) {
  return (
    <Dialog
      title="Accept the letter?"
      action="Accept"
      trigger={(open) => <Button onClick={open}>Accept</Button>}
      onSubmit={async () => {
        await call(acceptLetterRoute, { params: { letter_id: id }, body: {} })
        await invalidate(listLettersToReviewRoute)
      }}
    >
      <Text size="sm">Confirm that it is signed by the prefix holder and names {team.name} or us.</Text>
    </Dialog>
  )
}

const Reject = ({ letter: { id } }: { letter: ReviewedLetter }) => (
  <Dialog
    title="Reject the letter?"
    action="Reject"
    danger
    initialValues={{ reason: '' }}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        Reject
      </Button>
    )}
    onSubmit={async (body) => {
      await call(rejectLetterRoute, { params: { letter_id: id }, body })
      await invalidate(listLettersToReviewRoute)
    }}
  >
    {(fields) => (
      <Textarea
        label="Reason"
        description="The customer will see this"
        required
        data-autofocus
        maxLength={1000}
        {...fields.getInputProps('reason')}
      />
    )}
  </Dialog>
)
