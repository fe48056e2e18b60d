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
import { MultiSelectFilter } from '../ui/filter-fields.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { usePageSearch, type Filters, type ListView } from '../ui/use-page-search.ts'
import { DeliveryDialog, DeliveryBadge, deliveryLabels } from './delivery.tsx'

const path = '/staff/detectors'

export function Detectors() {
  const { search, setSearch } = usePageSearch(path)
  const { delivery, ...rest } = search
  // Compared by value, so that opening a delivery does not request the list again.
  const key = JSON.stringify(rest)
  const view = useMemo((): ListView => {
    const { ordering = '-id', ...filters } = JSON.parse(key) as Filters
    return {
      filters,
      ordering: String(ordering),
      setOrdering: (next) => setSearch({ ordering: next }),
      clearFilters: () => setSearch({ source_key: undefined, state: undefined }),
    }
  }, [key])
  const open = (id: number) => setSearch({ delivery: id })
  const columns = useMemo(() => columnsWith((id) => setSearch({ delivery: id })), [key])
  const answer = useAnswer(listSourcesRoute, { query: { limit: 1000 } }, { refetchInterval: 10_000 })
  const sources = answer.data?.results ?? []
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
        toolbar={
          <>
            <MultiSelectFilter
              label="Detector"
              placeholder="Any detector"
              width={200}
              options={sources.map((one) => ({ value: one.key, label: one.name }))}
              value={search.source_key}
              onChange={(chosen) => setSearch({ source_key: chosen })}
            />
            <MultiSelectFilter
              label="Result"
              placeholder="Any result"
              width={200}
              options={ingestStates.map((value) => ({ value, label: deliveryLabels[value] }))}
              value={search.state}
              onChange={(chosen) => setSearch({ state: chosen })}
            />
          </>
        }
        empty={<Empty title="No deliveries yet">They appear here when a detector sends its first one.</Empty>}
      />
      <DeliveryDialog
        id={delivery === undefined ? undefined : Number(delivery)}
        onClose={() => setSearch({ delivery: undefined })}
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

const columnsWith = (open: (id: number) => void): readonly Column<IngestDelivery>[] => [
  {
    id: 'received',
    header: 'Received',
    orderBy: 'received',
    cell: ({ id, received }) => (
      <Button variant="subtle" size="compact-xs" px={0} onClick={() => open(id)}>
        <Time at={received} />
      </Button>
    ),
  },
  monoColumn('source', 'Detector', ({ source_key }) => source_key),
  { id: 'state', header: 'Result', cell: ({ state }) => <DeliveryBadge state={state} /> },
  { id: 'events', header: 'Events', align: 'right', cell: ({ event_count }) => event_count ?? '' },
  { id: 'notes', header: 'Notes', align: 'right', cell: ({ note_count }) => note_count },
  { id: 'error', header: 'Error', cell: ({ error }) => error ?? '' },
  timeColumn('processed', 'Processed', ({ processed }) => processed, { hidden: true, none: '' }),
  monoColumn('delivery', 'Delivery ID', ({ delivery_id }) => delivery_id, { hidden: true }),
]
