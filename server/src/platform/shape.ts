// Compares the operator's file with its schema, and says in the operator's words what does not fit.
import { describeHiddenCharacter, findHiddenCharacter, type TextFormat } from '@pharos/contract/text'
import { Compile } from 'typebox/compile'
import { didYouMean } from '../text/did-you-mean.ts'
import '../text/schema-error.ts'
import type { PlatformDocument } from './document.ts'
import type { Path, PlatformProblem } from './problem.ts'
import { elementSchemas, sections, type Section, type Written } from './schema.ts'

const validators = Object.fromEntries(
  sections.map((section) => [section, Compile(elementSchemas[section])]),
) as unknown as Record<
  Section,
  { Check(value: unknown): boolean; Errors(value: unknown): readonly SchemaError[] }
>

/** The names of one element of a section, for messages. */
export const nounOf: Record<Section, string> = {
  locations: 'location',
  regions: 'region',
  teams: 'team',
  users: 'user',
  prefixes: 'prefix',
  asns: 'asn',
  announcements: 'announcement',
  sources: 'source',
}

export type Shaped = {
  readonly written: Written
  /** The sections that the file has, empty ones included: only these are pruned. */
  readonly present: ReadonlySet<Section>
  readonly problems: readonly PlatformProblem[]
}

/** The elements that have the right shape, and a problem for everything that has not. */
export function readShape(document: PlatformDocument): Shaped {
  const problems: PlatformProblem[] = [...document.problems]
  const written: Record<string, { index: number; element: unknown }[]> = {}
  for (const section of sections) written[section] = []
  const present = new Set<Section>()
  const { value } = document
  if (value !== undefined && value !== null && !isRecord(value)) {
    problems.push(document.problemAt([], `the file is a list of sections: ${sections.join(', ')}`))
  }
  for (const [name, elements] of Object.entries(isRecord(value) ? value : {})) {
    if (!isSection(name)) {
      problems.push(document.problemAtKey([name], `there is no section ${name}${didYouMean(name, sections)}`))
    } else if (elements !== null && !Array.isArray(elements)) {
      problems.push(
        document.problemAt([name], `${name} must be a list: each ${nounOf[name]} begins with "- "`),
      )
    } else {
      present.add(name)
      for (const [index, element] of (elements ?? []).entries()) {
        const wrong = problemsOf(document, name, index, element)
        problems.push(...wrong)
        if (wrong.length === 0) written[name]!.push({ index, element })
      }
    }
  }
  return { written: written as unknown as Written, present, problems }
}

function isSection(name: string): name is Section {
  return (sections as readonly string[]).includes(name)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type SchemaError = {
  readonly keyword: string
  readonly schemaPath: string
  readonly instancePath: string
  readonly params: Readonly<Record<string, unknown>>
}

function problemsOf(
  document: PlatformDocument,
  section: Section,
  index: number,
  element: unknown,
): PlatformProblem[] {
  const validator = validators[section]
  if (validator.Check(element)) return []
  if (!isRecord(element)) {
    return [document.problemAt([section, index], `a ${nounOf[section]} is a list of name: value`)]
  }
  const said = new Set<string>()
  const problems: PlatformProblem[] = []
  for (const error of validator.Errors(element)) {
    for (const { path, message, atKey } of explain(section, element, error)) {
      const whole = [section, index, ...path]
      const key = whole.join('/')
      if (said.has(key)) continue
      said.add(key)
      problems.push(atKey ? document.problemAtKey(whole, message) : document.problemAt(whole, message))
    }
  }
  return problems.length > 0
    ? problems
    : [document.problemAt([section, index], `this is not a ${nounOf[section]}`)]
}

type Explained = { readonly path: Path; readonly message: string; readonly atKey?: true }

function explain(section: Section, element: unknown, error: SchemaError): Explained[] {
  // What is inside of a choice is told once, at the choice.
  if (/\/anyOf\/\d/.test(error.schemaPath)) return []
  const path = pathOf(error.instancePath)
  const schema = schemaAt(section, error.schemaPath)
  if (error.keyword === 'additionalProperties') return unknownFields(path, schema, error)
  if (error.keyword === 'required') {
    const missing = (error.params['requiredProperties'] ?? []) as readonly string[]
    return missing.map((name) => ({ path: [...path, name], message: `${name} is missing` }))
  }
  if (error.keyword === 'boolean') return []
  if (error.keyword === 'format') {
    const hidden = findHiddenCharacter(error.params['format'] as TextFormat, String(valueAt(element, path)))
    if (hidden) return [{ path, message: `${nameOf(path)} ${describeHiddenCharacter(hidden)}` }]
  }
  const expects = expectationOf(section, schema, error)
  const not = path.some((step) => secretFields.test(String(step)))
    ? ''
    : `, not ${shown(valueAt(element, path))}`
  return [{ path, message: `${nameOf(path)} must be ${expects}${not}` }]
}

function unknownFields(path: Path, schema: Schema, error: SchemaError): Explained[] {
  const names = (error.params['additionalProperties'] ?? []) as readonly string[]
  const known = Object.keys(schema.properties ?? {})
  return names.map((name) => ({
    path: [...path, name],
    message: `there is no field ${name} here${didYouMean(name, known) || `; there are ${known.join(', ')}`}`,
    atKey: true,
  }))
}

type Schema = {
  readonly expects?: string
  readonly enum?: readonly string[]
  readonly type?: string
  readonly properties?: Readonly<Record<string, unknown>>
}

function expectationOf(section: Section, schema: Schema, error: SchemaError): string {
  if (schema.expects) return schema.expects
  if (schema.enum) return `one of ${schema.enum.join(', ')}`
  if (schema.type === 'object') return `a list of ${Object.keys(schema.properties ?? {}).join(', ')}`
  return `${schema.type ?? nounOf[section]} (${error.keyword})`
}

/** The part of the schema that a pointer such as `#/properties/teams/items` names. */
function schemaAt(section: Section, pointer: string): Schema {
  const steps = pointer.replace(/^#\/?/, '').split('/').filter(Boolean)
  let schema: unknown = elementSchemas[section]
  for (const step of steps) {
    const next = isObject(schema) ? (schema as Record<string, unknown>)[step] : undefined
    if (!isObject(next)) break
    schema = next
  }
  return schema as Schema
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function pathOf(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
}

function valueAt(element: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, step) => (isObject(value) ? (value as Record<string | number, unknown>)[step] : undefined),
    element,
  )
}

/** The field that a message speaks of; for an element of a list, the list. */
function nameOf(path: Path): string {
  return String(path.findLast((step) => typeof step === 'string') ?? 'this')
}

/** Fields whose value is not repeated in a message. */
const secretFields = /password|secret/

/** The value in a message, cut short. */
function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
