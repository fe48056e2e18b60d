// Load on the API from a process of its own: as many requests as a number of connections can have answered, or a given
// number a second whatever the answers do. The process itself is load-process.ts.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { HttpRequest } from './http-connection.ts'

export type LoadPlan = {
  /** Connection n goes to the address n modulo their number. */
  readonly urls: readonly string[]
  readonly connections: number
  readonly seconds: number
  /** Requests a second, at random times (exponential gaps) that do not wait for answers; undefined: one after the other. */
  readonly perSecond?: number
  readonly source: RequestSource
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
  /** Microseconds of processor time that the client needed for each request. */
  readonly clientMicros: number
  /** What the next run goes on from: `refresh` only. */
  readonly tokens: readonly string[]
}

/** Throws when an answer was anything but a success, or shorter than it can be. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const child = fork(new URL('load-process.ts', import.meta.url))
  child.send(plan)
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => [{ error: 'the load process ended' }]),
  ])) as [LoadResult | { error: string }]
  if ('error' in message) throw new Error(message.error)
  return message
}
