// The colors of a canvas, read from the CSS variables again whenever the color scheme changes.
import { useSyncExternalStore } from 'react'
import { drawnAttributes } from '../theme/print.ts'
import type { ChartColor } from './chart-props.ts'

/** Returns the CSS variable of a color; for a state, of its dot. */
export const colorVariable = (color: ChartColor): string =>
  typeof color === 'number'
    ? `var(--series-${color})`
    : color.startsWith('scale-')
      ? `var(--${color})`
      : `var(--${color}-dot)`

export type Inks = {
  readonly of: (color: ChartColor) => string
  readonly text: string
  /** The color of headings. */
  readonly strong: string
  readonly axis: string
  readonly grid: string
  readonly surface: string
  readonly font: string
}

/** Reads the current colors. */
export function readInks(): Inks {
  const styles = getComputedStyle(document.documentElement)
  const read = (name: string) => styles.getPropertyValue(name).trim()
  return {
    of: (color) => read(colorVariable(color).slice(4, -1)),
    text: read('--text-2'),
    strong: read('--text'),
    axis: read('--text-3'),
    grid: read('--line'),
    surface: read('--surface'),
    font: `11px ${read('--font-sans') || 'sans-serif'}`,
  }
}

/** Returns the color with an opacity of 0 to 1. */
export const fade = (color: string, opacity: number): string =>
  `color-mix(in srgb, ${color} ${Math.round(opacity * 100)}%, transparent)`

let version = 0
const listeners = new Set<() => void>()
let observer: MutationObserver | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  observer ??= new MutationObserver(notify)
  if (listeners.size === 1) {
    observer.observe(document.documentElement, { attributeFilter: drawnAttributes })
    // The face replaces the fallback in the canvas, too.
    void document.fonts.ready.then(notify)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) observer?.disconnect()
  }
}

function notify(): void {
  version++
  for (const listener of listeners) listener()
}

/** Returns a number that changes with the color scheme, and when the page is printed. */
export const useInkVersion = (): number => useSyncExternalStore(subscribe, () => version)
