// Load on the API from a process of its own: as many requests as a number of connections can have answered, or a given
// number a second whatever the answers do. The process itself is load-process.ts.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { HttpRequest } from './http-connection.ts'
import type { Product } from './product.ts'
import { milliseconds, whole } from './table.ts'
import { medianOf } from './turns.ts'

export type LoadPlan = {
  readonly product: Product
  readonly connections: number
  readonly seconds: number
  /** Requests a second, at random times (exponential gaps) that do not wait for answers; undefined: one after the other. */
  readonly perSecond?: number
  readonly source: RequestSource
  /** Every answer counts, also one that refuses. */
  readonly takesRefusals?: boolean
}

export type RequestSource =
  /** Each connection takes them round and round, from a place of its own; a shorter body is an error. */
  | { readonly kind: 'list'; readonly requests: readonly HttpRequest[]; readonly bytesMin: number }
  /** Each connection refreshes the session of its token, with the token of the last answer. */
  | { readonly kind: 'refresh'; readonly tokens: readonly string[] }

export type LoadResult = {
  readonly answers: number
  readonly perSecond: number
  /** From when the request was due, to the end of the answer. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** How many answers there were of each status. */
  readonly statuses: Readonly<Record<number, number>>
  /** Microseconds of processor time for each request: of the client, and of the product without its database. */
  readonly clientMicros: number
  readonly productMicros: number
  /** Input of the next run: `refresh` only. */
  readonly tokens: readonly string[]
}

/** Throws when an answer was anything but a success, unless those are wanted, or shorter than it can be. */
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
