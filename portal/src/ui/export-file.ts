// Rows as a CSV or JSON file, written page by page.
import { csvLine } from '@pharos/contract/csv'
import type { Row } from './all-rows.ts'

export type FileKind = 'csv' | 'json'

/** The concatenated results of `add` and `end` are the file. */
export type Writer = { readonly add: (rows: readonly Row[]) => string; readonly end: () => string }

export const writerOf = (kind: FileKind): Writer => (kind === 'csv' ? csvWriter() : jsonWriter())

/** The first rows determine the columns. */
export function csvWriter(): Writer {
  let names: readonly string[] | undefined
  return {
    add(rows) {
      const head = names === undefined && rows.length > 0
      names ??= rows.length > 0 ? [...new Set(rows.flatMap((row) => Object.keys(row)))] : undefined
      const lines = rows.map((row) => csvLine(names!.map((name) => cell(row[name]))))
      return [...(head ? [csvLine(names!)] : []), ...lines].map((line) => `${line}\r\n`).join('')
    },
    end: () => '',
  }
}

export function jsonWriter(): Writer {
  let begun = false
  return {
    add(rows) {
      const text = rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n')
      if (text === '') return ''
      const before = begun ? ',\n' : '[\n'
      begun = true
      return before + text
    },
    end: () => (begun ? '\n]\n' : '[]\n'),
  }
}

function cell(value: unknown): string | number {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'string') return value
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

export function download(filename: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = filename
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
