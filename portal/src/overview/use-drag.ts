// Moves panels by their handle with a mouse, a pen or a finger: the list changes while the pointer is over another panel. Keys and menus
// move panels too, so this is never the only way.
import { useRef, useState, type PointerEvent, type RefObject } from 'react'

/** Distance from the edge of the window at which it scrolls, and the step, in pixels. */
const edge = 72
const step = 14

type Drag = {
  /** The panel that is moved; undefined otherwise. */
  readonly dragged: string | undefined
  /** Returns the panels with their places, in the order in which the document has them: an element that moves would lose the pointer. */
  readonly inOrder: <T extends { readonly key: string }>(
    panels: readonly T[],
  ) => readonly (T & { readonly at: number })[]
  /** Handlers of the handle of a panel. */
  readonly handleOf: (key: string) => {
    readonly onPointerDown: (event: PointerEvent<HTMLElement>) => void
    readonly onPointerMove: (event: PointerEvent<HTMLElement>) => void
    readonly onPointerUp: () => void
    readonly onPointerCancel: () => void
  }
}

/** `onOver`: the dragged panel takes the place of another one. Panels of `grid` have their key in `data-key`. */
export function useDrag(
  grid: RefObject<HTMLElement | null>,
  onOver: (dragged: string, over: string) => void,
): Drag {
  const [dragged, setDragged] = useState<string>()
  // The panel that a move has put below the pointer must not be moved back at once.
  const last = useRef<string>(undefined)
  /** The keys of the panels in the document while one is dragged. */
  const [order, setOrder] = useState<readonly string[]>()
  const end = () => {
    setDragged(undefined)
    setOrder(undefined)
    last.current = undefined
  }
  return {
    dragged,
    inOrder(panels) {
      const placed = panels.map((panel, at) => ({ ...panel, at }))
      return order === undefined
        ? placed
        : placed.toSorted((a, b) => order.indexOf(a.key) - order.indexOf(b.key))
    },
    handleOf: (key) => ({
      onPointerDown(event) {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        setDragged(key)
        setOrder(keysIn(grid.current))
      },
      onPointerMove(event) {
        if (dragged !== key) return
        scrollAtEdge(event.clientY, grid.current)
        const over = panelAt(grid.current, event.clientX, event.clientY)
        if (over === key || over === undefined) last.current = undefined
        else if (over !== last.current) {
          last.current = over
          onOver(key, over)
        }
      },
      onPointerUp: end,
      onPointerCancel: end,
    }),
  }
}

const panelsIn = (grid: HTMLElement | null): HTMLElement[] => [
  ...(grid?.querySelectorAll<HTMLElement>('[data-key]') ?? []),
]
const keysIn = (grid: HTMLElement | null): string[] =>
  panelsIn(grid).flatMap((panel) => panel.dataset['key'] ?? [])

function panelAt(grid: HTMLElement | null, x: number, y: number): string | undefined {
  return panelsIn(grid).find((panel) => {
    const { left, right, top, bottom } = panel.getBoundingClientRect()
    return x >= left && x <= right && y >= top && y <= bottom
  })?.dataset['key']
}

function scrollAtEdge(y: number, grid: HTMLElement | null): void {
  const by = y < edge ? -step : y > innerHeight - edge ? step : 0
  if (by !== 0) scrollerOf(grid).scrollBy({ top: by })
}

function scrollerOf(element: HTMLElement | null): Element {
  for (let one = element?.parentElement; one; one = one.parentElement)
    if (one.scrollHeight > one.clientHeight && /auto|scroll/.test(getComputedStyle(one).overflowY)) return one
  return document.scrollingElement ?? document.documentElement
}
