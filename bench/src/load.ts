// Load on the API from a separate process: as many requests as a number of connections can complete, or a fixed rate
// that does not depend on the answers. The process itself is load-process.ts.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { HttpRequest } from './http-connection.ts'
import type { Served } from './product.ts'
import { milliseconds, whole } from './table.ts'
import { medianOf } from './turns.ts'

export type LoadPlan = {
  readonly product: Served
  readonly connections: number
  readonly seconds: number
  /** Ends after this many answers instead: the same work on a busy machine. Not with `perSecond`. */
  readonly answers?: number | undefined
  /** Requests per second, at random times (exponential gaps) that do not wait for answers; undefined: one after the other. */
  readonly perSecond?: number
  readonly source: RequestSource
  /** Counts every answer, including refusals. */
  readonly takesRefusals?: boolean
}

export type RequestSource =
  /** Each connection repeats them from a different start; a shorter body is an error. */
  | { readonly kind: 'list'; readonly requests: readonly HttpRequest[]; readonly bytesMin: number }
  /** Each connection refreshes the session of its token, with the token of the last answer. */
  | { readonly kind: 'refresh'; readonly tokens: readonly string[] }

export type LoadResult = {
  readonly answers: number
  readonly perSecond: number
  /** From the time when the request was due to the end of the answer. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** Number of answers by status. */
  readonly statuses: Readonly<Record<number, number>>
  /** Microseconds of processor time for each request: of the client, and of the product without its database. */
  readonly clientMicros: number
  readonly productMicros: number
  /** Input of the next run: `refresh` only. */
  readonly tokens: readonly string[]
}

/** Throws if an answer was not a success, unless that is expected, or shorter than possible. */
export async function runLoad({ product, ...rest }: LoadPlan): Promise<LoadResult> {
  const before = product.cpuMicros()
  const result = await runProcess({ url: product.url, ...rest })
  return { ...result, productMicros: (product.cpuMicros() - before) / result.answers }
}

/** Input and output of the process. */
export type ProcessPlan = Omit<LoadPlan, 'product'> & { readonly url: string }
export type ProcessResult = Omit<LoadResult, 'productMicros'>

async function runProcess(plan: ProcessPlan): Promise<ProcessResult> {
  const child = fork(new URL('load-process.ts', import.meta.url))
  child.send(plan)
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => [{ error: 'the load process ended' }]),
  ])) as [ProcessResult | { error: string }]
  if ('error' in message) throw new Error(message.error)
  return message
}

/** Lines beside the table: latencies at full load, and processor time. */
export function describeLoadResults(results: readonly LoadResult[]): string {
  const of = (numberOf: (result: LoadResult) => number) => medianOf(results, numberOf)
  return (
    `at full load p50 ${milliseconds(of(({ p50Ms }) => p50Ms))}, p99 ${milliseconds(of(({ p99Ms }) => p99Ms))}; ` +
    `processor time a request: product ${whole(of(({ productMicros }) => productMicros))} us ` +
    `without its database, client ${whole(of(({ clientMicros }) => clientMicros))} us`
  )
}
