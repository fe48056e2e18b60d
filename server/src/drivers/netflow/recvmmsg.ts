// Receives datagrams with recvmmsg(2), 64 per call, through node:ffi (decision 078). The thread is blocked while it
// waits, so it must have no other urgent work.
import type { DatagramBatch, DatagramSource, DatagramSourceOptions } from '../../flow/datagram-source.ts'
import {
  datagramsMax,
  closeSocket,
  createExchange,
  createWait,
  dropsOf,
  openSocket,
  type BoundSocket,
} from '../datagram/socket-calls.ts'

/** Rounds of receiving before other work of the thread runs. */
const roundsMax = 16

/** Binds the sockets. Throws DriverError if an address cannot be used. */
export function createRecvmmsgSource(options: DatagramSourceOptions): DatagramSource {
  const sockets: BoundSocket[] = []
  try {
    for (const listen of options.listen) sockets.push(openSocket(listen, options))
  } catch (error) {
    sockets.forEach(closeSocket)
    throw error
  }
  const { batch, receive } = createExchange()
  const { wait, isReady } = createWait(sockets)
  const { idleMs = 50 } = options
  let isStopped = false
  let next: NodeJS.Immediate | undefined

  function stop(): void {
    if (isStopped) return
    isStopped = true
    clearImmediate(next)
    sockets.forEach(closeSocket)
  }

  /** Receives from one socket until it is empty or had its share. Returns whether more may be waiting. */
  function drain(socket: BoundSocket, onBatch: (batch: DatagramBatch) => void): boolean {
    for (let round = 0; round < roundsMax; round++) {
      const count = receive(socket)
      if (count === 0) return false
      onBatch(batch)
      if (isStopped || count < datagramsMax) return false
    }
    return true
  }

  return {
    kind: 'recvmmsg',
    addresses: sockets.map(({ address, port }) => ({ address, port })),
    receiveBufferBytes: Math.min(...sockets.map(({ receiveBufferBytes }) => receiveBufferBytes)),
    start(onBatch, onError) {
      let isBusy = false
      const turn = (): void => {
        if (isStopped) return
        try {
          const isAnyReady = wait(isBusy ? 0 : idleMs)
          // Every socket that has data gets its share.
          isBusy =
            isAnyReady &&
            sockets.filter((socket, i) => !isStopped && isReady(i) && drain(socket, onBatch)).length > 0
        } catch (error) {
          stop()
          onError(error as Error)
        }
        if (!isStopped) next = setImmediate(turn)
      }
      next = setImmediate(turn)
    },
    drops: () => (isStopped ? undefined : sockets.reduce((sum, socket) => sum + dropsOf(socket), 0)),
    stop,
  }
}
