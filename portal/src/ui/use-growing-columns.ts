// Columns of a list that never become narrower while it is scrolled: what comes into view may be wider than what was
// there, and a table that goes back and forth cannot be read.
import { useEffect, useLayoutEffect, type RefObject } from 'react'

export function useGrowingColumns(
  viewport: RefObject<HTMLDivElement | null>,
  columns: readonly unknown[],
): void {
  const headings = () => viewport.current?.querySelectorAll<HTMLElement>('thead th') ?? []
  // Other columns, or another width of the window: from the beginning.
  useLayoutEffect(() => {
    const forget = () => headings().forEach((heading) => (heading.style.minWidth = ''))
    forget()
    addEventListener('resize', forget)
    return () => removeEventListener('resize', forget)
  }, [columns])
  // After the browser has laid the rows out by itself: measuring then costs nothing more.
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const wide = [...headings()].map((heading) => [heading, heading.offsetWidth] as const)
      for (const [heading, width] of wide) heading.style.minWidth = `${width}px`
    })
    return () => cancelAnimationFrame(frame)
  })
}
