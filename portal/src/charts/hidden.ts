// Which series of a chart a person has hidden. Pure.

/**
 * Returns those of the ids that are hidden. If nothing would be left, none is: a chart without any series would look like an absence
 * of values, and the ids change with each answer.
 */
export function hiddenOf(ids: readonly string[], hidden: readonly string[]): readonly string[] {
  const found = ids.filter((id) => hidden.includes(id))
  return found.length === ids.length ? [] : found
}

/** Returns the hidden ids after one of them is hidden or shown. */
export const toggled = (hidden: readonly string[], id: string): readonly string[] =>
  hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id]
