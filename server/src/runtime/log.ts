// The log of the process: one JSON object per line (or text for people). Everything that could be a credential is removed before
// a line is written, so callers need not care; bodies are never logged.
import { pino, type DestinationStream, type Logger } from 'pino'
import type { Config } from './config.ts'
import { exitWork } from './exit-work.ts'
import { createLogOutput } from './log-output.ts'

export type Log = Logger

/** Creates a log from the configuration, to standard output unless another destination is given. */
export function createLog(
  config: Pick<Config, 'logLevel' | 'logFormat'>,
  destination?: DestinationStream,
): Log {
  const format = config.logFormat === 'text' ? readable : (plain: DestinationStream) => plain
  const to = destination
    ? format(destination)
    : collectLines(
        format(
          createLogOutput(1, (lost) =>
            (config.logFormat === 'text' ? readableLine : plainLine)(lostLines(lost)),
          ),
        ),
      )
  const log = pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: () => `,"time":"${timeOf(Date.now())}"`,
      messageKey: 'message',
      errorKey: 'error',
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: (error: unknown) => error, err: (error: unknown) => error },
      hooks: {
        logMethod(args, method) {
          method.apply(this, redactArguments(args) as typeof args)
        },
      },
    },
    to,
  )
  return cleanChildren(log)
}

const plainLine = (line: string): string => line

const lostLines = (count: number): string =>
  `{"level":"warn","time":"${timeOf(Date.now())}","lines":${count},"message":"log lines could not be written"}\n`

let lastMs = NaN
let lastTime = ''

/** Formatted once per millisecond. */
function timeOf(ms: number): string {
  if (ms === lastMs) return lastTime
  lastMs = ms
  lastTime = new Date(ms).toISOString()
  return lastTime
}

/** `route`: the pattern. `actor`: the kind and the id. */
export type AnsweredRequest = {
  readonly id: string
  readonly method: string
  readonly route: string
  readonly status: number
  readonly seconds: number
  readonly actor: string | null
}

type LogInternals = {
  readonly [pino.symbols.streamSym]: DestinationStream & { lastLevel?: number }
}

/**
 * Writes the line of an answered request, as are almost all lines: without the search for credentials, since no field
 * comes from the client.
 */
export function logRequest(log: Log, { id, method, route, status, seconds, actor }: AnsweredRequest): void {
  if (!log.isLevelEnabled('info')) return
  const stream = (log as unknown as LogInternals)[pino.symbols.streamSym]
  stream.lastLevel = infoLevel
  stream.write(
    `{"level":"info","time":"${timeOf(Date.now())}","request_id":"${id}","method":"${method}","route":${JSON.stringify(route)},` +
      `"status":${status},"seconds":${seconds},"actor":${actor === null ? 'null' : `"${actor}"`},"message":"request"}\n`,
  )
}

/** The fields of a child log are written as they are by pino; every child inherits this method. */
function cleanChildren(log: Log): Log {
  const child = log.child as unknown as Child
  const cleaned: Child = function (fields, options) {
    return child.call(this, redact(fields) as object, options)
  }
  return Object.assign(log, { child: cleaned })
}

const infoLevel = pino.levels.values['info']!
const warnLevel = pino.levels.values['warn']!
const collectMs = 10

/**
 * Writes the lines of 10 ms together, since a write for every request takes a tenth of its time. A warning or error is
 * written immediately, with the lines before it, and all lines when the process exits.
 */
export function collectLines(destination: DestinationStream): DestinationStream {
  let lines = ''
  const flush = () => {
    if (lines === '') return
    const collected = lines
    lines = ''
    exitWork.delete(flush)
    destination.write(collected)
  }
  const collector = {
    // pino sets it before each line of a destination with this property.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      if (lines === '') {
        setTimeout(flush, collectMs).unref()
        exitWork.add(flush)
      }
      lines += line
      if (collector.lastLevel >= warnLevel) flush()
    },
  }
  return collector
}

type Child = (this: Log, fields: object, options?: object) => Log

/** A log without output, for tests and for code that runs before the configuration is read. */
export const silentLog: Log = pino({ level: 'silent' })

/** The logged object: of an error alone only the message, because pino would copy the error as it is. */
function redactArguments([first, ...rest]: readonly unknown[]): readonly unknown[] {
  const error = first instanceof Error ? first : undefined
  if (error && rest.length === 0) return [{ error: redact(error) }, redactText(error.message)]
  return [error ? { error: redact(error) } : redact(first), ...rest.map((part) => redact(part))]
}

const gone = '[redacted]'
const deepest = 6
const longestList = 100

/** Names of fields whose value is never shown, whatever the spelling: `accessToken`, `refresh_token`, `X-Api-Key`. */
const secretName =
  /^(authorization|proxyauthorization|cookie|setcookie|refresh|access|otp|pepper|credentials?|databaseurl)$|(password|passwd|secret|token|apikey|privatekey|passphrase)$/

const isSecretName = cached((name) => secretName.test(name.replaceAll(/[^a-zA-Z]/g, '').toLowerCase()))

const cacheEntriesMax = 1_000
const cachedLengthMax = 100

/**
 * Cache of checked texts that occur in many lines: names of fields, routes, messages. `keeps` selects the cached
 * verdicts: a found credential must not stay in memory.
 */
function cached(judge: (text: string) => boolean, keeps = (_verdict: boolean) => true) {
  const known = new Map<string, boolean>()
  return (text: string): boolean => {
    const found = known.get(text)
    if (found !== undefined) return found
    const verdict = judge(text)
    if (known.size >= cacheEntriesMax) known.clear()
    if (text.length <= cachedLengthMax && keeps(verdict)) known.set(text, verdict)
    return verdict
  }
}

/** Returns a copy of the logged value without its secrets; deep, wide and circular values are truncated. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (value instanceof Error) return redactError(value, depth)
  if (depth >= deepest) return '[deep]'
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) return value.slice(0, longestList).map((part) => redact(part, depth + 1))
  return isPlain(value) ? redactFields(value, depth) : `[${value.constructor?.name ?? 'object'}]`
}

/** Prints the value as JSON without its secrets, whatever its depth and length; undefined for undefined. */
export const redactedJson = (value: unknown): string | undefined =>
  JSON.stringify(value, (name, part: unknown) => {
    if (typeof part !== 'string') return part
    return isSecretName(name) ? gone : redactText(part)
  })

/** Whether it is a plain object; an instance of a class (a request, a socket, a URL) is named, never expanded. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function redactFields(value: object, depth: number): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [name, part] of Object.entries(value)) {
    const hidden = isSecretName(name) && part !== null && part !== undefined && typeof part !== 'boolean'
    fields[name] = hidden ? gone : redact(part, depth + 1)
  }
  return fields
}

function redactError(error: Error, depth: number): unknown {
  if (depth >= deepest) return redactText(error.message)
  return {
    ...redactFields(error, depth),
    type: error.name,
    message: redactText(error.message),
    stack: redactText(error.stack ?? ''),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  }
}

const patterns: readonly (readonly [RegExp, string])[] = [
  // A header in the text of a message, with the rest of its line
  [/\b((?:proxy-)?authorization["']?\s*[:=]\s*["']?)(?:(?:bearer|token|basic)\s+)?[^\s"',]+/gi, `$1${gone}`],
  [/\b((?:set-)?cookie["']?\s*[:=]\s*["']?)[^"'\r\n]+/gi, `$1${gone}`],
  // A credential without its header; a digit or sign distinguishes it from a sentence such as "token presented"
  [/\b(bearer|token|basic)(\s+)(?=[\w\-.~+/=]*[\d._=])[\w\-.~+/=]{12,}/gi, `$1$2${gone}`],
  // ?token=x&password=y in any spelling; also token: x and "token":"x"
  [
    /((?:password|passwd|passphrase|secret|token|api[_-]?key|refresh)["']?(?:\s*[=:]\s*|%3d)["']?)(?!\[redacted\])[^\s&"',;#)\]}]+/gi,
    `$1${gone}`,
  ],
  // scheme://user:password@host
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@]{1,500}@/gi, `$1${gone}@`],
  // JWTs, and Pharos' tokens of programs and mails, anywhere
  [/\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]{5,}/g, gone],
  [/\bph(?:s|staff)_[a-z0-9]{4,}_[A-Za-z0-9]{8,}/g, gone],
  [/\bphm_[a-z-]+\.[\w-]+\.[\w-]{8,}/g, gone],
  // Refresh tokens, secrets of webhooks and of authenticators
  [/\bphr_[\w-]{8,}\.[\w.-]{8,}/g, gone],
  [/\bwhsec_[A-Za-z0-9+/=]{16,}/g, gone],
  [/\botpauth:\/\/[^\s"']+/g, gone],
]

/** Returns the text with possible credentials redacted. */
export function redactText(text: string): string {
  return !mayHoldCredential.test(text) || isClean(text) ? text : withoutCredentials(text)
}

/** A character that every pattern requires; texts without it, such as ids, are not checked further. */
const mayHoldCredential = /[:=@%\s]|eyJ|ph(?:s|staff|m|r)_|whsec_/

const isClean = cached(
  (text) => withoutCredentials(text) === text,
  (clean) => clean,
)

function withoutCredentials(text: string): string {
  return patterns.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text)
}

/** `12:30:01.250 warn reconcile: message field=value`: for a terminal. */
function readable(destination: DestinationStream): DestinationStream {
  return {
    write(lines) {
      destination.write(lines.trimEnd().split('\n').map(readableLine).join(''))
    },
  }
}

function readableLine(line: string): string {
  const { level, time, message, error, ...fields } = JSON.parse(line) as Record<string, unknown>
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const { stack, message: cause } = (error ?? {}) as { stack?: string; message?: string }
  const words = [String(time).slice(11, 23), String(level).padEnd(5), message ?? cause ?? '', ...rest]
  return `${words.join(' ')}\n${stack ? `${stack}\n` : ''}`
}
