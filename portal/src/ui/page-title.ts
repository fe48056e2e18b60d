// The title of the current page, for the breadcrumbs and the window. Pages set it; the frame reads it.
import { useSyncExternalStore } from 'react'

type Shown = { readonly title: string }

const none: Shown = { title: '' }
let shown = none
const listeners = new Set<() => void>()

/** Sets the title and returns its release, which has no effect once another page has set its title. */
export function setPageTitle(title: string): () => void {
  const own = { title }
  show(own)
  return () => {
    if (shown === own) show(none)
  }
}

function show(next: Shown): void {
  shown = next
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Returns the title of the page; empty without a page. */
export const usePageTitle = (): string => useSyncExternalStore(subscribe, () => shown.title)
