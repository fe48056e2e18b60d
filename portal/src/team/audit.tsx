// The audit log of the team: who changed what, when and from where.
import { Skeleton, Stack } from '@mantine/core'
import { getAuditEntryRoute, listAuditEntriesRoute, type AuditEntry } from '@pharos/contract/audit'
import { listMembersRoute } from '@pharos/contract/member'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'
import { Mono, monoColumn, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Facts } from '../ui/facts.tsx'
import { Problem } from '../ui/problem.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { entryText, targetText } from './audit-words.ts'
import { Changes } from './changes.tsx'

/** Actors without a name of their own. */
const actors: Readonly<Record<string, string>> = {
  staff: 'The provider',
  operator: 'The provider',
  pharos: 'Automatic',
}

const columns: readonly Column<AuditEntry>[] = [
  timeColumn('at', 'Time', ({ at }) => at, { orderBy: 'at', card: 'secondary' }),
  { id: 'actor', header: 'User', width: 220, card: 'secondary', cell: (entry) => <ActorOf entry={entry} /> },
  { id: 'action', header: 'Action', width: 200, card: 'primary', cell: (entry) => entryText(entry) },
  { id: 'target', header: 'Target', width: 180, grows: true, cell: (entry) => targetText(entry) },
  { id: 'address', header: 'IP address', width: 150, cell: ({ address }) => address ?? '' },
  {
    id: 'sealed',
    header: 'Seal',
    width: 130,
    cell: ({ sequence }) =>
      sequence === null ? <StatePill color="warn">Not sealed yet</StatePill> : `#${sequence}`,
  },
  monoColumn('credential', 'Credential', ({ credential }) => credential, { hidden: true, width: 200 }),
  monoColumn('request', 'Request ID', ({ request_id }) => request_id, { hidden: true, width: 240 }),
]

const ActorOf = ({ entry: { actor, actor_name } }: { entry: AuditEntry }) =>
  actor_name ?? actors[actor] ?? <Mono>{actor}</Mono>

/** The members are the people to choose from; tokens and staff are found by the link of an entry. */
function useDeclaration(): ListDeclaration {
  const members = useAnswer(listMembersRoute, { params: { team_id: 'current' }, query: { limit: 1000 } }).data
  return useMemo(
    () => ({
      sort: '-at',
      time: { start: 'start', end: 'end' },
      search: { kind: 'text', name: 'action', label: 'Action', placeholder: 'Action (member.*)' },
      filters: [
        {
          kind: 'choice',
          name: 'actor',
          label: 'User',
          isOpen: true,
          options: (members?.results ?? []).flatMap(({ user_id, display_name, email }) =>
            user_id === null ? [] : [{ value: `user:${user_id}`, label: display_name || email, note: email }],
          ),
        },
        { kind: 'text', name: 'target', label: 'Target', placeholder: 'announcement:42' },
        { kind: 'text', name: 'address', label: 'IP address or network', placeholder: '203.0.113.0/24' },
        { kind: 'text', name: 'request_id', label: 'Request ID' },
      ],
    }),
    [members],
  )
}

export function Audit() {
  const view = useListSearch('/team/audit', useDeclaration())
  return (
    <List<AuditEntry>
      name="audit"
      things={['entry', 'entries']}
      route={listAuditEntriesRoute}
      view={view}
      columns={columns}
      panel={panel}
      empty={<Empty title="No entries yet" />}
      emptyFiltered={<Empty title="No entries match">Remove a filter or choose another time range.</Empty>}
    />
  )
}

const panel: PanelDeclaration<AuditEntry> = {
  title: (entry) => (entry ? `${entryText(entry)} ${targetText(entry)}` : 'Audit entry'),
  render: (id) => <EntryView id={Number(id)} />,
}

function EntryView({ id }: { id: number }) {
  const answer = useAnswer(getAuditEntryRoute, { params: { audit_id: id } })
  if (answer.error && !answer.data) return <Problem error={answer.error} />
  if (!answer.data) return <Skeleton height={240} />
  const { at, address, credential, request_id } = answer.data
  return (
    <Stack>
      <Facts
        facts={[
          ['Time', <Time key="at" at={at} />],
          ['User', <ActorOf key="actor" entry={answer.data} />],
          ['IP address', address],
          ['Credential', credential],
          ['Request ID', request_id],
        ]}
      />
      <Changes before={answer.data.before} after={answer.data.after} />
    </Stack>
  )
}
