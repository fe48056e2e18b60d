// The title of the page that is shown, for the breadcrumbs and the window. Pages set it; the frame reads it.
import { useSyncExternalStore } from 'react'

let title = ''
const listeners = new Set<() => void>()

export function setPageTitle(next: string): void {
  if (next === title) return
  title = next
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Returns the title of the page; empty while no page is shown. */
export const usePageTitle = (): string => useSyncExternalStore(subscribe, () => title)
