// The cross connects of all teams: letters that have arrived, and moves to another state.
import { Anchor, Button, Text } from '@mantine/core'
import {
  crossConnectActors,
  crossConnectStatuses,
  listStaffCrossConnectsRoute,
  moveCrossConnectRoute,
  type CrossConnectStatus,
  type StaffCrossConnect,
} from '@pharos/contract/inventory/cross-connect'
import { call } from '../api/call.ts'
import { CrossConnectPill, crossConnectColor } from '../inventory/cross-connect-state.tsx'
import { words as inventory } from '../inventory/words.ts'
import { OrDash, RowActions, timeColumn } from '../ui/cells.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { Field } from '../ui/form.tsx'
import { select, textarea } from '../ui/form-widgets.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { fileHref } from '../ui/file-href.ts'
import { refreshInbox } from './inbox-rows.ts'
import { words } from './words.ts'

const { crossConnects: t } = words
const { crossConnects: states } = inventory

const columns: readonly Column<StaffCrossConnect>[] = [
  {
    id: 'name',
    header: t.name,
    orderBy: 'name',
    width: 160,
    grows: true,
    card: 'primary',
    cell: ({ name }) => name,
  },
  { id: 'team', header: t.team, width: 120, card: 'secondary', cell: ({ team }) => team.name },
  {
    id: 'circuit',
    header: t.circuit,
    orderBy: 'circuit_id',
    width: 120,
    cell: ({ circuit_id }) => circuit_id,
  },
  {
    id: 'status',
    header: t.state,
    orderBy: 'status',
    width: 150,
    card: 'state',
    cell: (one) => <CrossConnectPill {...one} />,
  },
  { id: 'waits', header: t.waitsFor, width: 110, cell: ({ waits_for }) => t.actors[waits_for] },
  {
    id: 'letter',
    header: t.letter,
    width: 120,
    cell: ({ loa_document: letter }) => (
      <OrDash>
        {letter && (
          <Anchor href={fileHref(letter.url)} download size="sm">
            {letter.filename}
          </Anchor>
        )}
      </OrDash>
    ),
  },
  { id: 'order', header: t.order, width: 90, cell: ({ provider_ref }) => <OrDash>{provider_ref}</OrDash> },
  timeColumn('since', t.since, ({ waiting_since }) => waiting_since),
  timeColumn('requested', t.requested, ({ requested }) => requested, { orderBy: 'requested', hidden: true }),
  {
    id: 'move',
    header: t.actions,
    width: 90,
    cell: (one) =>
      one.next.length === 0 ? null : (
        <RowActions>
          <MoveCrossConnect one={one} />
        </RowActions>
      ),
  },
]

/** Moves it to another state. */
export function MoveCrossConnect({ one }: { one: StaffCrossConnect }) {
  const declared = {
    status: select({
      label: t.to,
      data: one.next.map((value) => ({ value, label: states.statuses[value] })),
    }),
    provider_ref: text({ label: t.order, help: t.orderHelp }),
    note: textarea({ label: t.note, help: t.noteHelp }),
  }
  return (
    <Dialog<{ status: string; provider_ref: string; note: string }>
      title={t.moveTitle(one.name)}
      action={t.move}
      initialValues={{ status: one.next[0]!, provider_ref: one.provider_ref, note: '' }}
      route={moveCrossConnectRoute}
      declared={declared}
      trigger={(open) => (
        <Button size="compact-xs" variant="default" onClick={open}>
          {t.move}
        </Button>
      )}
      onSubmit={async ({ status, provider_ref, note }) => {
        await call(moveCrossConnectRoute, {
          params: { cross_connect_id: one.id },
          body: {
            status: status as CrossConnectStatus,
            ...(provider_ref === '' ? {} : { provider_ref }),
            ...(note === '' ? {} : { note }),
          },
        })
        notifySuccess(t.moved(one.name, states.statuses[status as CrossConnectStatus]))
        await refreshInbox()
      }}
    >
      {(_fields, form) => (
        <>
          <Text size="sm">{t.now(states.statuses[one.status])}</Text>
          <Field form={form} name="status" autoFocus />
          <Field form={form} name="provider_ref" />
          <Field form={form} name="note" />
        </>
      )}
    </Dialog>
  )
}

const declaration: ListDeclaration = {
  sort: 'id',
  search: { kind: 'text', name: 'search', label: t.search, placeholder: t.search },
  filters: [
    {
      kind: 'choice',
      name: 'waits_for',
      label: t.waitsFor,
      options: crossConnectActors.map((value) => ({ value, label: t.actors[value] })),
    },
    {
      kind: 'choice',
      name: 'status',
      label: t.state,
      options: crossConnectStatuses.map((value) => ({
        value,
        label: states.statuses[value],
        color: crossConnectColor({ status: value, waits_for: 'provider' }),
      })),
    },
  ],
}

export function StaffCrossConnects() {
  const view = useListSearch('/staff/cross-connects', declaration)
  return (
    <Page title={t.title} note={t.pageNote}>
      <List<StaffCrossConnect>
        name="staff-cross-connects"
        things={states.things}
        route={listStaffCrossConnectsRoute}
        view={view}
        columns={columns}
        refetchMs={30_000}
        empty={<Empty title={t.none}>{t.noneHelp}</Empty>}
      />
    </Page>
  )
}
