// Detectors: which sources fail and why, and what became of each of their deliveries.
import { Alert, Button, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import {
  ingestStates,
  listDeliveriesRoute,
  listSourcesRoute,
  recentDeliveriesMax,
  type DetectorSource,
  type IngestDelivery,
} from '@pharos/contract/events/delivery'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'
import { monoColumn, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { DeliveryBadge, deliveryShown, DeliveryView } from './delivery.tsx'
import { listed, words } from './words.ts'

const { detectors: t } = words

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
          label: t.detector,
          isOpen: true,
          options: (answer.data?.results ?? []).map((one) => ({ value: one.key, label: one.name })),
        },
        {
          kind: 'choice',
          name: 'state',
          label: t.result,
          options: ingestStates.map((value) => ({ value, ...deliveryShown[value] })),
        },
      ],
    }),
    [answer.data],
  )
  const view = useListSearch(path, declaration)
  const open = (id: number) => view.set({ show: id })
  return (
    <Page title={t.title} note={t.note}>
      {answer.error && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data?.count === 0 && <Empty title={t.none}>{t.noneHelp}</Empty>}
      {sources.some(({ failing }) => failing) && <FailingNote sources={sources} />}
      {sources.length > 0 && <Sources sources={sources} onOpen={open} />}
      <Title order={2} size="h3">
        {t.deliveries}
      </Title>
      <List<IngestDelivery>
        name="detector-deliveries"
        things={t.delivery}
        route={listDeliveriesRoute}
        view={view}
        columns={columns}
        refetchMs={10_000}
        panel={panel}
        empty={<Empty title={t.noneYet}>{t.noneYetHelp}</Empty>}
      />
    </Page>
  )
}

function FailingNote({ sources }: { sources: readonly DetectorSource[] }) {
  const names = sources.filter(({ failing }) => failing).map(({ name }) => name)
  return (
    <Alert color="bad" title={t.fails(names.length)}>
      <Text size="sm">{t.failsText(listed(names))}</Text>
    </Alert>
  )
}

function Sources({ sources, onOpen }: { sources: readonly DetectorSource[]; onOpen: (id: number) => void }) {
  const failingFirst = sources.toSorted((a, b) => Number(b.failing) - Number(a.failing))
  return (
    <Section title={t.sources} flush>
      <Table.ScrollContainer minWidth={720}>
        <Table fz="sm">
          <Table.Thead>
            <Table.Tr>
              {[t.detector, t.state, t.last, t.day, t.waiting, t.lastError].map((name) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {failingFirst.map((source) => (
              <SourceRow key={source.key} source={source} onOpen={onOpen} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
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
        <Time at={last_delivery} none={t.never} />
      </Table.Td>
      <Table.Td>
        {countText(deliveries_24h)} {t.delivery[deliveries_24h === 1 ? 0 : 1]}
        {failures_24h > 0 && `, ${t.withErrors(countText(failures_24h))}`}
      </Table.Td>
      <Table.Td>{waiting.toLocaleString('en')}</Table.Td>
      <Table.Td>
        {last_failure && (
          <Stack gap={2} align="flex-start">
            <Text size="xs" maw={360} style={{ overflowWrap: 'anywhere' }}>
              {last_failure.error} (<Time at={last_failure.received} />)
            </Text>
            <Button
              variant="default"
              size="compact-xs"
              aria-label={t.showOf(name)}
              onClick={() => onOpen(last_failure.id)}
            >
              {t.show}
            </Button>
          </Stack>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function SourceBadge({ failing, isSilent }: { failing: boolean; isSilent: boolean }) {
  if (isSilent) return <StatePill color="idle">{t.silent}</StatePill>
  return <StatePill color={failing ? 'bad' : 'ok'}>{failing ? t.failing : t.ok}</StatePill>
}

const countText = (count: number): string =>
  count >= recentDeliveriesMax
    ? t.orMore(recentDeliveriesMax.toLocaleString('en'))
    : count.toLocaleString('en')

const columns: readonly Column<IngestDelivery>[] = [
  timeColumn('received', t.received, ({ received }) => received, { orderBy: 'received', card: 'primary' }),
  monoColumn('source', t.detector, ({ source_key }) => source_key, { card: 'secondary' }),
  {
    id: 'state',
    header: t.result,
    width: 130,
    card: 'state',
    cell: ({ state }) => <DeliveryBadge state={state} />,
  },
  { id: 'events', header: t.events, align: 'right', width: 90, cell: ({ event_count }) => event_count ?? '' },
  { id: 'notes', header: t.notes, align: 'right', width: 90, cell: ({ note_count }) => note_count },
  { id: 'error', header: t.error, width: 240, grows: true, cell: ({ error }) => error ?? '' },
  timeColumn('processed', t.processed, ({ processed }) => processed, { hidden: true, none: '' }),
  monoColumn('delivery', t.deliveryId, ({ delivery_id }) => delivery_id, { hidden: true, width: 240 }),
]

const panel: PanelDeclaration<IngestDelivery> = {
  title: (delivery) => (delivery ? t.deliveryOf(delivery.source_key) : t.deliveryTitle),
  render: (id, row) => <DeliveryView id={row?.delivery_id ?? id} source={row?.source_key} />,
}
