// Shows the whole text of a cut cell, under the pointer or the keyboard's focus. One element for the whole list: a tooltip per cell
// would be hundreds.
import { Portal } from '@mantine/core'
import { useEffect, useState, type RefObject } from 'react'
import classes from './list.module.css'

type Tip = { readonly text: string; readonly left: number; readonly top: number }

export function CellTip({ viewport }: { viewport: RefObject<HTMLDivElement | null> }) {
  const [tip, setTip] = useState<Tip>()
  useEffect(() => {
    const element = viewport.current
    if (!element) return undefined
    const hide = () => setTip(undefined)
    const show = (event: Event) => {
      const target = event.target as HTMLElement
      const row = target.closest('tbody tr[aria-rowindex]')
      const cell =
        target === row ? [...row.querySelectorAll('td')].find(isCut) : target.closest<HTMLElement>('td')
      setTip(cell && row && isCut(cell) ? tipOf(cell) : undefined)
    }
    element.addEventListener('pointerover', show)
    element.addEventListener('focusin', show)
    element.addEventListener('pointerleave', hide)
    element.addEventListener('focusout', hide)
    element.addEventListener('scroll', hide, { passive: true })
    return () => {
      element.removeEventListener('pointerover', show)
      element.removeEventListener('focusin', show)
      element.removeEventListener('pointerleave', hide)
      element.removeEventListener('focusout', hide)
      element.removeEventListener('scroll', hide)
    }
  }, [viewport])
  if (!tip) return null
  return (
    <Portal>
      <div role="tooltip" className={classes['tip']} style={{ left: tip.left, top: tip.top }}>
        {tip.text}
      </div>
    </Portal>
  )
}

/** Also if the text is cut by an element within the cell. */
const isCut = (cell: HTMLElement): boolean =>
  [cell, ...cell.querySelectorAll<HTMLElement>('*')].some(
    (one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0,
  )

const widthMax = 480

function tipOf(cell: HTMLElement): Tip {
  const { left, bottom } = cell.getBoundingClientRect()
  return {
    text: cell.innerText,
    left: Math.max(8, Math.min(left, innerWidth - widthMax - 8)),
    top: Math.min(bottom + 4, innerHeight - 60),
  }
}
