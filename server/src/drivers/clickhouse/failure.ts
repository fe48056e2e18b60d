// Errors of the ClickHouse client as the kinds that callers treat differently. Pure.
import { ClickHouseError } from '@clickhouse/client'
import { DriverError, QueryTooExpensive, type DriverErrorKind } from '../../runtime/driver-error.ts'

const timeoutExceeded = '159'
const memoryLimitExceeded = '241'
const tooExpensive: ReadonlySet<string> = new Set([
  timeoutExceeded,
  memoryLimitExceeded,
  '396', // TOO_MANY_ROWS_OR_BYTES
  '158', // TOO_MANY_ROWS
  '160', // TOO_SLOW
  '307', // TOO_MANY_BYTES
])

/** Codes of a server that cannot do it now and may later. */
const postponed: ReadonlySet<string> = new Set([
  timeoutExceeded,
  memoryLimitExceeded,
  '202', // TOO_MANY_SIMULTANEOUS_QUERIES
  '209', // SOCKET_TIMEOUT
  '210', // NETWORK_ERROR
  '225', // NO_ZOOKEEPER
  '242', // TABLE_IS_READ_ONLY
  '243', // NOT_ENOUGH_SPACE
  '252', // TOO_MANY_PARTS
  '285', // TOO_FEW_LIVE_REPLICAS
  '319', // UNKNOWN_STATUS_OF_INSERT
  '394', // QUERY_WAS_CANCELLED
  '439', // CANNOT_SCHEDULE_TASK
  '473', // DEADLOCK_AVOIDED
  '745', // SERVER_OVERLOADED
  '999', // KEEPER_EXCEPTION
  // The file system: a full disk, or a bad one.
  '74', // CANNOT_READ_FROM_FILE_DESCRIPTOR
  '75', // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  '76', // CANNOT_OPEN_FILE
  '481', // CANNOT_CREATE_DIRECTORY
])

/** Errors of libraries below the engine, such as a full disk; the shim reports its own with the same code. */
const unknownException: ReadonlySet<string> = new Set(['1001', '1002'])

const authentication: ReadonlySet<string> = new Set(['192', '193', '194', '497', '516'])

/** The error of a query: QueryTooExpensive or a DriverError. */
export function queryError(error: unknown): Error {
  if (error instanceof ClickHouseError && tooExpensive.has(error.code))
    return new QueryTooExpensive(error.message, error)
  return insertError(error)
}

/** The error of any other call: always a DriverError. */
export function insertError(error: unknown): Error {
  if (error instanceof DriverError) return error
  const { message, name, code } = error as Error & { code?: string }
  if (error instanceof ClickHouseError)
    return new DriverError(kindOf(error.code), `ClickHouse ${error.code}: ${message}`, { cause: error })
  if (name === 'SyntaxError')
    return new DriverError('protocol', `Invalid answer: ${message}`, { cause: error })
  const text = name === 'TimeoutError' ? 'no answer in time' : message || code || name
  return new DriverError('unreachable', `ClickHouse does not answer: ${text}`, { cause: error })
}

function kindOf(code: string): DriverErrorKind {
  if (postponed.has(code) || unknownException.has(code)) return 'postponed'
  return authentication.has(code) ? 'unreachable' : 'refused'
}
