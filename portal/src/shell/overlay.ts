// The layer over the page: the command palette or the list of shortcuts. Opened by a key or a button, one at a time.
import { useSyncExternalStore } from 'react'

export type Overlay = 'palette' | 'shortcuts' | undefined

let shown: Overlay
const listeners = new Set<() => void>()

export function showOverlay(next: Overlay): void {
  shown = next
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** For key handlers: the current overlay, which may be newer than the last rendering. */
export const overlayNow = (): Overlay => shown

export const useOverlay = (): Overlay => useSyncExternalStore(subscribe, overlayNow)
