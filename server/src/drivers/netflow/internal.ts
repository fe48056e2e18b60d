// The boundary of the exporters: a flow from one exporter to another was counted where it entered the network.
import type { FlowColumns } from '../../flow/flow-columns.ts'
import type { Exporter } from './exporter-table.ts'
import { moveRow } from './move-row.ts'

/** Removes the rows from `from` on that entered their exporter by an internal interface, and returns their number. */
export function dropInternal(c: FlowColumns, from: number, exporters: readonly Exporter[]): number {
  const { length, exporter, inIf } = c
  let kept = from
  for (let row = from; row < length; row++) {
    const { internal } = exporters[exporter[row]!]!.shared
    if (internal !== undefined && (internal === 'all' || internal.has(inIf[row]!))) continue
    if (kept < row) moveRow(c, row, kept)
    kept++
  }
  c.length = kept
  return length - kept
}
