// The rows of a list. Only those on the screen and a few around them are elements of the page; on a phone each is a card of two
// lines, and the page scrolls instead of the list. Keys: j and k or the arrows move the focus, Enter opens the row, Space its panel, x selects it.
import { Checkbox } from '@mantine/core'
import type { Route } from '@pharos/contract/route'
import { useVirtualizer, useWindowVirtualizer } from '@tanstack/react-virtual'
import {
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type MouseEvent,
  type ReactNode,
  type RefObject,
} from 'react'
import type { PageOf } from './all-rows.ts'
import { CellTip } from './cell-tip.tsx'
import { ListHead } from './list-head.tsx'
import { useDensity, type ListLayout } from './list-layout.ts'
import { useRows, type ListRequest } from './list-requests.ts'
import { LoadingRow, OneRow } from './list-row.tsx'
import classes from './list.module.css'
import { NotUpdated, type Refreshed } from './not-updated.tsx'
import { placeholderProps } from './placeholder.ts'
import { useIsPhone } from './use-is-phone.ts'
import type { Selection } from './use-selection.ts'
import { useRowKeys } from './use-row-keys.ts'
import { words } from './words.ts'

type ListRowsProps<Row> = {
  readonly route: Route
  readonly request: ListRequest
  /** The answer to the first page. */
  readonly first: Refreshed & { readonly data: PageOf<Row> | undefined }
  readonly refetchMs: number | undefined
  /** The rows belong to an earlier view until this one is loaded. */
  readonly isPlaceholder: boolean
  readonly layout: ListLayout
  readonly sort: string | undefined
  readonly onSort: (sort: string) => void
  readonly height: string | undefined
  readonly label: string
  readonly idOf: (row: Row) => string
  readonly selection: Selection<Row> | undefined
  /** Opens the side panel of a row; undefined for a list without a panel. */
  readonly onShow: ((id: string) => void) | undefined
  /** Id of the row in the side panel. */
  readonly shown: string | undefined
  /** The first cell opens the side panel, since rows have no page. */
  readonly isOpener: boolean
}

/** Pixels. Must match the style sheet. */
const heights = { comfortable: 36, compact: 30, card: 62 } as const
const headHeight = 34
const rowsWhileLoading = 12
/** Minimum number of visible rows: if the page leaves less room, the page scrolls. */
const rowsMin = 6

export function ListRows<Row extends object>(props: ListRowsProps<Row>) {
  const { route, request, first, layout, sort, onSort, height, label, selection, isOpener } = props
  const { isPlaceholder, refetchMs } = props
  const page = first.data
  const viewport = useRef<HTMLDivElement>(null)
  const count = page?.count ?? 0
  const isPhone = useIsPhone()
  const [density] = useDensity()
  const rowHeight = heights[isPhone ? 'card' : density]
  const virtual = useVirtualRows(viewport, { count, rowHeight, isPhone })
  const { items } = virtual
  const range = { first: items[0]?.index ?? 0, last: items.at(-1)?.index ?? 0 }
  const { rowAt, further } = useRows(route, request, page, range, refetchMs)
  const inView: InView<Row> = { ...props, items, rowAt }
  const latest = useKeys(viewport, count, virtual.show, inView)
  useRemainingHeight(viewport, !isPhone)
  const { shown: columns } = layout
  const growing = isPhone ? undefined : columns.find((one) => one.grows && !layout.hasOwnWidth(one.id))?.id
  const cells = columns.length + (selection ? 1 : 0) + (growing === undefined ? 1 : 0)
  const head = useHead(latest, { layout, growing, selected: selection?.count, count, sort, onSort })
  return (
    <>
      <NotUpdated answers={[first, ...further]} />
      <div
        ref={viewport}
        data-list
        data-density={isPhone ? 'card' : density}
        className={classes['viewport']}
        style={
          isPhone
            ? undefined
            : {
                minHeight: (Math.min(page ? count : rowsWhileLoading, rowsMin) + 1.2) * rowHeight,
                ...(height === undefined ? {} : { maxHeight: height }),
              }
        }
        onClick={(event) => onRowClick(event, inView)}
        {...placeholderProps(isPlaceholder)}
      >
        <table
          className={classes['table']}
          aria-label={label}
          aria-rowcount={count + 1}
          data-selectable={selection ? true : undefined}
          style={isPhone ? undefined : { minWidth: layout.width + (selection ? 40 : 0) }}
        >
          {isPhone ? <UnseenHead label={label} /> : head}
          <tbody>
            {!page &&
              Array.from({ length: rowsWhileLoading }, (_, at) => (
                <LoadingRow key={at} cells={cells} isCard={isPhone} />
              ))}
            <RowsInView
              rows={inView}
              columns={columns}
              heightOfAll={virtual.height}
              cells={cells}
              asOf={first.dataUpdatedAt}
              isCard={isPhone}
              hasFiller={growing === undefined}
              isOpener={isOpener}
            />
          </tbody>
        </table>
        <CellTip viewport={viewport} />
      </div>
    </>
  )
}

/** Cards have no headings; the table of a phone still needs its first row. */
const UnseenHead = ({ label }: { readonly label: string }) => (
  <thead className={classes['unseen']}>
    <tr aria-rowindex={1}>
      <th>{label}</th>
    </tr>
  </thead>
)

type VirtualRowsOptions = { readonly count: number; readonly rowHeight: number; readonly isPhone: boolean }

/** The place of a row in the list, in pixels. */
type RowPlace = { readonly index: number; readonly start: number; readonly end: number }

type VirtualRows = {
  readonly items: readonly RowPlace[]
  readonly height: number
  readonly show: (index: number) => void
}

function useVirtualRows(
  viewport: RefObject<HTMLDivElement | null>,
  { count, rowHeight, isPhone }: VirtualRowsOptions,
): VirtualRows {
  const shared = { count, estimateSize: () => rowHeight, overscan: 8 }
  const list = useVirtualizer({
    ...shared,
    enabled: !isPhone,
    getScrollElement: () => viewport.current,
    // The sticky heading would cover a row that is scrolled to the top.
    scrollPaddingStart: headHeight,
  })
  const scrollMargin = useTop(viewport, isPhone)
  const page = useWindowVirtualizer({ ...shared, enabled: isPhone, scrollMargin })
  const virtual = isPhone ? page : list
  useLayoutEffect(() => virtual.measure(), [rowHeight])
  const above = isPhone ? scrollMargin : 0
  return {
    items: virtual
      .getVirtualItems()
      .map(({ index, start, end }) => ({ index, start: start - above, end: end - above })),
    height: virtual.getTotalSize(),
    show: (index) => virtual.scrollToIndex(index),
  }
}

/** Returns the distance of the list from the top of the page, which changes with the content above it. */
function useTop(viewport: RefObject<HTMLDivElement | null>, isEnabled: boolean): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    if (!isEnabled || !viewport.current) return
    setTop(Math.round(viewport.current.getBoundingClientRect().top + window.scrollY))
  })
  return top
}

/** The rows in view, and what opens and selects them. */
type InView<Row> = Pick<ListRowsProps<Row>, 'idOf' | 'selection' | 'onShow' | 'shown'> & {
  readonly items: readonly RowPlace[]
  readonly rowAt: (index: number) => Row | undefined
}

/** Connects the keys. Returns the rows now in view, for handlers that are not made again for each row that comes into view. */
function useKeys<Row>(
  viewport: RefObject<HTMLDivElement | null>,
  count: number,
  show: (index: number) => void,
  inView: InView<Row>,
): RefObject<InView<Row>> {
  const latest = useRef(inView)
  latest.current = inView
  useRowKeys(viewport, count, {
    show,
    // With an open panel the keys move its row.
    onFocus: (index) => {
      const row = latest.current.rowAt(index)
      if (row && latest.current.shown !== undefined) latest.current.onShow?.(latest.current.idOf(row))
    },
    onPeek: (index) => {
      const row = latest.current.rowAt(index)
      if (row) latest.current.onShow?.(latest.current.idOf(row))
    },
    onSelect: (index) => {
      const row = latest.current.rowAt(index)
      if (row) latest.current.selection?.toggle(row, index, false, latest.current.rowAt)
    },
  })
  return latest
}

function onRowClick<Row>(event: MouseEvent, { rowAt, idOf, selection, onShow }: InView<Row>): void {
  const target = event.target as HTMLElement
  const row = target.closest<HTMLElement>('tr[aria-rowindex]')
  if (!row || !row.closest('tbody')) return
  const index = Number(row.getAttribute('aria-rowindex')) - 2
  const data = rowAt(index)
  if (!data) return
  if (target instanceof HTMLInputElement && target.type === 'checkbox' && target.dataset['select']) {
    selection?.toggle(data, index, event.shiftKey, rowAt)
    return
  }
  // Selecting text to copy it must not open the row.
  if (target.closest('a, button:not([data-opener]), input, label') || String(getSelection()) !== '') return
  if (onShow) {
    row.focus({ preventScroll: true })
    onShow(idOf(data))
  } else row.querySelector<HTMLElement>('a')?.click()
}

type HeadOptions = Pick<ListRowsProps<object>, 'layout' | 'sort' | 'onSort'> & {
  readonly growing: string | undefined
  /** The number of selected rows; undefined for a list without a selection. */
  readonly selected: number | undefined
  readonly count: number
}

/** Returns the widths and the heading, which are not rendered again for each row that comes into view. */
function useHead<Row>(
  latest: RefObject<InView<Row>>,
  { layout, growing, selected, count, sort, onSort }: HeadOptions,
): ReactNode {
  return useMemo(() => {
    const toggleAll = () => {
      const { items, rowAt, selection } = latest.current
      if (selection && selection.count > 0) selection.clear()
      else selection?.add(items.flatMap(({ index }) => rowAt(index) ?? []))
    }
    const selectAll = selected !== undefined && (
      <Checkbox
        size="xs"
        radius={4}
        aria-label={words.selection.inView}
        checked={selected > 0 && selected >= count}
        indeterminate={selected > 0 && selected < count}
        onChange={toggleAll}
      />
    )
    return (
      <>
        <Widths layout={layout} growing={growing} hasSelection={selected !== undefined} />
        <ListHead
          layout={layout}
          sort={sort}
          onSort={onSort}
          select={selectAll || undefined}
          growing={growing}
        />
      </>
    )
  }, [layout, growing, selected, count, sort, onSort])
}

type RowsInViewProps<Row> = {
  readonly rows: InView<Row>
  readonly columns: ListLayout['shown']
  readonly heightOfAll: number
  readonly cells: number
  /** Cells that depend on the time are rendered again with each answer. */
  readonly asOf: number
  readonly isCard: boolean
  readonly hasFiller: boolean
  readonly isOpener: boolean
}

function RowsInView<Row extends object>({ rows, heightOfAll, cells, ...shared }: RowsInViewProps<Row>) {
  const { items, rowAt, idOf, selection, shown } = rows
  const above = items[0]?.start ?? 0
  const below = heightOfAll - (items.at(-1)?.end ?? 0)
  const keys = new Set<string>()
  return (
    <>
      {above > 0 && <Spacer height={above} />}
      {items.map(({ index }) => {
        const row = rowAt(index)
        if (!row) return <LoadingRow key={`loading-${index}`} cells={cells} isCard={shared.isCard} />
        const id = idOf(row)
        // A row keeps its dialogs and its focus when others are added. While pages differ in age, a row can be in two of them.
        const key = keys.has(id) ? `${id}-${index}` : id
        keys.add(id)
        return (
          <OneRow
            key={key}
            index={index}
            row={row}
            {...shared}
            isSelected={selection?.has(id)}
            isShown={shown === id}
          />
        )
      })}
      {below > 0 && <Spacer height={below} />}
    </>
  )
}

type WidthsProps = { layout: ListLayout; growing: string | undefined; hasSelection: boolean }

function Widths({ layout, growing, hasSelection }: WidthsProps) {
  const end = layout.headers.filter(({ column }) => column.getIsPinned() === 'end')
  const rest = layout.headers.filter(({ column }) => column.getIsPinned() !== 'end')
  const width = ({ column }: (typeof end)[number]) => (
    <col key={column.id} {...(column.id === growing ? {} : { style: { width: column.getSize() } })} />
  )
  return (
    <colgroup>
      {hasSelection && <col style={{ width: 40 }} />}
      {rest.map(width)}
      {growing === undefined && <col />}
      {end.map(width)}
    </colgroup>
  )
}

const Spacer = ({ height }: { height: number }) => (
  <tr aria-hidden>
    <td style={{ height, padding: 0 }} />
  </tr>
)

/** Marks the page of a list that takes the remaining height, and the elements between them, for the style sheets. */
function useRemainingHeight(list: RefObject<HTMLElement | null>, isEnabled: boolean): void {
  useLayoutEffect(() => {
    if (!isEnabled) return undefined
    const page = list.current?.closest<HTMLElement>('[data-page]')
    if (!page) return undefined
    const between: HTMLElement[] = []
    for (let one = list.current!.parentElement; one && one !== page; one = one.parentElement)
      between.push(one)
    page.dataset['filled'] = ''
    for (const one of between) one.dataset['around'] = ''
    return () => {
      delete page.dataset['filled']
      for (const one of between) delete one.dataset['around']
    }
  }, [list, isEnabled])
}
