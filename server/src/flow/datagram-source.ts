// The port to the sockets on which exporters send flows. It runs in a separate thread.

/** Datagrams of one receive call: views of one reused buffer, valid until the callback returns. */
export type DatagramBatch = {
  octets: Uint8Array
  count: number
  /** Offset of each datagram in `octets`, and its length. */
  readonly offsets: Uint32Array
  readonly lengths: Uint32Array
  /** The sender's address, four words each as `src` of FlowColumns. */
  readonly senders: Uint32Array
  /** The sender's port. */
  readonly ports: Uint16Array
}

export interface DatagramSource {
  /** `recvmmsg` or `dgram`. */
  readonly kind: string
  /** The bound sockets, with the port that the system chose for port 0. */
  readonly addresses: readonly { readonly address: string; readonly port: number }[]
  /** The size of the receive buffer that the kernel granted, the smallest of all sockets, in bytes. */
  readonly receiveBufferBytes: number
  /**
   * Calls `onBatch` with received datagrams, in the order of arrival per socket, until `stop`. Other work of the thread
   * (timers, messages) runs between the calls, at the latest after `idleMs` without a datagram. An error of a socket
   * stops the source and is passed to `onError`.
   */
  start(onBatch: (batch: DatagramBatch) => void, onError: (error: Error) => void): void
  /** Datagrams that the kernel dropped because a receive buffer was full, since the start; undefined if the system has no counter. */
  drops(): number | undefined
  /** Closes the sockets; no callback runs afterwards. */
  stop(): void
}

export type ListenAddress = { readonly address: string; readonly port: number }

export type DatagramSourceOptions = {
  readonly listen: readonly ListenAddress[]
  /** The receive buffer to ask for; a process without CAP_NET_ADMIN gets at most `net.core.rmem_max`. */
  readonly receiveBufferBytes: number
  /** Lets several threads bind the same address; the kernel distributes exporters by their address and port. */
  readonly reusePort?: boolean
  /** Maximum time for which the thread blocks without a datagram. */
  readonly idleMs?: number
}
