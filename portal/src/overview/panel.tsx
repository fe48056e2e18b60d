// The place of a panel on the overview. Its content is rendered, and sends its requests, once the place comes near the view. On paper are
// the panels that have been in view.
import type { ViewPanel } from '@pharos/contract/team/view'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import classes from './overview.module.css'

type Props = {
  readonly panel: ViewPanel
  /** While the overview is edited: what identifies the panel, and its place. */
  readonly edited?: { readonly key: string; readonly at: number }
  /** What surrounds the content, visible from the start. */
  readonly frame?: (content: ReactNode) => ReactNode
  readonly children: ReactNode
}

/** Kinds whose charts are loaded when the browser is idle; traffic has its own place for it. */
const drawnLater: ReadonlySet<string> = new Set(['attacks', 'regions'])

/** Distance from the view at which a panel is rendered. */
const margin = '150px'

export function Panel({ panel, edited, frame, children }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (isSeen) return undefined
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true),
      { rootMargin: margin },
    )
    observer.observe(place.current!)
    return () => observer.disconnect()
  }, [isSeen])
  const content = isSeen ? children : <div className={classes['unseen']} />
  return (
    <div
      ref={place}
      className={classes['panel']}
      data-panel={panel.kind}
      data-width={panel.width}
      data-key={edited?.key}
      data-editing={edited === undefined ? undefined : true}
      {...(edited ? { style: { order: edited.at } } : {})}
      data-seen={isSeen || undefined}
      data-later={drawnLater.has(panel.kind) || undefined}
    >
      {frame ? frame(content) : content}
    </div>
  )
}
