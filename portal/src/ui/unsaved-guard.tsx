// Asks before unsaved changes are lost: on a link of the portal and on a change of the team with a dialog of ours, on closing the tab
// with the browser's.
import { useBlocker } from '@tanstack/react-router'
import { useUnsaved } from '../api/unsaved.ts'
import { DiscardQuestion } from './discard-question.tsx'
import { words } from './words.ts'

/** `isUnsaved` is called at the moment of leaving. Signing out and a change of the page's own parameters are never blocked. */
export function UnsavedGuard({ isUnsaved }: { isUnsaved: () => boolean }) {
  useUnsaved(isUnsaved)
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isUnsaved() && next.pathname !== current.pathname && next.pathname !== '/sign-in',
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  })
  return (
    <DiscardQuestion
      opened={status === 'blocked'}
      text={words.discard.text}
      onKeep={() => reset?.()}
      onDiscard={() => proceed?.()}
    />
  )
}
