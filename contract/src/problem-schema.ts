// The schema and the examples of error answers in the OpenAPI document.
import { Type } from 'typebox'
import { problemPath, problems, type Problem, type ProblemCode, type ProblemError } from './problem.ts'
import { Component, Enumeration } from './scalar.ts'

const ProblemErrorSchema = Component('ProblemError', {
  loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
    description: 'place of the mistake, such as `["body","records",3,"ptrdname"]`',
  }),
  msg: Type.String({ description: 'what is expected' }),
  type: Type.String({ description: 'kind of the mistake' }),
  ctx: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'limits and accepted values' }),
  ),
})

/** The body of every error answer, `application/problem+json`. */
export const ProblemSchema = Component('Problem', {
  type: Type.String({ description: 'URL of the page about `code`' }),
  title: Type.String({ description: 'the code as text, the same for every occurrence' }),
  status: Type.Integer({ description: 'HTTP status', minimum: 400, maximum: 599 }),
  detail: Type.String({ description: 'this occurrence: what is wrong, and what to do' }),
  code: Enumeration('ProblemCode', Object.keys(problems) as [ProblemCode, ...ProblemCode[]]),
  errors: Type.Optional(Type.Array(ProblemErrorSchema, { description: 'every mistake of the request' })),
  degraded: Type.Optional(Type.Array(Type.String(), { description: 'the dependencies that are down' })),
  request_id: Type.String({ description: 'the value of `X-Request-Id`' }),
})

/** Returns an error answer with the code, for the documentation. */
export function problemExample(code: ProblemCode): Problem {
  const { status, title } = problems[code]
  return {
    type: `https://portal.example.net${problemPath(code)}`,
    title,
    status,
    detail: details[code] ?? `${title}.`,
    code,
    ...(code === 'invalid' ? { errors: [errorExample] } : {}),
    ...(code === 'unavailable' ? { degraded: ['postgresql'] } : {}),
    request_id: '5f0f6c1e-93a5-4d0c-8f4e-0a9c1d7b2e34',
  }
}

const errorExample: ProblemError = {
  loc: ['body', 'region'],
  msg: 'is not a region that is open to the team',
  type: 'region',
  ctx: { valid: ['ams', 'fra', 'nyc'] },
}

/** Details of the codes whose title alone shows little. */
const details: Partial<Record<ProblemCode, string>> = {
  malformed: 'The body is not valid JSON: unexpected end at position 41.',
  wrong_scheme: 'An API token is sent as `Authorization: Token <API token>`, not as `Bearer`.',
  scope_missing: 'The API token needs the scope `ipam:write`.',
  not_validated: 'The announcement cannot be enabled: rpki, loa have not passed.',
  precondition_failed: 'The record has the ETag "8". Read it again and repeat the change.',
  invalid: 'region is not a region that is open to the team.',
  rate_limited: 'Too many requests. Repeat in 3 seconds.',
  unavailable: 'The database does not answer. Repeat the request later.',
}
