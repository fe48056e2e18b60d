// Keyboard shortcuts: a single key, `g` and a key within a second, or Ctrl-K for the palette. Disabled while the user types.
// The palette and the list of shortcuts are loaded once the browser is idle. Keys that are typed before the palette has the focus become its query.
import type { User } from '@pharos/contract/session/session'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { useMay } from '../api/use-grant.ts'
import { pagesOf } from '../pages.tsx'
import { whenIdle } from '../ui/idle.ts'
import { isHandledElsewhere } from '../ui/key-events.ts'
import { overlayNow, showOverlay, useOverlay } from './overlay.ts'
import { paletteMark, PaletteWaiting } from './palette-waiting.tsx'

const loadShortcutList = () => import('./shortcut-list.tsx')
const loadPalette = () => import('./palette.tsx')
const ShortcutList = lazy(async () => ({ default: (await loadShortcutList()).ShortcutList }))
const Palette = lazy(async () => ({ default: (await loadPalette()).Palette }))
const secondKeyWithinMs = 1_000

export function Shortcuts({ user }: { user: User }) {
  const navigate = useNavigate()
  const may = useMay()
  const shown = useOverlay()
  const leader = useRef(-Infinity)
  const [query, setQuery] = useState('')
  useEffect(() => {
    // A failure is ignored: they are loaded again when opened, which reports the error.
    void whenIdle().then(() => Promise.allSettled([loadPalette(), loadShortcutList()]))
  }, [])
  useEffect(() => setQuery(''), [shown])
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (overlayNow() === 'palette' && !isInPalette(event.target)) return typeAhead(event, setQuery)
      if (event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
        event.preventDefault()
        return showOverlay('palette')
      }
      if (isHandledElsewhere(event)) return
      const isSecond = event.timeStamp - leader.current < secondKeyWithinMs
      const page = isSecond ? pagesOf(user, may).find(({ key }) => key === event.key) : undefined
      leader.current = event.key === 'g' ? event.timeStamp : -Infinity
      if (page) {
        // The list on the page must not handle it too.
        event.preventDefault()
        event.stopImmediatePropagation()
        void navigate({ href: page.path })
      } else if (event.key === '?') showOverlay('shortcuts')
      else if (event.key === '/') focusSearch(event)
    }
    // Before the page's own keys: after `g` a key names a page.
    addEventListener('keydown', onKey, { capture: true })
    return () => removeEventListener('keydown', onKey, { capture: true })
  }, [navigate, user, may])
  const close = () => showOverlay(undefined)
  return (
    <>
      <Suspense>{shown === 'shortcuts' && <ShortcutList user={user} onClose={close} />}</Suspense>
      <Suspense fallback={<PaletteWaiting query={query} />}>
        {shown === 'palette' && <Palette user={user} query={query} onQuery={setQuery} onClose={close} />}
      </Suspense>
    </>
  )
}

const isInPalette = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement && target.closest(`[${paletteMark}]`) !== null

/** A key while the palette is open and its field does not have the focus yet: neither the page nor a field below gets it. */
function typeAhead(event: KeyboardEvent, setQuery: (change: (query: string) => string) => void): void {
  const { key, ctrlKey, metaKey, altKey } = event
  if (key === 'Escape') return showOverlay(undefined)
  if (ctrlKey || metaKey || altKey) return
  if (key.length === 1) setQuery((query) => query + key)
  else if (key === 'Backspace') setQuery((query) => query.slice(0, -1))
  else return
  event.preventDefault()
  event.stopImmediatePropagation()
}

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>('[data-search]')
  if (!field) return
  event.preventDefault()
  field.focus()
}
