// A list of the API as a table: it scrolls through all rows of the answer, however many, and asks for those that are
// looked at. Sorting and filtering are the server's; columns are chosen here; all rows can be taken along as a file.
import {
  ActionIcon,
  Checkbox,
  Group,
  Menu,
  Popover,
  Skeleton,
  Stack,
  Table,
  Text,
  Tooltip,
  UnstyledButton,
} from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import type { CallInput } from '@pharos/contract/client'
import type { Route } from '@pharos/contract/route'
import { IconArrowDown, IconArrowUp, IconColumns3, IconDownload, IconRefresh } from '@tabler/icons-react'
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { columnVisibilityFeature, createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef, useState, type ReactNode } from 'react'
import { call } from '../api/call.ts'
import { answerOf } from '../api/queries.ts'
import { download, toCsv } from './download.ts'
import { Problem, tellProblem } from './problem.tsx'
import classes from './list.module.css'

export type Column<Row> = {
  readonly id: string
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  /** The key by which the server orders it; none: it cannot be ordered by. */
  readonly orderBy?: string
  readonly hidden?: boolean
  readonly align?: 'right'
}

type PageOf<Row> = { readonly results: readonly Row[]; readonly count: number }

export type ListProps<Row> = {
  /** What it is called in files and in the browser's memory of columns. */
  readonly name: string
  readonly route: Route
  readonly params?: Readonly<Record<string, string | number>>
  readonly filters: Readonly<Record<string, unknown>>
  readonly columns: readonly Column<Row>[]
  readonly ordering: string | undefined
  readonly onOrdering: (ordering: string) => void
  readonly empty: ReactNode
  readonly toolbar?: ReactNode
  readonly refetchMs?: number
  readonly height?: string
}

const pageRows = 100
const exportRows = 1000
const rowHeight = 34

const features = tableFeatures({ columnVisibilityFeature })

export function List<Row extends object>(props: ListProps<Row>) {
  const { name, route, params, filters, columns, ordering, onOrdering, empty, toolbar, refetchMs } = props
  const viewport = useRef<HTMLDivElement>(null)
  const asked = useMemo(
    () => ({ ...(params ? { params } : {}), query: { ...filters, ...(ordering ? { ordering } : {}) } }),
    [params, filters, ordering],
  )
  const first = useQuery({
    ...answerOf(route, inputOf(asked, 0)),
    placeholderData: keepPreviousData,
    ...(refetchMs === undefined ? {} : { refetchInterval: refetchMs }),
  })
  const page = first.data as PageOf<Row> | undefined
  const count = page?.count ?? 0
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  })
  const items = virtual.getVirtualItems()
  const pages = [...new Set(items.map(({ index }) => Math.floor(index / pageRows)))].filter((at) => at > 0)
  const further = useQueries({ queries: pages.map((at) => answerOf(route, inputOf(asked, at * pageRows))) })
  const rowAt = (index: number): Row | undefined => {
    const at = Math.floor(index / pageRows)
    const found = at === 0 ? page : (further[pages.indexOf(at)]?.data as PageOf<Row> | undefined)
    return found?.results[index % pageRows]
  }

  const [hidden, setHidden] = useLocalStorage<Record<string, boolean>>({
    key: `pharos-columns-${name}`,
    defaultValue: Object.fromEntries(columns.filter((column) => column.hidden).map(({ id }) => [id, false])),
    getInitialValueInEffect: false,
  })
  const helper = useMemo(() => createColumnHelper<typeof features, Row>(), [])
  const table = useTable({
    features,
    columns: useMemo(
      () => helper.columns(columns.map(({ id, header }) => helper.display({ id, header }))),
      [columns, helper],
    ),
    data: noRows as Row[],
    state: { columnVisibility: hidden },
    onColumnVisibilityChange: (next) => setHidden(typeof next === 'function' ? next(hidden) : next),
  })
  const shown = table.getVisibleLeafColumns().map(({ id }) => columns.find((column) => column.id === id)!)

  if (first.error && !page) return <Problem error={first.error} />
  const above = items[0]?.start ?? 0
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0)
  return (
    <Stack gap="xs">
      <Group justify="space-between" align="flex-end">
        <Group gap="xs" align="flex-end">
          {toolbar}
        </Group>
        <Group gap={4}>
          <Text size="xs" c="dimmed" aria-live="polite">
            {page ? `${count.toLocaleString('en')} ${count === 1 ? 'row' : 'rows'}` : ''}
          </Text>
          <Tooltip label="Ask again">
            <ActionIcon
              aria-label="Ask again"
              loading={first.isFetching}
              onClick={() => void first.refetch()}
            >
              <IconRefresh size={16} />
            </ActionIcon>
          </Tooltip>
          <ColumnChoice
            columns={columns}
            isShown={(id) => hidden[id] !== false}
            onToggle={(id) => table.getColumn(id)?.toggleVisibility()}
          />
          <Export name={name} route={route} asked={asked} count={count} />
        </Group>
      </Group>
      {page && count === 0 ? (
        empty
      ) : (
        <div
          ref={viewport}
          data-list
          className={classes['viewport']}
          style={{ maxHeight: props.height ?? 'calc(100dvh - 220px)' }}
        >
          <Table stickyHeader aria-rowcount={count + 1} className={classes['table']!}>
            <Table.Thead>
              <Table.Tr>
                {shown.map((column) => (
                  <Heading key={column.id} column={column} ordering={ordering} onOrdering={onOrdering} />
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {!page && Array.from({ length: 8 }, (_, at) => <SkeletonRow key={at} columns={shown.length} />)}
              {above > 0 && <Spacer height={above} />}
              {items.map(({ index }) => {
                const row = rowAt(index)
                if (!row) return <SkeletonRow key={index} columns={shown.length} />
                return (
                  <Table.Tr key={index} aria-rowindex={index + 2}>
                    {shown.map(({ id, cell, align }) => (
                      <Table.Td key={id} {...(align ? { ta: align } : {})}>
                        {cell(row)}
                      </Table.Td>
                    ))}
                  </Table.Tr>
                )
              })}
              {below > 0 && <Spacer height={below} />}
            </Table.Tbody>
          </Table>
        </div>
      )}
    </Stack>
  )
}

const noRows: object[] = []

type Asked = { readonly params?: object; readonly query: object }

const inputOf = (asked: Asked, offset: number, limit = pageRows) =>
  ({ ...asked, query: { ...asked.query, limit, offset } }) as CallInput<Route>

function Heading<Row>({
  column,
  ordering,
  onOrdering,
}: Pick<ListProps<Row>, 'ordering' | 'onOrdering'> & { column: Column<Row> }) {
  const { header, orderBy, align } = column
  const direction = ordering === orderBy ? 'ascending' : ordering === `-${orderBy}` ? 'descending' : 'none'
  if (orderBy === undefined) return <Table.Th {...(align ? { ta: align } : {})}>{header}</Table.Th>
  return (
    <Table.Th aria-sort={direction} {...(align ? { ta: align } : {})}>
      <UnstyledButton
        className={classes['order']!}
        onClick={() => onOrdering(direction === 'ascending' ? `-${orderBy}` : orderBy)}
      >
        {header}
        {direction === 'ascending' && <IconArrowUp size={12} />}
        {direction === 'descending' && <IconArrowDown size={12} />}
      </UnstyledButton>
    </Table.Th>
  )
}

const Spacer = ({ height }: { height: number }) => (
  <tr aria-hidden>
    <td style={{ height, padding: 0 }} />
  </tr>
)

const SkeletonRow = ({ columns }: { columns: number }) => (
  <Table.Tr>
    {Array.from({ length: columns }, (_, at) => (
      <Table.Td key={at}>
        <Skeleton height={12} my={5} />
      </Table.Td>
    ))}
  </Table.Tr>
)

function ColumnChoice<Row>(props: {
  columns: readonly Column<Row>[]
  isShown: (id: string) => boolean
  onToggle: (id: string) => void
}) {
  return (
    <Popover position="bottom-end" shadow="md">
      <Popover.Target>
        <ActionIcon aria-label="Choose columns">
          <IconColumns3 size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={6}>
          {props.columns.map(({ id, header }) => (
            <Checkbox
              key={id}
              size="xs"
              label={header}
              checked={props.isShown(id)}
              onChange={() => props.onToggle(id)}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

function Export({ name, route, asked, count }: { name: string; route: Route; asked: Asked; count: number }) {
  const [progress, setProgress] = useState<number>()
  async function rows(): Promise<Record<string, unknown>[]> {
    const all: Record<string, unknown>[] = []
    for (let offset = 0; offset === 0 || offset < count; offset += exportRows) {
      setProgress(Math.min(1, offset / Math.max(1, count)))
      const { body } = await call(route, inputOf(asked, offset, exportRows))
      all.push(...(body as unknown as PageOf<Record<string, unknown>>).results)
    }
    return all
  }
  async function take(kind: 'csv' | 'json') {
    try {
      const all = await rows()
      const content = kind === 'csv' ? toCsv(all) : JSON.stringify(all, undefined, 2)
      download(
        `${name}.${kind}`,
        new Blob([content], { type: kind === 'csv' ? 'text/csv' : 'application/json' }),
      )
    } catch (error) {
      tellProblem(error)
    } finally {
      setProgress(undefined)
    }
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label="Export all rows" loading={progress !== undefined} disabled={count === 0}>
          <IconDownload size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>All {count.toLocaleString('en')} rows, as filtered</Menu.Label>
        <Menu.Item onClick={() => void take('csv')}>CSV</Menu.Item>
        <Menu.Item onClick={() => void take('json')}>JSON</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
