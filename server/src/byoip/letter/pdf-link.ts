// Which links a letter may contain: those that a mail program or a browser opens without access to local files or
// network shares. Pure.

const allowedSchemes = new Set(['http', 'https', 'mailto', 'tel'])

/** `text` is a string of the file, one character for each byte. */
export function isSafeLink(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- browsers leave out tabs and line ends before they look for the scheme
  const link = decode(text).replace(/[\0-\x20\x7f-\xa0]+/g, '')
  if (/^[\\/]{2}/.test(link)) return false
  const scheme = /^([^:/?#\\]*):/.exec(link)?.[1]?.toLowerCase()
  if (scheme === undefined || allowedSchemes.has(scheme)) return true
  // `www.example.com:8443/path`, as people write it.
  return /^[\w-]+(\.[\w-]+)+:\d+([/?#]|$)/.test(link)
}

/** ISO 32000-2, 7.9.2.2: UTF-16 or UTF-8 with a BOM, otherwise PDFDocEncoding, of which schemes use only ASCII. */
function decode(text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  const mark = /^(\xfe\xff|\xff\xfe|\xef\xbb\xbf)/.exec(text)?.[1]
  if (mark === undefined) return text
  return new TextDecoder(
    { '\xfe\xff': 'utf-16be', '\xff\xfe': 'utf-16le', '\xef\xbb\xbf': 'utf-8' }[mark],
  ).decode(bytes)
}
