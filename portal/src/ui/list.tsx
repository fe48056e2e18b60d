// A list of the API as a table: it scrolls through all rows of the answer, however many, and asks for those that are
// looked at. Sorting and filtering are the server's; columns are chosen here; all rows can be taken along as a file.
import { ActionIcon, Group, Stack, Text, Tooltip } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import type { Route } from '@pharos/contract/route'
import { IconRefresh } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, type ReactNode } from 'react'
import { answerOf, paceOf } from '../api/queries.ts'
import type { PageOf } from './all-rows.ts'
import { inputOf } from './list-pages.ts'
import { ListRows } from './list-rows.tsx'
import { ColumnChoice, Export } from './list-tools.tsx'
import { Problem } from './problem.tsx'
import classes from './list.module.css'

export type Column<Row> = {
  readonly id: string
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  /** The key by which the server orders it; none: it cannot be ordered by. */
  readonly orderBy?: string
  readonly hidden?: boolean
  readonly align?: 'right'
  /** It stays in view at the right, however narrow the screen: what can be done with the row. */
  readonly pinned?: true
}

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
  /** The most that it takes of the page's height; the rest of the page unless said. */
  readonly height?: string
}

export function List<Row extends object>(props: ListProps<Row>) {
  const { name, route, params, filters, columns, ordering, onOrdering, empty, toolbar, refetchMs } = props
  const asked = useMemo(
    () => ({ ...(params ? { params } : {}), query: { ...filters, ...(ordering ? { ordering } : {}) } }),
    [params, filters, ordering],
  )
  const first = useQuery({
    ...answerOf(route, inputOf(asked, 0)),
    placeholderData: keepPreviousData,
    refetchInterval: () => paceOf(route, refetchMs),
  })
  const page = first.data as PageOf<Row> | undefined
  const count = page?.count ?? 0
  const [shown, isShown, toggle] = useColumns(name, columns)
  if (first.error && !page) return <Problem error={first.error} />
  return (
    <Stack gap="xs" className={classes['list']!}>
      <Group justify="space-between" align="flex-end">
        <Group gap="xs" align="flex-end">
          {toolbar}
        </Group>
        <Group gap={4} ml="auto">
          <Text size="xs" c="dimmed" aria-live="polite">
            {page ? `${count.toLocaleString('en')} ${count === 1 ? 'row' : 'rows'}` : ''}
          </Text>
          <Tooltip label="Ask again">
            <ActionIcon
              aria-label="Ask again"
              data-busy={first.isFetching || undefined}
              className={classes['again']!}
              onClick={() => void first.refetch()}
            >
              <IconRefresh size={16} />
            </ActionIcon>
          </Tooltip>
          <ColumnChoice columns={columns} isShown={isShown} onToggle={toggle} />
          <Export name={name} route={route} asked={asked} count={count} />
        </Group>
      </Group>
      {page && count === 0 ? (
        empty
      ) : (
        <ListRows
          route={route}
          asked={asked}
          page={page}
          asOf={first.dataUpdatedAt}
          columns={shown}
          ordering={ordering}
          onOrdering={onOrdering}
          height={props.height}
        />
      )}
    </Stack>
  )
}

/** Which columns are shown, by what the person chose in this browser, and by the column itself where nothing was chosen. */
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
