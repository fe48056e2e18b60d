// Chooses how datagrams are received: recvmmsg where a test over loopback proves that it works, else dgram.
import type { DatagramSource, DatagramSourceOptions } from '../../flow/datagram-source.ts'
import { findSocketCalls } from '../datagram/find-socket-calls.ts'
import { createDgramSource } from './dgram.ts'

/** Binds the sockets. Rejects with DriverError if an address cannot be used. `kind` is the chosen implementation. */
export async function createDatagramSource(options: DatagramSourceOptions): Promise<DatagramSource> {
  if ((await findSocketCalls()) === undefined) return createDgramSource(options)
  const { createRecvmmsgSource } = await import('./recvmmsg.ts')
  return createRecvmmsgSource(options)
}
