// The title of the page that is shown, for the breadcrumbs and the window. Pages set it; the frame reads it.
import { useSyncExternalStore } from 'react'

type Shown = { readonly title: string }

const none: Shown = { title: '' }
let shown = none
const listeners = new Set<() => void>()

/** Returns the release, which does nothing once another page has set its title. */
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

/** Returns the title of the page; empty while no page is shown. */
export const usePageTitle = (): string => useSyncExternalStore(subscribe, () => shown.title)
