// Random changes of a signed answer: nodes are moved, copied, removed, renamed and filled with those of a forged one. The product does not import this file.
import type { Random } from '../../../test/support/random.ts'
import { canonicalXml } from './canonical.ts'
import { isElement, parseXml, type XmlElement } from './xml.ts'

type Node = { -readonly [K in Exclude<keyof XmlElement, 'children'>]: XmlElement[K] } & {
  children: (Node | string)[]
}

const copy = (element: XmlElement): Node => ({
  ...element,
  attributes: element.attributes.map((one) => ({ ...one })),
  children: element.children.map((child) => (isElement(child) ? copy(child) : child)),
})

const nodesOf = (node: Node): Node[] => [
  node,
  ...node.children.filter((child): child is Node => typeof child !== 'string').flatMap(nodesOf),
]

/** Returns the document with one to four changes. */
export function movedAtRandom(document: string, forged: string, random: Random): string {
  const root = copy(parseXml(document))
  const strange = nodesOf(copy(parseXml(forged)))
  const { pick, below } = random
  const changes = 1 + below(4)
  for (let count = 0; count < changes; count++) {
    const all = nodesOf(root)
    const [target, other] = [pick(all), pick(all)]
    const at = below(target.children.length + 1)
    const insert = (node: Node) => target.children.splice(at, 0, copy(node))
    const kind = below(8)
    if (kind === 0) insert(pick(strange))
    else if (kind === 1) insert(other)
    else if (kind === 2) target.children.splice(at, 1)
    else if (kind === 3) move(all, target, other, at)
    else if (kind === 4)
      Object.assign(target, { name: other.name, namespace: other.namespace, prefix: other.prefix })
    else if (kind === 5) replaceText(pick(all), pick(strange), random)
    else if (kind === 6) target.attributes = pick([other, pick(strange)]).attributes
    else wrap(all, target, pick(strange))
  }
  return canonicalXml(root, random.chance(0.5) ? {} : { inclusive: ['xs'] })
}

function move(all: readonly Node[], target: Node, moved: Node, at: number): void {
  if (nodesOf(moved).includes(target)) return
  for (const one of all) one.children = one.children.filter((child) => child !== moved)
  target.children.splice(at, 0, moved)
}

function replaceText(node: Node, source: Node, random: Random): void {
  const texts = source.children.filter((child) => typeof child === 'string')
  if (texts.length > 0) node.children = [...texts]
  else if (random.chance(0.5)) node.children = copy(source).children
}

/** The node becomes a child of a forged one, which takes its place. */
function wrap(all: readonly Node[], wrapped: Node, around: Node): void {
  const outer = copy(around)
  for (const one of all) one.children = one.children.map((child) => (child === wrapped ? outer : child))
  outer.children.push(wrapped)
}
