// Counts in sentences.

/** Returns a count with its noun: `1 prefix`, `2 prefixes`. The plural has an s unless it is given. */
export const counted = (count: unknown, noun: string, nouns = `${noun}s`): string =>
  `${Number(count)} ${Number(count) === 1 ? noun : nouns}`
