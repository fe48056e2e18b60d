// Parses a plain decimal number within a longer text, for the parsers of this folder.

const zero = 48 // '0'

/** Returns the number in `text[start, end)`: digits only, no leading zero, at most `max` (up to 2^32 - 1). -1 if it is not one. */
export function readDecimal(text: string, start: number, end: number, max: number): number {
  const digits = end - start
  if (digits < 1 || digits > 10) return -1
  if (digits > 1 && text.charCodeAt(start) === zero) return -1
  let value = 0
  for (let i = start; i < end; i++) {
    const digit = text.charCodeAt(i) - zero
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value <= max ? value : -1
}
