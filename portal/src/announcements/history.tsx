// What was asked of an announcement, what was seen, and how long it took.
import { Code, Text } from '@mantine/core'
import type { HistoryEntry } from '@pharos/contract/announcement-checks'
import { listAnnouncementHistory } from '@pharos/contract/byoip'
import { useMemo, useState } from 'react'
import { Empty } from '../ui/empty.tsx'
import { List, type Column } from '../ui/list.tsx'
import { formatDuration, Time } from '../ui/time.tsx'

const columns: readonly Column<HistoryEntry>[] = [
  { id: 'at', header: 'When', orderBy: 'at', cell: ({ at }) => <Time at={at} /> },
  { id: 'kind', header: 'What', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { id: 'region', header: 'Region', cell: ({ region }) => region ?? '' },
  {
    id: 'actor',
    header: 'By',
    cell: ({ actor }) => (
      <Text span size="sm" ff="monospace">
        {actor}
      </Text>
    ),
  },
  {
    id: 'took',
    header: 'Took',
    align: 'right',
    cell: ({ took_ms: took }) => (took === null ? '' : formatDuration(took)),
  },
  {
    id: 'detail',
    header: 'Detail',
    cell: ({ detail }) => (Object.keys(detail).length === 0 ? '' : <Code>{JSON.stringify(detail)}</Code>),
  },
]

export function History({ id }: { id: number }) {
  const [ordering, setOrdering] = useState('-at')
  const params = useMemo(() => ({ announcement_id: id }), [id])
  return (
    <List<HistoryEntry>
      name="announcement-history"
      route={listAnnouncementHistory}
      params={params}
      filters={noFilters}
      columns={columns}
      ordering={ordering}
      onOrdering={setOrdering}
      refetchMs={5_000}
      height="420px"
      empty={<Empty title="Nothing has happened yet" />}
    />
  )
}

const noFilters = {}
