// The UDP socket of one device, in the form that net-snmp expects of its dgram module. It accepts only datagrams of the
// device, drops invalid answers before the library parses them, and reports errors that the library would ignore or
// throw.
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { MessageHeader } from './message-header.ts'
import { readMessageHeader } from './message-header.ts'

export type DeviceAddress = { readonly address: string; readonly port: number }

export type SocketEvents = {
  /** A datagram was sent. */
  readonly onSend: () => void
  /** Whether an answer may be passed on. */
  readonly accepts: (header: MessageHeader) => boolean
  /** A datagram was dropped: it is no message, or not accepted. */
  readonly onDrop: () => void
  /** An error of the socket, such as ECONNREFUSED (ICMP port unreachable), or an exception of the library. */
  readonly onError: (error: Error) => void
}

/**
 * Opens a socket. It is connected, so that the kernel drops datagrams of other addresses; with `isOpen` it is not, for devices
 * that answer from another address.
 */
export async function openDeviceSocket(
  { address, port }: DeviceAddress,
  events: SocketEvents,
  isOpen = false,
): Promise<DeviceSocket> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  if (isOpen) socket.bind()
  else socket.connect(port, address)
  try {
    await once(socket, isOpen ? 'listening' : 'connect')
  } catch (error) {
    socket.close()
    throw error
  }
  return new DeviceSocket(socket, events, isOpen ? { address, port } : undefined)
}

/** The socket that the library uses. */
export class DeviceSocket {
  readonly #socket: Socket
  readonly #events: SocketEvents
  readonly #target: DeviceAddress | undefined

  constructor(socket: Socket, events: SocketEvents, target: DeviceAddress | undefined) {
    this.#socket = socket
    this.#events = events
    this.#target = target
    socket.on('error', (error) => events.onError(error))
  }

  /** The library listens to `message`, `close` and `error`. It emits errors under a wrong name: `onError` gets them. */
  on(event: string, listener: (...values: unknown[]) => void): this {
    if (event === 'message') this.#socket.on('message', (datagram) => this.#receive(datagram, listener))
    if (event === 'close') this.#socket.on('close', listener)
    return this
  }

  #receive(datagram: Uint8Array, listener: (datagram: Uint8Array) => void): void {
    const header = readMessageHeader(datagram)
    if (header === undefined || !this.#events.accepts(header)) {
      this.#events.onDrop()
      return
    }
    try {
      listener(datagram)
    } catch (error) {
      this.#events.onError(error as Error)
    }
  }

  send(
    datagram: Uint8Array,
    offset: number,
    length: number,
    _port: number,
    _address: string,
    done: (error: Error | null) => void,
  ): void {
    this.#events.onSend()
    if (this.#target)
      this.#socket.send(datagram, offset, length, this.#target.port, this.#target.address, done)
    else this.#socket.send(datagram, offset, length, done)
  }

  close(): void {
    this.#socket.close()
  }

  ref(): void {
    this.#socket.ref()
  }

  unref(): void {
    this.#socket.unref()
  }
}
