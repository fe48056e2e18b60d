// The team's zones: published state, DNSSEC, serial, and how many name servers have the newest version.
import { Group } from '@mantine/core'
import { dnssecStates } from '@pharos/contract/dns/term'
import { listZonesRoute, zoneKinds, zoneStatuses, type Zone } from '@pharos/contract/dns/zone'
import { IconFileImport, IconPlus } from '@tabler/icons-react'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { Dimmed, OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { ButtonLink } from '../ui/link.tsx'
import type { Column } from '../ui/list-column.ts'
import { yesNo } from '../ui/list-filter.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { unicodeName } from './unicode-name.ts'
import { words } from './words.ts'
import { dnssecColors, DnssecPill, servedText, statusColors, ZoneStatusPill } from './zone-state.tsx'

const { list: texts } = words

/** Shows an internationalized name in Unicode and in ASCII: two Unicode names may look alike. */
const InAscii = ({ name }: { name: string }) =>
  unicodeName(name) !== undefined && (
    <>
      {' '}
      <Dimmed>
        <span data-verbatim>{name}</span>
      </Dimmed>
    </>
  )

const columns: readonly Column<Zone>[] = [
  {
    id: 'name',
    header: texts.name,
    orderBy: 'name',
    width: 240,
    grows: true,
    card: 'primary',
    cell: ({ id, name }) => (
      <>
        <RowLink to={`/zones/${id}`}>
          <span data-verbatim>{unicodeName(name) ?? name}</span>
        </RowLink>
        <InAscii name={name} />
      </>
    ),
  },
  {
    id: 'status',
    header: texts.status,
    orderBy: 'status',
    width: 130,
    card: 'state',
    cell: ({ status }) => <ZoneStatusPill status={status} />,
  },
  {
    id: 'dnssec',
    header: texts.dnssec,
    width: 130,
    card: 'secondary',
    cell: ({ dnssec }) => <DnssecPill state={dnssec} />,
  },
  {
    id: 'serial',
    header: texts.serial,
    width: 120,
    align: 'right',
    cell: ({ serial }) => <OrDash>{serial}</OrDash>,
  },
  {
    id: 'served',
    header: texts.served,
    width: 130,
    align: 'right',
    cell: (zone) =>
      zone.published === null ? <Dimmed>–</Dimmed> : (servedText(zone) ?? <Dimmed>{texts.noServers}</Dimmed>),
  },
  {
    id: 'records',
    header: texts.records,
    orderBy: 'record_count',
    largestFirst: true,
    width: 90,
    align: 'right',
    cell: ({ record_count: records }) => records.toLocaleString('en'),
  },
  timeColumn('published', texts.published, ({ published }) => published, {
    orderBy: 'published',
    none: texts.notPublished,
  }),
  timeColumn('touched', texts.touched, ({ touched }) => touched, { orderBy: 'touched', hidden: true }),
  { id: 'kind', header: texts.kind, hidden: true, width: 110, cell: ({ kind }) => words.kind[kind] },
  timeColumn('created', texts.created, ({ created }) => created, { orderBy: 'created', hidden: true }),
  {
    id: 'id',
    header: texts.id,
    orderBy: 'id',
    hidden: true,
    align: 'right',
    width: 80,
    cell: ({ id }) => id,
  },
]

const declaration: ListDeclaration = {
  sort: 'name',
  search: { kind: 'text', name: 'search', label: texts.search, placeholder: texts.search },
  filters: [
    {
      kind: 'choice',
      name: 'status',
      label: texts.status,
      options: zoneStatuses.map((value) => ({
        value,
        label: words.status[value],
        color: statusColors[value],
      })),
    },
    {
      kind: 'choice',
      name: 'dnssec',
      label: texts.dnssec,
      options: dnssecStates.map((value) => ({
        value,
        label: words.dnssec[value],
        color: dnssecColors[value],
      })),
    },
    yesNo('reverse', texts.reverse, texts.isReverse, texts.isForward),
    {
      kind: 'choice',
      name: 'kind',
      label: texts.kind,
      options: zoneKinds.map((value) => ({ value, label: words.kind[value] })),
    },
    yesNo('deleted', texts.deleted, texts.onlyDeleted, texts.notDeleted),
  ],
}

const query = { include: 'servers' }

export function Zones() {
  const view = useListSearch('/zones', declaration)
  const canManage = useGrant('dns.manage')
  return (
    <Page title={texts.title} note={texts.note} actions={canManage && <Actions />}>
      <List<Zone>
        name="zones"
        things={texts.things}
        route={listZonesRoute}
        view={view}
        query={query}
        columns={columns}
        refetchMs={10_000}
        empty={
          <Empty title={texts.empty}>
            {canManage ? texts.emptyText : onlyWith('dns.manage')}
            {canManage && (
              <Group justify="center" mt="md">
                <Actions />
              </Group>
            )}
          </Empty>
        }
      />
    </Page>
  )
}

const Actions = () => (
  <>
    <ButtonLink to="/zones/import" variant="default" leftSection={<IconFileImport size={14} />}>
      {texts.import}
    </ButtonLink>
    <ButtonLink to="/zones/new" leftSection={<IconPlus size={14} />}>
      {texts.add}
    </ButtonLink>
  </>
)
