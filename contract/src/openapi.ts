// The OpenAPI 3.1 document, derived from the route values. Pure: the same routes give the same text, so the committed
// contract/openapi.json is a golden file.
import type { TObject, TSchema } from 'typebox'
import {
  answerHeaders,
  answerHeadersOf,
  answersOf,
  dryRunMediaType,
  pascalCase,
  problemCodesByStatus,
  problemCodesOf,
  problemHeadersOf,
  takesIdempotencyKey,
  takesIfMatch,
  takesIfNoneMatch,
  titled,
  type AnswerHeader,
} from './answers.ts'
import type { Example, Examples } from './example.ts'
import { groups, type Group } from './group.ts'
import { createComponents } from './openapi-components.ts'
import { problemExample, ProblemSchema } from './problem-schema.ts'
import { problems, type ProblemCode } from './problem.ts'
import type { Permission, Route, Upload } from './route.ts'
import { textFormatsDescription } from './text.ts'

type Json = Record<string, unknown>

/** A message to webhooks: the schema of its body and an example. */
export type DocumentedMessage = {
  readonly type: string
  readonly summary: string
  readonly schema: TSchema
  readonly example: unknown
}

export type DocumentOptions = {
  /** The version of the product; the API version is in the paths. */
  readonly version: string
  /** URL of the server without a trailing slash; `/` for the server that sends the document. */
  readonly server?: string
  readonly examples?: Examples
  readonly messages?: readonly DocumentedMessage[]
}

/** Returns the document. */
export function openapi(
  routes: readonly Route[],
  { version, server = '/', examples = new Map(), messages = [] }: DocumentOptions,
): Json {
  const { refer, schemas } = createComponents()
  const paths: Record<string, Json> = {}
  for (const route of routes)
    (paths[route.path] ??= {})[route.method.toLowerCase()] = refer(
      operation(route, examples.get(route.name) ?? {}),
    )
  const webhooks = Object.fromEntries(messages.map((message) => [message.type, refer(webhook(message))]))
  refer(ProblemSchema)
  const codes = (Object.keys(problems) as ProblemCode[]).filter((code) =>
    routes.some((route) => problemCodesOf(route).includes(code)),
  )
  const used = new Set<Group>(routes.map(({ group }) => group))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pharos API',
      version,
      description: introduction,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
      contact: { name: 'Documentation of the API', url: server === '/' ? '/docs' : `${server}/docs` },
    },
    externalDocs: { description: 'Guide', url: server === '/' ? '/docs' : `${server}/docs` },
    servers: [
      { url: server, description: 'This server' },
      // The explorer may be opened at another address of the server.
      ...(server === '/' ? [] : [{ url: '/', description: 'The address of this document' }]),
    ],
    // A client that takes the first scheme of a list is a program.
    security: [{ token: [] }],
    tags: Object.entries(groups)
      .filter(([name]) => used.has(name as Group))
      .map(([name, description]) => ({ name, description })),
    paths,
    ...(messages.length > 0 ? { webhooks } : {}),
    components: {
      securitySchemes,
      headers: Object.fromEntries(
        Object.entries(answerHeaders).map(([name, { description, schema, always, example }]) => [
          name,
          { description, required: always, schema, example },
        ]),
      ),
      responses: problemAnswers(routes),
      examples: Object.fromEntries(
        codes.map((code) => [code, { summary: problems[code].title, value: problemExample(code) }]),
      ),
      schemas: schemas(),
    },
  }
}

const introduction =
  'The API of a network service provider, version 3. Bodies are JSON and strict: unknown fields, wrong ' +
  'types and repeated keys are rejected. Programs send `Authorization: Token <API token>`. Errors are RFC 9457 ' +
  'problem documents with a `code` from a closed list; `type` is the URL of its page. ' +
  textFormatsDescription

const securitySchemes = {
  token: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description:
      'For programs. The value is the word `Token`, a space and an API token: `Token phs_k7m2q4x5w3zt_...`. The token ' +
      'belongs to one team and has scopes; an operation lists the scope that it needs.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'For the web application only: the access token of a session, valid for five minutes.',
  },
  source: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'For detectors. The value is the word `Token`, a space and the secret of the source.',
  },
}

function operation(route: Route, example: Example): Json {
  return {
    operationId: route.name,
    tags: [route.group],
    summary: route.summary,
    description: [route.description, requirementOf(route.permission)].filter(Boolean).join('\n\n'),
    security: securityOf(route.permission),
    ...requirementKeys(route.permission),
    parameters: [
      ...parametersOf(route.params, 'path', example.params ?? {}),
      ...parametersOf(route.query, 'query', example.query ?? {}),
      ...(route.dryRun ? [dryRunParameter] : []),
      ...conditionalParameters(route),
      ...(route.stream ? [header('Last-Event-ID', 'the id of the last event that the caller has')] : []),
    ],
    ...requestBodyOf(route, example),
    responses: {
      ...successesOf(route, example),
      ...(takesIfNoneMatch(route)
        ? { 304: { description: 'the record has not changed', headers: headersOf(route, 304) } }
        : {}),
      ...problemsOf(route),
    },
  }
}

type Requirement = { readonly scope?: string; readonly role?: string; readonly module?: string }

function requirementsOf(permission: Permission): Requirement {
  if (permission.credential !== 'web' && permission.credential !== 'any') return {}
  const { scope, module, role = permission.teamRole } = permission
  return { ...(scope ? { scope } : {}), ...(role ? { role } : {}), ...(module ? { module } : {}) }
}

/** `x-required-scope` and the like, for generators. */
const requirementKeys = (permission: Permission): Json =>
  Object.fromEntries(
    Object.entries(requirementsOf(permission)).map(([name, value]) => [`x-required-${name}`, value]),
  )

const roleTexts: Readonly<Record<string, string>> = {
  admin: 'the role admin in the team',
  staff: 'the role staff of the provider',
}

/** Returns the requirements of an operation as a sentence for its description. */
function requirementOf(permission: Permission): string {
  const { scope, role, module } = requirementsOf(permission)
  const parts = [
    ...(permission.credential === 'web' ? ['a session of the web application (no API token)'] : []),
    ...(scope ? [`the scope \`${scope}\``] : []),
    ...(role ? [roleTexts[role]!] : []),
    ...(module ? [`the module \`${module}\``] : []),
  ]
  return parts.length === 0 ? '' : `Requires ${parts.join(', ')}.`
}

/** The API token comes first: generated clients take the first scheme. Its scope is listed as in OpenAPI 3.1, 4.8.30. */
function securityOf(permission: Permission): Json[] {
  switch (permission.credential) {
    case 'none':
      return []
    case 'optional':
      return [{}, { bearer: [] }]
    case 'source':
      return [{ source: [] }]
    case 'web':
      return [{ bearer: [] }]
    case 'any':
      return [{ token: permission.scope ? [permission.scope] : [] }, { bearer: [] }]
  }
}

function requestBodyOf(route: Route, { body: sample }: Example): Json {
  const { body, upload } = route
  if (upload)
    return { requestBody: { required: true, content: { 'multipart/form-data': formOf(route, upload) } } }
  if (!body) return {}
  const schema = titled(route, 'Body', body)
  const content = { 'application/json': { schema, ...exampleOf(sample) } }
  return { requestBody: { required: true, content } }
}

const exampleOf = (example: unknown): Json => (example === undefined ? {} : { example })

/** A file is a binary string (OpenAPI 3.1, 4.8.14.3); `x-max-bytes` is the size limit. */
function formOf(route: Route, { fields, file }: Upload): Json {
  const { name, description, bytesMax, mediaTypes } = file
  const required = (fields as { required?: string[] }).required ?? []
  const schema = {
    type: 'object',
    required: [name, ...required],
    additionalProperties: false,
    properties: {
      [name]: { type: 'string', format: 'binary', description, 'x-max-bytes': bytesMax },
      ...fields.properties,
    },
  } as unknown as TSchema
  return {
    schema: titled(route, 'Form', schema),
    encoding: { [name]: { contentType: mediaTypes.join(', ') } },
  }
}

function parametersOf(schema: TObject, place: 'path' | 'query', values: object): Json[] {
  const required = new Set<string>((schema as { required?: string[] }).required ?? [])
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || (required.has(name) && !('default' in property)),
    ...('description' in property ? { description: property.description } : {}),
    ...('x-empty-is-absent' in property ? { allowEmptyValue: true } : {}),
    schema: property,
    ...exampleOf((values as Json)[name]),
  }))
}

const dryRunParameter = {
  name: 'dry_run',
  in: 'query',
  required: false,
  description: `validate and plan completely, store nothing; the answer, \`${dryRunMediaType}\`, contains the changes`,
  schema: { type: 'boolean', default: false },
}

const header = (name: string, description: string, example?: string): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
  ...exampleOf(example),
})

function conditionalParameters(route: Route): Json[] {
  return [
    ...(takesIdempotencyKey(route)
      ? [
          header(
            'Idempotency-Key',
            'a repeat with the same key within 24 h gets the first answer again',
            '0b7d2c9e-6a43-4c6f-9d57-2f4c1f0a8e11',
          ),
        ]
      : []),
    ...(takesIfMatch(route) ? [header('If-Match', 'the ETag that the record must still have', '"7"')] : []),
    ...(takesIfNoneMatch(route)
      ? [header('If-None-Match', 'the ETag of the record that the caller has: 304 while it has not changed')]
      : []),
  ]
}

const headersOf = (route: Route, status: number): Json => refersTo(answerHeadersOf(route, status))
const refersTo = (names: readonly AnswerHeader[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

function successesOf(route: Route, example: Example): Json {
  return Object.fromEntries(
    Object.entries(answersOf(route)).map(([status, bodies]) => [
      status,
      {
        description: descriptionOf(route, Number(status)),
        headers: headersOf(route, Number(status)),
        ...contentOf(route, bodies, example),
      },
    ]),
  )
}

function descriptionOf({ success, download, stream, response }: Route, status: number): string {
  if (status !== success) return 'result of a dry run'
  if (download) return 'the file, as an attachment'
  if (stream) return 'events, until the connection ends'
  return response ? 'success' : 'done'
}

function contentOf(route: Route, bodies: Readonly<Record<string, TSchema>>, example: Example): Json {
  if (route.download) {
    const bytes = { schema: { type: 'string', format: 'binary' } }
    return { content: Object.fromEntries(route.download.map((mediaType) => [mediaType, bytes])) }
  }
  if (route.stream) {
    const events = { schema: { type: 'string' }, ...exampleOf(example.events) }
    return { content: { 'text/event-stream': events } }
  }
  if (Object.keys(bodies).length === 0) return {}
  const content = Object.entries(bodies).map(([mediaType, schema]) => [
    mediaType,
    { schema, ...exampleOf(mediaType === dryRunMediaType ? dryRunExample(example) : example.response) },
  ])
  return { content: Object.fromEntries(content) }
}

const dryRunExample = ({ changes, response }: Example): unknown =>
  changes && { dry_run: true, changes, result: response ?? null }

type Codes = readonly ProblemCode[]

/** Many operations have the same error answers, so that these are components: one for each set of codes. */
const problemsOf = (route: Route): Json =>
  Object.fromEntries(
    [...problemCodesByStatus(route)].map(([status, codes]) => [
      status,
      { $ref: `#/components/responses/${problemAnswerName(codes)}` },
    ]),
  )

const problemAnswerName = (codes: Codes): string => codes.map(pascalCase).join('Or')

function problemAnswers(routes: readonly Route[]): Json {
  const sets = new Map<string, readonly [number, Codes]>()
  for (const route of routes)
    for (const [status, codes] of problemCodesByStatus(route))
      sets.set(problemAnswerName(codes), [status, codes])
  return Object.fromEntries(
    [...sets]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, [status, codes]]) => [name, problemAnswer(status, codes)]),
  )
}

const problemAnswer = (status: number, codes: Codes): Json => ({
  description: codes.map((code) => `\`${code}\`: ${problems[code].title}`).join('; '),
  headers: refersTo(problemHeadersOf(status)),
  content: {
    'application/problem+json': {
      schema: { $ref: '#/components/schemas/Problem' },
      examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
    },
  },
})

/** Standard Webhooks, version 1.0. */
const webhookHeaders = [
  header(
    'webhook-id',
    'id of the message, the same for every attempt: ignore ids that were processed before',
    'msg_19d486a5b9a_1e61',
  ),
  header('webhook-timestamp', 'time of the attempt, in seconds since 1970', '1775035266'),
  header(
    'webhook-signature',
    'signatures, separated by spaces: `v1,` and the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` in base64',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

function webhook({ type, summary, schema, example }: DocumentedMessage): Json {
  return {
    post: {
      operationId: `send${pascalCase(type)}`,
      tags: ['Webhooks' satisfies Group],
      summary,
      description:
        'Sent to the URL of a webhook, signed with its secret. Verify the signature before you use the message.',
      security: [],
      parameters: webhookHeaders.map((one) => ({ ...one, required: true })),
      requestBody: { required: true, content: { 'application/json': { schema, example } } },
      responses: {
        '2XX': { description: 'Confirms the message. Answer within 15 seconds and process it afterwards.' },
        410: { description: 'Disables the webhook.' },
        '4XX': { description: 'The message is sent again later, for up to three days.' },
      },
    },
  }
}
