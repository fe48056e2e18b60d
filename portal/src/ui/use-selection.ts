// The selected rows of a list, across the rows that are not loaded. Kept by id, with the rows themselves for the actions.
import { useMemo, useRef } from 'react'
import type { ListLayout } from './list-layout.ts'

export type Selection<Row> = {
  readonly count: number
  readonly has: (id: string) => boolean
  readonly rows: () => readonly Row[]
  /** With Shift: all rows between the last one and this. */
  readonly toggle: (
    row: Row,
    index: number,
    isRange: boolean,
    rowAt: (index: number) => Row | undefined,
  ) => void
  readonly add: (rows: readonly Row[]) => void
  readonly clear: () => void
}

/** By how many rows an update moves one at most; further away it is no longer looked for. */
const movedMax = 100

export function useSelection<Row extends object>(
  { selected, setSelected }: ListLayout,
  idOf: (row: Row) => string,
): Selection<Row> {
  const kept = useRef(new Map<string, Row>())
  const last = useRef<{ readonly id: string; readonly index: number }>(undefined)
  return useMemo(() => {
    const add = (rows: readonly Row[]) => {
      for (const row of rows) kept.current.set(idOf(row), row)
      setSelected((now) => ({ ...now, ...Object.fromEntries(rows.map((row) => [idOf(row), true])) }))
    }
    const isSelected = (id: string) => selected[id] === true
    /** An update may have moved the row. */
    const indexOf = (
      { id, index }: { readonly id: string; readonly index: number },
      rowAt: (index: number) => Row | undefined,
    ): number => {
      const isAt = (at: number) => {
        const row = rowAt(at)
        return row !== undefined && idOf(row) === id
      }
      const moved = Array.from({ length: movedMax }, (_, by) => [index - by, index + by])
        .flat()
        .find(isAt)
      return moved ?? index
    }
    return {
      count: Object.values(selected).filter(Boolean).length,
      has: isSelected,
      rows: () => [...kept.current].flatMap(([id, row]) => (isSelected(id) ? [row] : [])),
      toggle: (row, index, isRange, rowAt) => {
        const id = idOf(row)
        const from = last.current && indexOf(last.current, rowAt)
        last.current = { id, index }
        if (isRange && from !== undefined) {
          const [first, end] = [Math.min(from, index), Math.max(from, index)]
          add(
            Array.from({ length: end - first + 1 }, (_, at) => rowAt(first + at)).filter(
              (one) => one !== undefined,
            ),
          )
          return
        }
        if (!isSelected(id)) return add([row])
        setSelected(({ [id]: _removed, ...rest }) => rest)
      },
      add,
      clear: () => {
        kept.current.clear()
        last.current = undefined
        setSelected({})
      },
    }
  }, [selected, idOf])
}
