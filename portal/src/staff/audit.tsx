// The audit log of all customers and of the provider.
import { listStaffAuditEntriesRoute, staffAuditDays, type StaffAuditEntry } from '@pharos/contract/team/audit'
import { actionFilter, AuditDetails, auditColumns, auditFilters, type AuditNames } from '../team/audit.tsx'
import { entryText, targetText } from '../team/audit-words.ts'
import { words as team } from '../team/words.ts'
import { Dimmed } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { TextLink } from '../ui/link.tsx'
import type { Column } from '../ui/list-column.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { CustomerLink } from './change-view.tsx'
import { words } from './console-words.ts'

const { audit: t } = words

/** The API names the actors. */
const names: AuditNames = { people: new Map(), regionName: (slug) => slug }

/** Ordered by id: the times of entries follow it. */
const [what, at, ...rest] = auditColumns<StaffAuditEntry>(names)
const columns: readonly Column<StaffAuditEntry>[] = [
  what!,
  {
    id: 'team',
    header: t.team,
    width: 150,
    card: 'state',
    cell: ({ team }) => (team === null ? <Dimmed>{t.provider}</Dimmed> : team.name),
  },
  { ...at!, orderBy: 'id' },
  ...rest,
]

const panel: PanelDeclaration<StaffAuditEntry> = {
  title: (entry) => (entry ? entryText(entry) : t.title),
  render: (_id, entry) => (entry ? <Details entry={entry} /> : <Dimmed>{words.notInView}</Dimmed>),
}

const Details = ({ entry }: { entry: StaffAuditEntry }) => (
  <AuditDetails
    entry={entry}
    names={names}
    facts={[
      [t.team, entry.team === null ? t.provider : <CustomerLink key="team" team={entry.team} />],
      [
        '',
        entry.team && (
          <TextLink key="all" to="/staff/audit" search={{ team_id: [entry.team.id] }} size="sm">
            {t.ofTeam}
          </TextLink>
        ),
      ],
    ]}
  >
    <TextLink to="/staff/audit" search={{ target: entry.target }}>
      {team.audit.allOf(targetText(entry))}
    </TextLink>
  </AuditDetails>
)

const declaration: ListDeclaration = {
  sort: '-id',
  time: { start: 'start', end: 'end' },
  filters: [
    actionFilter,
    { kind: 'text', name: 'actor', label: team.audit.user, placeholder: 'user:31' },
    { kind: 'text', name: 'team_id', label: t.teamId },
    ...auditFilters,
  ],
}

export function StaffAudit() {
  const view = useListSearch('/staff/audit', declaration)
  return (
    <Page title={t.title} note={t.note(staffAuditDays)}>
      <List<StaffAuditEntry>
        name="staff-audit"
        things={team.audit.things}
        route={listStaffAuditEntriesRoute}
        view={view}
        columns={columns}
        panel={panel}
        empty={<Empty title={team.audit.none} />}
        emptyFiltered={<Empty title={team.audit.noMatch}>{team.audit.noMatchText}</Empty>}
      />
    </Page>
  )
}
