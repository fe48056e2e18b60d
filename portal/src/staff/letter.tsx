// One letter of authorization, in review or decided.
import { Skeleton } from '@mantine/core'
import { getLetterToReviewRoute } from '@pharos/contract/byoip/letter'
import { useParams } from '@tanstack/react-router'
import { useAnswer } from '../api/queries.ts'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { useDecisionKeys } from './decision.tsx'
import { LetterPill, LetterView } from './letter-view.tsx'
import { words } from './words.ts'

export function LetterPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { data, error, refetch } = useAnswer(getLetterToReviewRoute, { params: { letter_id: Number(id) } })
  useDecisionKeys()
  return (
    <Page
      title={data ? words.letters.titleOf(data.team.name) : words.letters.title}
      state={data && <LetterPill status={data.status} />}
    >
      {error && !data && <Problem error={error} retry={refetch} />}
      {!data && !error && <Skeleton height={400} />}
      {data && <LetterView letter={data} />}
    </Page>
  )
}
