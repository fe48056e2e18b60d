import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { apiDocument } from './document.ts'
import { surfaceOf } from './openapi-surface.ts'

type Json = Parameters<typeof surfaceOf>[0]

const documentOf = (): Json => JSON.parse(JSON.stringify(apiDocument('1'))) as Json
/** Texts for readers, and the parts that are not of an operation, a message or a schema. */
const readersOnly = /^(openapi|info|tags|servers|externalDocs|components\.examples)$/
const texts = new Set(['description', 'summary', 'example', 'examples', 'title', 'externalDocs', 'tags'])

type Leaf = { readonly holder: Record<string, unknown>; readonly key: string; readonly kind: string }

/** Returns the leaves of a document; the `kind` has names replaced, so that leaves of one kind are printed by the same code. */
function* leavesOf(value: unknown, path: readonly string[] = []): Generator<Leaf> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, one] of Object.entries(value)) {
    const place = [...path, key]
    if (readersOnly.test(place.join('.')) || isText(place)) continue
    if (typeof one === 'object' && one !== null) yield* leavesOf(one, place)
    else yield { holder: value as Record<string, unknown>, key, kind: kindOf(place) }
  }
}

/** A field may be named as a text is. */
const isText = (path: readonly string[]): boolean => texts.has(path.at(-1)!) && path.at(-2) !== 'properties'

/** The end of the path: a schema may contain others. */
const kindOf = (path: readonly string[]): string =>
  path
    .map((part, at) => (/^\d+$/.test(part) || isName(path[at - 1]) ? '*' : part))
    .slice(-3)
    .join('.')

const isName = (parent: string | undefined): boolean =>
  /^(paths|webhooks|schemas|responses|headers|content|properties|securitySchemes|encoding|patternProperties)$/.test(
    parent ?? '',
  )

function changed(value: unknown): unknown {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  return `${String(value)}x`
}

describe('the surface of the API', () => {
  it('changes with each kind of leaf that a program may notice', () => {
    const document = documentOf()
    const before = surfaceOf(document)
    const kinds = Map.groupBy(leavesOf(document), ({ kind }) => kind)
    assert.ok(kinds.size > 40, `${kinds.size} kinds`)
    const unnoticed = [...kinds].flatMap(([kind, leaves]) => {
      const { holder, key } = leaves[Math.floor(leaves.length / 2)]!
      const value = holder[key]
      holder[key] = changed(value)
      const isNoticed = surfaceOf(document) !== before
      holder[key] = value
      return isNoticed ? [] : [kind]
    })
    assert.deepEqual(unnoticed, [])
  })

  it('has the codes of an error, and no text for readers', () => {
    const document = documentOf()
    const surface = surfaceOf(document)
    assert.match(surface, /^answer NotFound: codes not_found; headers X-Request-Id, /m)
    assert.match(
      surface,
      /^PATCH \/v3\/ipam\/announcements\/\{announcement_id\} body application\/json: UpdateAnnouncementBody$/m,
    )
    assert.match(surface, /^UpdateAnnouncementBody\.enabled\?: boolean$/m)
    assert.doesNotMatch(surface, /Program(s)? send/)
  })
})
