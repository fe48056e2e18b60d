// Lines of CSV (RFC 4180).

/** Returns one line without its end. A text that a spreadsheet would run as a formula becomes text for it too; a negative number does not. */
export const csvLine = (cells: readonly (string | number)[]): string => cells.map(field).join(',')

function field(cell: string | number): string {
  const isFormula = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) && !/^-\d+(\.\d+)?$/.test(cell)
  const text = isFormula ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
