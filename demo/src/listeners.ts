// The addresses on which the demo listens: the usual ones, or another port where a program of this machine has one, such as a second demo
// or a collector.
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIPv6 } from 'node:net'
import { parseListenAddress, printListenAddress } from '../../server/src/drivers/dns-server/listen-address.ts'
import type { Config, DescribedSetting, Environment } from '../../server/src/runtime/config.ts'
import { listenBySetting } from '../../server/src/runtime/listen-problem.ts'

/** Below the ports of outgoing connections, which could use it in the meantime. */
const portRange = [10_000, 32_768] as const

/**
 * Returns the variables of listeners whose usual port is in use, each with a free one. Throws a ListenError if a
 * configured port is in use.
 */
export async function replaceTakenPorts(settings: readonly DescribedSetting[]): Promise<Environment> {
  const found: Record<string, string> = {}
  for (const { name, variable, value, source } of settings) {
    if (!name.endsWith('_listen') || value === 'off') continue
    const { host, port } = parseListenAddress(String(value))
    if (source !== 'default') await listenBySetting(name, () => listenOnce(host, port))
    else if (!(await isFree(host, port)))
      found[variable] = printListenAddress({ host, port: await freePort(host) })
  }
  return found
}

/** Throws a ListenError if the portal cannot listen, before the database is opened. */
export async function checkPort({ host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  await listenBySetting('port', () => listenTcp(host, port))
}

async function freePort(host: string): Promise<number> {
  for (;;) {
    const port = randomInt(...portRange)
    if (await isFree(host, port)) return port
  }
}

const isFree = (host: string, port: number): Promise<boolean> =>
  listenOnce(host, port).then(
    () => true,
    () => false,
  )

/** For UDP and TCP. */
async function listenOnce(host: string, port: number): Promise<void> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4').bind(port, host)
  try {
    await once(socket, 'listening')
    await listenTcp(host, port)
  } finally {
    socket.close()
  }
}

async function listenTcp(host: string, port: number): Promise<void> {
  const server = createServer().listen({ host, port })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
