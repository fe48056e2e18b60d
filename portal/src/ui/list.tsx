// A list of the API: the page kind for many records of one type. A page declares columns, filters, actions and the side panel; the
// list provides the rest: virtual rows, order, sizes, chips, saved views, selection, cards on phones, export, keys, live refresh.
//
//   const declaration = { sort: '-start', filters, search, time: { start: 'start', end: 'end' } }  // constant, or from useMemo
//   const view = useListSearch('/events', declaration)
//   <List<Incident> name="events" things={['attack', 'attacks']} route={listIncidentsRoute} view={view}
//     columns={columns} panel={panel} empty={<Empty title="No attacks yet" />} />
import { ActionIcon, Button, CloseButton, Group, Stack, Text, Tooltip } from '@mantine/core'
import type { Route } from '@pharos/contract/route'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react'
import { answerOverLastOf, invalidate, queryClient, refetchIntervalOf, teamIdNow } from '../api/queries.ts'
import type { PageOf, Row as AnyRow } from './all-rows.ts'
import { Empty } from './empty.tsx'
import { AddFilter, FilterChips } from './filter-chips.tsx'
import filterClasses from './filter.module.css'
import { BulkBar, type BulkAction } from './list-bulk.tsx'
import type { Column } from './list-column.ts'
import { wordsOf } from './list-filter.ts'
import { useListLayout, type ListLayout } from './list-layout.ts'
import { ListPanel, type PanelDeclaration } from './list-panel.tsx'
import { inputOf, useRequest, type ListRequest } from './list-requests.ts'
import { ListRows } from './list-rows.tsx'
import { Export, pagesOf, ViewOptions } from './list-tools.tsx'
import { SavedViews } from './list-views.tsx'
import { notifyProblem } from './notify.ts'
import { NotUpdated, type Refreshed } from './not-updated.tsx'
import { placeholderProps } from './placeholder.ts'
import { Problem } from './problem.tsx'
import { SearchField } from './search-field.tsx'
import { TimeRangeField } from './time-range-field.tsx'
import { rangeChanges, viewText, type Ignored, type ListView } from './use-list-search.ts'
import { useIsPhone } from './use-is-phone.ts'
import { useSelection } from './use-selection.ts'
import { words } from './words.ts'
import classes from './list.module.css'

export type ListProps<Row> = {
  /** Names exported files and the settings of the list in the browser. */
  readonly name: string
  /** The singular and plural name of a row. */
  readonly things: readonly [one: string, several: string]
  readonly route: Route
  readonly params?: Readonly<Record<string, string | number>>
  /** Filters, order and columns, from the address: useListSearch. */
  readonly view: ListView
  /** Further parameters of the API that users do not set. */
  readonly query?: Readonly<Record<string, unknown>>
  readonly columns: readonly Column<Row>[]
  /** Must keep its identity; default: the field `id`. */
  readonly idOf?: (row: Row) => string
  /** Content for no rows without filters. */
  readonly empty: ReactNode
  /** Content if no row matches the filters, in place of the default text. */
  readonly emptyFiltered?: ReactNode
  /** Actions on selected rows; without any, rows cannot be selected. Must keep its identity. */
  readonly bulk?: readonly BulkAction<Row>[]
  /** The side panel of a row; without it a click opens the page of the row. */
  readonly panel?: PanelDeclaration<Row>
  /** A strip above the rows, such as a chart of them by day. */
  readonly chart?: ReactNode
  /** Further tools, such as the button that adds a row. */
  readonly toolbar?: ReactNode
  readonly refetchMs?: number
  /** CSS length, the most of the page's height that the list takes; the rest of the page if left out. */
  readonly height?: string
}

const idOfRow = (row: object): string => String((row as { readonly id?: unknown }).id)

/** Renders a list as its page declares it. */
export function List<Row extends object>(props: ListProps<Row>) {
  const { name, things, route, params, view, query, columns, empty, emptyFiltered, refetchMs, bulk, panel } =
    props
  const { idOf = idOfRow } = props
  const { set, sort, isFiltered } = view
  const [refused, request] = useRequest(route, view, params, query)
  const first = useQuery({
    ...answerOverLastOf(route, inputOf(request, 0)),
    refetchInterval: () => refetchIntervalOf(route, refetchMs),
  })
  const page = first.data as PageOf<Row> | undefined
  // A range up to now moves each minute: the rows still belong to this view.
  const rowsKey = JSON.stringify([teamIdNow(), name, params, query, view.values, view.range])
  const [shown, setShown] = useState({ rowsKey, sort })
  const isSameView = shown.rowsKey === rowsKey && shown.sort === sort
  if (!first.isPlaceholderData && !isSameView) setShown({ rowsKey, sort })
  const hasOtherRows = first.isPlaceholderData && shown.rowsKey !== rowsKey
  const isPlaceholder = first.isPlaceholderData && !isSameView
  const count = page?.count ?? 0
  const layout = useListLayout(name, columns, view) as unknown as ListLayout
  const selection = useSelection<Row>(layout, idOf)
  // Rows that do not match other filters are not changed by a bulk action.
  const selecting = useRef<AbortController>(undefined)
  useEffect(() => {
    selection.clear()
    return () => selecting.current?.abort()
  }, [rowsKey, hasOtherRows])
  async function selectAll(): Promise<void> {
    const { signal } = (selecting.current = new AbortController())
    try {
      for await (const { results } of pagesOf<Row & AnyRow>(route, request, signal))
        if (!signal.aborted) selection.add(results)
    } catch (error) {
      if (!signal.aborted) notifyProblem(error)
    }
  }
  const onSort = useCallback((next: string) => set({ sort: next }), [set])
  const show = useCallback((id: string | undefined) => set({ show: id }), [set])
  const close = useCallback(() => show(undefined), [show])
  return (
    <Stack gap="xs" className={classes['list']!}>
      <Toolbar
        {...props}
        layout={layout}
        count={page && count}
        request={request}
        isFetching={first.isFetching}
      />
      <IgnoredNote ignored={[...view.ignored, ...refused]} view={view} />
      {props.chart}
      <div
        className={classes['body']}
        data-with-panel={(panel && view.shown !== undefined) || undefined}
        data-with-bulk={selection.count > 0 || undefined}
      >
        {first.error && !page ? (
          <Stack align="flex-start">
            <Problem error={first.error} />
            <Button variant="default" loading={first.isFetching} onClick={() => void first.refetch()}>
              {words.list.retry}
            </Button>
          </Stack>
        ) : page && count === 0 ? (
          <Stack gap="xs" {...placeholderProps(isPlaceholder)}>
            <NotUpdated answers={[first]} />
            {isFiltered ? (emptyFiltered ?? <Empty title={words.list.noMatch(things[1])} />) : empty}
          </Stack>
        ) : (
          <ListRows<Row>
            route={route}
            request={request}
            first={first as Refreshed & { readonly data: PageOf<Row> | undefined }}
            refetchMs={refetchMs}
            isPlaceholder={isPlaceholder}
            layout={layout}
            sort={sort}
            onSort={onSort}
            height={props.height}
            label={words.list.rowsLabel(things[1])}
            idOf={idOf}
            selection={bulk && bulk.length > 0 ? selection : undefined}
            onShow={panel ? show : undefined}
            shown={panel ? view.shown : undefined}
            isOpener={panel !== undefined && panel.pageOf === undefined}
          />
        )}
        {panel && view.shown !== undefined && (
          <Panel panel={panel} id={view.shown} idOf={idOf} route={route} onClose={close} />
        )}
        {bulk && (
          <BulkBar
            actions={bulk}
            count={selection.count}
            total={count}
            onAll={selectAll}
            onClear={selection.clear}
            rows={selection.rows}
          />
        )}
      </div>
    </Stack>
  )
}

type ToolbarProps<Row> = ListProps<Row> & {
  readonly layout: ListLayout
  /** Undefined while it is loading. */
  readonly count: number | undefined
  readonly request: ListRequest
  readonly isFetching: boolean
}

function Toolbar<Row extends object>(props: ToolbarProps<Row>) {
  const { name, things, route, view, columns, layout, count, request, isFetching, toolbar } = props
  const { search, values, set, time, range } = view
  const [edited, setEdited] = useState<string>()
  const isPhone = useIsPhone()
  return (
    <>
      <Group justify="space-between" align="flex-start" gap="xs">
        <Group gap="xs" align="flex-start">
          {search && (
            <SearchField
              isMain
              label={search.label}
              placeholder={search.placeholder ?? search.label}
              width={isPhone ? '100%' : 240}
              value={values[search.name] ?? ''}
              {...(search.mistakeIn ? { mistakeIn: search.mistakeIn } : {})}
              onCommit={(text) =>
                set({ [search.name]: search.normalize?.(text) ?? (search.hasMany ? wordsOf(text) : text) })
              }
            />
          )}
          {time && <TimeRangeField value={range} onChange={(next) => set(rangeChanges(next))} />}
          <AddFilter view={view} onAdd={setEdited} />
          <SavedViews list={name} several={things[1]} suggestedName={() => viewText(view)} />
          {toolbar}
        </Group>
        <Group gap={4} ml="auto" wrap="nowrap" mih={30}>
          <Text size="sm" c="dimmed" aria-live="polite">
            {count === undefined ? '' : words.list.count(count, things)}
          </Text>
          <Tooltip label={words.list.refresh}>
            <ActionIcon
              aria-label={words.list.refresh}
              data-busy={isFetching || undefined}
              className={classes['again']!}
              // Also the pages in view after the first.
              onClick={() => void invalidate(route)}
            >
              <IconRefresh size={16} />
            </ActionIcon>
          </Tooltip>
          <ViewOptions
            columns={columns as unknown as readonly Column<object>[]}
            layout={layout}
            sort={view.sort}
            onSort={(next) => set({ sort: next })}
          />
          <Export name={name} route={route} request={request} count={count ?? 0} />
        </Group>
      </Group>
      <FilterChips view={view} edited={edited} onEdit={setEdited} />
    </>
  )
}

function IgnoredNote({ ignored, view }: { ignored: readonly Ignored[]; view: ListView }) {
  if (ignored.length === 0) return null
  return (
    <div role="status" className={filterClasses['ignored']}>
      <span>{words.list.ignored(ignored.map(({ text }) => text))}</span>
      <CloseButton
        size="sm"
        aria-label={words.list.dismiss}
        onClick={() =>
          view.set(
            Object.fromEntries(
              ignored.flatMap(({ name, kept }) =>
                name === 'range' ? Object.entries(rangeChanges({})) : [[name, kept]],
              ),
            ),
          )
        }
      />
    </div>
  )
}

type PanelProps<Row> = {
  readonly panel: PanelDeclaration<Row>
  readonly id: string
  readonly idOf: (row: Row) => string
  readonly route: Route
  readonly onClose: () => void
}

function Panel<Row extends object>({ panel, id, idOf, route, onClose }: PanelProps<Row>) {
  const row = loadedRow(route, id, idOf)
  return (
    <ListPanel title={panel.title(row, id)} page={panel.pageOf?.(id)} onClose={onClose}>
      {panel.render(id, row)}
    </ListPanel>
  )
}

/** Returns the row from any loaded page of the list, of this team. */
function loadedRow<Row extends object>(
  route: Route,
  id: string,
  idOf: (row: Row) => string,
): Row | undefined {
  for (const [, data] of queryClient.getQueriesData<PageOf<Row>>({
    predicate: ({ queryKey: [team, name] }) => team === teamIdNow() && name === route.name,
  })) {
    const found = data?.results.find((row) => idOf(row) === id)
    if (found) return found
  }
  return undefined
}
