// Columns of a list that never become narrower while it is scrolled: what comes into view may be wider than what was
// there, and a table that goes back and forth cannot be read.
import { useEffect, useLayoutEffect, type RefObject } from 'react'

/** `view` is what decides on the widths: other columns, or other rows, begin anew. */
export function useGrowingColumns(
  viewport: RefObject<HTMLDivElement | null>,
  view: readonly unknown[],
): void {
  useLayoutEffect(() => forget(viewport.current), view)
  useEffect(() => {
    const element = viewport.current
    let frame = 0
    const keepSoon = () => {
      cancelAnimationFrame(frame)
      // After the browser has laid the rows out by itself: measuring then costs nothing more.
      frame = requestAnimationFrame(() => keep(element))
    }
    const forgetAll = () => forget(element)
    element?.addEventListener('scroll', keepSoon, { passive: true })
    addEventListener('resize', forgetAll)
    return () => {
      cancelAnimationFrame(frame)
      element?.removeEventListener('scroll', keepSoon)
      removeEventListener('resize', forgetAll)
    }
  }, [viewport])
}

const headingsOf = (element: HTMLElement | null) => [
  ...(element?.querySelectorAll<HTMLElement>('thead th') ?? []),
]

function keep(element: HTMLElement | null): void {
  const wide = headingsOf(element).map((heading) => [heading, heading.offsetWidth] as const)
  for (const [heading, width] of wide) heading.style.minWidth = `${width}px`
}

function forget(element: HTMLElement | null): void {
  for (const heading of headingsOf(element)) heading.style.minWidth = ''
}
