// A form or editor that is open while someone else saves: without changes it follows; a draft stays, with a note and a way to load
// the newer version.
import { Alert, Button, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { useEffect, type ReactNode } from 'react'
import { words } from './words.ts'

type Options = {
  /** Whether the loaded version is newer than the edited one. */
  readonly isNewer: boolean
  /** Whether loading it would lose changes. */
  readonly isEdited: boolean
  readonly load: () => void
  /** Names the changed object, if the page has several. */
  readonly name?: string
}

/** Reports whether a request was refused because someone else has saved since. */
export const isPreconditionFailed = (error: unknown): boolean =>
  error instanceof ProblemError && error.problem.code === 'precondition_failed'

/** Loads a newer version if the form has no edits. Otherwise returns the note to render above the form. */
export function useNewerVersion({ isNewer, isEdited, load, name = words.newer.this }: Options): ReactNode {
  useEffect(() => {
    if (isNewer && !isEdited) load()
  })
  if (!isNewer || !isEdited) return null
  return (
    <Alert color="warn" role="alert">
      <Text size="sm">{words.newer.text(name)}</Text>
      <Button mt="xs" size="xs" variant="default" onClick={load}>
        {words.newer.load}
      </Button>
    </Alert>
  )
}
