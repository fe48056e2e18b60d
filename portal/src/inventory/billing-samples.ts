// Reads the file of the samples of a bill. Pure.
import type { BillablePort } from '@pharos/contract/bill'

const columns = { in: 4, out: 5, sum: 6 } as const

/** Returns the rates that the bill ranks, ascending; a line without a rate is left out. */
export function sortedRates(
  csv: string,
  { direction, p95_in_bps, p95_out_bps }: Pick<BillablePort, 'direction' | 'p95_in_bps' | 'p95_out_bps'>,
): number[] {
  const greater = (p95_out_bps ?? 0) > (p95_in_bps ?? 0) ? 'out' : 'in'
  const column = columns[direction === 'max' ? greater : direction]
  return csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',')[column]!)
    .filter((text) => text !== '')
    .map(Number)
    .sort((a, b) => a - b)
}
