// Elements as a document has them, from their rows, and the fields of a kind for a form: both derived from the kind.
import type { PlatformField, PlatformPart } from '@pharos/contract/operator/platform'
import type { TSchema } from 'typebox'
import { etagOf } from '../../operation/etag.ts'
import { withInitials } from './define-kind.ts'
import type { Fields, Kind, Row, Secret } from './kind.ts'
import { canonical } from './plan.ts'

/** The element without secrets, and without optional fields that have their default: written again, it changes nothing. */
export function elementOf(kind: Kind, row: Row): Fields {
  const { properties, required } = shapeOf(kind)
  const written = kind.elementOf?.(row.fields) ?? row.fields
  const secrets = secretsOf(kind)
  const initials = withInitials(kind, {})
  const named = Object.keys(properties).flatMap((name) => {
    const value = written[name]
    if (value === null || value === undefined || secrets.has(name)) return []
    const isDefault = canonical(plain(value)) === canonical(plain(initials[name]))
    return isDefault && !required.has(name) ? [] : [[name, plain(value)] as const]
  })
  return Object.fromEntries(named)
}

/** Large numbers of the database as numbers of JSON. */
const plain = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : (value ?? null))

/** The secrets of a kind that have the form of a field, by its name. */
const secretsOf = ({ fields }: Kind): ReadonlyMap<string, Secret> =>
  new Map(Object.values(fields).flatMap(({ secret }) => (secret ? [[secret.name, secret] as const] : [])))

/** The tag of an element: another one after each change of its fields, stored secrets included, and of its manager. */
export const elementTag = ({ fields, owner }: Row): string =>
  etagOf({
    fields: canonical(
      Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)])),
    ),
    manager: owner?.managedBy ?? null,
  })

/** The names of the secrets that the row has. */
export const storedSecrets = (kind: Kind, { fields }: Row): string[] =>
  Object.entries(kind.fields).flatMap(([name, { secret }]) =>
    secret && fields[name] !== null && acceptedNames(kind).includes(secret.name) ? [secret.name] : [],
  )

/**
 * Returns whether a field names a file, or a program that the reconciler runs, on the machines of the provider: only who may log in there decides
 * about them.
 */
export const isOfMachine = (name: string): boolean => name.endsWith('_file') || name === 'command'

/** The fields that are accepted over HTTP. */
const acceptedNames = (kind: Kind): string[] =>
  Object.keys(shapeOf(kind).properties).filter((name) => !isOfMachine(name))

function shapeOf({ element }: Kind) {
  const { properties, required = [] } = element as unknown as {
    readonly properties: Readonly<Record<string, Schema>>
    readonly required?: readonly string[]
  }
  return { properties, required: new Set(required) }
}

type Schema = TSchema & {
  readonly type?: string
  readonly expects?: string
  readonly enum?: readonly unknown[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  /** Of `SettingsOf`. */
  readonly variants?: Readonly<Record<string, TSchema>>
  readonly by?: string
}

/** The fields of the elements of a kind, in the order of its schema. */
export function formFieldsOf(kind: Kind): PlatformField[] {
  const { properties, required } = shapeOf(kind)
  const secrets = secretsOf(kind)
  return acceptedNames(kind).map((name): PlatformField => {
    const schema = properties[name]!
    const secret = secrets.get(name)
    const type = secret ? (secret.isImage ? 'image' : 'secret') : typeOf(schema)
    const { initial } = kind.fields[name] ?? {}
    return {
      name,
      type,
      required: required.has(name),
      is_identity: kind.identity.includes(name),
      nullable: schema.anyOf?.some((one) => one.type === 'null') ?? false,
      hint: hintOf(schema),
      choices: choicesOf(type, schema),
      refers_to: sectionOf(kind, name),
      ...partsOf(schema),
      initial: plain(initial),
    }
  })
}

/** An object with a form: of known parts, or of parts that a kind decides. */
const isObject = ({ type, properties, variants }: Schema): boolean =>
  variants !== undefined || (type === 'object' && properties !== undefined)

/** The parts of an object, or of the objects of a list. */
function partsOf(schema: Schema): Pick<PlatformField, 'parts' | 'parts_by'> {
  const object = schema.items && isObject(schema.items) ? schema.items : schema
  if (!isObject(object)) return { parts: [], parts_by: null }
  const { variants, by = null } = object
  const name = schema.items ? [partOf('name', '', null, nameSchema, false)] : []
  if (!variants) return { parts: [...name, ...flatParts(object, null)], parts_by: null }
  const kind = partOf('kind', '', null, { enum: Object.keys(variants) } as unknown as Schema, true)
  const parts = Object.entries(variants).flatMap(([of, one]) => flatParts(one as Schema, of))
  return { parts: [...name, ...(by === 'kind' ? [kind] : []), ...parts], parts_by: by }
}

const nameSchema = { type: 'string' } as unknown as Schema

/** The properties of nested objects have the name `next_hop.ipv4`. */
function flatParts(
  { properties = {}, required = [] }: Schema,
  of: string | null,
  prefix = '',
): PlatformPart[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    if (isOfMachine(name) || (prefix === '' && name === 'kind')) return []
    if (isObject(schema)) return flatParts(schema, of, `${prefix}${name}.`)
    return [partOf(name, prefix, of, schema, prefix === '' && required.includes(name))]
  })
}

const partOf = (
  name: string,
  prefix: string,
  of: string | null,
  schema: Schema,
  required: boolean,
): PlatformPart => {
  const type = typeOf(schema)
  return {
    name: `${prefix}${name}`,
    of,
    type,
    required,
    hint: hintOf(schema),
    choices: choicesOf(type, schema),
  }
}

function typeOf(schema: Schema): PlatformField['type'] {
  if (schema.enum) return 'choice'
  if (isObject(schema)) return 'object'
  if (schema.type === 'array') {
    if (schema.items?.enum) return 'choices'
    if (schema.items?.variants) return 'objects'
    return schema.items?.type === 'string' ? 'texts' : 'json'
  }
  if (schema.type === 'string') return 'text'
  if (schema.type === 'integer' || schema.type === 'number' || schema.type === 'boolean') return schema.type
  const simple = schema.anyOf?.find(({ type }) => type === 'boolean' || type === 'string')
  return simple && schema.anyOf?.every(({ type }) => type !== 'array') ? typeOf(simple) : 'json'
}

const hintOf = ({ expects, anyOf }: Schema): string =>
  expects ?? anyOf?.find((one) => one.expects !== undefined)?.expects ?? ''

const choicesOf = (type: PlatformField['type'], schema: Schema): string[] =>
  (type === 'choice' ? schema.enum : type === 'choices' ? schema.items?.enum : [])?.map(String) ?? []

/** `team` refers to a team also if the row has it by way of another element. */
function sectionOf({ fields }: Kind, name: string): string | null {
  const { reference } = fields[name] ?? {}
  return reference?.kind.section ?? (name === 'team' ? 'teams' : null)
}
