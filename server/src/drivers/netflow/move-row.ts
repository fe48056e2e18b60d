// Removes rows of a batch by moving later rows over them.
import type { FlowColumns } from '../../flow/flow-columns.ts'

/** Copies a row over another. */
export function moveRow(columns: FlowColumns, from: number, to: number): void {
  for (const column of Object.values(columns)) {
    if (typeof column === 'number') continue
    const width = column.length / columns.capacity
    column.copyWithin(to * width, from * width, (from + 1) * width)
  }
}
