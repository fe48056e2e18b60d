// Numeric ids in text: parts of paths, and fields that take an id or a name.
/** Returns the id that a text of a path or a field is: a number of up to 15 digits, which no double rounds; undefined if it is none. */
export const findId = (text: string): number | undefined =>
  /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
