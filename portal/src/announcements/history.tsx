// What was asked of an announcement, what was seen, and how long it took: newest first.
import { Badge, Button, Group, SegmentedControl, Skeleton, Stack, Text, Timeline } from '@mantine/core'
import type { HistoryEntry } from '@pharos/contract/announcement-checks'
import { listAnnouncementHistoryRoute } from '@pharos/contract/byoip'
import { listMembersRoute } from '@pharos/contract/member'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { answerOf, useAnswer } from '../api/queries.ts'
import { Empty } from '../ui/empty.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatDuration, Time } from '../ui/time.tsx'
import { actorName, kindGroups, toldOf, type KindGroup } from './history-words.ts'

const step = 50
/** The most that one answer holds. */
const most = 1000

const groups: readonly { readonly value: KindGroup | 'all'; readonly label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'switches', label: 'Asked' },
  { value: 'routers', label: 'Routers' },
  { value: 'checks', label: 'Checks' },
  { value: 'letters', label: 'Letters' },
]

function useGroup() {
  const search = useSearch({ strict: false }) as { show?: string }
  const navigate = useNavigate()
  const group = groups.find(({ value }) => value === search.show)?.value ?? 'all'
  const setGroup = (next: string) => {
    const { show: _, ...rest } = search
    void navigate({
      to: '.',
      search: { ...rest, ...(next === 'all' ? {} : { show: next }) } as never,
      replace: true,
    })
  }
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
        aria-label="What is shown"
        data={groups.map((one) => ({ ...one }))}
        value={group}
        onChange={setGroup}
      />
      {answer.error && !answer.data && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={240} />}
      {answer.data && count === 0 && <Empty title="Nothing of this kind has happened" />}
      <Timeline bulletSize={14} lineWidth={2} active={results.length}>
        {results.map((entry) => itemOf(entry, names))}
      </Timeline>
      {count > results.length && limit < most && (
        <Group>
          <Button
            variant="default"
            loading={answer.isPlaceholderData}
            onClick={() => setLimit(Math.min(most, limit + step * 2))}
          >
            Show older, {count - results.length} more
          </Button>
        </Group>
      )}
      {count > results.length && limit >= most && (
        <Text size="sm" c="dimmed">
          These are the last {most}. The API has them all.
        </Text>
      )}
    </Stack>
  )
}

/** `user:7` and how the team calls him. Who may not see the members sees the numbers. */
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

/** Called, not mounted: the timeline tells its children by what they are. */
function itemOf(entry: HistoryEntry, names: ReadonlyMap<string, string>) {
  const { text, note, color } = toldOf(entry)
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
          {took !== null && <Badge color="gray">after {formatDuration(took)}</Badge>}
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
