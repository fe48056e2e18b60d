// The texts of suggested values in the editor of a filter, and the values of texts that were typed or chosen. Pure.

/** The labels of all values that were suggested so far. */
export type Suggested = ReadonlyMap<string, string>

/** Returns the text of a value: its label, with the value unless the label already contains it. */
export function valueText(value: string, suggested: Suggested): string {
  const label = suggested.get(value) ?? value
  return label.toLowerCase() === value.toLowerCase() || label.endsWith(`(${value})`)
    ? label
    : `${label} (${value})`
}

/**
 * Returns the value of a text, and whether it is the text of a suggestion, which typing does not change any more. A typed text is a
 * suggested value, the label of one, or a value as it is.
 */
export function readValue(
  text: string,
  suggested: Suggested,
): { readonly value: string; readonly isChosen: boolean } {
  if (suggested.has(text)) return { value: text, isChosen: false }
  const typed = text.trim().toLowerCase()
  const values = [...suggested.keys()]
  const chosen = values.find((value) => valueText(value, suggested) === text)
  const named = values.find((value) => suggested.get(value)!.toLowerCase() === typed)
  return { value: chosen ?? named ?? text, isChosen: chosen !== undefined }
}
