// The file of the samples of a bill: its name, the rates in it, and the command that recounts them. Pure.
import type { BillablePort } from '@pharos/contract/bill'

/** From 0; see getBillingSamples. */
const columns = { in: 4, out: 5, sum: 6 } as const

type Ranked = Pick<BillablePort, 'direction' | 'p95_in_bps' | 'p95_out_bps'>

/** With `max`, the direction that was greater. */
const columnOf = ({ direction, p95_in_bps: inbound, p95_out_bps: outbound }: Ranked): number =>
  columns[direction === 'max' ? ((outbound ?? 0) > (inbound ?? 0) ? 'out' : 'in') : direction]

/** Returns the rates that the bill ranks, ascending; a line without a rate is left out. */
export function sortedRates(csv: string, bill: Ranked): number[] {
  const column = columnOf(bill)
  return csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',')[column]!)
    .filter((text) => text !== '')
    .map(Number)
    .sort((a, b) => a - b)
}

/** Returns the name of the download. A shell needs no quotes for it. `month` is empty for the current one. */
export const samplesFile = ({ name }: Pick<BillablePort, 'name'>, month: string): string =>
  `samples-${month || 'current'}-${name.replaceAll(/[^\w.-]+/g, '-')}.csv`

/** Returns the shell command that prints the billed rate from the download. */
export const recountCommand = (bill: Ranked & Pick<BillablePort, 'name' | 'rank'>, month: string): string =>
  `tail -n +2 ${samplesFile(bill, month)} | cut -d, -f${columnOf(bill) + 1} | grep . | sort -n | sed -n ${bill.rank}p`
