// Queries one name server over UDP until it returns the expected answer: measures the arrival of a change to about a
// millisecond.
import { createSocket } from 'node:dgram'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeMessage, emptyMessage, read16, type Message } from '../../server/src/net/dns/message.ts'
import { encodeMessage } from '../../server/src/net/dns/message-writer.ts'
import { parseName } from '../../server/src/net/dns/name.ts'
import { recordClass, recordType } from '../../server/src/net/dns/type.ts'

export type Server = { readonly address: string; readonly port: number }

export type Probe = Disposable & {
  /** Returns the answer; undefined after the timeout. */
  ask(name: string, type: number): Promise<Message | undefined>
  /** Resolves with the time of the first answer that is as expected. */
  until(
    name: string,
    type: number,
    isExpected: (answer: Message) => boolean,
    options?: { readonly everyMs?: number; readonly timeoutMs?: number },
  ): Promise<number>
}

const answerTimeoutMs = 1_000

export async function openProbe({ address, port }: Server): Promise<Probe> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.connect(port, address, resolve))
  let id = 0
  let isClosed = false
  let waiting: { readonly id: number; readonly resolve: (answer: Message | undefined) => void } | undefined
  // The port may be closed for a moment while the server restarts.
  socket.on('error', () => {})
  socket.on('message', (wire) => {
    const octets = Uint8Array.from(wire)
    if (waiting && read16(octets, 0) === waiting.id) waiting.resolve(decodeMessage(octets))
  })
  const askOnce: Probe['ask'] = async (name, type) => {
    if (isClosed) throw new Error('the probe was closed')
    id = (id + 1) % 65_536
    const { promise, resolve } = Promise.withResolvers<Message | undefined>()
    waiting = { id, resolve }
    const timer = setTimeout(() => resolve(undefined), answerTimeoutMs)
    const questions = [{ name: parseName(name), type, class: recordClass.IN }]
    socket.send(encodeMessage({ ...emptyMessage, id, questions }), () => {})
    const answer = await promise
    clearTimeout(timer)
    return answer
  }
  return {
    ask: askOnce,
    async until(name, type, isExpected, { everyMs = 1, timeoutMs = 120_000 } = {}) {
      for (const end = performance.now() + timeoutMs; ; await sleep(everyMs)) {
        const answer = await askOnce(name, type)
        const now = performance.now()
        if (answer && isExpected(answer)) return now
        if (now > end) throw new Error(`${address}@${port}: ${name} was not as expected in ${timeoutMs} ms`)
      }
    },
    [Symbol.dispose]() {
      isClosed = true
      socket.close()
    },
  }
}

/** Address number n of 10.0.0.0/8, as a record and as an expectation. */
export const addressOf = (n: number): string => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`

/** Whether the answer has the address number n. */
export const hasAddress =
  (n: number) =>
  ({ answers }: Message): boolean =>
    answers.some(({ type, rdata }) => type === recordType.A && rdata.join('.') === addressOf(n))
