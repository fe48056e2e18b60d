// The published document as authors of SDKs and Terraform providers need it: named types, an example of everything that fits
// its schema, declared headers, and required rights. Reads the document, and the routes only to enumerate them.
import assert from 'node:assert/strict'
import { BlockList, isIP } from 'node:net'
import { describe, it } from 'node:test'
import { examples } from '@pharos/contract/examples/index'
import { problems } from '@pharos/contract/problem'
import { routes } from '@pharos/contract/document/routes'
import type { Route } from '@pharos/contract/route'
import { createAjv, dereference, documentText, isAnsweredTime } from './support/openapi-operations.ts'
import { isTime } from './support/formats.ts'

type Node = { readonly [key: string]: unknown }
type Media = Readonly<Record<string, { readonly schema: Node; readonly example?: unknown }>>
type Answer = { readonly content?: Media; readonly headers?: Node }
type Documented = {
  readonly operationId: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security: readonly Node[]
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Node }[]
  readonly requestBody?: { readonly content: Media }
  readonly responses: Readonly<Record<string, Answer>>
  readonly 'x-required-scope'?: string
  readonly 'x-required-role'?: string
  readonly 'x-required-grant'?: string
}
type Document = {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Documented }>>
  readonly components: { readonly schemas: Readonly<Record<string, Node>> }
}

const document = JSON.parse(documentText) as Document
const resolved = dereference(document)
const operationsOf = ({ paths }: Document) =>
  Object.values(paths).flatMap((methods) => Object.values(methods))
const operations = operationsOf(resolved)
const byId = new Map(operations.map((operation) => [operation.operationId, operation]))

/** The examples of a media type, parameter or header. */
function examplesOf(node: Node): unknown[] {
  const { examples: named = {} } = node as { examples?: Record<string, { readonly $ref: string }> }
  const { components } = document as { components: { examples?: Record<string, { value: unknown }> } }
  const values = Object.values(named).map(({ $ref }) => components.examples![$ref.split('/').at(-1)!]!.value)
  return 'example' in node ? [node['example'], ...values] : values
}

/** Calls `visit` for every object below the value, with its path. Examples are data, not schemas. */
function walk(value: unknown, visit: (node: Node, path: string) => void, path = ''): void {
  if (typeof value !== 'object' || value === null) return
  visit(value as Node, path)
  for (const [key, one] of Object.entries(value))
    if (key !== 'example' && key !== 'examples')
      walk(one, visit, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
}

describe('examples', () => {
  it('exist for every operation', () => {
    const lacking = routes.flatMap((route) => lackingParts(route).map((part) => `${route.name}: ${part}`))
    assert.deepEqual(lacking, [])
  })

  it('belong to an operation', () => {
    const names = new Set(routes.map(({ name }) => name))
    assert.deepEqual(
      [...examples.keys()].filter((name) => !names.has(name)),
      [],
    )
  })

  it('fit their schemas', () => {
    // References are resolved within the whole document, so that each component is compiled once.
    const compiler = (formats: typeof isTime) =>
      createAjv(formats).addVocabulary(Object.keys(document)).addSchema(document, 'api')
    const [requests, answers] = [compiler(isTime), compiler(isAnsweredTime)]
    const wrong: string[] = []
    let checked = 0
    walk(document, (node, path) => {
      const values = 'schema' in node ? examplesOf(node) : []
      if (values.length === 0) return
      const ajv = /\/responses\//.test(path) ? answers : requests
      const check = ajv.getSchema(`api#${path}/schema`)!
      checked += 1
      for (const value of values) if (!check(value)) wrong.push(`${path}: ${ajv.errorsText(check.errors)}`)
    })
    assert.deepEqual(wrong, [])
    assert.ok(checked > operations.length)
  })

  it('contain only addresses, AS numbers and names that are reserved for documentation', () => {
    const wrong: string[] = []
    const all = [
      ...examples.values(),
      ...Object.values(document.webhooks).map(({ post }) => post.requestBody),
    ]
    for (const text of textsOf(all)) {
      const foreign = findForeign(text)
      if (foreign) wrong.push(foreign)
    }
    assert.deepEqual(wrong, [])
  })
})

function lackingParts(route: Route): string[] {
  const example = examples.get(route.name)
  if (!example) return ['no example']
  const lacks = (part: keyof typeof example, wanted: boolean) =>
    wanted && example[part] === undefined ? [part] : []
  return [
    ...lacks('params', Object.keys(route.params.properties).length > 0),
    ...lacks('body', route.body !== null),
    ...lacks('response', route.response !== null),
    ...lacks('events', route.stream),
    ...lacks('trial', route.trial !== null),
    ...lacks('changes', route.dryRun),
  ]
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsOf)
}

const reserved = new BlockList()
for (const network of ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24']) {
  reserved.addSubnet(network.split('/')[0]!, Number(network.split('/')[1]))
}
reserved.addSubnet('2001:db8::', 32, 'ipv6')

function findForeign(text: string): string | undefined {
  for (const [word] of text.matchAll(/(?<![\w.:])[0-9a-f.:]{3,}(?![\w.:])/gi)) {
    const version = isIP(word)
    if (version && !reserved.check(word, version === 6 ? 'ipv6' : 'ipv4')) return word
  }
  for (const [, asn] of text.matchAll(/\bAS(\d+)\b/g)) {
    const number = Number(asn)
    if (!(number >= 64_496 && number <= 64_511)) return `AS${asn}`
  }
  for (const [, host] of text.matchAll(/(?:@|:\/\/)([\w.-]+\.\w+)/g)) {
    if (!/\.example$|(^|\.)example\.(?:net|com|org)$/.test(host!)) return host
  }
  return undefined
}

describe('types', () => {
  it('have names: no object and no closed list is declared inline', () => {
    const inline: string[] = []
    walk(document, (node, path) => {
      const isComponent = /^\/components\/schemas\/\w+$/.test(path)
      if (!isComponent && 'properties' in node) inline.push(path)
      if (!isComponent && Array.isArray(node['enum']) && node['enum'].length > 1) inline.push(path)
    })
    assert.deepEqual(inline, [])
  })

  it('are integers with a width', () => {
    const unknown: string[] = []
    walk(document, (node, path) => {
      if ([node['type']].flat().includes('integer') && !('format' in node)) unknown.push(path)
    })
    assert.deepEqual(unknown, [])
  })

  it('of a dry run are separate from those of the change', () => {
    const dryRuns = operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'dry_run'))
    assert.ok(dryRuns.length > 0)
    for (const { operationId, responses } of dryRuns) {
      const { schema } = responses['200']!.content!['application/vnd.pharos.dry-run+json']!
      assert.deepEqual(
        Object.keys(schema['properties'] as object),
        ['dry_run', 'changes', 'result'],
        operationId,
      )
      for (const { content } of Object.values(responses)) {
        const { anyOf = [] } = (content?.['application/json']?.schema ?? {}) as { anyOf?: object[] }
        assert.ok(!JSON.stringify(anyOf).includes('"dry_run"'), operationId)
      }
    }
  })
})

describe('descriptions', () => {
  it('exist for every parameter, except those whose name says it all', () => {
    const missing = operationsOf(resolved).flatMap(({ operationId, parameters }) =>
      parameters
        .filter((one) => !('description' in one) && !selfExplaining.test(one.name))
        .map(({ name }) => `${operationId} ${name}`),
    )
    assert.deepEqual(missing, [])
  })

  it('exist for every tag', () => {
    const described = new Set(document.tags.map(({ name }) => name))
    for (const { tags } of operations) for (const tag of tags) assert.ok(described.has(tag), tag)
  })
})

/** Ids, and filters by a field of the record. */
const selfExplaining =
  /_id$|^(?:asn|origin_asn|slug|source_key|verified|enabled|active|is_admin|status|state|type|kind|name|email)$/

describe('declarations', () => {
  it('name the scope, the role and the grant that the route requires', () => {
    for (const { name, permission } of routes) {
      const operation = byId.get(name)!
      const { scope, role, grant, staffGrant } = permission as Readonly<
        Partial<Record<'scope' | 'role' | 'grant' | 'staffGrant', string>>
      >
      assert.equal(operation['x-required-scope'], scope, name)
      assert.equal(operation['x-required-role'], role, name)
      assert.equal(operation['x-required-grant'], grant ?? staffGrant, name)
      if (scope) assert.match(operation.description, new RegExp(`\`${scope}\``), name)
    }
  })

  it('list one security scheme, and the session only where no API token is accepted', () => {
    const schemes = { none: [], optional: ['bearer'], web: ['bearer'], source: ['source'], any: ['token'] }
    for (const { name, permission } of routes)
      assert.deepEqual(
        byId.get(name)!.security.flatMap((one) => Object.keys(one)),
        schemes[permission.credential],
        name,
      )
  })

  it('give every 201 a GET operation for its Location', () => {
    const created = routes.filter(({ success }) => success === 201)
    assert.deepEqual(
      created.filter(({ creates }) => !creates || !byId.has(creates.name)).map(({ name }) => name),
      [],
    )
    for (const { name } of created) assert.ok(byId.get(name)!.responses['201']!.headers?.['Location'], name)
  })

  it('list the headers of rate limits and the request id with every answer', () => {
    for (const { operationId, responses } of operations)
      for (const [status, { headers }] of Object.entries(responses))
        for (const name of ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'X-Request-Id'])
          assert.ok(headers?.[name], `${operationId} ${status} ${name}`)
  })

  it('list every code of errors', () => {
    assert.deepEqual(document.components.schemas['ProblemCode']!['enum'], Object.keys(problems))
  })

  it('contain every message of webhooks with its signature headers', () => {
    assert.ok(Object.keys(document.webhooks).length >= 9)
    for (const { post } of Object.values(document.webhooks))
      assert.deepEqual(
        post.parameters.map(({ name }) => name),
        ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
      )
  })
})
