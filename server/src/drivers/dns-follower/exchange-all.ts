// Sends many questions to one server over one UDP socket: a hundred at a time, each repeated until it is answered.
// Returns all answers or an error: a part would look like missing zones.
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { Message } from '../../net/dns/message.ts'
import { TsigError, type TsigVerifier } from '../../net/dns/tsig.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import {
  exchange,
  matchAnswer,
  plainOctets,
  prepareQuery,
  unreachable,
  type DnsQuery,
  type SentQuery,
  type DnsTarget,
} from './exchange.ts'

/** Pending queries: a server's receive buffer has space for a few hundred. */
const parallel = 100
const repeatMs = 400

type Waiting = {
  readonly at: number
  readonly sent: SentQuery
  readonly createVerifier: () => TsigVerifier | undefined
  readonly deadline: number
  timer: NodeJS.Timeout
}

function unusedId(waiting: ReadonlyMap<number, Waiting>): number {
  let id = randomInt(65_536)
  while (waiting.has(id)) id = randomInt(65_536)
  return id
}

/**
 * Returns the answers in the order of the queries. Throws DriverError if a query stays unanswered for the timeout of
 * the target.
 */
export function exchangeAll(
  target: DnsTarget,
  queries: readonly DnsQuery[],
  signal: AbortSignal,
): Promise<readonly Message[]> {
  if (queries.length === 0) return Promise.resolve([])
  const { promise, resolve, reject } = Promise.withResolvers<readonly Message[]>()
  const answers: Message[] = []
  const waiting = new Map<number, Waiting>()
  const socket = createSocket({ type: isIPv6(target.address) ? 'udp6' : 'udp4', recvBufferSize: 1024 * 1024 })
  let next = 0
  let left = queries.length

  const fail = (error: unknown): void =>
    reject(error instanceof DriverError ? error : unreachable(target, (error as Error)?.message ?? 'closed'))
  const send = (one: Waiting): void => {
    if (performance.now() > one.deadline) return fail(unreachable(target, 'no answer in time'))
    socket.send(one.sent.wire, () => {})
    one.timer = setTimeout(() => send(one), repeatMs)
  }
  const fill = (): void => {
    while (waiting.size < parallel && next < queries.length) {
      const id = unusedId(waiting)
      const sent = prepareQuery(queries[next]!, target.key, id)
      const deadline = performance.now() + target.timeoutMs
      const one: Waiting = {
        at: next++,
        sent,
        createVerifier: sent.createVerifier,
        deadline,
        timer: setTimeout(() => {}, 0),
      }
      waiting.set(id, one)
      send(one)
    }
  }
  const store = (at: number, answer: Message): void => {
    answers[at] = answer
    if (--left === 0) resolve(answers)
    else fill()
  }
  const receive = (wire: Uint8Array): void => {
    const one = wire.length < 2 ? undefined : waiting.get((wire[0]! << 8) | wire[1]!)
    const answer = one && matchAnswer(wire, one.sent, one.createVerifier())
    if (!one || !answer) return
    clearTimeout(one.timer)
    waiting.delete(one.sent.message.id)
    if (!answer.tc) return store(one.at, answer)
    exchange(target, queries[one.at]!, { tcp: true, signal }).then((whole) => store(one.at, whole), fail)
  }
  const onAbort = (): void => fail(signal.reason)

  signal.addEventListener('abort', onAbort, { once: true })
  socket.on('error', fail)
  socket.on('message', (octets) => {
    try {
      receive(plainOctets(octets))
    } catch (error) {
      if (!(error instanceof TsigError)) return fail(error)
      // A forged answer must not end the question: the right one may follow. The server's own refusal ends it.
      if (error.reason !== 'BADSIG') fail(new DriverError('protocol', `${target.address}: ${error.message}`))
    }
  })
  socket.connect(target.port, target.address, (error?: Error) => (error ? fail(error) : fill()))
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort)
    for (const { timer } of waiting.values()) clearTimeout(timer)
    try {
      socket.close()
    } catch {
      // The socket was closed by an error.
    }
  })
}
