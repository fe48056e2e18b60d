// Tokens of presentation format (RFC 1035 section 5.1). A token is its text with escapes; a quoted one keeps its opening quote, so `"a b"`
// is the token `"a b`. An unquoted token never starts with a quote. A quote after `=` belongs to the token: `alpn="h2,h3"`.

export type RdataToken = string

const quote = 34
const backslash = 92

/** Returns whether the token was quoted. Its content starts behind the quote. */
export function isQuoted(token: RdataToken): boolean {
  return token.charCodeAt(0) === quote
}

/** Returns the end of the quoted content that starts at `i`, which is its closing quote; -1 if the line or the text ends first. */
export function quotedEnd(text: string, i: number): number {
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) return i
    if (code === 10) return -1
    if (code === backslash && text.charCodeAt(++i) === 10) return -1
  }
  return -1
}

/** Returns the end of the unquoted token that starts at `i`; -1 if it ends with a backslash, or has a quote that is not closed or misplaced. */
export function unquotedEnd(text: string, i: number): number {
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 92) continue
    if (code === backslash) {
      i++
      if (i >= text.length || text.charCodeAt(i) === 10) return -1
    } else if (isDelimiter(code)) return i
    else if (code === quote) {
      const end = text.charCodeAt(i - 1) === 61 ? quotedEnd(text, i + 1) : -1
      return end >= 0 && (end + 1 === text.length || isDelimiter(text.charCodeAt(end + 1))) ? end + 1 : -1
    }
  }
  return i
}

/** Space, tab, CR, LF, `(`, `)` and `;`. */
function isDelimiter(code: number): boolean {
  return (
    code === 32 ||
    (code >= 9 && code <= 13 && code !== 11 && code !== 12) ||
    code === 40 ||
    code === 41 ||
    code === 59
  )
}
