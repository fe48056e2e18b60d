// Keyboard shortcuts: a single key, `g` and a key within a second, or Ctrl-K for the palette. None while the user types.
// The palette and the list of shortcuts are loaded when they are first opened.
import type { User } from '@pharos/contract/session'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { useMay } from '../api/use-grant.ts'
import { pagesOf } from '../pages.tsx'
import { isHandledElsewhere } from '../ui/key-events.ts'
import { showOverlay, useOverlay } from './overlay.ts'

const ShortcutList = lazy(async () => ({ default: (await import('./shortcut-list.tsx')).ShortcutList }))
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const secondKeyWithinMs = 1_000

export function Shortcuts({ user }: { user: User }) {
  const navigate = useNavigate()
  const may = useMay()
  const shown = useOverlay()
  const leader = useRef(-Infinity)
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
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
    <Suspense>
      {shown === 'shortcuts' && <ShortcutList user={user} onClose={close} />}
      {shown === 'palette' && <Palette user={user} onClose={close} />}
    </Suspense>
  )
}

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>('[data-search]')
  if (!field) return
  event.preventDefault()
  field.focus()
}
