// A hint where the pointer rests, for what stands on the screen a hundred times over: nothing is made of it, not even its
// words, before somebody points there. What must be known without a pointer has no place in it.
import { lazy, Suspense, useRef, useState, type PointerEvent, type ReactNode } from 'react'

const Bubble = lazy(async () => ({ default: (await import('./hint-bubble.tsx')).Bubble }))
const restMs = 300

export function Hint({ label, children }: { label: () => string; children: ReactNode }) {
  const [target, setTarget] = useState<HTMLElement>()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const enter = ({ currentTarget }: PointerEvent<HTMLElement>) => {
    timer.current = setTimeout(() => setTarget(currentTarget), restMs)
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
          <Bubble target={target} label={label()} />
        </Suspense>
      )}
    </span>
  )
}
