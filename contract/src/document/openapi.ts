// The OpenAPI 3.1 document, derived from the route values. Pure: the same routes give the same text. `openapi-surface.ts` makes a golden file
// from it.
import type { DocumentedMessage, Examples } from '../example.ts'
import { groups, type Group } from '../group.ts'
import { createComponents } from './openapi-components.ts'
import { headerComponents, problemAnswers, problemExamples } from './openapi-answers.ts'
import { header, operation } from './openapi-operation.ts'
import { ProblemSchema } from './problem-schema.ts'
import type { Route } from '../route.ts'
import { pascalCase } from '../scalar.ts'
import { textFormatsDescription } from '../text.ts'

type Json = Record<string, unknown>

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
    security: [{ token: [] }],
    tags: Object.entries(groups)
      .filter(([name]) => used.has(name as Group))
      .map(([name, description]) => ({ name, description })),
    paths,
    ...(messages.length > 0 ? { webhooks } : {}),
    components: {
      securitySchemes,
      headers: headerComponents(routes),
      responses: problemAnswers(routes),
      examples: problemExamples(routes),
      schemas: schemas(),
    },
  }
}

const introduction =
  'The API of a network service provider, version 3. Bodies are JSON and strict: unknown fields, wrong ' +
  'types and repeated keys are rejected. Programs send `Authorization: Token <API token>`. Errors are RFC 9457 ' +
  'problem documents with a `code` from a closed list; `type` is the URL of its page. ' +
  'Every operation that changes something takes an `Idempotency-Key`, so that a request whose answer was lost can be ' +
  'repeated: within 24 hours the same caller gets the first answer again, with `Idempotency-Replayed: true`, and ' +
  'nothing is done twice. An error is not kept: after it, the same key runs the request again. A dry run, ' +
  '`?validate=true` and GET ignore the header. The few operations that do not take it give the reason, and reject a request with it. ' +
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
    description:
      'For the web application only: the access token of a session, valid for five minutes. Listed by operations that take no ' +
      'API token; those that take one accept a session as well.',
  },
  source: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'For detectors. The value is the word `Token`, a space and the secret of the source.',
  },
}

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
