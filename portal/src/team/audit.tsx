// The audit log of the team: who changed what, when and from where.
import { ActionIcon, Modal, Text, TextInput } from '@mantine/core'
import { listAuditEntriesRoute, type AuditEntry } from '@pharos/contract/audit'
import { IconEye } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { actionsColumn, Mono, monoColumn, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { textOf, useListSearch } from '../ui/use-page-search.ts'
import { StatePill } from '../ui/status.tsx'
import { entryText, targetText } from './audit-words.ts'
import { Changes } from './changes.tsx'

/** Actors without a name of their own. */
const actors: Readonly<Record<string, string>> = {
  staff: 'The provider',
  operator: 'The provider',
  pharos: 'Automatic',
}

const plain: readonly Column<AuditEntry>[] = [
  timeColumn('at', 'Time', ({ at }) => at, { orderBy: 'at' }),
  {
    id: 'actor',
    header: 'User',
    cell: ({ actor, actor_name }) => actor_name ?? actors[actor] ?? <Mono>{actor}</Mono>,
  },
  { id: 'action', header: 'Action', cell: (entry) => entryText(entry) },
  { id: 'target', header: 'Target', cell: (entry) => targetText(entry) },
  { id: 'address', header: 'IP address', cell: ({ address }) => address ?? '' },
  {
    id: 'sealed',
    header: 'Seal',
    cell: ({ sequence }) =>
      sequence === null ? <StatePill color="warn">Not sealed yet</StatePill> : `#${sequence}`,
  },
  monoColumn('credential', 'Credential', ({ credential }) => credential, { hidden: true }),
  monoColumn('request', 'Request ID', ({ request_id }) => request_id, { hidden: true }),
]

/** Text filters, by the API's name. */
const fields = {
  action: ['Action', 'Action (member.*)'],
  target: ['Target', 'Target (announcement:42)'],
  actor: ['User', 'User (user:7)'],
  address: ['IP address or network', 'IP address or network'],
  request_id: ['Request ID', 'Request ID'],
} as const
type FieldName = keyof typeof fields

export function Audit() {
  const view = useListSearch('/team/audit', '-at')
  const { filters, setFilters } = view
  const [shown, setShown] = useState<AuditEntry>()
  const columns = useMemo(
    () => [
      ...plain,
      actionsColumn<AuditEntry>(
        'Changes',
        (entry) =>
          (entry.before !== null || entry.after !== null) && (
            <ActionIcon
              size="sm"
              aria-label={`Changes: ${entryText(entry)} ${targetText(entry)}`}
              onClick={() => setShown(entry)}
            >
              <IconEye size={14} />
            </ActionIcon>
          ),
      ),
    ],
    [],
  )
  const day = (name: 'start' | 'end', label: string) => (
    <TextInput
      size="xs"
      type="date"
      w={190}
      leftSection={<Text size="xs">{label}</Text>}
      leftSectionWidth={58}
      aria-label={`${label}, in UTC`}
      title={`${label}, in UTC`}
      value={textOf(filters[name]).slice(0, 10)}
      onChange={({ currentTarget: { value } }) =>
        setFilters({ [name]: value === '' ? undefined : `${value}T00:00:00Z` })
      }
    />
  )
  return (
    <>
      <List<AuditEntry>
        name="audit"
        things={['entry', 'entries']}
        route={listAuditEntriesRoute}
        view={view}
        columns={columns}
        toolbar={
          <>
            {(Object.keys(fields) as FieldName[]).map((name) => (
              <SearchField
                key={name}
                label={fields[name][0]}
                placeholder={fields[name][1]}
                width={210}
                value={textOf(filters[name])}
                onCommit={(text) => setFilters({ [name]: text })}
                isMain={name === 'action'}
              />
            ))}
            {day('start', 'From')}
            {day('end', 'Before')}
          </>
        }
        empty={<Empty title="No entries yet" />}
        emptyFiltered={<Empty title="No entries match">Remove a filter or choose other dates.</Empty>}
      />
      <Modal
        opened={shown !== undefined}
        onClose={() => setShown(undefined)}
        title={shown && `${entryText(shown)} ${targetText(shown)}`}
        size="xl"
      >
        {shown && <Changes before={shown.before} after={shown.after} />}
      </Modal>
    </>
  )
}
