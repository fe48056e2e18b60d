// Views that an earlier release kept in this browser. They are copied to the server when the views of their page are first opened;
// pinned ones stay on the overview until it is edited.
import { ProblemError } from '@pharos/contract/client'
import { storedChoice, type StoredChoice } from './stored-choice.ts'

export type BrowserView = {
  readonly name: string
  /** The search part of its address. */
  readonly search: string
  readonly isPinned?: boolean
  readonly isCopied?: boolean
}

const stores = new Map<string, StoredChoice<readonly BrowserView[]>>()

function storeOf(page: string, person: number): StoredChoice<readonly BrowserView[]> {
  const key = `pharos-views-${person}-${page}`
  const store = stores.get(key) ?? storedChoice<readonly BrowserView[]>(key, [])
  stores.set(key, store)
  return store
}

/** Copies each view with `copy`; one that cannot be copied stays and is tried again at the next time. */
export async function copyBrowserViews(
  page: string,
  person: number,
  copy: (view: BrowserView) => Promise<unknown>,
): Promise<void> {
  const store = storeOf(page, person)
  for (const view of store.get().filter(({ isCopied }) => isCopied !== true)) {
    try {
      await copy(view)
    } catch (error) {
      const isStored = error instanceof ProblemError && error.problem.code === 'exists'
      if (!isStored) continue
    }
    store.set(
      store
        .get()
        .map((one) => (one.name === view.name ? { ...one, isCopied: true } : one))
        .filter(({ isCopied, isPinned }) => isCopied !== true || isPinned === true),
    )
  }
}

/** Returns the views of traffic that were pinned to the overview. */
export const pinnedBrowserViews = (person: number): readonly BrowserView[] =>
  storeOf('traffic', person)
    .get()
    .filter(({ isPinned }) => isPinned === true)

/** Call it once the overview is stored. */
export function forgetPins(person: number): void {
  const store = storeOf('traffic', person)
  const rest = store.get().filter(({ isCopied }) => isCopied !== true)
  store.set(rest.map(({ name, search }) => ({ name, search })))
}
