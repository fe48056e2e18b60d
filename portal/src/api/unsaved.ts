// Unsaved changes of this tab, and the question that a change of the team asks before they are lost.
import { useEffect, useRef, useSyncExternalStore } from 'react'

type Answer = (isDiscarded: boolean) => void

const guards = new Set<() => boolean>()
const listeners = new Set<() => void>()
/** Undefined unless a question is open. */
let answer: Answer | undefined

function setAnswer(next: Answer | undefined): void {
  answer = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Makes a change of the team ask first while `isUnsaved` returns true. */
export function useUnsaved(isUnsaved: () => boolean): void {
  const latest = useRef(isUnsaved)
  latest.current = isUnsaved
  useEffect(() => {
    const guard = () => latest.current()
    guards.add(guard)
    return () => void guards.delete(guard)
  }, [])
}

export const hasUnsaved = (): boolean => [...guards].some((isUnsaved) => isUnsaved())

/** Asks whether unsaved changes may be lost; resolves with true if there are no changes. An earlier question is answered with no. */
export function askToDiscard(): Promise<boolean> {
  if (!hasUnsaved()) return Promise.resolve(true)
  answerQuestion(false)
  return new Promise(setAnswer)
}

export function answerQuestion(isDiscarded: boolean): void {
  const open = answer
  setAnswer(undefined)
  open?.(isDiscarded)
}

export const useIsAsking = (): boolean => useSyncExternalStore(subscribe, () => answer !== undefined)
