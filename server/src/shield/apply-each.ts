// Changes of a scrubber of which one may be refused: it stops no other.
import { ScrubberError } from './scrubber.ts'

export type RefusedChange<Change> = { readonly change: Change; readonly error: ScrubberError }

/** Makes all changes in one call, or as many as are accepted, and returns the refused ones. Throws any other error. */
export async function applyEach<Change>(
  changes: readonly Change[],
  make: (changes: readonly Change[]) => Promise<void>,
): Promise<RefusedChange<Change>[]> {
  try {
    await make(changes)
    return []
  } catch (error) {
    if (!(error instanceof ScrubberError) || error.kind !== 'refused' || changes.length === 0) throw error
    if (changes.length === 1) return [{ change: changes[0]!, error }]
    const middle = changes.length >>> 1
    return [
      ...(await applyEach(changes.slice(0, middle), make)),
      ...(await applyEach(changes.slice(middle), make)),
    ]
  }
}
