// The rule lists of the team, one per prefix, and the form for a new list.
import { Autocomplete, Button, Group, Modal, Stack } from '@mantine/core'
import { listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import { listPrefixesRoute } from '@pharos/contract/inventory/prefix'
import { listShieldListsRoute, type ShieldList } from '@pharos/contract/shield/shield'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type SyntheticEvent } from 'react'
import { answerOf } from '../api/queries.ts'
import { useGrant, useHasModule } from '../api/use-grant.ts'
import { Mono, OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { Blackholes } from './blackholes.tsx'
import { ListStatePill } from './list-state.tsx'
import { listReasonText } from './reason-text.ts'
import { words } from './words.ts'

const { lists: texts } = words

const columns: readonly Column<ShieldList>[] = [
  {
    id: 'prefix',
    header: texts.prefix,
    width: 220,
    card: 'primary',
    cell: ({ prefix }) => (
      <RowLink to={`/shield/rules?prefix=${encodeURIComponent(prefix)}`}>
        <Mono>{prefix}</Mono>
      </RowLink>
    ),
  },
  {
    id: 'state',
    header: texts.state,
    width: 130,
    card: 'state',
    cell: (list) => <ListStatePill list={list} count={list.rule_count} />,
  },
  {
    id: 'rules',
    header: texts.rules,
    width: 80,
    align: 'right',
    card: 'secondary',
    cell: ({ rule_count }) => rule_count,
  },
  {
    id: 'reason',
    header: texts.reason,
    width: 320,
    grows: true,
    cell: ({ status_reason: reason }) => <OrDash>{reason && listReasonText(reason)}</OrDash>,
  },
  timeColumn('confirm', texts.confirm, ({ confirm_by }) => confirm_by, { none: texts.noConfirm }),
  timeColumn('modified', texts.modified, ({ modified }) => modified),
  {
    id: 'version',
    header: texts.version,
    width: 80,
    align: 'right',
    hidden: true,
    cell: ({ version }) => version,
  },
]

const declaration: ListDeclaration = {
  search: {
    kind: 'text',
    name: 'prefix',
    label: texts.prefixFilter,
    placeholder: texts.prefixFilter,
    hasMany: true,
  },
}

export function ShieldLists() {
  const view = useListSearch('/shield', declaration)
  const canChange = useGrant('shield.apply')
  const [isAdding, setAdding] = useState(false)
  return (
    <Page
      title={texts.title}
      note={texts.note}
      actions={
        canChange && (
          <Button leftSection={<IconPlus size={14} />} onClick={() => setAdding(true)}>
            {texts.add}
          </Button>
        )
      }
    >
      <List<ShieldList>
        name="shield-lists"
        things={texts.things}
        route={listShieldListsRoute}
        view={view}
        columns={columns}
        refetchMs={10_000}
        empty={<Empty title={texts.empty}>{texts.emptyText}</Empty>}
      />
      <Blackholes />
      {isAdding && <NewList onClose={() => setAdding(false)} />}
    </Page>
  )
}

/** Accepts any prefix: the server rejects prefixes that the team does not hold. */
function NewList({ onClose }: { readonly onClose: () => void }) {
  const [prefix, setPrefix] = useState('')
  const navigate = useNavigate()
  const has = useHasModule('ipam')
  const assigned = useQuery(answerOf(listPrefixesRoute, { query: { limit: 200 } }))
  const announced = useQuery({ ...answerOf(listAnnouncementsRoute, { query: { limit: 200 } }), enabled: has })
  const data = [
    ...new Set(
      [...(assigned.data?.results ?? []), ...(announced.data?.results ?? [])].map(({ cidr }) => cidr),
    ),
  ]
  function submit(event: SyntheticEvent) {
    event.preventDefault()
    const typed = prefix.trim()
    if (typed === '') return
    const length = typed.includes(':') ? 128 : 32
    void navigate({
      to: '/shield/rules',
      search: { prefix: typed.includes('/') ? typed : `${typed}/${length}` },
    })
  }
  return (
    <Modal opened onClose={onClose} title={texts.add}>
      <form onSubmit={submit}>
        <Stack>
          <Autocomplete
            label={texts.choose}
            description={texts.chooseHelp}
            placeholder="203.0.113.0/24"
            // A prefix that is typed whole leaves no choice, and its list would cover the button.
            data={data.includes(prefix.trim()) ? [] : data}
            limit={20}
            required
            withAsterisk={false}
            data-autofocus
            value={prefix}
            onChange={setPrefix}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit">{texts.add}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
