// The name servers of the provider: whether each answers, and the zones that it is behind with.
import { Stack } from '@mantine/core'
import { listNameServersRoute, type StaffNameServer } from '@pharos/contract/operator/network'
import { Dimmed, Mono, OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { Facts } from '../ui/facts.tsx'
import type { Column } from '../ui/list-column.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { words } from './console-words.ts'
import { PartPill, stateFilter } from './part-state.tsx'

const { nameServers: t } = words

/** What is wrong is more than that something is. */
const ServerState = ({ server: { state, error } }: { server: StaffNameServer }) => (
  <PartPill state={state} texts={{ ok: t.serving, failing: error === null ? t.isBehind : t.noAnswer }} />
)

/** `192.0.2.53`, `192.0.2.53:5353`, `[2001:db8::1]:5353`. */
function addressOf({ address, port }: StaffNameServer): string | null {
  if (address === null || port === 53) return address
  return `${address.includes(':') ? `[${address}]` : address}:${port}`
}

const columns: readonly Column<StaffNameServer>[] = [
  {
    id: 'name',
    header: t.name,
    orderBy: 'name',
    width: 200,
    grows: true,
    card: 'primary',
    cell: ({ name }) => <Mono>{name}</Mono>,
  },
  { id: 'state', header: t.state, width: 150, card: 'state', cell: (one) => <ServerState server={one} /> },
  {
    id: 'behind',
    header: t.behind,
    orderBy: 'zones_behind',
    largestFirst: true,
    align: 'right',
    width: 130,
    card: 'secondary',
    cell: ({ zones, zones_behind: behind }) => t.behindOf(behind, zones),
  },
  {
    id: 'address',
    header: t.address,
    width: 160,
    cell: (one) => <OrDash>{addressOf(one) && <Mono>{addressOf(one)}</Mono>}</OrDash>,
  },
  { id: 'region', header: t.region, width: 100, cell: ({ region }) => <OrDash>{region}</OrDash> },
  { id: 'software', header: t.software, width: 150, cell: ({ software }) => <OrDash>{software}</OrDash> },
  timeColumn('seen', t.seen, ({ seen }) => seen, { none: t.never }),
  timeColumn('checked', t.checked, ({ checked }) => checked, {
    orderBy: 'checked',
    hidden: true,
    none: t.never,
  }),
]

const panel: PanelDeclaration<StaffNameServer> = {
  title: (server) => server?.name ?? t.title,
  render: (_id, server) => (server ? <Details server={server} /> : <Dimmed>{words.notInView}</Dimmed>),
}

function Details({ server }: { server: StaffNameServer }) {
  const { error, seen, checked, kind, catalog, signing, late_zones: late, zones_behind: behind } = server
  return (
    <Stack gap="md">
      <Facts
        facts={[
          [t.state, <ServerState key="state" server={server} />],
          [t.error, error === null ? undefined : (t.errors[error] ?? error)],
          [t.behind, t.behindOf(behind, server.zones)],
          [t.address, kind === 'sandbox' ? t.sandbox : addressOf(server)],
          [t.region, server.region],
          [t.software, server.software],
          [t.seen, <Time key="seen" at={seen} none={t.never} />],
          [t.checked, <Time key="checked" at={checked} none={t.never} />],
          [t.isPublic, server.public ? t.yes : t.no],
          [t.catalog, catalog ? t.yes : t.no],
          [t.signing, t.signers[signing]],
        ]}
      />
      {late.length > 0 && (
        <Section title={t.lateZones}>
          <ul>
            {late.map((name) => (
              <li key={name}>
                <Mono>{name}</Mono>
              </li>
            ))}
          </ul>
          {behind > late.length && <Dimmed>{words.more(behind - late.length)}</Dimmed>}
        </Section>
      )}
    </Stack>
  )
}

const declaration: ListDeclaration = {
  sort: 'name',
  search: { kind: 'text', name: 'search', label: t.search, placeholder: t.search },
  filters: [stateFilter(t.state)],
}

export function NameServers() {
  const view = useListSearch('/staff/name-servers', declaration)
  return (
    <Page title={t.title} note={t.note}>
      <List<StaffNameServer>
        name="name-servers"
        things={t.things}
        route={listNameServersRoute}
        view={view}
        columns={columns}
        panel={panel}
        refetchMs={15_000}
        empty={<Empty title={t.none}>{t.noneHelp}</Empty>}
      />
    </Page>
  )
}
