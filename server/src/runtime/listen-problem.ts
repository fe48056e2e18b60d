// Errors of an address on which the process cannot listen, as one sentence with the setting to change.
import { variableOf, type SettingName } from './settings.ts'

const problems: Readonly<Record<string, (setting: SettingName) => string>> = {
  EADDRINUSE: (setting) =>
    `is used by another program: stop it, or set ${variableOf(setting)} to another port.`,
  EACCES: (setting) =>
    `needs a right that this user lacks: set ${variableOf(setting)} to a port from 1024 on.`,
  EADDRNOTAVAIL: (setting) =>
    `is not an address of this machine: set ${variableOf(setting === 'port' ? 'host' : setting)} to one.`,
}

/** The message is sufficient. */
export class ListenError extends Error {}

/** Runs `listen`. An error of listen or bind becomes a ListenError that names the setting of the address. */
export async function listenBySetting<T>(setting: SettingName, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen()
  } catch (error) {
    throw explain(setting, error as ListenProblem) ?? error
  }
}

type ListenProblem = NodeJS.ErrnoException & { readonly address?: string; readonly port?: number }

function explain(setting: SettingName, error: ListenProblem): ListenError | undefined {
  const { code, syscall, address, port } = error
  const problemOf = problems[code ?? '']
  if (problemOf === undefined || (syscall !== 'listen' && syscall !== 'bind')) return undefined
  const host = address?.includes(':') ? `[${address}]` : address
  return new ListenError(`${host}:${port} ${problemOf(setting)}`, { cause: error })
}
