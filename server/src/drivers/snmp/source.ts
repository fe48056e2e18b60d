// A device that is read by SNMP. It keeps one session and the names of the interfaces; it stores nothing and judges nothing.
import { isIP } from 'node:net'
import type { DeviceSource, HealthReading, ReadPart } from '../../inventory/collect/device-source.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { CounterReader } from './counters.ts'
import { findCredentialProblem, type SnmpCredential } from './credential.ts'
import { readDeviceHealth } from './health.ts'
import { readIdentity } from './identify.ts'
import { readInterfaces } from './interfaces.ts'
import { withOptics } from './optic-walk.ts'
import { listTransceivers, readOptics } from './optics/index.ts'
import { SnmpSession } from './session.ts'

export type SnmpSourceOptions = {
  /** An IP address: names would be resolved for every datagram. */
  readonly address: string
  readonly port?: number
  readonly credential: SnmpCredential
  /** Of one try; there are 3 tries by default. */
  readonly timeoutMs?: number
  readonly tries?: number
  /** Of one call, such as the list of interfaces. */
  readonly deadlineMs?: number
  /** For devices that answer from another address than they were asked at: any host can answer then. */
  readonly acceptsAnySource?: boolean
}

/** Opens no socket before the first call. */
export function createSnmpSource(options: SnmpSourceOptions): DeviceSource {
  const { address, port = 161, credential, deadlineMs = 60_000 } = options
  const { timeoutMs = 2_000, tries = 3, acceptsAnySource = false } = options
  const session = new SnmpSession({ address, port, credential, timeoutMs, tries, acceptsAnySource })
  const counters = new CounterReader(session)
  const closed = new AbortController()
  const problem = isIP(address) === 0 ? 'The address is no IP address.' : findCredentialProblem(credential)

  const call = async <T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    if (problem !== undefined) throw new DriverError('refused', problem)
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(lateError(address, deadlineMs)), deadlineMs)
    const ended = AbortSignal.any([signal, closed.signal, deadline.signal])
    try {
      ended.throwIfAborted()
      return await work(ended)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    probe: (signal, readPart) =>
      call(signal, (ended) => readIdentity(session, ended, partsWithin(ended, readPart))),
    listInterfaces: (signal, readPart) =>
      call(signal, (ended) => {
        counters.forgetNames()
        return readInterfaces(session, ended, partsWithin(ended, readPart))
      }),
    listTransceivers: (signal) => call(signal, (ended) => withOptics(session, ended, listTransceivers)),
    readCounters: (keys, signal) => call(signal, (ended) => counters.read(keys, ended)),
    readOptics: (signal) => call(signal, (ended) => withOptics(session, ended, readOptics)),
    readHealth: (signal, readPart) =>
      call(signal, async (ended) => [
        ...(await readDeviceHealth(session, partsWithin(ended, readPart))),
        ...figures(session),
      ]),
    close: async () => {
      closed.abort(new DriverError('unreachable', 'The device source is closed.'))
      session.close()
    },
  }
}

const partsWithin =
  (ended: AbortSignal, readPart: ReadPart | undefined): ReadPart =>
  (part, read) =>
    readPart ? readPart(part, (signal) => read(AbortSignal.any([ended, signal]))) : read(ended)

const lateError = (address: string, deadlineMs: number): DriverError =>
  new DriverError('unreachable', `${address} did not answer everything within ${deadlineMs} ms.`)

function figures(session: SnmpSession): HealthReading[] {
  const { latencyMs, lossPercent } = session.takeFigures()
  const latency = latencyMs === null ? [] : [{ metric: 'latency' as const, part: '', value: latencyMs }]
  const loss = lossPercent === null ? [] : [{ metric: 'loss' as const, part: '', value: lossPercent }]
  return [...latency, ...loss]
}
