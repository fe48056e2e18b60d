// A tooltip for elements that a list shows hundreds of times: neither element nor text is created before the pointer hovers.
// It must not contain anything essential, since it needs a pointer.
import { lazy, Suspense, useRef, useState, type PointerEvent, type ReactNode } from 'react'

const Content = lazy(async () => ({
  default: (await import('./lazy-tooltip-content.tsx')).LazyTooltipContent,
}))
const openDelayMs = 300

export function LazyTooltip({ label, children }: { label: () => string; children: ReactNode }) {
  const [target, setTarget] = useState<HTMLElement>()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const enter = ({ currentTarget }: PointerEvent<HTMLElement>) => {
    timer.current = setTimeout(() => setTarget(currentTarget), openDelayMs)
  }
  const leave = () => {
    clearTimeout(timer.current)
    setTarget(undefined)
  }
  return (
    <span onPointerEnter={enter} onPointerLeave={leave}>
      {children}
      {target && (
        <Suspense>
          <Content target={target} label={label()} />
        </Suspense>
      )}
    </span>
  )
}
