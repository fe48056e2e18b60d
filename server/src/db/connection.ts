// Settings of every connection to PostgreSQL: types, timeouts and name. It must not set global parsers of pg:
// other users of that package in the same process keep theirs.
import type { Socket } from 'node:net'
import { types, type ClientBase, type ClientConfig, type Pool } from 'pg'
import { createReceivingSocket } from './receiving-socket.ts'

// pg reads PGPORT, PGOPTIONS, PGSSLMODE and others wherever an address leaves something out, also where a value is 0 or
// empty. DATABASE_URL is complete, and the embedded server has one address: variables meant for psql would break both.
for (const name of Object.keys(process.env)) if (name.startsWith('PG')) delete process.env[name]

export type Timeouts = {
  /** 0: no timeout. */
  readonly statementMs: number
  readonly lockMs: number
  /** A transaction that is left open stops vacuum in the whole database: it is ended. */
  readonly idleInTransactionMs: number
}

/** For a new connection, and for waiting until a pool has a free connection. */
export const CONNECT_TIMEOUT_MS = 5_000
const KEEPALIVE_DELAY_MS = 10_000

/** The settings of a pool's or a single connection. */
export function connectionConfig(
  databaseUrl: string,
  applicationName: string,
  timeouts: Timeouts,
): ClientConfig {
  return {
    connectionString: databaseUrl,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
    statement_timeout: timeouts.statementMs,
    lock_timeout: timeouts.lockMs,
    idle_in_transaction_session_timeout: timeouts.idleInTransactionMs,
    types: typeParsers,
    // TLS reads from the socket in its own way.
    ...(usesTls(databaseUrl) ? {} : { stream: createReceivingSocket }),
  }
}

/** Whether pg may use TLS with this address: `sslmode`, `sslrootcert` and the like. */
const usesTls = (databaseUrl: string): boolean => /[?&]ssl/.test(databaseUrl)

/**
 * A server that hangs, or that the network lost, never answers, and TCP reports it only after a quarter of an hour. A
 * connection of the pool that is in use and has been silent for `silentMs` is closed: its statement fails as on any lost
 * connection. `silentMs` must exceed the server's statement timeout.
 */
export function closeSilentConnections(pool: Pool, silentMs: number): void {
  const onSilence = new WeakMap<ClientBase, () => void>()
  pool.on('acquire', (client) => {
    const stream = socketOf(client)
    const close = () => void stream.destroy()
    onSilence.set(client, close)
    stream.setTimeout(silentMs, close)
  })
  // Also removes the listener.
  pool.on('release', (_error, client) => socketOf(client).setTimeout(0, onSilence.get(client)))
}

/** pg has no other access to its socket. */
export const socketOf = (client: ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream

/**
 * Configures the server to close the connection if the client's machine vanished: 25 s after the last packet of an idle
 * connection, 20 s after the first unacknowledged byte otherwise. The default is two hours, during which locks stay. A
 * process that is stopped on a running machine still acknowledges: see heartbeat-connection.ts.
 */
export async function closeWhenVanished(client: ClientBase): Promise<void> {
  const settings = {
    tcp_keepalives_idle: '10',
    tcp_keepalives_interval: '5',
    tcp_keepalives_count: '3',
    tcp_user_timeout: '20000',
  }
  const names = Object.keys(settings).map((_, at) => `set_config($${2 * at + 1}, $${2 * at + 2}, false)`)
  await client.query(`select ${names.join(', ')}`, Object.entries(settings).flat())
}

const { builtins } = types
const TEXT_ARRAY = 1009
const INT8_ARRAY = 1016
const NUMERIC_ARRAY = 1231
const TIMESTAMP_ARRAY = 1115
const DATE_ARRAY = 1182
const TIMESTAMPTZ_ARRAY = 1185

// int8 is returned as a number, or an error if it exceeds the safe range. Types without a JavaScript equivalent stay text: pg
// would read a date or a timestamp without zone as local time.
const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, parseInt8],
  [INT8_ARRAY, parseArrayOf(parseInt8)],
  [builtins.TIMESTAMPTZ, parseInstant],
  [TIMESTAMPTZ_ARRAY, parseArrayOf(parseInstant)],
  [NUMERIC_ARRAY, parseArrayOf(String)],
  [builtins.DATE, String],
  [DATE_ARRAY, parseArrayOf(String)],
  [builtins.TIMESTAMP, String],
  [TIMESTAMP_ARRAY, parseArrayOf(String)],
  [builtins.INTERVAL, String],
])

/** The parsers of result columns, for pg. */
export const typeParsers = { getTypeParser }

function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  const own = format === 'binary' ? undefined : parsers.get(oid)
  return own ?? (types.getTypeParser(oid, format as 'text') as (value: string) => unknown)
}

function parseInt8(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a number`)
  return value
}

const parseTimestamptz = types.getTypeParser(builtins.TIMESTAMPTZ) as (text: string) => Date | number

function parseInstant(text: string): Date {
  const value = parseTimestamptz(text)
  if (value instanceof Date) return value
  throw new RangeError(`timestamptz ${text} is not a point in time`)
}

const parseTextArray = types.getTypeParser(TEXT_ARRAY as never) as (text: string) => (string | null)[]

function parseArrayOf(parse: (text: string) => unknown): (text: string) => unknown[] {
  return (text) => parseTextArray(text).map((element) => (element === null ? null : parse(element)))
}

/** Returns a team's id for use in SQL. Throws if it is not one. */
export function assertTeamId(teamId: number): void {
  if (!Number.isInteger(teamId) || teamId < 1 || teamId > 2_147_483_647) {
    throw new TypeError(`not a team id: ${String(teamId)}`)
  }
}

/** pg emits `error` on a connection that is lost while no query waits for it; without a listener the process would end. */
export function ignoreIdleErrors(client: ClientBase): void {
  client.on('error', () => {})
}
