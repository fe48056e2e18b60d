// Detects the version of GoBGP that answers. The package and the service have different names in each version, so a daemon
// rejects the wrong dialect.
import { DriverError } from '../../runtime/driver-error.ts'
import type { GobgpClient } from './client.ts'
import type { Dialect, Global } from './dialect.ts'
import { gobgp3 } from './gobgp3.ts'
import { gobgp4 } from './gobgp4.ts'

const dialects: readonly Dialect[] = [gobgp3, gobgp4]

export type Identified = { readonly dialect: Dialect; readonly global: Global | undefined }

/** Queries the daemon's identity in one dialect after the other. Rejects with `protocol` if no dialect is supported. */
export async function identify(client: GobgpClient, deadline: Date): Promise<Identified> {
  let cause: unknown
  for (const dialect of dialects) {
    try {
      return { dialect, global: await dialect.getGlobal(client, deadline) }
    } catch (error) {
      if (!isProtocol(error)) throw error
      cause = error
    }
  }
  const message = `gobgpd at ${client.address}: what answers is neither GoBGP 3.x nor 4.x`
  throw new DriverError('protocol', message, { cause })
}

export function isProtocol(error: unknown): boolean {
  return error instanceof DriverError && error.kind === 'protocol'
}
