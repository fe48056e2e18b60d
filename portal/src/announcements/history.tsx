// The history of an announcement, newest first: changes, what routers reported, checks and letters.
import { Button, Group, SegmentedControl, Skeleton, Stack, Text, Timeline } from '@mantine/core'
import type { HistoryEntry } from '@pharos/contract/byoip/announcement-checks'
import { listAnnouncementHistoryRoute } from '@pharos/contract/byoip/announcement'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOverLastOf, refetchIntervalOf } from '../api/queries.ts'
import { Empty } from '../ui/empty.tsx'
import { placeholderProps } from '../ui/placeholder.ts'
import { Problem } from '../ui/problem.tsx'
import { formatDuration, Time } from '../ui/time.tsx'
import { usePageSearch } from '../ui/use-page-search.ts'
import { actorName, kindGroups, describeEntry, type KindGroup } from './history-text.ts'
import { StatePill } from '../ui/status.tsx'
import { useMemberNames } from './use-member-names.ts'
import { words } from './words.ts'

const { history: texts } = words

const step = 50
/** Maximum page size. */
const limitMax = 1000

const groups: readonly { readonly value: KindGroup | 'all'; readonly label: string }[] = [
  { value: 'all', label: texts.groups.all },
  { value: 'switches', label: texts.groups.switches },
  { value: 'routers', label: texts.groups.routers },
  { value: 'checks', label: texts.groups.checks },
  { value: 'letters', label: texts.groups.letters },
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
    ...answerOverLastOf(listAnnouncementHistoryRoute, {
      params: { announcement_id: id },
      query: { ...kind, limit },
    }),
    refetchInterval: () => refetchIntervalOf(listAnnouncementHistoryRoute, 5_000),
  })
  const names = useMemberNames()
  const { results = [], count = 0 } = answer.data ?? {}
  return (
    <Stack>
      <SegmentedControl
        size="xs"
        w="fit-content"
        maw="100%"
        aria-label={texts.kind}
        data={groups.map((one) => ({ ...one }))}
        value={group}
        onChange={setGroup}
      />
      {answer.error && !answer.data && <Problem error={answer.error} retry={() => answer.refetch()} />}
      {answer.isPending && <Skeleton height={240} />}
      {answer.data && count === 0 && <Empty title={texts.none} />}
      <Timeline
        bulletSize={14}
        lineWidth={2}
        active={results.length}
        {...placeholderProps(answer.isPlaceholderData)}
      >
        {results.map((entry) => itemOf(entry, names))}
      </Timeline>
      {count > results.length && limit < limitMax && (
        <Group>
          <Button
            variant="default"
            loading={answer.isPlaceholderData}
            onClick={() => setLimit(Math.min(limitMax, limit + step * 2))}
          >
            {texts.older(count - results.length)}
          </Button>
        </Group>
      )}
      {count > results.length && limit >= limitMax && (
        <Text size="sm" c="dimmed">
          {texts.latest(limitMax)}
        </Text>
      )}
    </Stack>
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
          {took !== null && <StatePill color="idle">{texts.took(formatDuration(took))}</StatePill>}
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
