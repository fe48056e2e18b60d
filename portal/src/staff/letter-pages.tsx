// The pages of a letter as pictures rendered by the server, so that staff need not open an untrusted file.
import { ActionIcon, Group, Skeleton, Text } from '@mantine/core'
import { getLetterPageToReviewRoute, type ReviewedLetter } from '@pharos/contract/byoip/letter'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answerOf } from '../api/queries.ts'
import { Problem } from '../ui/problem.tsx'
import { words } from './words.ts'
import classes from './staff.module.css'

const { letters: t } = words

export function LetterPages({ letter: { id, filename, pages } }: { letter: ReviewedLetter }) {
  const [page, setPage] = useState(1)
  // A file never changes.
  const answer = useQuery({
    ...answerOf(getLetterPageToReviewRoute, { params: { letter_id: id, page } }),
    staleTime: Infinity,
  })
  const url = useObjectUrl(answer.data as unknown as Blob | undefined)
  return (
    <section className={classes['paper']} aria-label={filename}>
      {pages !== null && pages > 1 && (
        <Group gap="xs" justify="center">
          <ActionIcon
            variant="default"
            aria-label={t.previous}
            disabled={page === 1}
            onClick={() => setPage(page - 1)}
          >
            <IconChevronLeft size={14} />
          </ActionIcon>
          <Text size="sm">{t.page(page, pages)}</Text>
          <ActionIcon
            variant="default"
            aria-label={t.next}
            disabled={page === pages}
            onClick={() => setPage(page + 1)}
          >
            <IconChevronRight size={14} />
          </ActionIcon>
        </Group>
      )}
      {answer.error && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={480} />}
      {url && <img src={url} alt={t.picture(page, filename)} />}
    </section>
  )
}

/** Returns an object URL for the picture, revoked when it changes. */
function useObjectUrl(picture: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!picture) return setUrl(undefined)
    const next = URL.createObjectURL(picture)
    setUrl(next)
    return () => URL.revokeObjectURL(next)
  }, [picture])
  return url
}
