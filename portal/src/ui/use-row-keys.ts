// Moves the focus through the rows of a list: j and k anywhere on the page, the arrows, Home and End within the list. Enter
// opens the row, Space its side panel, x selects it.
import { useEffect, useLayoutEffect, useRef, type RefObject } from 'react'
import { isHandledElsewhere } from './key-events.ts'

const steps: Readonly<Record<string, number>> = { j: 1, k: -1 }
const stepsInList: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -Infinity,
  End: Infinity,
}

type RowActions = {
  /** Scrolls to the row of an index, which then gets the focus. */
  readonly show: (index: number) => void
  readonly onFocus: (index: number) => void
  readonly onPeek: (index: number) => void
  readonly onSelect: (index: number) => void
}

export function useRowKeys(
  viewport: RefObject<HTMLDivElement | null>,
  count: number,
  actions: RowActions,
): void {
  const latest = useRef({ count, ...actions })
  latest.current = { count, ...actions }
  const focused = useRef<HTMLElement>(undefined)
  // A row that an update removes leaves the focus to the one in its place.
  useLayoutEffect(() => {
    if (!focused.current || focused.current.isConnected) return
    if (document.activeElement === document.body)
      elementAt(indexOf(focused.current), viewport.current)?.focus({ preventScroll: true })
    focused.current = undefined
  })
  useEffect(() => {
    let wanted = 0
    function focusRow(index: number) {
      cancelAnimationFrame(wanted)
      const row = elementAt(index, viewport.current)
      if (!row) return void (wanted = requestAnimationFrame(() => focusRow(index)))
      row.focus({ preventScroll: true })
      latest.current.onFocus(index)
    }
    function onKey(event: KeyboardEvent) {
      if (isHandledElsewhere(event)) return
      const row = rowOf(event.target, viewport.current)
      if (row && event.target === row) {
        if (event.key === 'Enter') {
          const link = row.querySelector<HTMLElement>('a, button')
          return link?.click()
        }
        if (event.key === ' ') {
          event.preventDefault()
          return latest.current.onPeek(indexOf(row))
        }
        if (event.key === 'x') return latest.current.onSelect(indexOf(row))
      }
      const step = steps[event.key] ?? (row ? stepsInList[event.key] : undefined)
      if (step === undefined || latest.current.count === 0) return
      event.preventDefault()
      const next = row ? indexOf(row) + step : 0
      const index = Math.min(latest.current.count - 1, Math.max(0, next))
      latest.current.show(index)
      focusRow(index)
    }
    const onFocusIn = ({ target }: FocusEvent) => (focused.current = rowOf(target, viewport.current))
    addEventListener('keydown', onKey)
    addEventListener('focusin', onFocusIn)
    return () => {
      removeEventListener('keydown', onKey)
      removeEventListener('focusin', onFocusIn)
      cancelAnimationFrame(wanted)
    }
  }, [viewport])
}

function rowOf(target: EventTarget | null, viewport: HTMLElement | null): HTMLElement | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('tbody tr[aria-rowindex]') : null
  return row && viewport?.contains(row) ? row : undefined
}

const elementAt = (index: number, viewport: HTMLElement | null) =>
  viewport?.querySelector<HTMLElement>(`tbody tr[aria-rowindex="${index + 2}"]`)

const indexOf = (row: HTMLElement): number => Number(row.getAttribute('aria-rowindex')) - 2
