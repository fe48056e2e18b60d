// Keys of the tree of prefixes, as WAI-ARIA names them for a treegrid: up and down move among the rows, right opens the row, left closes it.
import type { KeyboardEvent } from 'react'

const steps: Readonly<Record<string, 'nextElementSibling' | 'previousElementSibling'>> = {
  ArrowDown: 'nextElementSibling',
  ArrowUp: 'previousElementSibling',
}
/** The state of a row that the key changes. */
const toggles: Readonly<Record<string, string>> = { ArrowRight: 'false', ArrowLeft: 'true' }

export function onTreeKey(event: KeyboardEvent<HTMLElement>): void {
  const row = (event.target as HTMLElement).closest('tbody tr')
  if (!row || event.altKey || event.ctrlKey || event.metaKey) return
  const step = steps[event.key]
  if (step !== undefined) row[step]?.querySelector<HTMLElement>('button, a')?.focus()
  else if (row.ariaExpanded !== null && toggles[event.key] === row.ariaExpanded)
    row.querySelector('button')?.click()
  else return
  event.preventDefault()
}
