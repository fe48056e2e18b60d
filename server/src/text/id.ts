// Numeric ids in text: parts of paths, and fields that take an id or a name.
/**
 * Returns the id in the text of a path or a field: a number of up to 15 digits, which no double rounds; undefined for
 * other texts.
 */
export const findId = (text: string): number | undefined =>
  /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
