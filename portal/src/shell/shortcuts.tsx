// Keys for those who do not leave the keyboard: a key, `g` and a key within a second, or Ctrl-K for the palette. None
// while one is typing. What is shown of them is loaded when it is wanted.
import type { User } from '@pharos/contract/session'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { isElsewhere } from '../ui/keys.ts'
import { placesOf } from './places.ts'

const KeyList = lazy(async () => ({ default: (await import('./key-list.tsx')).KeyList }))
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const secondKeyWithinMs = 1_000

export function Shortcuts({ user }: { user: User }) {
  const navigate = useNavigate()
  const [shown, setShown] = useState<'keys' | 'palette'>()
  const leader = useRef(-Infinity)
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
        event.preventDefault()
        return setShown('palette')
      }
      if (isElsewhere(event)) return
      const isSecond = event.timeStamp - leader.current < secondKeyWithinMs
      const place = isSecond ? placesOf(user).find(({ key }) => key === event.key) : undefined
      leader.current = event.key === 'g' ? event.timeStamp : -Infinity
      if (place) {
        // Not for the list on the page as well.
        event.preventDefault()
        event.stopImmediatePropagation()
        void navigate({ to: place.to as never })
      } else if (event.key === '?') setShown('keys')
      else if (event.key === '/') focusSearch(event)
    }
    // Before the keys of the page: after `g` a key means a place.
    addEventListener('keydown', onKey, { capture: true })
    return () => removeEventListener('keydown', onKey, { capture: true })
  }, [navigate, user])
  const close = () => setShown(undefined)
  return (
    <Suspense>
      {shown === 'keys' && <KeyList user={user} onClose={close} />}
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
