// Where flows are received: the settings netflow_listen and sflow_listen.
import type { ListenAddress } from '../flow/datagram-source.ts'
import { parseListenAddress } from '../drivers/dns-server/listen-address.ts'
import type { Config } from '../runtime/config.ts'

/** Parses an address and a port; undefined for `off`. Throws an Error with the expected form. */
export function parseFlowAddress(text: string): ListenAddress | undefined {
  if (text === 'off') return undefined
  const { host, port } = parseListenAddress(text)
  return { address: host, port }
}

/** The addresses of both settings, without those that are off. */
export function flowAddresses({ netflowListen, sflowListen }: Pick<Config, 'netflowListen' | 'sflowListen'>) {
  const parsed = [netflowListen, sflowListen].map(parseFlowAddress)
  return parsed.filter((address) => address !== undefined)
}
