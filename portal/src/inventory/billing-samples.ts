// The file of the samples of a bill: its name, the rates in it, and the command that recounts them. Pure.
import type { BillablePort } from '@pharos/contract/inventory/bill'

/** From 0; see getBillingSamples. */
const columns = { in: [4], out: [5], max: [4, 5], sum: [6] } as const

type Ranked = Pick<BillablePort, 'ranked'>

/** Returns the rates that the bill ranks, ascending; a line without a rate is left out. */
export function sortedRates(csv: string, { ranked }: Ranked): number[] {
  const places = columns[ranked ?? 'in']
  return csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','))
    .filter((cells) => cells[places[0]] !== '')
    .map((cells) => Math.max(...places.map((place) => Number(cells[place]))))
    .sort((a, b) => a - b)
}

/** Returns the name of the download. A shell needs no quotes for it. `month` is empty for the current one. */
export const samplesFile = ({ name }: Pick<BillablePort, 'name'>, month: string): string =>
  `samples-${month || 'current'}-${name.replaceAll(/[^\w.-]+/g, '-')}.csv`

/** Returns the shell command that prints the billed rate from the download. */
export const recountCommand = (bill: Ranked & Pick<BillablePort, 'name' | 'rank'>, month: string): string => {
  const [first, second] = columns[bill.ranked ?? 'in'].map((place) => place + 1)
  const rates =
    second === undefined
      ? `cut -d, -f${first} | grep .`
      : `awk -F, '$${first} != "" { print ($${first} > $${second} ? $${first} : $${second}) }'`
  return `tail -n +2 ${samplesFile(bill, month)} | ${rates} | sort -n | sed -n ${bill.rank}p`
}
