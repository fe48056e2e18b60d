// A list of the API as a table that scrolls through all rows, however many; those in view are requested. The server sorts
// and filters; columns are chosen here; all rows can be exported.
import { ActionIcon, Button, Group, Stack, Text, Tooltip } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import type { Route } from '@pharos/contract/route'
import { IconRefresh } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, type ReactNode } from 'react'
import { answerOf, refetchIntervalOf } from '../api/queries.ts'
import type { PageOf } from './all-rows.ts'
import { Empty } from './empty.tsx'
import type { Column } from './list-column.ts'
import { inputOf } from './list-requests.ts'
import { ListRows } from './list-rows.tsx'
import { ColumnChoice, Export } from './list-tools.tsx'
import { Problem } from './problem.tsx'
import type { ListView } from './use-page-search.ts'
import classes from './list.module.css'

type ListProps<Row> = {
  /** Names exported files and the chosen columns in the browser's storage. */
  readonly name: string
  /** The name of a row: one, several. */
  readonly things: readonly [one: string, several: string]
  readonly route: Route
  readonly params?: Readonly<Record<string, string | number>>
  /** Filters and order, from the address; filters are parameters of the API. */
  readonly view: ListView
  /** Further parameters of the API that users do not set. */
  readonly query?: Readonly<Record<string, unknown>>
  readonly columns: readonly Column<Row>[]
  /** Shown if there are no rows, without any filter. */
  readonly empty: ReactNode
  /** Shown if no row matches the filters, in place of the usual text. */
  readonly emptyFiltered?: ReactNode
  readonly toolbar?: ReactNode
  /** False if the page has its own button to clear the filters. */
  readonly hasClearButton?: boolean
  readonly refetchMs?: number
  /** CSS length, the most of the page's height that the list takes; the rest of the page if left out. */
  readonly height?: string
}

export function List<Row extends object>(props: ListProps<Row>) {
  const { name, things, route, params, view, query, columns, empty, emptyFiltered, toolbar, refetchMs } =
    props
  const { hasClearButton = true } = props
  const { filters, ordering, setOrdering, clearFilters } = view
  const request = useMemo(
    () => ({
      ...(params ? { params } : {}),
      query: { ...filters, ...query, ...(ordering ? { ordering } : {}) },
    }),
    [params, filters, query, ordering],
  )
  const first = useQuery({
    ...answerOf(route, inputOf(request, 0)),
    placeholderData: keepPreviousData,
    refetchInterval: () => refetchIntervalOf(route, refetchMs),
  })
  const page = first.data as PageOf<Row> | undefined
  const count = page?.count ?? 0
  const [shown, isShown, toggle] = useColumns(name, columns)
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Stack gap="xs" className={classes['list']!}>
      <Group justify="space-between" align="flex-end">
        <Group gap="xs" align="flex-start">
          {toolbar}
          {isFiltered && hasClearButton && (
            <Button size="xs" variant="subtle" onClick={clearFilters}>
              Clear filters
            </Button>
          )}
        </Group>
        <Group gap={4} ml="auto">
          <Text size="xs" c="dimmed" aria-live="polite">
            {page ? countText(count, things) : ''}
          </Text>
          <Tooltip label="Refresh">
            <ActionIcon
              aria-label="Refresh"
              data-busy={first.isFetching || undefined}
              className={classes['again']!}
              onClick={() => void first.refetch()}
            >
              <IconRefresh size={16} />
            </ActionIcon>
          </Tooltip>
          <ColumnChoice columns={columns} isShown={isShown} onToggle={toggle} />
          <Export name={name} route={route} request={request} count={count} />
        </Group>
      </Group>
      {first.error && !page ? (
        <Problem error={first.error} />
      ) : page && count === 0 ? (
        isFiltered ? (
          (emptyFiltered ?? <Empty title={`No ${things[1]} match these filters`} />)
        ) : (
          empty
        )
      ) : (
        <ListRows
          route={route}
          request={request}
          page={page}
          asOf={first.dataUpdatedAt}
          columns={shown}
          ordering={ordering}
          onOrdering={setOrdering}
          height={props.height}
        />
      )}
    </Stack>
  )
}

const countText = (count: number, [one, several]: ListProps<never>['things']): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : several}`

/** The columns that are shown: the user's choice in this browser, or else the column's own default. */
function useColumns<Row>(name: string, columns: readonly Column<Row>[]) {
  const [chosen, setChosen] = useLocalStorage<Record<string, boolean>>({
    key: `pharos-columns-${name}`,
    defaultValue: {},
    getInitialValueInEffect: false,
  })
  const isShown = (id: string): boolean =>
    chosen[id] ?? columns.find((column) => column.id === id)?.hidden !== true
  const shown = useMemo(() => {
    const left = columns.filter(({ id, hidden }) => chosen[id] ?? hidden !== true)
    return left.length > 0 ? left : columns.slice(0, 1)
  }, [columns, chosen])
  const toggle = (id: string) => setChosen({ ...chosen, [id]: !isShown(id) })
  return [shown, isShown, toggle] as const
}
