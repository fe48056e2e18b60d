// Text of other users in mails. An invitation sends it to any address that the inviter enters, from the provider's
// sender address: it must be readable, and must not become a link, an address or a line that looks like the provider's.
// Pure.

/** Longer texts are truncated. */
const lineMax = 200
const linesMax = 12

/**
 * Returns one line in which no mail program finds a link: `https://evil.example` becomes `https[:]//evil[.]example`. Invisible,
 * bidirectional and stacked characters are removed.
 */
export function defangLine(text: string): string {
  return withoutLinks(cut(visible(text)))
}

/** Returns the lines of a text, each defanged, without leading and trailing empty lines. */
export function defangLines(text: string): readonly string[] {
  const lines = text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/).map(defangLine)
  const [first, last] = [lines.findIndex((line) => line !== ''), lines.findLastIndex((line) => line !== '')]
  if (first < 0) return []
  const kept = lines.slice(first, last + 1)
  return kept.length <= linesMax ? kept : [...kept.slice(0, linesMax), '…']
}

/** Replaces compatibility forms by the letters that they represent, as link detection in mail programs does. */
function visible(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFKC')
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, (gap) => (/[\p{Z}\s\p{Cc}]/u.test(gap) ? ' ' : ''))
    .replaceAll(/(\p{M}{2})\p{M}+/gu, '$1')
    .trim()
}

function cut(line: string): string {
  const letters = [...line]
  return letters.length <= lineMax ? line : `${letters.slice(0, lineMax).join('').trimEnd()}…`
}

/** A host name consists of letters, digits and signs of any script; 。 is a dot to name servers (RFC 3490). */
const name = String.raw`[\p{L}\p{N}\p{M}\p{S}_%~\-]`
const dots = new RegExp(`(?<=${name})[.。](?=${name})`, 'gu')

function withoutLinks(line: string): string {
  return line
    .replaceAll(dots, '[.]')
    .replaceAll(/(?<=[\p{L}\p{N}+.\]-]):(?=\/)|(?<=[\p{L}+.\]-]):(?=\S)/gu, '[:]')
    .replaceAll(/(?<=\S)@(?=\S)/gu, '[@]')
    .replaceAll(/\\(?=\\)/g, '\\ ')
}
