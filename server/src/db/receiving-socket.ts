// The socket of a connection to PostgreSQL. It receives into a buffer that it keeps, and passes on complete messages only,
// valid until the listener returns. Node allocates 64 KiB outside of the heap for every read, and the parser of pg another
// buffer for each message that arrives in parts: a page of 75 kB took 185 us of processor time to read, and takes 131.
import { Socket } from 'node:net'

const initialBytes = 64 * 1024
/** A larger buffer, needed for a larger message, is not kept. */
const keptBytesMax = 1024 * 1024
/** Each message starts with a code of one byte and a length of four, which includes itself. */
const codeBytes = 1
const headerBytes = 5

/** Returns a socket, not connected, for pg's option `stream`. */
export function createReceivingSocket(): Socket {
  let buffer: Buffer = Buffer.allocUnsafeSlow(initialBytes)
  /** Bytes at the start of the buffer that belong to an incomplete message. */
  let rest = 0
  const socket: Socket = new Socket({
    onread: {
      buffer: () => (rest === 0 ? buffer : buffer.subarray(rest)),
      callback(received) {
        const end = rest + received
        const complete = completeBytes(buffer, end)
        if (complete > 0) socket.emit('data', buffer.subarray(0, complete))
        rest = end - complete
        buffer = keepRest(buffer, complete, end)
        return true
      },
    },
  })
  return socket
}

/** The length of the complete messages at the start of the buffer. */
function completeBytes(buffer: Buffer, end: number): number {
  let complete = 0
  while (end - complete >= headerBytes) {
    const length = codeBytes + buffer.readUInt32BE(complete + codeBytes)
    if (complete + length > end) break
    complete += length
  }
  return complete
}

/** Returns a buffer that starts with these bytes, and has space after them. */
function keepRest(buffer: Buffer, start: number, end: number): Buffer {
  const isFull = end - start === buffer.length
  const isTooLarge = start === end && buffer.length > keptBytesMax
  if (!isFull && !isTooLarge) {
    if (start > 0) buffer.copyWithin(0, start, end)
    return buffer
  }
  const next = Buffer.allocUnsafeSlow(isFull ? buffer.length * 2 : initialBytes)
  buffer.copy(next, 0, start, end)
  return next
}
