// The peer of P3: Fastify and pg as in their documentation, in a separate process (fastify-peer-process.ts).
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpuMicrosOf } from './processor-time.ts'
import type { Served } from './product.ts'

/** Starts the peer on a database with events; `GET /events/{id}` returns one. */
export async function startFastifyPeer(databaseUrl: string): Promise<Served & AsyncDisposable> {
  const child = fork(new URL('fastify-peer-process.ts', import.meta.url), [databaseUrl])
  const [url] = (await once(child, 'message')) as [string]
  return {
    url,
    cpuMicros: () => cpuMicrosOf(child),
    async [Symbol.asyncDispose]() {
      const exit = once(child, 'exit')
      child.disconnect()
      await exit
    },
  }
}
