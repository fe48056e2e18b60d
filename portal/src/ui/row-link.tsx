// A link in a row of a list: an address like any other, that is followed without loading the page anew. Lists write it some
// hundred times a second while they are scrolled, so nothing is computed before it is pointed at or followed.
import { useRouter } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'
import classes from './list.module.css'

export function RowLink({ to, children }: { to: string; children: ReactNode }) {
  const router = useRouter()
  const follow = (event: MouseEvent) => {
    // Into another tab or window: the browser's own way.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    void router.navigate({ to: to as never })
  }
  const preload = () => void router.preloadRoute({ to: to as never }).catch(() => {})
  return (
    <a href={to} className={classes['link']} onClick={follow} onPointerEnter={preload}>
      {children}
    </a>
  )
}
