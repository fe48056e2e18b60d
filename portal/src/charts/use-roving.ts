// One tab stop for a group of many targets: arrow keys move among them.
import { useState, type KeyboardEvent } from 'react'

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }

/** Returns the properties of the group and of its targets, which have `data-target`. */
export function useRoving(count: number) {
  const [current, setCurrent] = useState(0)
  const onKeyDown = (event: KeyboardEvent) => {
    const ends: Readonly<Record<string, number>> = { Home: 0, End: count - 1 }
    const next = ends[event.key] ?? (event.key in steps ? current + steps[event.key]! : undefined)
    if (next === undefined || next < 0 || next >= count) return
    event.preventDefault()
    event.stopPropagation()
    setCurrent(next)
    event.currentTarget.querySelector<HTMLElement>(`[data-target="${next}"]`)?.focus()
  }
  return {
    groupProps: { onKeyDown },
    targetProps: (at: number) => ({
      'data-target': at,
      tabIndex: at === Math.min(current, count - 1) ? 0 : -1,
      onFocus: () => setCurrent(at),
    }),
  }
}
