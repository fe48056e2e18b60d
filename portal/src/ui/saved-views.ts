// The saved views of a list and changes of them. Pinned ones are on the overview. Pure.

export type SavedView = {
  readonly name: string
  /** The search part of its address. */
  readonly search: string
  readonly isDefault?: boolean
  readonly isPinned?: boolean
}

export type Views = readonly SavedView[]

/** More would push the tasks of the overview out of sight. */
export const pinsMax = 4

/** Appends a view; a view of the same name gets the new address and keeps its place. */
export const withView = (views: Views, name: string, search: string): Views =>
  views.some((one) => one.name === name)
    ? views.map((one) => (one.name === name ? { ...one, search } : one))
    : [...views, { name, search }]

/** Returns the views with one changed; at most one is the default. */
export const withChange = (views: Views, name: string, change: Partial<SavedView>): Views =>
  views.map((one) =>
    one.name === name ? { ...one, ...change } : change.isDefault ? { ...one, isDefault: false } : one,
  )

/** Returns the pinned views in the order of all views. */
export const pinnedOf = (views: Views): Views =>
  views.filter(({ isPinned }) => isPinned === true).slice(0, pinsMax)
