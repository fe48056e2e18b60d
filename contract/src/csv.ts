// Lines of CSV (RFC 4180).

/** Returns one line without its end. A text that a spreadsheet would run as a formula becomes text for it too; a negative number does not. */
export const csvLine = (cells: readonly (string | number)[]): string => cells.map(field).join(',')

type Cell = string | number | boolean | readonly string[] | null

/** Returns a file with these columns, a head and LF. The values of a list are separated by spaces; null is empty. */
export const csvFile = <Name extends string>(
  columns: readonly Name[],
  rows: readonly Readonly<Record<Name, Cell>>[],
): string =>
  [columns, ...rows.map((row) => columns.map((name) => textOf(row[name])))]
    .map((cells) => `${csvLine(cells)}\n`)
    .join('')

const textOf = (value: Cell): string => (typeof value === 'object' ? (value ?? []).join(' ') : String(value))

function field(cell: string | number): string {
  const isFormula = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) && !/^-\d+(\.\d+)?$/.test(cell)
  const text = isFormula ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
