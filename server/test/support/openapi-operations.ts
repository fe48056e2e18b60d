// The operations of the published OpenAPI document, and a check of every response against the declaration of its status. Reads the document
// only, as an external client would, and no other code of the product.
import { apiDocument } from '@pharos/contract/document/document'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { version } from '../../src/runtime/version.ts'
import { isReadable, isTime } from './formats.ts'

export type Schema = {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly 'x-empty-is-absent'?: boolean
  readonly 'x-max-bytes'?: number
}

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
  /** False: an array is one text, a comma list. */
  readonly explode?: boolean
}

type Declared = {
  /** The checks of bodies by media type; undefined for files and streams. Empty for responses without a body. */
  readonly bodies: ReadonlyMap<string, (() => ValidateFunction) | undefined>
  /** The headers that every response has, in lower case. */
  readonly headers: readonly string[]
  readonly codes: ReadonlySet<string>
}

export type Operation = {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** The schema of the body; undefined without a body. */
  readonly body: Schema | undefined
  /** A request without a body is valid too. */
  readonly isBodyOptional: boolean
  readonly isValidBody: ValidateFunction | undefined
  /** The schema of a form with a file, and its media types; undefined if the operation takes no form. */
  readonly form: Form | undefined
  readonly answers: ReadonlyMap<number, Declared>
}

export type Form = {
  readonly schema: Schema
  readonly file: string
  readonly mediaTypes: readonly string[]
}

export const documentText = JSON.stringify(apiDocument(version))

const utcTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/

type IsTime = (text: string) => boolean

/** Times in responses are UTC with Z and valid calendar dates. */
export const isAnsweredTime: IsTime = (text) => utcTime.test(text) && !Number.isNaN(Date.parse(text))

/** A calendar date without a time. */
const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

export function createAjv(isTime: IsTime): Ajv2020 {
  // Optimizing the code of a schema takes as long as compiling it, and most schemas validate only a few values.
  const ajv = new Ajv2020({
    strict: true,
    allErrors: false,
    strictTypes: false,
    code: { optimize: false },
  })
  ajv.addVocabulary(['x-empty-is-absent'])
  ajv.addFormat('date-time', isTime)
  ajv.addFormat('date', isDay)
  ajv.addFormat('int32', true)
  ajv.addFormat('int64', true)
  ajv.addFormat('line', (text: string) => isReadable(text, false))
  ajv.addFormat('paragraphs', (text: string) => isReadable(text, true))
  return ajv
}

/** Returns the document with every reference replaced by the referenced component. No component contains itself. */
export function dereference<T>(document: T): T {
  const { components } = document as { components: Record<string, Record<string, object>> }
  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    const { $ref, type, ...rest } = value as { $ref?: string; type?: unknown }
    // Such as `["string", "null"]`: the generators of requests expect alternatives.
    if (Array.isArray(type) && type.every((one) => typeof one === 'string'))
      return { anyOf: type.map((one) => (one === 'null' ? { type: one } : resolve({ ...rest, type: one }))) }
    if ($ref === undefined)
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, key === 'example' ? one : resolve(one)]),
      )
    const [, , kind, name] = $ref.split('/')
    return { ...(resolve(components[kind!]![name!]) as object), ...rest }
  }
  return resolve(document) as T
}

type Media = {
  readonly schema: Schema
  readonly encoding?: Readonly<Record<string, { readonly contentType: string }>>
}
type Content = Readonly<Record<string, Media>>
type OperationDocument = {
  readonly operationId: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Content; readonly required: boolean }
  readonly responses: Readonly<Record<string, ResponseDocument>>
}
type ResponseDocument = {
  readonly description: string
  readonly content?: Content
  readonly headers?: Readonly<Record<string, { readonly required: boolean }>>
}

/** Returns every operation of the document. */
export function readOperations(): Operation[] {
  const document = dereference(
    JSON.parse(documentText) as { paths: Record<string, Record<string, OperationDocument>> },
  )
  const [ajv, ajvOfBodies] = [createAjv(isAnsweredTime), createAjv(isTime)]
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      readOperation(ajv, ajvOfBodies, path, method, operation),
    ),
  )
}

function readOperation(
  ajv: Ajv2020,
  ajvOfBodies: Ajv2020,
  path: string,
  method: string,
  { operationId, parameters, requestBody, responses }: OperationDocument,
): Operation {
  const body = requestBody?.content['application/json']?.schema
  return {
    id: operationId,
    method: method.toUpperCase() as Operation['method'],
    path,
    parameters,
    body,
    isBodyOptional: requestBody?.required === false,
    isValidBody: body && ajvOfBodies.compile(body),
    form: formOf(requestBody?.content['multipart/form-data']),
    answers: new Map(
      Object.entries(responses).map(([status, response]) => [Number(status), declaredOf(ajv, response)]),
    ),
  }
}

function declaredOf(ajv: Ajv2020, { description, content = {}, headers = {} }: ResponseDocument): Declared {
  return {
    bodies: new Map(
      Object.entries(content).map(([mediaType, { schema }]) => [
        mediaType,
        mediaType.endsWith('json') ? compiledLater(ajv, schema) : undefined,
      ]),
    ),
    headers: Object.entries(headers)
      .filter(([, { required }]) => required)
      .map(([name]) => name.toLowerCase()),
    codes: new Set([...description.matchAll(/`(\w+)`: /g)].map((match) => match[1]!)),
  }
}

const validators = new Map<string, ValidateFunction>()

/** Compiles at the first use. */
function compiledLater(ajv: Ajv2020, schema: Schema): () => ValidateFunction {
  let isValid: ValidateFunction | undefined
  return () => (isValid ??= compiled(ajv, schema))
}

/** Compiles schemas that several operations share, such as a problem, only once. */
function compiled(ajv: Ajv2020, schema: Schema): ValidateFunction {
  const text = JSON.stringify(schema)
  const found = validators.get(text) ?? ajv.compile(schema)
  validators.set(text, found)
  return found
}

function formOf(media: Media | undefined): Form | undefined {
  const [file, encoding] = Object.entries(media?.encoding ?? {})[0] ?? []
  if (!media || file === undefined) return undefined
  return { schema: media.schema, file, mediaTypes: encoding!.contentType.split(', ') }
}

export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** A path that cannot be decoded, or is too long, reaches no operation: neither its credential nor its rate limit is known. */
const rateHeadersOf = (status: number): string[] =>
  status === 400 || status === 404 ? [] : ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']

/** Returns a description of the first difference between the response and the document; undefined if it conforms. */
export function nonconformityOf(operation: Operation, { status, headers, body }: Answer): string | undefined {
  const declared = operation.answers.get(status)
  if (!declared) return `status ${status} is not declared`
  const missing = [...declared.headers, ...rateHeadersOf(status)].find((name) => headers[name] === undefined)
  if (missing) return `no header ${missing}`
  const contentType = String(headers['content-type'] ?? '')
  if (declared.bodies.size === 0) return body === '' ? undefined : `a body, but none is declared`
  const mediaType = contentType.split(';')[0]!
  if (!declared.bodies.has(mediaType)) return `content-type ${contentType}`
  const isValid = declared.bodies.get(mediaType)?.()
  if (!isValid) return body === '' ? 'an empty file' : undefined
  const value: unknown = JSON.parse(body)
  if (!isValid(value)) return `the body: ${JSON.stringify(isValid.errors)}`
  if (status < 400) return undefined
  return nonconformityOfProblem(declared, status, headers, value as Problem)
}

type Problem = {
  readonly status: number
  readonly code: string
  readonly type: string
  readonly request_id: string
  readonly errors?: readonly { readonly loc: readonly (string | number)[]; readonly type: string }[]
}

function nonconformityOfProblem(
  { codes }: Declared,
  status: number,
  headers: Answer['headers'],
  problem: Problem,
): string | undefined {
  if (!codes.has(problem.code)) return `code ${problem.code} is not declared for ${status}`
  if (problem.status !== status) return `status ${problem.status} in the body`
  if (new URL(problem.type).pathname !== `/docs/problems/${problem.code}`) return `type ${problem.type}`
  if (problem.request_id !== headers['x-request-id']) return 'a different request id in the body'
  if (problem.code !== 'invalid') return undefined
  const places = problem.errors?.map(({ loc }) => loc[0])
  if (!places?.length) return 'no errors in a validation problem'
  if (!places.every((place) => ['body', 'query', 'path', 'header'].includes(String(place))))
    return `places ${places}`
  return undefined
}
