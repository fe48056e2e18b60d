// Addresses and ports of the lab: all of them in 127.0.0.0/8, which Linux answers to in full without any set-up, so no
// root and no network namespaces are needed.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** A subnet of loopback that nobody is likely to use: two labs at once pick two. */
export function randomSubnet(): string {
  return `127.${randomInt(64, 250)}.${randomInt(1, 250)}`
}

/** The wished port if it is free at that address, otherwise a free one. */
export async function freePort(address: string, wish: number): Promise<number> {
  return (
    (await tryPort(address, wish)) ??
    (await tryPort(address, 0)) ??
    Promise.reject(new Error(`no port is free at ${address}`))
  )
}

/** That port or none: throws when something else has it. */
export async function demandPort(address: string, port: number): Promise<number> {
  return (
    (await tryPort(address, port)) ??
    Promise.reject(new Error(`${address}:${port} is in use: is the lab running?`))
  )
}

function tryPort(address: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ host: address, port, exclusive: true }, () => {
      const bound = server.address()
      server.close(() => resolve(bound !== null && typeof bound === 'object' ? bound.port : undefined))
    })
  })
}
