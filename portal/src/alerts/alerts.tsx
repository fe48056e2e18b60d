// The alert rules of the team with their state.
import {
  alertKinds,
  alertSeverities,
  listAlertRulesRoute,
  type AlertRule,
} from '@pharos/contract/alert/alert-rule'
import { useGrant } from '../api/use-grant.ts'
import { OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { ButtonLink } from '../ui/link.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { StatePill } from '../ui/status.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { AlertPill, severityColors } from './alert-state.tsx'
import { conditionText, pathOfObject, quantityText } from './condition.ts'
import { words } from './words.ts'

const columns: readonly Column<AlertRule>[] = [
  {
    id: 'name',
    header: words.name,
    orderBy: 'name',
    width: 240,
    grows: true,
    card: 'primary',
    cell: ({ id, name }) => <RowLink to={`/alerts/${id}`}>{name}</RowLink>,
  },
  {
    id: 'state',
    header: words.state,
    orderBy: 'state',
    largestFirst: true,
    width: 140,
    card: 'state',
    cell: (rule) => <AlertPill rule={rule} />,
  },
  {
    id: 'object',
    header: words.object,
    width: 150,
    card: 'secondary',
    cell: ({ object }) =>
      object.name === '' ? words.gone : <RowLink to={pathOfObject(object)}>{object.name}</RowLink>,
  },
  {
    id: 'condition',
    header: words.condition,
    width: 310,
    cell: ({ condition }) => conditionText(condition),
  },
  {
    id: 'value',
    header: words.value,
    width: 100,
    align: 'right',
    card: 'secondary',
    cell: ({ value, unit }) => <OrDash>{value === null ? null : quantityText(value, unit)}</OrDash>,
  },
  timeColumn('since', words.since, ({ since }) => since, { orderBy: 'since' }),
  {
    id: 'severity',
    header: words.severity,
    orderBy: 'severity',
    largestFirst: true,
    width: 120,
    hidden: true,
    cell: ({ severity }) => (
      <StatePill color={severityColors[severity]}>{words.severities[severity]}</StatePill>
    ),
  },
  timeColumn('created', words.created, ({ created }) => created, { orderBy: 'created', hidden: true }),
]

const declaration: ListDeclaration = {
  sort: '-state,name',
  search: { kind: 'text', name: 'search', label: words.search, placeholder: words.search },
  filters: [
    {
      kind: 'choice',
      name: 'state',
      label: words.state,
      options: [
        { value: 'firing', label: words.states.firing, color: 'bad' },
        { value: 'unknown', label: words.states.unknown, color: 'idle' },
        { value: 'ok', label: words.states.ok, color: 'ok' },
      ],
    },
    {
      kind: 'choice',
      name: 'severity',
      label: words.severity,
      options: alertSeverities.map((value) => ({
        value,
        label: words.severities[value],
        color: severityColors[value],
      })),
    },
    {
      kind: 'choice',
      name: 'kind',
      label: words.kind,
      options: alertKinds.map((value) => ({ value, label: words.kinds[value] })),
    },
  ],
}

export function Alerts() {
  const canManage = useGrant('alerts.manage')
  return (
    <Page
      title={words.title}
      note={words.note}
      actions={canManage && <ButtonLink to="/alerts/new">{words.add}</ButtonLink>}
    >
      <List<AlertRule>
        name="alert-rules"
        things={words.things}
        route={listAlertRulesRoute}
        view={useListSearch('/alerts', declaration)}
        columns={columns}
        refetchMs={30_000}
        empty={<Empty title={words.emptyTitle}>{canManage ? words.empty : words.emptyForReaders}</Empty>}
      />
    </Page>
  )
}
