// The link of a row, which the router follows without loading the page again. Lists render it hundreds of times a second
// while they scroll, so the target is computed only on a pointer event or a click.
import { useRouter } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'
import classes from './list.module.css'

/** `to` is the address of the row's page, without parameters to fill in. */
export function RowLink({ to, children }: { to: string; children: ReactNode }) {
  const router = useRouter()
  const follow = (event: MouseEvent) => {
    // The browser opens new tabs and windows.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    void router.navigate({ href: to })
  }
  const preload = () => void router.preloadRoute({ to: '.', href: to }).catch(() => {})
  return (
    <a href={to} className={classes['link']} onClick={follow} onPointerEnter={preload}>
      {children}
    </a>
  )
}
