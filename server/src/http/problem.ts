// Converts every error into one RFC 9457 response, and logs it once. Of an unexpected error the caller gets only the
// request id: no stack, no SQL.
import { problemPath, problems, type Problem } from '@pharos/contract/problem'
import type { Permission } from '@pharos/contract/route'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { fail, Failure, type FailureDetails, type RateState } from '../runtime/error.ts'
import { isReceiving, textBeforeRest } from './discard.ts'
import { tooLarge } from './body-type.ts'
import type { Facade } from './facade.ts'
import { isOpenedByBrowser, messagePagePolicy, problemPage } from './message-page.ts'

/** Returns the response for a failure. `type` is the URL of the code's page in the documentation that this server serves. */
export function problemOf(failure: Failure, requestId: string, publicUrl: string): Problem {
  const { status, title } = problems[failure.code]
  return {
    type: publicUrl + problemPath(failure.code),
    title,
    status,
    detail: failure.message,
    code: failure.code,
    ...(failure.errors ? { errors: failure.errors } : {}),
    ...(failure.degraded ? { degraded: failure.degraded } : {}),
    request_id: requestId,
  }
}

/** Fastify's error handler: translates the error, logs defects, responds. */
export function answerProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  facade?: Facade,
): FastifyReply {
  const failure = asFailure(error, request)
  if (failure.code === 'internal') request.log.error({ err: error }, 'request failed')
  else if (failure.code === 'unavailable') request.log.warn({ err: error }, 'dependency unavailable')
  return sendProblem(failure, request, reply, facade)
}

/** `facade`: the error is as the clients of that API know it. */
export function sendProblem(
  failure: Failure,
  request: FastifyRequest,
  reply: FastifyReply,
  facade?: Facade,
): FastifyReply {
  const problem = problemOf(failure, request.id, request.server.publicUrl)
  if (failure.retryAfterSeconds !== undefined)
    reply.header('retry-after', Math.ceil(failure.retryAfterSeconds))
  if (failure.rate) addRateHeaders(reply, failure.rate)
  const { text, mediaType } = renderedProblem(problem, request, facade)
  if (mediaType === 'text/html') reply.header('content-security-policy', messagePagePolicy)
  if (problem.status === 401)
    reply.header('www-authenticate', facade ? facade.challenge : challengesOf(request))
  reply
    .status(problem.status)
    .header('content-type', `${mediaType}; charset=utf-8`)
    .header('cache-control', 'no-store')
  // Only if the connection ends after the answer: otherwise the rest of the body is read before the next request.
  if (!isReceiving(request.raw) || !endsConnection(failure, request))
    return reply.serializer((body: unknown) => body as string).send(text)
  return reply
    .header('connection', 'close')
    .header('content-length', Buffer.byteLength(text))
    .send(textBeforeRest(text, request.raw))
}

type RenderedProblem = { readonly text: string; readonly mediaType: string }

function renderedProblem(
  problem: Problem,
  request: FastifyRequest,
  facade: Facade | undefined,
): RenderedProblem {
  if (facade) return { text: JSON.stringify(facade.errorBody(problem)), mediaType: facade.mediaType }
  // A page that a person opened, such as an unknown address, or the portal while the server is overloaded.
  if (isOpenedByBrowser(request)) return { text: problemPage(problem), mediaType: 'text/html' }
  return { text: JSON.stringify(problem), mediaType: 'application/problem+json' }
}

/** The connection of a client that got no 100 for its `Expect` is closed too. */
const endsConnection = ({ code }: Failure, { headers }: FastifyRequest): boolean =>
  code === 'body_too_large' || headers.expect !== undefined || /\bclose\b/i.test(headers.connection ?? '')

/** The limit of a form is the limit of its file: clients know only the size of the file. */
function bodyTooLarge({ routeOptions }: FastifyRequest, details: FailureDetails): Failure {
  const { file } = routeOptions.config.mounted?.route.upload ?? {}
  return tooLarge(file?.name, file?.bytesMax ?? routeOptions.bodyLimit!, details)
}

/** The limit of the credential, or the tighter limit of the operation that refused the request. */
export function addRateHeaders(reply: FastifyReply, { limit, remaining, resetSeconds }: RateState): void {
  reply.header('ratelimit-limit', limit)
  reply.header('ratelimit-remaining', remaining)
  reply.header('ratelimit-reset', resetSeconds)
}

/** The schemes that the route accepts (RFC 9110, 11.6.1), the one for programs first. */
function challengesOf({ routeOptions }: FastifyRequest): string {
  const credential = routeOptions.config.mounted?.route.permission.credential ?? 'any'
  return challenges[credential].map((scheme) => `${scheme} realm="pharos"`).join(', ')
}

const challenges = {
  any: ['Token', 'Bearer'],
  web: ['Bearer'],
  optional: ['Bearer'],
  // Such as a sign-in: its credential is in the body.
  none: ['Bearer'],
  source: ['Token', 'Basic'],
} as const satisfies Record<Permission['credential'], readonly string[]>

/** The errors that the framework throws, by their codes. */
const frameworkFailures: Record<string, (details: FailureDetails, request: FastifyRequest) => Failure> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (details, request) => bodyTooLarge(request, details),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (details, { headers }) =>
    fail('unsupported_media_type', 'json', { given: headers['content-type'] }, details),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: (details) => fail('malformed', 'contentLength', details),
  FST_ERR_CTP_EMPTY_JSON_BODY: (details) => fail('malformed', 'emptyBody', details),
  FST_ERR_BAD_URL: (details) => fail('malformed', 'pathEncoding', details),
  FST_ERR_ASYNC_CONSTRAINT: (details) => fail('malformed', 'routing', details),
  FST_ERR_MAX_PARAM_LENGTH: (details) => fail('not_found', 'object', { noun: 'object' }, details),
  ECONNRESET: (details) => fail('malformed', 'connectionClosed', details),
}

function asFailure(error: unknown, request: FastifyRequest): Failure {
  if (error instanceof Failure) return error
  const known = frameworkFailures[(error as FastifyError).code]
  if (known) return known({ cause: error }, request)
  return fail('internal', 'unexpected', { cause: error })
}
