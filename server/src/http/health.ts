// Endpoints for operators: liveness, readiness and metrics. Liveness checks only the process, so that an unreachable
// database does not restart every process; readiness checks whether requests can be served.
import { BlockList, isIP } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Registry } from 'prom-client'
import { plainAddress } from '../runtime/client-address.ts'
import { fail } from '../runtime/error.ts'

export type HealthDeps = {
  readonly registry: Registry
  /** Rejects if the database does not respond. */
  readonly ping: () => Promise<void>
  /** Addresses and networks that may read the metrics. */
  readonly operatorNetworks: readonly string[]
  /** Aborted when the process is about to stop: it serves, but load balancers should send no more requests. */
  readonly draining: AbortSignal
}

export function addHealth(server: FastifyInstance, deps: HealthDeps): void {
  const operators = blockListOf(deps.operatorNetworks)
  server.get('/healthz', async (_request, reply) => plain(reply, 200, 'ok\n'))
  server.get('/readyz', async (_request, reply) => {
    if (deps.draining.aborted) return plain(reply, 503, 'not ready: stopping\n')
    const problem = await deps.ping().then(
      () => null,
      () => 'postgresql',
    )
    return problem
      ? plain(reply.header('retry-after', 2), 503, `not ready: ${problem}\n`)
      : plain(reply, 200, 'ready\n')
  })
  // Otherwise a proxy would send its next request on a connection that the end of the process closes.
  server.addHook('onSend', async (_request, reply) => {
    if (deps.draining.aborted) reply.header('connection', 'close')
  })
  server.get('/metrics', async (request, reply) => {
    if (!isListed(operators, request.ip)) throw fail('forbidden', 'metrics')
    reply.header('content-type', deps.registry.contentType)
    return reply.serializer((text: unknown) => text as string).send(await deps.registry.metrics())
  })
}

function plain(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply
    .status(status)
    .header('content-type', 'text/plain; charset=utf-8')
    .serializer(() => text)
    .send(text)
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', length] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (length === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(length), family)
  }
  return list
}

function isListed(list: BlockList, address: string): boolean {
  const plain = plainAddress(address)
  return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4')
}
