// The exporters of flows: the device of each, and what is wrong with its records.
import { Alert, Stack } from '@mantine/core'
import { listExportersRoute, type StaffExporter } from '@pharos/contract/operator/network'
import { Dimmed, Mono, OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { Facts } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import type { Column } from '../ui/list-column.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { words } from './console-words.ts'
import { PartPill, stateFilter } from './part-state.tsx'
import classes from './staff.module.css'

const { exporters: t } = words

const ExporterState = ({ exporter: { state } }: { exporter: StaffExporter }) => (
  <PartPill state={state} texts={{ ok: t.sends, failing: t.silent, unknown: t.noCollector }} />
)

type Finding = { readonly name: string; readonly text: string; readonly at?: string }

/** What is wrong with its flows, and what to do. */
function findingsOf(exporter: StaffExporter): readonly Finding[] {
  const { device, several, unknown_interfaces: unknown, unknown_internal: internal } = exporter
  const { longest_flow_seconds: longest, ambiguous_rates: rates, implausible: record } = exporter
  return [
    ...(device === null ? [{ name: t.noDevice, text: t.noDeviceHelp }] : []),
    ...(unknown.length > 0
      ? [{ name: t.unknownInterfaces(unknown.length), text: t.unknownInterfacesHelp(unknown.join(', ')) }]
      : []),
    ...(internal.length > 0
      ? [{ name: t.unknownInternal, text: t.unknownInternalHelp(internal.join(', ')) }]
      : []),
    ...(longest === null ? [] : [{ name: t.longFlows, text: t.longFlowsHelp(longest) }]),
    ...(rates === null ? [] : [{ name: t.twoRates, text: t.twoRatesHelp(rates.join(', ')) }]),
    ...(record === null ? [] : [{ name: t.implausible, text: t.implausibleHelp(record), at: record.at }]),
    ...(several ? [{ name: t.several, text: t.severalHelp }] : []),
  ]
}

const columns: readonly Column<StaffExporter>[] = [
  {
    id: 'address',
    header: t.address,
    orderBy: 'address',
    width: 170,
    card: 'primary',
    cell: ({ address }) => <Mono>{address}</Mono>,
  },
  {
    id: 'device',
    header: t.device,
    width: 170,
    card: 'secondary',
    cell: ({ device }) => <OrDash>{device && <Mono>{device.name}</Mono>}</OrDash>,
  },
  {
    id: 'state',
    header: t.state,
    width: 140,
    card: 'state',
    cell: (exporter) => <ExporterState exporter={exporter} />,
  },
  {
    id: 'findings',
    header: t.findings,
    width: 260,
    grows: true,
    cell: (exporter) => {
      const names = findingsOf(exporter).map(({ name }) => name)
      return names.length === 0 ? <Dimmed>{t.noFindings}</Dimmed> : names.join(', ')
    },
  },
  timeColumn('last', t.last, ({ last_seen }) => last_seen, { orderBy: 'last_seen' }),
  timeColumn('first', t.first, ({ first_seen }) => first_seen, { orderBy: 'first_seen', hidden: true }),
]

const panel: PanelDeclaration<StaffExporter> = {
  title: (exporter) => exporter?.address ?? t.title,
  render: (_id, exporter) =>
    exporter ? <Details exporter={exporter} /> : <Dimmed>{words.notInView}</Dimmed>,
}

const Details = ({ exporter }: { exporter: StaffExporter }) => {
  const { device, first_seen, last_seen, sampling_rate: rate } = exporter
  return (
    <Stack gap="md">
      <Facts
        facts={[
          [t.state, <ExporterState key="state" exporter={exporter} />],
          [
            t.device,
            device && (
              <TextLink key="device" to="/staff/devices" search={{ search: device.name }} size="sm">
                {device.name}
              </TextLink>
            ),
          ],
          [t.rate, rate === null ? t.announced : t.rateOf(rate)],
          [t.last, <Time key="last" at={last_seen} />],
          [t.first, <Time key="first" at={first_seen} />],
        ]}
      />
      {findingsOf(exporter).map(({ name, text, at }) => (
        <Alert key={name} color="warn" title={name}>
          {text}
          {at !== undefined && (
            <div className={classes['small']}>
              <Time at={at} />
            </div>
          )}
        </Alert>
      ))}
    </Stack>
  )
}

const declaration: ListDeclaration = {
  sort: 'address',
  search: { kind: 'text', name: 'search', label: t.search, placeholder: t.search },
  filters: [stateFilter(t.state)],
}

export function Exporters() {
  const view = useListSearch('/staff/exporters', declaration)
  return (
    <Page title={t.title} note={t.note}>
      <List<StaffExporter>
        name="exporters"
        things={t.things}
        route={listExportersRoute}
        view={view}
        columns={columns}
        panel={panel}
        refetchMs={30_000}
        empty={<Empty title={t.none}>{t.noneHelp}</Empty>}
      />
    </Page>
  )
}
