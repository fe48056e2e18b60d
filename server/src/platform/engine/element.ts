// Elements as a document has them, from their rows, and the fields of a kind for a form: both derived from the kind.
import type { PlatformField } from '@pharos/contract/operator/platform'
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
      initial: plain(initial),
    }
  })
}

function typeOf(schema: Schema): PlatformField['type'] {
  if (schema.enum) return 'choice'
  if (schema.type === 'array') {
    if (schema.items?.enum) return 'choices'
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
