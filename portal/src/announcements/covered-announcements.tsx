// The other announcements of the team that a letter names.
import { MultiSelect, type MultiSelectProps } from '@mantine/core'
import { listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import { useAnswer } from '../api/queries.ts'
import { words } from './words.ts'

type Props = Omit<MultiSelectProps, 'data'> & {
  /** The announcement of the letter. */
  readonly announcementId: number
}

export function CoveredAnnouncements({ announcementId, ...rest }: Props) {
  const all = useAnswer(listAnnouncementsRoute, { query: { limit: 1000, ordering: 'cidr' } })
  const others = all.data?.results.filter(({ id }) => id !== announcementId) ?? []
  if (others.length === 0) return null
  return (
    <MultiSelect
      label={words.letters.covers}
      description={words.letters.coversHelp}
      searchable
      clearable
      data={others.map(({ id, cidr }) => ({ value: String(id), label: cidr }))}
      {...rest}
    />
  )
}
