// The layout of a list: which columns, in which order and width, kept in this browser for each list; and the height of its rows,
// kept for all lists. The address has the columns if they are not the usual ones, so that a link shows the same.
import {
  columnOrderingFeature,
  columnPinningFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  rowSelectionFeature,
  tableFeatures,
  useTable,
  type Header,
  type Updater,
} from '@tanstack/react-table'
import { useEffect, useMemo, useState } from 'react'
import type { Column } from './list-column.ts'
import { storedChoice, useStoredChoice, type StoredChoice } from './stored-choice.ts'
import type { ListView } from './use-list-search.ts'

const features = tableFeatures({
  columnOrderingFeature,
  columnPinningFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  rowSelectionFeature,
})
export type ListHeader = Header<typeof features, object, unknown>

type Layout = {
  /** The visible columns in order; by default the usual ones. */
  readonly columns?: readonly string[]
  /** Pixels by column. */
  readonly widths: Readonly<Record<string, number>>
}
const usual: Layout = { widths: {} }

export const widthMin = 72
export const widthMax = 900
const widthUsual = 150

const layouts = new Map<string, StoredChoice<Layout>>()
function layoutOf(name: string): StoredChoice<Layout> {
  const known = layouts.get(name) ?? storedChoice<Layout>(`pharos-list-${name}`, usual)
  layouts.set(name, known)
  return known
}

export type Density = 'comfortable' | 'compact'
const density = storedChoice<Density>('pharos-density', 'comfortable')
export const useDensity = (): [Density, (next: Density) => void] => [useStoredChoice(density), density.set]

const none: object[] = []

/** Returns the visible columns in order, the headings with their widths, the selected rows, and the ways to change them. */
export function useListLayout<Row extends object>(
  name: string,
  columns: readonly Column<Row>[],
  { columns: inAddress, set }: Pick<ListView, 'columns' | 'set'>,
) {
  const stored = layoutOf(name)
  const layout = useStoredChoice(stored)
  const [selected, setSelected] = useState<Record<string, true>>({})
  const usualIds = useMemo(() => columns.filter(({ hidden }) => !hidden).map(({ id }) => id), [columns])
  const chosen = inAddress ?? layout.columns
  const order = useMemo(() => {
    const known = new Set(columns.map(({ id }) => id))
    const ids = (chosen ?? usualIds).filter((id) => known.has(id))
    const pinned = columns.filter((one) => one.pinned && !ids.includes(one.id)).map(({ id }) => id)
    return ids.length > 0 ? [...ids, ...pinned] : usualIds
  }, [chosen?.join(','), usualIds, columns])
  const isUsual = order.join(',') === usualIds.join(',')

  // Columns chosen earlier in this browser become part of the address, which can then be shared.
  useEffect(() => {
    if (inAddress === undefined && !isUsual) set({ columns: order })
  }, [name, inAddress === undefined, isUsual])

  const definitions = useMemo(
    () =>
      columns.map(({ id, header, width = widthUsual }) => ({
        id,
        header,
        size: width,
        minSize: widthMin,
        maxSize: widthMax,
      })),
    [columns],
  )
  const [first] = order
  const state = useMemo(
    () => ({
      columnOrder: [...order, ...columns.map(({ id }) => id).filter((id) => !order.includes(id))],
      columnVisibility: Object.fromEntries(columns.map(({ id }) => [id, order.includes(id)])),
      columnPinning: {
        start: first === undefined ? [] : [first],
        end: columns.filter(({ pinned, id }) => pinned && id !== first).map(({ id }) => id),
      },
      columnSizing: { ...layout.widths },
      rowSelection: selected,
    }),
    [order, columns, layout.widths, selected],
  )
  const table = useTable({
    features,
    columns: definitions,
    data: none,
    columnResizeMode: 'onChange',
    enableColumnResizing: true,
    state,
    onColumnSizingChange: (change: Updater<Record<string, number>>) => {
      const widths = typeof change === 'function' ? change({ ...stored.get().widths }) : change
      stored.set({ ...stored.get(), widths })
    },
    onRowSelectionChange: (change: Updater<Record<string, true>>) =>
      setSelected((now) => (typeof change === 'function' ? change(now) : change)),
  })
  const headers = table.getHeaderGroups()[0]?.headers ?? []
  const shown = useMemo(
    () => headers.map(({ column }) => columns.find(({ id }) => id === column.id)!),
    [headers.map(({ id }) => id).join(','), columns],
  )
  const setColumns = (ids: readonly string[]) => {
    const isSame = ids.join(',') === usualIds.join(',')
    const { columns: _columns, ...rest } = stored.get()
    stored.set(isSame ? rest : { ...rest, columns: ids })
    set({ columns: isSame ? undefined : ids })
  }
  return {
    headers,
    /** In the order of the screen. */
    shown,
    /** Sum of the widths of all visible columns in pixels. */
    width: table.getTotalSize(),
    order,
    isUsual: isUsual && Object.keys(layout.widths).length === 0,
    setColumns,
    setWidth: (id: string, width: number) =>
      table.setColumnSizing((now) => ({ ...now, [id]: Math.min(widthMax, Math.max(widthMin, width)) })),
    resetWidth: (id: string) => table.getColumn(id)?.resetSize(),
    hasOwnWidth: (id: string) => layout.widths[id] !== undefined,
    reset: () => {
      stored.set(usual)
      set({ columns: undefined })
    },
    selected,
    setSelected: (change: Updater<Record<string, true>>) => table.setRowSelection(change),
  }
}

export type ListLayout = ReturnType<typeof useListLayout<object>>
