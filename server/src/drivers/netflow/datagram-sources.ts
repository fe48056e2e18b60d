// Chooses how datagrams are received: recvmmsg where a test over loopback proves that it works, else dgram.
import type { DatagramSource, DatagramSourceOptions } from '../../flow/datagram-source.ts'
import { createDgramSource } from './dgram.ts'

/** Binds the sockets. Rejects with DriverError if an address cannot be used. `kind` is the chosen implementation. */
export async function createDatagramSource(options: DatagramSourceOptions): Promise<DatagramSource> {
  const recvmmsg = await findRecvmmsg()
  return recvmmsg ? recvmmsg.createRecvmmsgSource(options) : createDgramSource(options)
}

/** node:ffi is experimental: it may be absent, disabled by a flag, or refuse a signature. */
async function findRecvmmsg(): Promise<typeof import('./recvmmsg.ts') | undefined> {
  try {
    const found = await import('./recvmmsg.ts')
    return found.receivesItself() ? found : undefined
  } catch {
    return undefined
  }
}
