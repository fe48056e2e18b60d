// The answers of an operation in the OpenAPI document: successes with their examples, and errors as components.
import type { TSchema } from 'typebox'
import {
  answerHeaders,
  answerHeadersOf,
  answersOf,
  dryRunMediaType,
  problemCodesByStatus,
  problemCodesOf,
  problemHeadersOf,
  type AnswerHeader,
} from '../answers.ts'
import type { Example } from '../example.ts'
import { problemExample } from './problem-schema.ts'
import { problems, type ProblemCode } from '../problem.ts'
import type { Route } from '../route.ts'
import { pascalCase } from '../scalar.ts'

type Json = Record<string, unknown>

/** Returns the references to the headers of an answer. */
export const headersOf = (route: Route, status: number): Json => refersTo(answerHeadersOf(route, status))
const refersTo = (names: readonly AnswerHeader[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** Returns the successes by status. */
export function successesOf(route: Route, example: Example): Json {
  return Object.fromEntries(
    Object.entries(answersOf(route)).map(([status, bodies]) => [
      status,
      {
        description: descriptionOf(route, Number(status)),
        headers: headersOf(route, Number(status)),
        ...contentOf(route, Number(status), bodies, example),
      },
    ]),
  )
}

function descriptionOf(route: Route, status: number): string {
  const { success, download, stream, response } = route
  if (status !== success) return otherSuccessOf(route, status)
  if (download) return 'the file, as an attachment'
  if (stream) return 'events, until the connection ends'
  return response ? 'success' : 'done'
}

function otherSuccessOf({ also, trial }: Route, status: number): string {
  if (trial) return 'result of a validation'
  return (also as Readonly<Record<number, string>>)[status] ?? 'result of a dry run'
}

function contentOf(
  route: Route,
  status: number,
  bodies: Readonly<Record<string, TSchema>>,
  example: Example,
): Json {
  if (route.download) {
    const bytes = { schema: { type: 'string', format: 'binary' } }
    return { content: Object.fromEntries(route.download.map((mediaType) => [mediaType, bytes])) }
  }
  if (route.stream) {
    const events = { schema: { type: 'string' }, ...exampleOf(example.events) }
    return { content: { 'text/event-stream': events } }
  }
  if (Object.keys(bodies).length === 0) return {}
  const answer = route.trial && status !== route.success ? example.trial : example.response
  const content = Object.entries(bodies).map(([mediaType, schema]) => [
    mediaType,
    { schema, ...exampleOf(mediaType === dryRunMediaType ? dryRunExample(example) : answer) },
  ])
  return { content: Object.fromEntries(content) }
}

const dryRunExample = ({ changes, response }: Example): unknown =>
  changes && { dry_run: true, changes, result: response ?? null }

type Codes = readonly ProblemCode[]

/** Returns references to the error answers by status. Many operations have the same, so that they are components. */
export const problemsOf = (route: Route): Json =>
  Object.fromEntries(
    [...problemCodesByStatus(route)].map(([status, codes]) => [
      status,
      { $ref: `#/components/responses/${problemAnswerName(codes)}` },
    ]),
  )

const problemAnswerName = (codes: Codes): string => codes.map(pascalCase).join('Or')

/** Returns the components of the error answers, a component per set of codes. */
export function problemAnswers(routes: readonly Route[]): Json {
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

/** Returns the components of the examples of error answers: the codes of the routes. */
export const problemExamples = (routes: readonly Route[]): Json =>
  Object.fromEntries(
    (Object.keys(problems) as ProblemCode[])
      .filter((code) => routes.some((route) => problemCodesOf(route).includes(code)))
      .map((code) => [code, { summary: problems[code].title, value: problemExample(code) }]),
  )

/** Returns the components of the headers that an answer of the routes has. */
export function headerComponents(routes: readonly Route[]): Json {
  const used = new Set(
    routes.flatMap((route) => [
      ...[route.success, 201].flatMap((status) => answerHeadersOf(route, status)),
      ...[...problemCodesByStatus(route).keys()].flatMap(problemHeadersOf),
    ]),
  )
  return Object.fromEntries(
    Object.entries(answerHeaders)
      .filter(([name]) => used.has(name as AnswerHeader))
      .map(([name, { description, schema, always, example }]) => [
        name,
        { description, required: always, schema, example },
      ]),
  )
}

/** Returns the key `example`, if there is one. */
export const exampleOf = (example: unknown): Json => (example === undefined ? {} : { example })
