// Decides whether a request is valid by the published OpenAPI document and the rules in its introduction, with a second JSON Schema
// implementation and a separate query parser. It shares no code with the server, so that the two can disagree.
import { formBoundary, type FormPart } from './letters.ts'
import type { Form, Operation, Parameter, Schema } from './openapi-operations.ts'
import { isTime } from './formats.ts'

/** A request before encoding: names and texts are not yet percent-encoded. */
export type Draft = {
  readonly path: Readonly<Record<string, string>>
  readonly query: readonly (readonly [name: string, text: string])[]
  readonly headers: Readonly<Record<string, string>>
  readonly contentType: string | undefined
  readonly body: Buffer | undefined
  /** The parts of a form, from which its body is encoded. */
  readonly form?: readonly FormPart[]
  /** Set by a mutation whose effect only the encoding shows, such as broken percent-encoding. */
  readonly broken?: string
}

/** Returns why the request is not valid; undefined if it is valid. */
export function invalidReasonOf(operation: Operation, draft: Draft): string | undefined {
  return (
    draft.broken ??
    invalidReasonOfPath(operation, draft.path) ??
    invalidReasonOfQuery(operation, draft.query) ??
    invalidReasonOfHeaders(operation, draft.headers) ??
    invalidReasonOfBody(operation, draft)
  )
}

function invalidReasonOfPath({ parameters }: Operation, path: Draft['path']): string | undefined {
  for (const { name, schema } of parameters.filter((one) => one.in === 'path')) {
    const text = path[name] ?? ''
    if (schema.type === 'integer') {
      if (!/^[1-9][0-9]{0,14}$/.test(text) || !isIntegerText(schema, text)) return `${name}: no id`
    } else if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(text)) {
      return `${name}: does not match`
    } else if (text.includes('\0') || text === '' || [...text].length > (schema.maxLength ?? Infinity)) {
      return `${name}: ${JSON.stringify(text.slice(0, 50))}`
    }
  }
  return undefined
}

function invalidReasonOfQuery({ parameters }: Operation, query: Draft['query']): string | undefined {
  const known = new Map(parameters.filter((one) => one.in === 'query').map((one) => [one.name, one]))
  const unknown = query.find(([name]) => !known.has(name))
  if (unknown) return `unknown parameter ${unknown[0]}`
  for (const parameter of known.values()) {
    const texts = query.filter(([name]) => name === parameter.name).map(([, text]) => text)
    const invalidReason = invalidReasonOfTexts(parameter, texts)
    if (invalidReason) return `${parameter.name}: ${invalidReason}`
  }
  return undefined
}

function invalidReasonOfTexts(
  { schema, required, explode = true }: Parameter,
  texts: readonly string[],
): string | undefined {
  const given = explode ? texts : texts.flatMap((text) => text.split(',').map((one) => one.trim()))
  const kept = schema['x-empty-is-absent'] ? given.filter((text) => text !== '') : given
  if (kept.length === 0) return required ? 'is missing' : undefined
  if (schema.type !== 'array' && kept.length > 1) return 'is given twice'
  if (kept.length > (schema.maxItems ?? Infinity)) return 'is repeated'
  const bad = kept.find((text) => !isText(schema.items ?? schema, text))
  return bad === undefined ? undefined : JSON.stringify(bad.slice(0, 80))
}

function isText(schema: Schema, text: string): boolean {
  if (text.includes('\0')) return false
  if (schema.enum) return schema.enum.includes(text)
  if (schema.type === 'boolean') return text === 'true' || text === 'false'
  if (schema.type === 'integer') return isIntegerText(schema, text)
  const { length } = [...text]
  if (length < (schema.minLength ?? 0) || length > (schema.maxLength ?? Infinity)) return false
  if (schema.format === 'date-time') return isTime(text)
  return schema.pattern === undefined || new RegExp(schema.pattern).test(text)
}

function isIntegerText({ minimum = -Infinity, maximum = Infinity }: Schema, text: string): boolean {
  if (!/^(-?[1-9][0-9]*|0)$/.test(text)) return false
  return BigInt(text) >= BigInt(minimum) && BigInt(text) <= BigInt(maximum)
}

function invalidReasonOfHeaders(operation: Operation, headers: Draft['headers']): string | undefined {
  return (
    invalidReasonOfKey(operation, headers['idempotency-key']) ??
    invalidReasonOfMatch(operation, headers['if-match'])
  )
}

/** Reads ignore If-Match; other operations take it or refuse it. */
function invalidReasonOfMatch(
  { method, parameters }: Operation,
  tags: string | undefined,
): string | undefined {
  if (tags === undefined || method === 'GET') return undefined
  if (!parameters.some(({ name }) => name === 'If-Match')) return 'an If-Match'
  return tags.trim() === '*' || /^("[^"]*")( *, *"[^"]*")*$/.test(tags.trim()) ? undefined : 'the If-Match'
}

function invalidReasonOfKey(operation: Operation, key: string | undefined): string | undefined {
  // Reads ignore it, and the id of a delivery may be any text.
  if (key === undefined || operation.method === 'GET') return undefined
  if (!operation.parameters.some(({ name }) => name === 'Idempotency-Key')) return 'an Idempotency-Key'
  if (takesAnything(operation)) return undefined
  return /^[!-~]{1,255}$/.test(key) ? undefined : 'the Idempotency-Key'
}

function invalidReasonOfBody(operation: Operation, draft: Draft): string | undefined {
  const { contentType, body, headers } = draft
  if (operation.form) return invalidReasonOfForm(operation.form, draft)
  if (!operation.body) return undefined
  const encoding = headers['content-encoding']
  const encoded =
    encoding !== undefined && encoding !== 'identity' ? `the content encoding ${encoding}` : undefined
  if (takesAnything(operation)) return /^\s*multipart\//i.test(contentType ?? '') ? 'a form' : encoded
  if (operation.isBodyOptional && isEmpty(body) && contentType === undefined) return undefined
  if (body === undefined && !operation.isBodyOptional) return 'no body'
  if (contentType === undefined || !/^application\/json *(;|$)/i.test(contentType))
    return `the media type ${contentType}`
  if (encoded) return encoded
  if (body === undefined || (operation.isBodyOptional && isEmpty(body))) return undefined
  const value = parse(body)
  if (value === undefined) return 'no JSON'
  if (repeatsKey(body.toString())) return 'a repeated key'
  if (hasStrangeText(value.value)) return 'a NUL character, or half of one'
  if (!operation.isValidBody!(value.value)) return JSON.stringify(operation.isValidBody!.errors)
  return undefined
}

function invalidReasonOfForm(form: Form, { contentType, form: parts, headers }: Draft): string | undefined {
  const isForm =
    /^multipart\/form-data *; *boundary="?([^"]*)"?$/i.exec(contentType ?? '')?.[1] === formBoundary
  if (!isForm) return `the media type ${contentType}`
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return `the content encoding ${encoding}`
  if (!parts) return 'no form'
  const properties = form.schema.properties!
  const unknown = parts.find(({ name }) => !Object.hasOwn(properties, name))
  if (unknown) return `unknown field ${unknown.name}`
  for (const [name, schema] of Object.entries(properties)) {
    const given = parts.filter((part) => part.name === name)
    const invalidReason =
      name === form.file
        ? invalidReasonOfFile(form, given)
        : invalidReasonOfTexts({ name, in: 'query', required: false, schema }, given.map(textOf))
    if (invalidReason) return `${name}: ${invalidReason}`
  }
  return undefined
}

/** A file in the place of a text field matches no schema. */
const textOf = ({ content, filename }: FormPart): string => (filename === undefined ? String(content) : '\0')

function invalidReasonOfFile({ mediaTypes }: Form, files: readonly FormPart[]): string | undefined {
  const [file] = files
  if (!file) return 'is missing'
  if (files.length > 1) return 'is repeated'
  if (file.filename === undefined) return 'is no file'
  const { type = 'text/plain' } = file
  return ['application/octet-stream', ...mediaTypes].includes(type) ? undefined : `has the media type ${type}`
}

const isEmpty = (body: Buffer | undefined): boolean => body === undefined || body.length === 0

/** A detector's delivery may have any body but a form or an encoded one. */
const takesAnything = ({ body }: Operation): boolean => body !== undefined && Object.keys(body).length === 0

function parse(body: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) }
  } catch {
    return undefined
  }
}

/** Returns whether an object in a valid JSON text has duplicate keys. JSON.parse keeps the last one. */
function repeatsKey(text: string): boolean {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g) ?? []
  const open: Set<string>[] = []
  for (const [at, token] of tokens.entries()) {
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    if (tokens[at + 1] !== ':') continue
    const key = JSON.parse(token) as string
    if (open.at(-1)!.has(key)) return true
    open.at(-1)!.add(key)
  }
  return false
}

function hasStrangeText(value: unknown): boolean {
  const left = [value]
  while (left.length > 0) {
    const one = left.pop()
    if (typeof one === 'string' && (one.includes('\0') || !one.isWellFormed())) return true
    if (typeof one === 'object' && one !== null)
      for (const [key, inner] of Object.entries(one)) left.push(key, inner)
  }
  return false
}
