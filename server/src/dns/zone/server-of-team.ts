// The servers that teams name: Pharos connects to them, so that they must neither reach the provider's own machines nor find out which ports are open.
import { parseAddress } from '../../net/address.ts'
import { hasPort, printPorts, type PortList } from '../../net/port-list.ts'
import type { Prefix } from '../../net/prefix.ts'
import { PrefixError } from '../../net/prefix-error.ts'
import { isWithin, objectionToAddress } from '../../net/public-address.ts'
import { errorAt, failWith } from '../../runtime/error.ts'

export type ServerRules = {
  /** Networks outside the public internet in which they may be. */
  readonly networks: readonly Prefix[]
  readonly ports: PortList
}

export type ServerOfTeam = { readonly address: string; readonly port: number }

type Loc = readonly (string | number)[]

/** Returns the server with its canonical address. Throws `invalid`, below `loc` for the field. */
export function readServer(
  loc: Loc,
  { address, port = 53 }: { readonly address: string; readonly port?: number },
  { networks, ports }: ServerRules,
  addressField = 'address',
): ServerOfTeam {
  const canonical = addressAt([...loc, addressField], address)
  if (!isWithin(canonical, networks) && objectionToAddress(canonical) !== undefined)
    throw failWith('invalid', [errorAt([...loc, addressField], 'privateServer')])
  if (!hasPort(ports, port))
    throw failWith('invalid', [errorAt([...loc, 'port'], 'serverPort', { ports: printPorts(ports) })])
  return { address: canonical, port }
}

function addressAt(loc: Loc, text: string): string {
  try {
    return parseAddress(text)
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    throw failWith('invalid', [errorAt(loc, 'ipAddress')])
  }
}
