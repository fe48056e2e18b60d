// What is wrong with an address on which the process cannot listen, and what to do.
const problems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is used by another program: stop it, or set another address',
  EACCES: 'needs a right that this user lacks: set a port from 1024 on',
  EADDRNOTAVAIL: 'is not an address of this machine: set another one',
}

const settings =
  'PHAROS_HOST and PHAROS_PORT (API and portal), PHAROS_DNS_LISTEN (name server), PHAROS_NETFLOW_LISTEN and PHAROS_SFLOW_LISTEN (flows)'

/** Returns the text for an error of listen or bind; undefined for any other error. */
export function listenProblem(error: unknown): string | undefined {
  const { code, syscall, address, port } = error as NodeJS.ErrnoException & {
    readonly address?: string
    readonly port?: number
  }
  const problem = problems[code ?? '']
  if (problem === undefined || (syscall !== 'listen' && syscall !== 'bind')) return undefined
  const host = address?.includes(':') ? `[${address}]` : address
  return `${host}:${port} ${problem}. The settings are ${settings}.`
}
