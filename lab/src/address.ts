// Addresses and ports of the lab: all in 127.0.0.0/8, which Linux assigns to loopback entirely, so that neither root nor
// network namespaces are needed.
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/** A random subnet of loopback that is probably unused: two labs at the same time get different ones. */
export function randomSubnet(): string {
  return `127.${randomInt(64, 250)}.${randomInt(1, 250)}`
}

/**
 * Below the ports of outgoing connections (32768 to 60999 on Linux): otherwise another program's connection can take the port of a
 * server while that is restarted.
 */
const serverPorts = [10_000, 32_768] as const
const attempts = 20

/** Returns the preferred port if it is free at that address, otherwise a random free port. */
export async function freePort(address = '127.0.0.1', preferred?: number): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const candidate = attempt === 0 && preferred !== undefined ? preferred : randomInt(...serverPorts)
    const port = await tryPort(address, candidate)
    if (port !== undefined) return port
  }
  throw new Error(`no port is free at ${address}`)
}

/** Returns that port, or throws if it is in use. */
export async function requireFreePort(address: string, port: number): Promise<number> {
  return (
    (await tryPort(address, port)) ??
    Promise.reject(new Error(`${address}:${port} is in use: is the lab running?`))
  )
}

/** Returns the port if it is free for TCP and UDP: DNS needs both. */
async function tryPort(address: string, port: number): Promise<number | undefined> {
  const server = createServer()
  const socket = createSocket('udp4')
  try {
    await once(server.listen({ host: address, port, exclusive: true }), 'listening')
    const bound = server.address() as AddressInfo
    await once(socket.bind({ address, port: bound.port, exclusive: true }), 'listening')
    return bound.port
  } catch {
    return undefined
  } finally {
    socket.close()
    await new Promise((resolve) => server.close(resolve))
  }
}
