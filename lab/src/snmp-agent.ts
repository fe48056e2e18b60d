// An SNMPv2c agent that serves records and has faults on request: for tests of the SNMP driver with answers of real and
// hostile devices. It only checks the community.
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import {
  compareOids,
  decodeRequest,
  isVersion2c,
  encodeAnswer,
  encodeVarbind,
  endOfMibView,
  noSuchObject,
  parseOid,
  snmpValue,
  type SnmpRequest,
} from './snmp-ber.ts'
import { positionAfter, serveRecords, type ServedObject, type SnmpRecord } from './snmp-records.ts'

/** All of them may be changed while the agent runs. */
export type AgentFaults = {
  delayMs?: number
  isSilent?: boolean
  /** Every n-th request gets no answer. */
  loseEvery?: number
  /** Every answer is sent twice. */
  sendsTwice?: boolean
  /** An answer is sent after the answer to the next request, or after a second. */
  reorders?: boolean
  /** Octets after which an answer is cut. */
  truncateAt?: number
  /** At this OID and below it, the next object is always the same again. */
  repeatsBelow?: string
  /** The table below this column has no end: its OIDs increase. */
  endlessBelow?: string
  /** Answers come from another port. */
  answersFromElsewhere?: boolean
  /** Called for every datagram before it is sent. */
  mutate?: (datagram: Buffer) => Buffer
  /** Largest answer in octets: longer ones have fewer repetitions, or are tooBig. */
  answerOctets?: number
  /** Answers tooBig to more varbinds than this. */
  varbindsMax?: number
}

export type SnmpAgent = {
  readonly port: number
  faults: AgentFaults
  /** Datagrams that were received. */
  readonly requests: readonly SnmpRequest[]
  setRecords(records: readonly SnmpRecord[]): void
  /** Sets the clock of the device (sysUpTime) to zero, or to a value in hundredths of a second. */
  restart(uptimeCs?: number): void
  close(): void
}

const sysUpTime = parseOid('1.3.6.1.2.1.1.3.0')

export async function startSnmpAgent(
  initial: readonly SnmpRecord[],
  { community = 'public', address = '127.0.0.1', port = 0, keepsRequests = true } = {},
): Promise<SnmpAgent> {
  let [objects, booted, received] = [serveRecords([]), performance.now() - 1_000_000, 0]
  const requests: SnmpRequest[] = []
  const [socket, elsewhere] = [createSocket('udp4'), createSocket('udp4')]
  const delayed: (() => void)[] = []

  const uptime = () => snmpValue.ticks(Math.floor((performance.now() - booted) / 10) % 2 ** 32)
  const setRecords = (records: readonly SnmpRecord[]) => {
    objects = serveRecords([[sysUpTime.join('.'), uptime], ...records])
  }
  const send = (datagram: Buffer, { port, address }: RemoteInfo) => {
    const { faults } = agent
    const cut = faults.truncateAt === undefined ? datagram : datagram.subarray(0, faults.truncateAt)
    const octets = faults.mutate?.(cut) ?? cut
    const from: Socket = faults.answersFromElsewhere ? elsewhere : socket
    for (let copy = faults.sendsTwice ? 2 : 1; copy > 0; copy--) from.send(octets, port, address)
  }
  const answer = (request: SnmpRequest, remote: RemoteInfo) => {
    const { faults } = agent
    const datagram = answerOf(objects, request, faults)
    if (faults.reorders) {
      delayed.push(() => send(datagram, remote))
      if (delayed.length > 1) for (const one of delayed.splice(0).reverse()) one()
      return
    }
    if (faults.delayMs === undefined) send(datagram, remote)
    else setTimeout(() => send(datagram, remote), faults.delayMs).unref()
  }
  socket.on('message', (datagram, remote) => {
    if (!isVersion2c(datagram)) return
    const request = decodeRequest(datagram)
    if (keepsRequests) requests.push(request)
    received++
    const { isSilent, loseEvery } = agent.faults
    const isLost = isSilent || (loseEvery !== undefined && received % loseEvery === 0)
    if (!isLost && request.community === community) answer(request, remote)
  })
  const agent: SnmpAgent = {
    port: 0,
    faults: {},
    requests,
    setRecords,
    restart: (uptimeCs = 0) => {
      booted = performance.now() - uptimeCs * 10
    },
    close: () => {
      for (const one of [socket, elsewhere]) one.close()
    },
  }
  setRecords(initial)
  socket.bind(port, address)
  elsewhere.bind(0, address)
  await Promise.all([once(socket, 'listening'), once(elsewhere, 'listening')])
  return Object.assign(agent, { port: socket.address().port })
}

/** Returns the answer to a request, with the faults that change its content. */
export function answerOf(
  objects: readonly ServedObject[],
  request: SnmpRequest,
  faults: AgentFaults = {},
): Buffer {
  const { answerOctets = 65_000, varbindsMax = Infinity } = faults
  if (request.oids.length > varbindsMax) return encodeAnswer(request, [], 1)
  if (request.kind !== 'bulk') {
    const varbinds = request.oids.map((oid) =>
      request.kind === 'get' ? exactly(objects, oid) : after(objects, oid, faults).octets,
    )
    const datagram = encodeAnswer(request, varbinds)
    return datagram.length > answerOctets ? encodeAnswer(request, [], 1) : datagram
  }
  const varbinds: Uint8Array[] = []
  let octets = 60
  const add = (varbind: Uint8Array): boolean => {
    octets += varbind.length
    if (octets <= answerOctets) varbinds.push(varbind)
    return octets <= answerOctets
  }
  const scalars = request.oids.slice(0, request.nonRepeaters)
  if (!scalars.every((oid) => add(after(objects, oid, faults).octets))) return encodeAnswer(request, [], 1)
  let cursors = request.oids.slice(request.nonRepeaters)
  for (let turn = 0; turn < request.maxRepetitions; turn++) {
    const next = cursors.map((oid) => after(objects, oid, faults))
    if (!next.every(({ octets }) => add(octets))) break
    cursors = next.map(({ oid }) => oid)
  }
  return encodeAnswer(request, varbinds)
}

function exactly(objects: readonly ServedObject[], oid: readonly number[]): Uint8Array {
  const object = objects[positionAfter(objects, oid, true)]
  return object && compareOids(object.oid, oid) === 0 ? object.encode() : encodeVarbind(oid, noSuchObject)
}

type Next = { readonly oid: readonly number[]; readonly octets: Uint8Array }

function after(objects: readonly ServedObject[], oid: readonly number[], faults: AgentFaults): Next {
  const object = objects[positionAfter(objects, oid)]
  const text = oid.join('.')
  if (faults.endlessBelow !== undefined && text.startsWith(faults.endlessBelow)) {
    const next = text === faults.endlessBelow ? [...oid, 1] : [...oid.slice(0, -1), oid.at(-1)! + 1]
    return { oid: next, octets: encodeVarbind(next, snmpValue.integer(1)) }
  }
  if (faults.repeatsBelow !== undefined && `${text}.`.startsWith(`${faults.repeatsBelow}.`))
    return { oid, octets: encodeVarbind(oid, snmpValue.integer(1)) }
  if (object === undefined) return { oid, octets: encodeVarbind(oid, endOfMibView) }
  return { oid: object.oid, octets: object.encode() }
}
