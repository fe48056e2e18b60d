// Changes that the reconciler does not apply without approval, one entry per region: open, or all with their decisions.
import { listHoldsRoute, type Hold, type HoldState } from '@pharos/contract/hold'
import { timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { HoldView } from './hold-view.tsx'
import { openOrAll, useOpenOrAll } from './open-or-all.tsx'
import { words } from './words.ts'

const { holds: t } = words

const colors: Record<HoldState, StateColor> = {
  open: 'warn',
  approved: 'ok',
  rejected: 'bad',
  closed: 'idle',
}

const columns: readonly Column<Hold>[] = [
  { id: 'region', header: t.columns.region, width: 120, card: 'primary', cell: ({ region }) => region },
  {
    id: 'state',
    header: t.columns.state,
    width: 120,
    card: 'state',
    cell: ({ state }) => <StatePill color={colors[state]}>{t.states[state]}</StatePill>,
  },
  {
    id: 'reason',
    header: t.columns.reason,
    width: 260,
    grows: true,
    card: 'secondary',
    cell: ({ reason }) => t.reasons[reason],
  },
  {
    id: 'withdrawals',
    header: t.columns.withdrawals,
    align: 'right',
    width: 120,
    cell: ({ withdrawals }) => withdrawals.length,
  },
  {
    id: 'changes',
    header: t.columns.changes,
    align: 'right',
    width: 140,
    cell: ({ changes }) => changes.length,
  },
  timeColumn('created', t.columns.created, ({ created }) => created, { orderBy: 'created' }),
  timeColumn('decided', t.columns.decided, ({ decided }) => decided, { none: '' }),
]

const panel: PanelDeclaration<Hold> = {
  title: (hold) => (hold ? t.panel(hold.region) : t.panelOf),
  render: (id) => <HoldView id={Number(id)} />,
}

const onlyOpen = { state: ['open'] }
const choice = openOrAll({ name: 'state', label: t.filter, open: t.open, all: t.all })

export function Holds() {
  const { isAll, view, control } = useOpenOrAll('/staff/holds', choice)
  return (
    <Page title={t.title} note={t.note} actions={control}>
      <List<Hold>
        key={isAll ? 'all' : 'open'}
        name="staff-holds"
        things={[t.thing, t.things]}
        route={listHoldsRoute}
        view={view}
        {...(isAll ? {} : { query: onlyOpen })}
        columns={columns}
        panel={panel}
        refetchMs={5_000}
        empty={<Empty title={isAll ? t.noneYet : t.none}>{t.noneHelp}</Empty>}
      />
    </Page>
  )
}
