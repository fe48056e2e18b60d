// The history of an announcement, newest first: changes, what routers reported, checks and letters.
import { Button, Group, SegmentedControl, Skeleton, Stack, Text, Timeline } from '@mantine/core'
import type { HistoryEntry } from '@pharos/contract/announcement-checks'
import { listAnnouncementHistoryRoute } from '@pharos/contract/byoip'
import { listMembersRoute } from '@pharos/contract/member'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { answerOf, useAnswer } from '../api/queries.ts'
import { Empty } from '../ui/empty.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatDuration, Time } from '../ui/time.tsx'
import { usePageSearch } from '../ui/use-page-search.ts'
import { actorName, kindGroups, describeEntry, type KindGroup } from './history-text.ts'
import { StatePill } from '../ui/status.tsx'

const step = 50
/** Maximum page size. */
const limitMax = 1000

const groups: readonly { readonly value: KindGroup | 'all'; readonly label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'switches', label: 'Changes' },
  { value: 'routers', label: 'Routers' },
  { value: 'checks', label: 'Checks' },
  { value: 'letters', label: 'Letters' },
]

function useGroup() {
  const { search, setSearch } = usePageSearch('/announcements/$id')
  const group = groups.find(({ value }) => value === search.show)?.value ?? 'all'
  const setGroup = (next: string) => setSearch({ show: next === 'all' ? undefined : next })
  return { group, setGroup }
}

export function History({ id }: { id: number }) {
  const { group, setGroup } = useGroup()
  const [limit, setLimit] = useState(step)
  const kind = group === 'all' ? {} : { kind: [...kindGroups[group]] }
  const answer = useQuery({
    ...answerOf(listAnnouncementHistoryRoute, { params: { announcement_id: id }, query: { ...kind, limit } }),
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  })
  const names = useMemberNames()
  const { results = [], count = 0 } = answer.data ?? {}
  return (
    <Stack>
      <SegmentedControl
        size="xs"
        w="fit-content"
        maw="100%"
        aria-label="Kind of entries"
        data={groups.map((one) => ({ ...one }))}
        value={group}
        onChange={setGroup}
      />
      {answer.error && !answer.data && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={240} />}
      {answer.data && count === 0 && <Empty title="No entries" />}
      <Timeline bulletSize={14} lineWidth={2} active={results.length}>
        {results.map((entry) => itemOf(entry, names))}
      </Timeline>
      {count > results.length && limit < limitMax && (
        <Group>
          <Button
            variant="default"
            loading={answer.isPlaceholderData}
            onClick={() => setLimit(Math.min(limitMax, limit + step * 2))}
          >
            Show {(count - results.length).toLocaleString('en')} older
          </Button>
        </Group>
      )}
      {count > results.length && limit >= limitMax && (
        <Text size="sm" c="dimmed">
          Showing the latest {limitMax.toLocaleString('en')}. The API returns the full history.
        </Text>
      )}
    </Stack>
  )
}

/** Returns the members' names by actor: `user:7`. Empty for a user who may not list the members. */
function useMemberNames(): ReadonlyMap<string, string> {
  const members = useAnswer(listMembersRoute, { params: { team_id: 'current' }, query: { limit: 1000 } })
  return useMemo(
    () =>
      new Map(
        members.data?.results.map(({ user_id, display_name, email }) => [
          `user:${user_id}`,
          display_name || email,
        ]),
      ),
    [members.data],
  )
}

/** A function, not a component: the timeline looks at the type of its children. */
function itemOf(entry: HistoryEntry, names: ReadonlyMap<string, string>) {
  const { text, note, color } = describeEntry(entry)
  const { id, at, actor, took_ms: took } = entry
  return (
    <Timeline.Item
      key={id}
      color={color}
      mt="sm"
      title={
        <Group gap="xs">
          <Text size="sm" fw={500}>
            {text}
          </Text>
          {took !== null && <StatePill color="idle">in {formatDuration(took)}</StatePill>}
        </Group>
      }
    >
      {note && <Text size="sm">{note}</Text>}
      <Text size="xs" c="dimmed">
        <Time at={at} /> · {actorName(actor, names)}
      </Text>
    </Timeline.Item>
  )
}
