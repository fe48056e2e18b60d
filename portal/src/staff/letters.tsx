// Letters of authorization of all teams that wait for somebody to read them.
import { Badge, Button, Card, Group, SegmentedControl, Skeleton, Text, Textarea } from '@mantine/core'
import {
  acceptLetterRoute,
  getLetterFileToReviewRoute,
  listLettersToReviewRoute,
  rejectLetterRoute,
  type ReviewedLetter,
} from '@pharos/contract/letter'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { forget, useAnswer } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { download } from '../ui/download.ts'
import { Empty } from '../ui/empty.tsx'
import { Page } from '../ui/page.tsx'
import { fieldError, Problem, tellProblem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch } from '../ui/use-list-search.ts'
import { LetterPages } from './letter-pages.tsx'

export function LettersToReview() {
  const { filters, setFilters } = useListSearch()
  const kind = filters['status'] === 'all' ? 'all' : 'pending_review'
  const answer = useAnswer(
    listLettersToReviewRoute,
    { query: { limit: 100, ...(kind === 'all' ? { ordering: '-id' } : { status: ['pending_review'] }) } },
    { refetchInterval: 10_000 },
  )
  return (
    <Page
      title="Letters to review"
      note="What waits longest comes first."
      actions={
        <SegmentedControl
          size="xs"
          data={[
            { value: 'pending_review', label: 'To review' },
            { value: 'all', label: 'All' },
          ]}
          value={kind}
          aria-label="Which"
          onChange={(next) => setFilters({ status: next === 'all' ? next : undefined })}
        />
      }
    >
      {answer.error && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data?.count === 0 && <Empty title="No letter waits">New ones appear here by themselves.</Empty>}
      {answer.data?.results.map((letter, index) => (
        <LetterCard key={letter.id} letter={letter} isFirst={index === 0} />
      ))}
    </Page>
  )
}

function LetterCard({ letter, isFirst }: { letter: ReviewedLetter; isFirst: boolean }) {
  const { id, filename, team, announcements, status, reason, uploaded, valid_until, sha256 } = letter
  // Each picture is drawn on request: a long list of them would be refused.
  const [isOpen, setIsOpen] = useState(isFirst)
  async function take() {
    const { body } = await call(getLetterFileToReviewRoute, { params: { letter_id: id } })
    download(filename, body as unknown as Blob)
  }
  return (
    <Card component="section" aria-label={filename}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600}>{team.name}</Text>
          <Badge>{status.replaceAll('_', ' ')}</Badge>
        </Group>
        <Text size="xs" c="dimmed">
          sent <Time at={uploaded} /> · valid until <Time at={valid_until} none="no end" />
        </Text>
      </Group>
      {reason && <Text size="sm">{reason}</Text>}
      <Text size="sm" mt="xs">
        For {announcements.map(({ cidr, origin_asn }) => `${cidr} of AS${origin_asn}`).join(', ')}
      </Text>
      <Text size="xs" c="dimmed" truncate>
        SHA-256 {sha256}
      </Text>
      {isOpen && <LetterPages letter={letter} />}
      <Group mt="sm">
        <Button variant="default" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? 'Hide pages' : 'Show pages'}
        </Button>
        <Button variant="default" onClick={() => void take().catch(tellProblem)}>
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
        await forget(listLettersToReviewRoute)
      }}
    >
      <Text size="sm">
        You have read it: it is signed by the holder of the prefixes, and it names {team.name} or us.
      </Text>
    </Dialog>
  )
}

function Reject({ letter: { id } }: { letter: ReviewedLetter }) {
  const [reason, setReason] = useState('')
  return (
    <Dialog
      title="Reject the letter?"
      action="Reject"
      danger
      trigger={(open) => (
        <Button variant="default" onClick={open}>
          Reject
        </Button>
      )}
      onSubmit={async () => {
        await call(rejectLetterRoute, { params: { letter_id: id }, body: { reason } })
        await forget(listLettersToReviewRoute)
      }}
    >
      {(error) => (
        <Textarea
          label="Reason"
          description="the team reads it"
          required
          data-autofocus
          maxLength={1000}
          value={reason}
          error={fieldError(error, 'reason')}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      )}
    </Dialog>
  )
}
