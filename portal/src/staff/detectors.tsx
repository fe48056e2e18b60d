// Detectors: which sources fail and why, and what became of each of their deliveries.
import { Alert, Button, Card, Skeleton, Stack, Table, Text } from '@mantine/core'
import {
  ingestStates,
  listDeliveriesRoute,
  listSourcesRoute,
  recentDeliveriesMax,
  type DetectorSource,
  type IngestDelivery,
} from '@pharos/contract/delivery'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'
import { monoColumn, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { DeliveryBadge, deliveryShown, DeliveryView } from './delivery.tsx'

const path = '/staff/detectors'

export function Detectors() {
  const answer = useAnswer(listSourcesRoute, { query: { limit: 1000 } }, { refetchInterval: 10_000 })
  const sources = answer.data?.results ?? []
  const declaration = useMemo(
    (): ListDeclaration => ({
      sort: '-id',
      filters: [
        {
          kind: 'choice',
          name: 'source_key',
          label: 'Detector',
          isOpen: true,
          options: (answer.data?.results ?? []).map((one) => ({ value: one.key, label: one.name })),
        },
        {
          kind: 'choice',
          name: 'state',
          label: 'Result',
          options: ingestStates.map((value) => ({ value, ...deliveryShown[value] })),
        },
      ],
    }),
    [answer.data],
  )
  const view = useListSearch(path, declaration)
  const open = (id: number) => view.set({ show: id })
  return (
    <Page title="Detectors" note="Sources of security events, and what became of their deliveries.">
      {answer.error && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data?.count === 0 && <Empty title="No detectors yet">Add sources in the platform file.</Empty>}
      {sources.some(({ failing }) => failing) && <FailingNote sources={sources} />}
      {sources.length > 0 && <Sources sources={sources} onOpen={open} />}
      <List<IngestDelivery>
        name="detector-deliveries"
        things={['delivery', 'deliveries']}
        route={listDeliveriesRoute}
        view={view}
        columns={columns}
        refetchMs={10_000}
        panel={panel}
        empty={<Empty title="No deliveries yet">They appear here when a detector sends its first one.</Empty>}
      />
    </Page>
  )
}

function FailingNote({ sources }: { sources: readonly DetectorSource[] }) {
  const names = sources.filter(({ failing }) => failing).map(({ name }) => name)
  return (
    <Alert color="bad" title={names.length === 1 ? '1 detector fails' : `${names.length} detectors fail`}>
      <Text size="sm">
        The last delivery of {names.join(', ')} could not be read completely. Attacks may be missing. Open the
        delivery to see why.
      </Text>
    </Alert>
  )
}

function Sources({ sources, onOpen }: { sources: readonly DetectorSource[]; onOpen: (id: number) => void }) {
  const failingFirst = sources.toSorted((a, b) => Number(b.failing) - Number(a.failing))
  return (
    <Card component="section" aria-label="Sources">
      <Table.ScrollContainer minWidth={720}>
        <Table fz="sm">
          <Table.Thead>
            <Table.Tr>
              {['Detector', 'State', 'Last delivery', 'Last 24 hours', 'Waiting', 'Last error'].map(
                (name) => (
                  <Table.Th key={name}>{name}</Table.Th>
                ),
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {failingFirst.map((source) => (
              <SourceRow key={source.key} source={source} onOpen={onOpen} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  )
}

function SourceRow({ source, onOpen }: { source: DetectorSource; onOpen: (id: number) => void }) {
  const { name, key, kind, failing, last_delivery, last_failure, waiting, deliveries_24h, failures_24h } =
    source
  return (
    <Table.Tr>
      <Table.Td>
        {name}
        <Text size="xs" c="dimmed">
          {key} · {kind}
        </Text>
      </Table.Td>
      <Table.Td>
        <SourceBadge failing={failing} isSilent={last_delivery === null} />
      </Table.Td>
      <Table.Td>
        <Time at={last_delivery} none="Never" />
      </Table.Td>
      <Table.Td>
        {countText(deliveries_24h)} deliveries
        {failures_24h > 0 && `, ${countText(failures_24h)} with errors`}
      </Table.Td>
      <Table.Td>{waiting.toLocaleString('en')}</Table.Td>
      <Table.Td>
        {last_failure && (
          <Stack gap={2} align="flex-start">
            <Text size="xs" maw={360} style={{ overflowWrap: 'anywhere' }}>
              {last_failure.error} (<Time at={last_failure.received} />)
            </Text>
            <Button
              variant="subtle"
              size="compact-xs"
              px={0}
              aria-label={`Show delivery of ${name}`}
              onClick={() => onOpen(last_failure.id)}
            >
              Show delivery
            </Button>
          </Stack>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function SourceBadge({ failing, isSilent }: { failing: boolean; isSilent: boolean }) {
  if (isSilent) return <StatePill color="idle">No deliveries</StatePill>
  return <StatePill color={failing ? 'bad' : 'ok'}>{failing ? 'Failing' : 'OK'}</StatePill>
}

const countText = (count: number): string =>
  count >= recentDeliveriesMax
    ? `${recentDeliveriesMax.toLocaleString('en')} or more`
    : count.toLocaleString('en')

const columns: readonly Column<IngestDelivery>[] = [
  timeColumn('received', 'Received', ({ received }) => received, { orderBy: 'received', card: 'primary' }),
  monoColumn('source', 'Detector', ({ source_key }) => source_key, { card: 'secondary' }),
  {
    id: 'state',
    header: 'Result',
    width: 130,
    card: 'state',
    cell: ({ state }) => <DeliveryBadge state={state} />,
  },
  { id: 'events', header: 'Events', align: 'right', width: 90, cell: ({ event_count }) => event_count ?? '' },
  { id: 'notes', header: 'Notes', align: 'right', width: 90, cell: ({ note_count }) => note_count },
  { id: 'error', header: 'Error', width: 240, grows: true, cell: ({ error }) => error ?? '' },
  timeColumn('processed', 'Processed', ({ processed }) => processed, { hidden: true, none: '' }),
  monoColumn('delivery', 'Delivery ID', ({ delivery_id }) => delivery_id, { hidden: true, width: 240 }),
]

const panel: PanelDeclaration<IngestDelivery> = {
  title: (delivery) => (delivery ? `Delivery of ${delivery.source_key}` : 'Delivery'),
  render: (id) => <DeliveryView id={Number(id)} />,
}
