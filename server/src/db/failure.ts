// Distinguishes "the database cannot be reached" from every other error, in one place. It must not hide our own errors:
// a violated constraint or wrong SQL passes through unchanged.
import { fail, Failure } from '../runtime/error.ts'
import { errorCode, errorText } from './errno.ts'

/**
 * SQLSTATE classes 08 (connection) and 53 (resources: connections, memory, disk), shutdowns, timeouts of statements
 * (57014), locks (55P03) and idle transactions (25P03), and the loser of a deadlock (40P01): trying again helps.
 */
const UNAVAILABLE_STATE = /^(08...|53...|57P0[1-5]|57014|55P03|25P03|40P01)$/

const UNAVAILABLE_SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/** pg reports these without a code. */
const UNAVAILABLE_TEXT =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client (has encountered a connection error|was closed) and is not queryable|Client has encountered a connection error)/

/** SQLSTATE of a prepared statement that the server no longer has, and of a statement whose tables have changed. */
const STATEMENT_GONE = '26000'
const FEATURE_NOT_SUPPORTED = '0A000'

/** Whether a prepared statement failed, without having run, because it was prepared too long ago. */
export function isStale(error: unknown): boolean {
  const code = errorCode(error)
  return code === STATEMENT_GONE || (code === FEATURE_NOT_SUPPORTED && /cached plan/.test(errorText(error)))
}

/**
 * Only for errors of pg: a socket error of another peer has the same code.
 * Returns `Failure('unavailable')` if PostgreSQL cannot be used now, and any other error unchanged.
 */
export function asFailure(error: unknown): unknown {
  if (error instanceof Failure || !isUnavailable(error)) return error
  return fail('unavailable', 'database', {
    degraded: ['postgresql'],
    retryAfterSeconds: 2,
    cause: error,
  })
}

/** Whether the connection that reported the error is unusable, though it may not have ended yet. */
export function isConnectionLost(error: unknown): boolean {
  return (
    isUnavailable(error) && !isStale(error) && !/^(53...|57014|55P03|40P01)$/.test(errorCode(error) ?? '')
  )
}

/** Whether the server, the database or the role has no connection left. */
export const isServerFull = (error: unknown): boolean => errorCode(error) === '53300'

function isUnavailable(error: unknown): boolean {
  const code = errorCode(error)
  if (error instanceof AggregateError) return error.errors.some(isUnavailable)
  // The socket's file is missing while the embedded server is down.
  if (code === 'ENOENT') return (error as { syscall?: unknown }).syscall === 'connect'
  if (isStale(error)) return true
  if (code !== undefined) return UNAVAILABLE_STATE.test(code) || UNAVAILABLE_SOCKET.has(code)
  return UNAVAILABLE_TEXT.test(errorText(error))
}
