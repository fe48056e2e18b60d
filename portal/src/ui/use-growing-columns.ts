// Once a list is scrolled, its columns keep the widths of the first rows and only grow for wider cells. Changing widths
// would make the table unreadable; and with fixed widths the browser lays out each new row alone.
import { useEffect, useLayoutEffect, type RefObject } from 'react'

/** A change of `view`, the columns or the rows, measures the widths again. */
export function useGrowingColumns(
  viewport: RefObject<HTMLDivElement | null>,
  view: readonly unknown[],
): void {
  useLayoutEffect(() => release(viewport.current), view)
  useEffect(() => {
    const element = viewport.current
    let frame = 0
    let left = 0
    const keepSoon = () => {
      if (!element || frame !== 0) return
      frame = requestAnimationFrame(() => {
        frame = 0
        // Horizontal scrolling shows no new rows.
        if (element.scrollLeft === left) keep(element)
        left = element.scrollLeft
      })
    }
    const releaseIt = () => release(element)
    element?.addEventListener('scroll', keepSoon, { passive: true })
    addEventListener('resize', releaseIt)
    return () => {
      cancelAnimationFrame(frame)
      element?.removeEventListener('scroll', keepSoon)
      removeEventListener('resize', releaseIt)
    }
  }, [viewport])
}

const measured = new WeakSet<Element>()

function keep(element: HTMLElement): void {
  const table = element.querySelector('table')
  if (!table) return
  const headings = [...table.querySelectorAll<HTMLElement>('thead th')]
  if (table.style.tableLayout !== 'fixed') fix(table, headings)
  const wider = new Map<number, number>()
  for (const row of table.querySelectorAll('tbody tr[aria-rowindex]')) {
    if (measured.has(row)) continue
    measured.add(row)
    for (const [at, cell] of [...row.children].entries())
      if (cell.scrollWidth > Math.max(cell.clientWidth, wider.get(at) ?? 0)) wider.set(at, cell.scrollWidth)
  }
  if (wider.size > 0) grow(table, headings, wider)
}

function fix(table: HTMLElement, headings: readonly HTMLElement[]): void {
  const widths = headings.map(({ offsetWidth }) => offsetWidth)
  for (const [at, heading] of headings.entries()) heading.style.width = `${widths[at]}px`
  table.style.width = `${table.offsetWidth}px`
  table.style.tableLayout = 'fixed'
}

function grow(
  table: HTMLElement,
  headings: readonly HTMLElement[],
  wider: ReadonlyMap<number, number>,
): void {
  let more = 0
  for (const [at, width] of wider) {
    const heading = headings[at]
    if (!heading) continue
    more += width - Number.parseFloat(heading.style.width)
    heading.style.width = `${width}px`
  }
  table.style.width = `${Number.parseFloat(table.style.width) + more}px`
}

function release(element: HTMLElement | null): void {
  const table = element?.querySelector('table')
  if (!table || table.style.tableLayout === '') return
  table.style.tableLayout = table.style.width = ''
  for (const heading of table.querySelectorAll<HTMLElement>('thead th')) heading.style.width = ''
}
