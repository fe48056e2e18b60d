// What was done in the team, by whom and from where; what is looked for stands in the address.
import { ActionIcon, Badge, Code, Modal, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { listAuditEntriesRoute, type AuditEntry } from '@pharos/contract/audit'
import { IconEye } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { Empty } from '../ui/empty.tsx'
import { List, type Column } from '../ui/list.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch } from '../ui/use-list-search.ts'

const plain: readonly Column<AuditEntry>[] = [
  { id: 'at', header: 'When', orderBy: 'at', cell: ({ at }) => <Time at={at} /> },
  {
    id: 'actor',
    header: 'Who',
    cell: ({ actor, actor_name }) =>
      actor_name ?? (
        <Text span ff="monospace" size="sm">
          {actor}
        </Text>
      ),
  },
  {
    id: 'action',
    header: 'What',
    cell: ({ action }) => (
      <Text span size="sm" fw={500}>
        {action}
      </Text>
    ),
  },
  {
    id: 'target',
    header: 'To what',
    cell: ({ target }) => (
      <Text span ff="monospace" size="sm">
        {target}
      </Text>
    ),
  },
  { id: 'address', header: 'From', cell: ({ address }) => address ?? '' },
  {
    id: 'sealed',
    header: 'Chain',
    cell: ({ sequence }) =>
      sequence === null ? <Badge color="yellow">waits for its seal</Badge> : `#${sequence}`,
  },
  {
    id: 'credential',
    header: 'Credential',
    hidden: true,
    cell: ({ credential }) => (
      <Text span ff="monospace" size="sm">
        {credential}
      </Text>
    ),
  },
  {
    id: 'request',
    header: 'Request',
    hidden: true,
    cell: ({ request_id }) => (
      <Text span ff="monospace" size="sm">
        {request_id}
      </Text>
    ),
  },
]

export function Audit() {
  const { filters, ordering, setFilters, setOrdering } = useListSearch({ ordering: '-at' })
  const [shown, setShown] = useState<AuditEntry>()
  const columns = useMemo(
    () => [
      ...plain,
      {
        id: 'more',
        header: 'Before and after',
        align: 'right',
        pinned: true,
        cell: (entry) =>
          (entry.before !== null || entry.after !== null) && (
            <ActionIcon
              size="sm"
              aria-label={`Before and after of ${entry.action}`}
              onClick={() => setShown(entry)}
            >
              <IconEye size={14} />
            </ActionIcon>
          ),
      } satisfies Column<AuditEntry>,
    ],
    [],
  )
  const typed = useDebouncedCallback((name: string, text: string) => setFilters({ [name]: text.trim() }), 400)
  const field = (name: string, label: string, placeholder: string, rest: object = {}) => (
    <TextInput
      size="xs"
      w={170}
      aria-label={label}
      placeholder={placeholder}
      defaultValue={String(filters[name] ?? '')}
      onChange={(event) => typed(name, event.currentTarget.value)}
      {...rest}
    />
  )
  const day = (name: string, label: string) => (
    <TextInput
      size="xs"
      type="date"
      w={190}
      leftSection={<Text size="xs">{label}</Text>}
      leftSectionWidth={76}
      aria-label={`${label}, in UTC`}
      title={`${label}, in UTC`}
      value={String(filters[name] ?? '').slice(0, 10)}
      onChange={({ currentTarget: { value } }) =>
        setFilters({ [name]: value === '' ? undefined : `${value}T00:00:00Z` })
      }
    />
  )
  return (
    <>
      <List<AuditEntry>
        name="audit"
        route={listAuditEntriesRoute}
        filters={filters}
        columns={columns}
        ordering={ordering}
        onOrdering={setOrdering}
        toolbar={
          <>
            {field('action', 'Action', 'Action, such as member.*', { 'data-search': true })}
            {field('target', 'Target', 'Target, such as announcement:42')}
            {field('actor', 'Who', 'Who, such as user:7')}
            {field('address', 'Address or network', 'Address or network')}
            {field('request_id', 'Request', 'Request id')}
            {day('start', 'From day')}
            {day('end', 'Before day')}
          </>
        }
        empty={<Empty title="Nothing is like that">Take a filter away, or look at other days.</Empty>}
      />
      <Modal
        opened={shown !== undefined}
        onClose={() => setShown(undefined)}
        title={shown && `${shown.action} ${shown.target}`}
        size="xl"
      >
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          {(['before', 'after'] as const).map((side) => (
            <Stack key={side} gap={4}>
              <Text size="sm" fw={600}>
                {side === 'before' ? 'Before' : 'After'}
              </Text>
              <Code block tabIndex={0}>
                {shown?.[side] === null ? 'nothing' : JSON.stringify(shown?.[side], undefined, 2)}
              </Code>
            </Stack>
          ))}
        </SimpleGrid>
      </Modal>
    </>
  )
}
