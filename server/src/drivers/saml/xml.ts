// A strict reader of the XML that SAML needs. It refuses what no identity provider has to send and what parsers read differently: document types, comments,
// CDATA, processing instructions, other encodings, deep nesting. Everything else that is not well-formed is refused too.

export type XmlAttribute = {
  readonly prefix: string
  readonly name: string
  /** Empty for an attribute without a prefix. */
  readonly namespace: string
  readonly value: string
}

export type XmlElement = {
  readonly prefix: string
  readonly name: string
  readonly namespace: string
  /** Without the declarations of namespaces. */
  readonly attributes: readonly XmlAttribute[]
  readonly children: readonly (XmlElement | string)[]
  /** The namespaces in scope, by prefix; the default one has the prefix ''. */
  readonly scope: ReadonlyMap<string, string>
}

/** The text is not XML, or contains what is refused. */
export class XmlError extends Error {}

const depthMax = 32
const nodesMax = 20_000
const namespacesMax = 100
const xmlNamespace = 'http://www.w3.org/XML/1998/namespace'
const xmlnsNamespace = 'http://www.w3.org/2000/xmlns/'

const name = '[A-Za-z_][A-Za-z0-9._-]*'
const qualified = `(?:(${name}):)?(${name})`
const openTag = new RegExp(`<${qualified}(?=[\\s/>])`, 'y')
const attribute = new RegExp(`[ \\t\\n]+${qualified}[ \\t\\n]*=[ \\t\\n]*(?:"([^"<]*)"|'([^'<]*)')`, 'y')
const endOfTag = /[ \t\n]*(\/?)>/y
const closeTag = new RegExp(`</${qualified}[ \\t\\n]*>`, 'y')
const plainText = /[^<]+/y
const comment = /<!--(?:(?!--)[^])*-->/g
const declaration =
  /^<\?xml version=(["'])1\.0\1(?: encoding=(["'])utf-8\2)?(?: standalone=(["'])(?:yes|no)\3)?[ \t\n]*\?>/i
/** The characters of XML 1.0; `u` makes half a surrogate pair one of the others. */
const notXml = /[^\t\n\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u

type Open = Omit<XmlElement, 'children'> & { readonly children: (XmlElement | string)[] }

export type XmlOptions = {
  /** Drops comments instead of refusing them: for documents that an admin enters. */
  readonly dropsComments?: boolean
}

/** Returns the text of UTF-8 bytes with the line ends of XML (2.11). Throws XmlError. */
export function decodeXml(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.replace(/\r\n?/g, '\n')
  } catch {
    throw new XmlError('is not UTF-8')
  }
}

/** Returns the root element. Throws XmlError. */
export function parseXml(document: string, { dropsComments = false }: XmlOptions = {}): XmlElement {
  const stripped = document.replace(declaration, '')
  const text = (dropsComments ? stripped.replace(comment, '') : stripped).trim()
  if (notXml.test(text)) throw new XmlError('has a character that XML does not have')
  const reader = new Reader(text)
  return reader.readDocument()
}

class Reader {
  readonly #text: string
  #at = 0
  #nodes = 0

  constructor(text: string) {
    this.#text = text
  }

  readDocument(): XmlElement {
    const open: Open[] = []
    for (;;) {
      const parent = open.at(-1)
      const closed = this.#match(closeTag)
      if (closed) {
        if (!parent || (closed[1] ?? '') !== parent.prefix || closed[2] !== parent.name)
          throw new XmlError('has a wrong end tag')
        open.pop()
        if (open.length === 0) return this.#end(parent)
        continue
      }
      const element = this.#readOpenTag(parent?.scope)
      if (element) {
        parent?.children.push(element.node)
        if (!element.isEmpty) open.push(element.node)
        else if (!parent) return this.#end(element.node)
        if (open.length > depthMax) throw new XmlError('is nested too deeply')
        continue
      }
      const words = parent && this.#match(plainText)
      if (!words)
        throw new XmlError('is not well-formed, or has a DOCTYPE, comment, CDATA or processing instruction')
      if (words[0].includes(']]>')) throw new XmlError('has the end of a CDATA section')
      parent.children.push(decodeReferences(words[0]))
    }
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match) this.#at = pattern.lastIndex
    return match
  }

  #end(root: Open): XmlElement {
    if (this.#at !== this.#text.length) throw new XmlError('continues after its root element')
    return root
  }

  #readOpenTag(outer: ReadonlyMap<string, string> = initialScope) {
    const tag = this.#match(openTag)
    if (!tag) return undefined
    const raw: { prefix: string; name: string; value: string }[] = []
    for (let found = this.#match(attribute); found; found = this.#match(attribute)) {
      const value = decodeReferences((found[3] ?? found[4]!).replace(/[\t\n]/g, ' '))
      raw.push({ prefix: found[1] ?? '', name: found[2]!, value })
      this.#count()
    }
    const end = this.#match(endOfTag)
    if (!end) throw new XmlError('has a tag that is not well-formed')
    this.#count()
    const scope = scopeWith(outer, raw)
    const [prefix, local] = [tag[1] ?? '', tag[2]!]
    const namespace = prefix === '' ? (scope.get('') ?? '') : namespaceOf(scope, prefix)
    const attributes = attributesOf(scope, raw)
    const node: Open = { prefix, name: local, namespace, attributes, children: [], scope }
    return { node, isEmpty: end[1] === '/' }
  }

  #count(): void {
    this.#nodes += 1
    if (this.#nodes > nodesMax) throw new XmlError('has too many nodes')
  }
}

const initialScope: ReadonlyMap<string, string> = new Map([['xml', xmlNamespace]])

type RawAttribute = { readonly prefix: string; readonly name: string; readonly value: string }

const isDeclaration = ({ prefix, name }: RawAttribute): boolean =>
  prefix === 'xmlns' || (prefix === '' && name === 'xmlns')

function scopeWith(
  outer: ReadonlyMap<string, string>,
  raw: readonly RawAttribute[],
): ReadonlyMap<string, string> {
  const declared = raw.filter(isDeclaration)
  if (declared.length === 0) return outer
  const scope = new Map(outer)
  const own = new Set<string>()
  for (const { prefix, name, value } of declared) {
    const of = prefix === '' ? '' : name
    if (own.has(of)) throw new XmlError('declares a namespace twice')
    if (of === 'xml' || of === 'xmlns' || [xmlNamespace, xmlnsNamespace].includes(value))
      throw new XmlError('declares a reserved namespace')
    if (of !== '' && value === '') throw new XmlError('has a prefix without a namespace')
    own.add(of)
    scope.set(of, value)
  }
  if (scope.size > namespacesMax) throw new XmlError('has too many namespaces')
  return scope
}

function namespaceOf(scope: ReadonlyMap<string, string>, prefix: string): string {
  const namespace = scope.get(prefix)
  if (namespace === undefined) throw new XmlError('has a prefix that is not declared')
  return namespace
}

function attributesOf(
  scope: ReadonlyMap<string, string>,
  raw: readonly RawAttribute[],
): readonly XmlAttribute[] {
  const seen = new Set<string>()
  return raw
    .filter((one) => !isDeclaration(one))
    .map((one) => {
      const namespace = one.prefix === '' ? '' : namespaceOf(scope, one.prefix)
      const key = `${namespace} ${one.name}`
      if (seen.has(key)) throw new XmlError('has an attribute twice')
      seen.add(key)
      return { ...one, namespace }
    })
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decodeReferences(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|([a-z]{2,4}));|&/g,
    (_, hex, decimal, entity) => {
      const code = hex === undefined ? Number(decimal) : parseInt(hex as string, 16)
      const character = entity === undefined ? characterOf(code) : entities[entity as string]
      if (character === undefined) throw new XmlError('has an unknown entity')
      return character
    },
  )
}

function characterOf(code: number): string | undefined {
  if (!(code <= 0x10ffff)) return undefined
  const character = String.fromCodePoint(code)
  return code !== 13 && notXml.test(character) ? undefined : character
}

export const isElement = (child: XmlElement | string): child is XmlElement => typeof child !== 'string'

export const elementsOf = ({ children }: XmlElement): readonly XmlElement[] => children.filter(isElement)

/** The element and all within it, in the order of the document. */
export function* allElements(element: XmlElement): Generator<XmlElement> {
  yield element
  for (const child of elementsOf(element)) yield* allElements(child)
}

/** The value of an attribute without a namespace. */
export const attributeOf = ({ attributes }: XmlElement, wanted: string): string | undefined =>
  attributes.find(({ namespace, name: of }) => namespace === '' && of === wanted)?.value

/** The text of an element without elements, with its spaces. Throws XmlError for others. */
export function exactText({ children }: XmlElement): string {
  if (children.some(isElement)) throw new XmlError('has an element where text belongs')
  return children.join('')
}

export const elementText = (element: XmlElement): string => exactText(element).trim()
