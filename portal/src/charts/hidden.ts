// The series of a chart that the user has hidden. Pure.

/**
 * Returns the hidden ids among `ids`. If all are hidden, returns an empty list: a chart without series would look like an absence
 * of values, and the ids change with each answer.
 */
export function hiddenOf(ids: readonly string[], hidden: readonly string[]): readonly string[] {
  const found = ids.filter((id) => hidden.includes(id))
  return found.length === ids.length ? [] : found
}

/** Hides a visible id or makes a hidden one visible. */
export const toggled = (hidden: readonly string[], id: string): readonly string[] =>
  hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id]
