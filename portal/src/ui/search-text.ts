// Parses and writes the search part of addresses: `status=announced,ready&sort=-start`. Every value is plain text, and a list is
// joined with commas, so that a person can read and write a link. Pure.

/** Returns the values by parameter. A repeated parameter is joined with commas; JSON in links of earlier releases is read too. */
export function parseSearch(text: string): Record<string, string> {
  const values = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text))
    values.set(name, [...(values.get(name) ?? []), plainText(value)])
  return Object.fromEntries([...values].map(([name, all]) => [name, all.join(',')]))
}

/** Returns the search part with its question mark; empty if there is no value. */
export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(search)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${escape(name)}=${escape([value].flat().map(String).join(','))}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function plainText(value: string): string {
  if (!/^["[]/.test(value)) return value
  try {
    return [JSON.parse(value) as unknown].flat().map(String).join(',')
  } catch {
    return value
  }
}

/** Percent-encodes only the characters with a meaning in a search part, so that the rest stays readable. */
const escape = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll('%20', '+')
    .replaceAll(/%(?:2C|2F|3A|40)/g, (code) => decodeURIComponent(code))
