// JSON that PostgreSQL stores: of the characters that JSON can contain, `jsonb` refuses U+0000 and unpaired surrogates.

/** Returns the JSON of a value with U+FFFD in the place of characters that the database refuses. */
export function storedJson(value: unknown): string {
  const text = JSON.stringify(value)
  return text.includes('\\u') ? text.replace(unstorable, '$1\ufffd') : text
}

/** JSON.stringify escapes unpaired surrogates only. An even number of backslashes before the escape are characters of the text. */
const unstorable = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g

/** Returns the text with U+FFFD in the place of characters that the database refuses, as `storedJson` writes it. */
export const storedText = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')
