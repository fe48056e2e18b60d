// Finds the name that was probably meant, for error messages.

/** Returns ` (did you mean PHAROS_PORT?)` if the name is similar to an existing one. */
export function didYouMean(wrong: string, names: readonly string[]): string {
  const name = nearestName(wrong, names)
  return name === undefined ? '' : ` (did you mean ${name}?)`
}

/** Returns the most similar name, ignoring case; undefined without a similar name. */
export function nearestName(wrong: string, names: readonly string[]): string | undefined {
  const stepsMax = Math.max(2, Math.floor(wrong.length / 5))
  return names
    .filter((name) => Math.abs(name.length - wrong.length) <= stepsMax)
    .map((name) => ({ name, steps: editSteps(wrong.toLowerCase(), name.toLowerCase()) }))
    .filter(({ steps }) => steps <= stepsMax)
    .sort((a, b) => a.steps - b.steps)[0]?.name
}

/** Levenshtein distance; names are short. */
function editSteps(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}
