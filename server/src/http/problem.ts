// Whatever went wrong becomes one RFC 9457 answer, and is logged once. Nothing of an unexpected error reaches the
// caller but the request id: no stack, no SQL.
import { problems, type Problem, type ProblemCode } from '@pharos/contract/problem'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../runtime/error.ts'

/** The answer for a failure; `type` is the page of the code in the documentation that this server serves. */
export function problemOf(failure: Failure, requestId: string): Problem {
  const { status, title } = problems[failure.code]
  return {
    type: `/docs/problems#${failure.code}`,
    title,
    status,
    detail: failure.message,
    code: failure.code,
    ...(failure.errors ? { errors: failure.errors } : {}),
    ...(failure.degraded ? { degraded: failure.degraded } : {}),
    request_id: requestId,
  }
}

/** Fastify's error handler: translates, logs what is ours to mend, answers. */
export function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = asFailure(error)
  if (failure.code === 'internal') request.log.error({ err: error }, 'request failed')
  else if (failure.code === 'unavailable') request.log.warn({ err: error }, 'dependency unavailable')
  return sendProblem(failure, request, reply)
}

export function sendProblem(failure: Failure, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = problemOf(failure, request.id)
  if (failure.retryAfterSeconds !== undefined)
    reply.header('retry-after', Math.ceil(failure.retryAfterSeconds))
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="pharos", Token realm="pharos"')
  return reply
    .status(problem.status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .header('cache-control', 'no-store')
    .serializer(JSON.stringify)
    .send(problem)
}

/** The failures that the framework throws, in our words; anything unknown is `internal`. */
const frameworkFailures: Record<string, [ProblemCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body is larger than this operation accepts.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed', 'The body is not as long as Content-Length says.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['malformed', 'The body is empty; a JSON object is expected.'],
  FST_ERR_BAD_URL: ['malformed', 'The path has broken percent-encoding.'],
  FST_ERR_ASYNC_CONSTRAINT: ['malformed', 'The request cannot be routed.'],
  FST_ERR_MAX_PARAM_LENGTH: ['not_found', 'There is no such object.'],
  ECONNRESET: ['malformed', 'The connection was closed before the request was complete.'],
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  const known = frameworkFailures[(error as FastifyError).code]
  if (known) return new Failure(known[0], known[1], { cause: error })
  return new Failure(
    'internal',
    'Something went wrong on our side; the request id names the entry in our log.',
    { cause: error },
  )
}
