// The reference of the API as pages, rendered from the OpenAPI document: a page for each group of operations, one for
// all types, and one for each error code. The document is its only input.
import { groupPath } from '@pharos/contract/group'
import { problems, type ProblemCode } from '@pharos/contract/problem'
import { codeBlock, escapedHtml, inlineToHtml, jsonBlock, table, textToHtml, type Html } from './html.ts'

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}
type Media = { readonly schema: Schema; readonly example?: unknown }
type Content = Readonly<Record<string, Media>>
type Reference = { readonly $ref: string }
type Header = { readonly description: string }
type Answer = {
  readonly description: string
  readonly content?: Content
  readonly headers?: Readonly<Record<string, Reference>>
}
type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
  readonly explode?: boolean
  readonly example?: unknown
}
export type OperationDocument = {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly 'x-required-scope'?: string
  readonly deprecated?: boolean
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Answer | Reference>>
}
export type ApiDocument = {
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDocument>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: OperationDocument }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly headers: Readonly<Record<string, Header>>
    readonly responses: Readonly<Record<string, Answer>>
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>
  }
}

/** An operation with its method and path. */
export type DocumentedOperation = OperationDocument & { readonly method: string; readonly path: string }

export const operationsOf = ({ paths }: ApiDocument): DocumentedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  )

const typesPath = '/docs/reference/types'

/** Returns the body of the page of a group. */
export function groupBody(document: ApiDocument, { name, description }: ApiDocument['tags'][number]): Html {
  const operations = operationsOf(document).filter(({ tags }) => tags[0] === name)
  return `<h1>${escapedHtml(name)}</h1>${textToHtml(description)}${operations.map((one) => operationSection(document, one)).join('')}`
}

function operationSection(document: ApiDocument, operation: DocumentedOperation): Html {
  const { operationId, summary, description, deprecated, method, path } = operation
  return `<h2 id="${operationId}">${escapedHtml(summary)}${deprecated ? ' (deprecated)' : ''}</h2>
<p class="endpoint"><span class="method">${method}</span> ${escapedHtml(path)} <a class="quiet" href="#${operationId}">${operationId}</a></p>
${textToHtml(description)}
${requestSection(document, operation)}
${answersSection(document, operation)}
`
}

function requestSection(document: ApiDocument, operation: DocumentedOperation): Html {
  const { parameters, requestBody } = operation
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    codeOf(name, required ? 'required' : undefined),
    place,
    typeOf(schema),
    [inlineToHtml(description ?? ''), limitsOf(schema)].filter(Boolean).join('; '),
  ])
  const [, body] = Object.entries(requestBody?.content ?? {})[0] ?? []
  return [
    ...(rows.length > 0 ? ['<h3>Parameters</h3>', table(['Name', 'In', 'Type', 'Description'], rows)] : []),
    ...(body ? ['<h3>Body</h3>', schemaBody(document, body.schema)] : []),
    '<h3>Example</h3>',
    codeBlock(curlOf(document, operation)),
  ].join('\n')
}

function answersSection(document: ApiDocument, { responses }: DocumentedOperation): Html {
  const answers = Object.entries(responses).map(
    ([status, answer]) => [Number(status), resolve(document, answer)] as const,
  )
  const successes = answers.filter(([status]) => status < 400)
  const errors = answers.filter(([status]) => status >= 400)
  return [
    '<h3>Answers</h3>',
    table(['Status', 'Meaning', 'Body', 'Headers'], successes.map(successRow)),
    ...successes.flatMap(([status, { content = {} }]) => samplesOf(status, content)),
    '<h3>Errors</h3>',
    table(
      ['Status', 'Code'],
      errors.map(([status, { description }]) => [String(status), problemLinks(description)]),
    ),
  ].join('\n')
}

function successRow([status, { description, content = {}, headers = {} }]: readonly [
  number,
  Answer,
]): Html[] {
  const bodies = Object.entries(content).map(
    ([mediaType, { schema }]) => `${typeOf(schema)} <span class="quiet">${mediaType}</span>`,
  )
  const names = Object.keys(headers).filter((name) => !/^RateLimit-|^X-Request-Id$/.test(name))
  return [
    String(status),
    inlineToHtml(description),
    bodies.join('<br>'),
    names.map((name) => codeOf(name)).join(', '),
  ]
}

const samplesOf = (status: number, content: Content): Html[] =>
  Object.entries(content)
    .filter(([, { example }]) => example !== undefined)
    .map(([mediaType, { example }]) => {
      const title = mediaType.includes('dry-run') ? 'Answer to a dry run' : `Answer (${status})`
      return `<h3>${title}</h3>${typeof example === 'string' ? codeBlock(example) : jsonBlock(example)}`
    })

/** Returns the body of the table of all operations: properties that clients and generators need. */
export function operationsBody(document: ApiDocument): Html {
  const rows = operationsOf(document).map((operation) => {
    const { operationId, tags, method, path, parameters, responses, 'x-required-scope': scope } = operation
    const takes = (name: string) => mark(parameters.some((one) => one.name === name))
    const hasETag = Object.values(responses).some(
      (answer) => 'headers' in answer && 'ETag' in (answer.headers ?? {}),
    )
    return [
      `<a href="${groupPath(tags[0]!)}#${operationId}">${operationId}</a>`,
      `<span class="method">${method}</span> ${escapedHtml(path)}`,
      scope ? codeOf(scope) : '',
      mark(hasExamples(operation)),
      takes('dry_run'),
      takes('Idempotency-Key'),
      mark(hasETag),
      takes('If-Match'),
      mark(method === 'GET'),
    ]
  })
  const heads = ['Example', 'Dry run', 'Idempotency-Key', 'ETag', 'If-Match', 'HEAD']
  return `<h1>Operations</h1><p>All ${rows.length} operations. An empty cell means no. Scope: what an API token needs. Example: of the body and of every JSON answer. HEAD: also answers the method HEAD.</p>${table(['Operation', 'Request', 'Scope', ...heads], rows)}`
}

const mark = (holds: boolean): Html => (holds ? 'yes' : '')

/**
 * Returns whether every JSON body and every stream of an operation has an example; files and forms have no examples.
 */
const hasExamples = ({ requestBody, responses }: OperationDocument): boolean =>
  [requestBody ?? {}, ...Object.values(responses)]
    .flatMap((one) => ('content' in one ? Object.entries(one.content ?? {}) : []))
    .every(([mediaType, { example }]) => !/json|event-stream/.test(mediaType) || example !== undefined)

/** The codes of an answer's description as links to their pages. */
const problemLinks = (description: string): Html =>
  inlineToHtml(description).replace(/<code>(\w+)<\/code>: /g, (whole, code: string) =>
    code in problems ? `<a href="/docs/problems/${code}"><code>${code}</code></a>: ` : whole,
  )

const resolve = ({ components }: ApiDocument, answer: Answer | Reference): Answer =>
  '$ref' in answer ? components.responses[nameOf(answer.$ref)]! : answer

const nameOf = (reference: string): string => reference.split('/').at(-1)!
const codeOf = (name: string, mark?: string): Html =>
  `<code>${escapedHtml(name)}</code>${mark ? ` <span class="quiet">${mark}</span>` : ''}`

/** Returns a curl command with the values of the example. */
function curlOf(document: ApiDocument, operation: DocumentedOperation): string {
  const { method, parameters, requestBody, security, responses } = operation
  const [mediaType, body] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const takes = (header: string) => parameters.some(({ name }) => name === header)
  const parts = [
    `curl -sS ${method === 'GET' || (method === 'POST' && body) ? '' : `-X ${method} `}'${document.servers[0]!.url}${urlOf(operation)}'`,
    ...authorizationOf(security),
    ...(takes('Idempotency-Key') ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(takes('If-Match') ? [`-H 'If-Match: "7"'`] : []),
    ...(mediaType === 'application/json' && body
      ? [
          `-H 'Content-Type: application/json'`,
          `-d '${JSON.stringify(body.example).replaceAll("'", String.raw`'\''`)}'`,
        ]
      : []),
    ...(mediaType === 'multipart/form-data' ? [`-F 'file=@letter.pdf;type=application/pdf'`] : []),
    ...(isDownload(responses) ? ['-OJ'] : []),
  ]
  return parts.join(' \\\n  ')
}

const isDownload = (responses: OperationDocument['responses']): boolean =>
  Object.entries(responses).some(
    ([status, answer]) =>
      status === '200' && 'headers' in answer && 'Content-Disposition' in (answer.headers ?? {}),
  )

function authorizationOf(security: OperationDocument['security']): string[] {
  const schemes = new Set(security.flatMap((one) => Object.keys(one)))
  if (schemes.has('token')) return ['-H "Authorization: Token $PHAROS_TOKEN"']
  if (schemes.has('source')) return ['-H "Authorization: Token $SOURCE_SECRET"']
  return schemes.has('bearer') && security.length === 1 ? ['-H "Authorization: Bearer $ACCESS_TOKEN"'] : []
}

function urlOf({ path, parameters }: DocumentedOperation): string {
  const query = parameters
    .filter((one) => one.in === 'query' && one.example !== undefined)
    .flatMap(({ name, example, explode }) =>
      (explode === false ? [[example].flat().join(',')] : [example].flat()).map((value) => [
        name,
        String(value),
      ]),
    )
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const example = parameters.find((one) => one.in === 'path' && one.name === name)?.example
    return example === undefined ? whole : encodeURIComponent(String(example))
  })
  return query.length === 0 ? filled : `${filled}?${new URLSearchParams(query)}`
}

/** The fields of a component, or its alternatives; of any other schema its type. */
function schemaBody(document: ApiDocument, schema: Schema): Html {
  const one = schema.$ref ? document.components.schemas[nameOf(schema.$ref)]! : schema
  if (one.properties) return fieldsOf(document, one, 'required')
  return `<p>${typeOf(one.anyOf ? one : schema)}</p>`
}

/** `marked`: whether required or optional fields are marked, in requests or answers. */
function fieldsOf(
  { components }: ApiDocument,
  { properties = {}, required = [] }: Schema,
  marked: 'required' | 'optional',
): Html {
  const described = ({ description, $ref }: Schema) =>
    description ?? ($ref ? components.schemas[nameOf($ref)]!.description : undefined) ?? ''
  const rows = Object.entries(properties).map(([name, field]) => [
    codeOf(name, required.includes(name) === (marked === 'required') ? marked : undefined),
    typeOf(field),
    [inlineToHtml(described(field)), limitsOf(field)].filter(Boolean).join('; '),
  ])
  return table(['Field', 'Type', 'Description'], rows)
}

function typeOf(schema: Schema): Html {
  if (schema.$ref) {
    const name = nameOf(schema.$ref)
    return `<a href="${typesPath}#${name}">${name}</a>`
  }
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.const !== undefined) return `<code>${escapedHtml(JSON.stringify(schema.const))}</code>`
  if (schema.items) return `list of ${typeOf(schema.items)}`
  const types = [schema.type ?? 'any value']
    .flat()
    .map((type) => (type === schema.type && schema.format === 'date-time' ? 'time' : type))
  return escapedHtml(types.join(' or '))
}

function limitsOf({
  enum: values,
  default: byDefault,
  minimum,
  maximum,
  minLength,
  maxLength,
  minItems,
  maxItems,
}: Schema): Html {
  const range = (from: number | undefined, to: number | undefined, unit: string) =>
    to === undefined || to > 4_294_967_295 ? [] : [`${from ?? 0} to ${to}${unit}`]
  return [
    ...(values
      ? [`one of ${values.map((value) => `<code>${escapedHtml(String(value))}</code>`).join(', ')}`]
      : []),
    ...range(minimum, maximum, ''),
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' elements'),
    ...(byDefault === undefined ? [] : [`default <code>${escapedHtml(String(byDefault))}</code>`]),
  ].join('; ')
}

/** Returns the body of the page of all types. */
export function typesBody(document: ApiDocument): Html {
  const sections = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<h2 id="${name}">${name}</h2>${schema.description ? textToHtml(schema.description) : ''}${typeSection(document, schema)}`,
  )
  return `<h1>Types</h1><p>Every schema of requests and answers, by name.</p>${sections.join('\n')}`
}

function typeSection(document: ApiDocument, schema: Schema): Html {
  if (schema.properties) return fieldsOf(document, schema, 'optional')
  return `<p>${schema.enum ? `${typeOf(schema)}, ${limitsOf(schema)}` : typeOf(schema)}</p>`
}

/** Returns the body of the list of all error codes. */
export function problemsBody(): Html {
  const rows = Object.entries(problems).map(([code, { status, title }]) => [
    `<a href="/docs/problems/${code}"><code>${code}</code></a>`,
    String(status),
    escapedHtml(title),
  ])
  return `<h1>Error codes</h1><p>Every error is an RFC 9457 problem document; its <code>code</code> is one of these.</p>${table(['Code', 'Status', 'Meaning'], rows)}`
}

/** Returns the body of the page of a code, the target of the `type` of a problem. */
export function problemBody(document: ApiDocument, code: ProblemCode): Html {
  const { status, title, help } = problems[code]
  const example = document.components.examples[code]?.value
  const operations = operationsOf(document).filter(({ responses }) =>
    Object.values(responses).some((answer) => resolve(document, answer).description.includes(`\`${code}\``)),
  )
  return `<h1><code>${code}</code></h1>
<p>Status ${status}: ${escapedHtml(title)}.</p>
<h3>What to do</h3>${textToHtml(help)}
${example ? `<h3>Example</h3>${jsonBlock(example)}` : ''}
<h3>Operations</h3>${operationList(document, operations)}`
}

function operationList(document: ApiDocument, operations: readonly DocumentedOperation[]): Html {
  const total = operationsOf(document).length
  if (operations.length === 0) return '<p>Requests that match no operation.</p>'
  if (operations.length > total * 0.8) return '<p>Nearly every operation can return this code.</p>'
  const links = operations.map(
    ({ operationId, summary, tags }) =>
      `<li><a href="${groupPath(tags[0]!)}#${operationId}">${escapedHtml(summary)}</a> <span class="quiet">${operationId}</span></li>`,
  )
  return `<ul>${links.join('')}</ul>`
}
