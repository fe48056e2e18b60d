// Exclusive XML Canonicalization 1.0 without comments (W3C, 18 July 2002), of elements that xml.ts has read. An error in it makes signatures fail; it cannot make
// one valid, since the bytes that it returns are the ones that are digested and then read.
import type { XmlAttribute, XmlElement } from './xml.ts'

export type CanonicalOptions = {
  /** The PrefixList of InclusiveNamespaces; '' for `#default`. */
  readonly inclusive?: readonly string[]
  /** Left out: the signature of an enveloped one. */
  readonly without?: XmlElement
}

export function canonicalXml(element: XmlElement, options: CanonicalOptions = {}): string {
  const parts: string[] = []
  write(element, new Map(), options, parts)
  return parts.join('')
}

function write(
  element: XmlElement,
  outer: ReadonlyMap<string, string>,
  options: CanonicalOptions,
  parts: string[],
): void {
  const tag = element.prefix === '' ? element.name : `${element.prefix}:${element.name}`
  const declared = declarationsOf(element, outer, options.inclusive ?? [])
  const rendered = declared.length === 0 ? outer : new Map([...outer, ...declared])
  parts.push('<', tag)
  for (const [prefix, uri] of declared)
    parts.push(prefix === '' ? ' xmlns="' : ` xmlns:${prefix}="`, escapeValue(uri), '"')
  for (const { prefix, name, value } of element.attributes.toSorted(compareAttributes))
    parts.push(prefix === '' ? ` ${name}="` : ` ${prefix}:${name}="`, escapeValue(value), '"')
  parts.push('>')
  for (const child of element.children)
    if (typeof child === 'string') parts.push(escapeText(child))
    else if (child !== options.without) write(child, rendered, options, parts)
  parts.push('</', tag, '>')
}

/** The namespaces that the element uses visibly, and the inclusive ones, unless an ancestor in the output has declared them so. */
function declarationsOf(
  { prefix, attributes, scope }: XmlElement,
  rendered: ReadonlyMap<string, string>,
  inclusive: readonly string[],
): readonly (readonly [string, string])[] {
  const used = attributes.map((one) => one.prefix).filter((one) => one !== '')
  const wanted = new Set([prefix, ...used, ...inclusive.filter((one) => scope.has(one))])
  wanted.delete('xml')
  return [...wanted]
    .map((one) => [one, scope.get(one) ?? ''] as const)
    .filter(([one, uri]) => (rendered.get(one) ?? '') !== uri)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}

const compareAttributes = (a: XmlAttribute, b: XmlAttribute): number =>
  a.namespace === b.namespace ? (a.name < b.name ? -1 : 1) : a.namespace < b.namespace ? -1 : 1

const textEscapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\r': '&#xD;',
}
const valueEscapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
}

const escapeText = (text: string): string => text.replace(/[&<>\r]/g, (one) => textEscapes[one]!)
const escapeValue = (text: string): string => text.replace(/[&<"\t\n\r]/g, (one) => valueEscapes[one]!)
