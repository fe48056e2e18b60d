// Adds the flows of a batch to the sums of the detector. Allocates no memory per flow.
import type { FlowColumns } from '../../flow/flow-columns.ts'
import type { DetectionGate } from './gate.ts'
import { floor, floorOf } from './limits.ts'
import type { Rates } from './rates.ts'
import { is4, ladder, scope, type Owners } from './scopes.ts'
import { hashOf, type TargetTable } from './target-table.ts'
import { isAttackOfSender, vectorOf } from '../../flow/vector.ts'

export type Sums = {
  readonly gate: DetectionGate
  readonly table: TargetTable
  /** Traffic to the prefix of each list of owners; after them, in the same order, traffic from it. */
  readonly holdings: Rates
  readonly owners: Owners
  /** The lowest limits by list, as seconds that one octet or one packet takes of them. */
  readonly costs: Float64Array
}

/** Flows that pass each step together: the memory that one step touches for several flows is fetched at the same time. */
const blockSize = 512
const lists = new Uint32Array(blockSize)
const hashes = new Int32Array(blockSize)
const rows = new Int32Array(blockSize)

/**
 * A flow is added to the most specific sum that has a row: to its host, or else to a network around it, or else to the
 * most specific prefix of a team. `TargetSums` adds them up from there, once a second.
 */
export function countFlows(c: FlowColumns, sums: Sums): void {
  for (let start = 0; start < c.length; start += blockSize) {
    const end = Math.min(start + blockSize, c.length)
    if (findOwners(c.dst, sums.owners, start, end)) {
      findHosts(c.dst, sums, scope.host, start, end)
      findRows(c, c.dst, sums, scope.host, start, end)
      addFlows(c, sums, 0, start, end)
    }
    if (findOwners(c.src, sums.owners, start, end)) {
      skipServers(c, start, end)
      findHosts(c.src, sums, outgoingHost, start, end)
      findRows(c, c.src, sums, outgoingHost, start, end)
      addFlows(c, sums, sums.owners.lengths.length, start, end)
    }
  }
}

const outgoingHost = scope.outgoing + scope.host

function findOwners(addresses: Uint32Array, owners: Owners, start: number, end: number): boolean {
  let all = 0
  for (let flow = start, word = start * 4; flow < end; flow++, word += 4) {
    const list = owners.find(
      addresses[word]!,
      addresses[word + 1]!,
      addresses[word + 2]!,
      addresses[word + 3]!,
    )
    lists[flow - start] = list
    all |= list
  }
  return all !== 0
}

/** For senders, counts only kinds of traffic that may be an attack. */
function skipServers(c: FlowColumns, start: number, end: number): void {
  for (let flow = start; flow < end; flow++) {
    if (lists[flow - start] !== 0 && !isAttackOfSender(vectorAt(c, flow), c.srcPort[flow]!))
      lists[flow - start] = 0
  }
}

function findHosts(addresses: Uint32Array, { table }: Sums, kind: number, start: number, end: number): void {
  for (let flow = start, word = start * 4; flow < end; flow++, word += 4) {
    if (lists[flow - start] === 0) continue
    const [w0, w1, w2, w3] = [
      addresses[word]!,
      addresses[word + 1]!,
      addresses[word + 2]!,
      addresses[word + 3]!,
    ]
    const hash = hashOf(w0, w1, w2, w3, kind)
    hashes[flow - start] = hash
    rows[flow - start] = table.find(w0, w1, w2, w3, kind, hash)
  }
}

/** For hosts without a row: a new row, or the row of a network around it. */
function findRows(
  c: FlowColumns,
  addresses: Uint32Array,
  sums: Sums,
  kind: number,
  start: number,
  end: number,
): void {
  const { table, gate, costs } = sums
  const side = floorOf(kind)
  for (let flow = start; flow < end; flow++) {
    const list = lists[flow - start]!
    if (list === 0 || rows[flow - start]! >= 0) continue
    const [octets, packets] = [octetsAt(c, flow), packetsAt(c, flow)]
    const cost = list * floor.width + side
    const hash = hashes[flow - start]!
    const isLarge = gate.add(hash, largest(octets * costs[cost]!, packets * costs[cost + 1]!))
    if (!isLarge && kind === outgoingHost) continue
    const word = flow * 4
    const [w0, w1, w2, w3] = [
      addresses[word]!,
      addresses[word + 1]!,
      addresses[word + 2]!,
      addresses[word + 3]!,
    ]
    rows[flow - start] = isLarge
      ? table.get(w0, w1, w2, w3, kind, list, hash)
      : rowAround(sums, w0, w1, w2, w3, kind, list, octets, packets)
  }
}

function addFlows(
  c: FlowColumns,
  { table, holdings }: Sums,
  offset: number,
  start: number,
  end: number,
): void {
  const { rates } = table
  for (let flow = start; flow < end; flow++) {
    const list = lists[flow - start]!
    if (list === 0) continue
    const rate = c.samplingRate[flow] || 1
    const octets = octetsAt(c, flow)
    const packets = packetsAt(c, flow)
    const vector = vectorAt(c, flow)
    const row = rows[flow - start]!
    if (row >= 0) rates.add(row, vector, octets, packets, rate, c.durationMs[flow]!)
    else holdings.add(offset + list, vector, octets, packets, rate, c.durationMs[flow]!)
  }
}

const octetsAt = ({ bytesHi, bytesLo, samplingRate }: FlowColumns, flow: number): number =>
  (bytesHi[flow]! * 2 ** 32 + bytesLo[flow]!) * (samplingRate[flow] || 1)

const packetsAt = ({ packetsHi, packetsLo, samplingRate }: FlowColumns, flow: number): number =>
  (packetsHi[flow]! * 2 ** 32 + packetsLo[flow]!) * (samplingRate[flow] || 1)

const vectorAt = (c: FlowColumns, flow: number): number =>
  vectorOf(c.protocol[flow]!, c.srcPort[flow]!, c.tcpFlags[flow]!, c.fragment[flow]!)

/** Returns the row of the most specific network above a step of the ladder; -1 without a row. */
export function rowAround(
  sums: Pick<Sums, 'table' | 'gate' | 'costs' | 'owners'>,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
  below: number,
  list: number,
  octets: number,
  packets: number,
): number {
  const cost = list * floor.width + floor.network
  const ofNetwork = largest(octets * sums.costs[cost]!, packets * sums.costs[cost + 1]!)
  const length = sums.owners.lengths[list]!
  const isIpv4 = is4(w0, w1, w2)
  for (let step = below + 1; step < scope.holding; step++) {
    if ((isIpv4 ? ladder[4] : ladder[6])[step - 1]! <= length) return -1
    const n1 = isIpv4 ? 0 : (w1 & masks6[step]!) >>> 0
    const n2 = isIpv4 ? w2 : 0
    const n3 = isIpv4 ? (w3 & masks4[step]!) >>> 0 : 0
    const row = networkRow(sums, w0, n1, n2, n3, step, list, ofNetwork)
    if (row >= 0) return row
  }
  return -1
}

/** Masks by step of the ladder: of the last word of IPv4, and of the second word of IPv6. */
const masks4 = [-1, ...ladder[4].map((length) => -1 << (32 - length))]
const masks6 = [-1, ...ladder[6].map((length) => (length === 64 ? -1 : -1 << (64 - length)))]

function networkRow(
  { table, gate }: Pick<Sums, 'table' | 'gate'>,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
  step: number,
  list: number,
  share: number,
): number {
  const hash = hashOf(w0, w1, w2, w3, step)
  const row = table.find(w0, w1, w2, w3, step, hash)
  return row < 0 && gate.add(hash, share) ? table.get(w0, w1, w2, w3, step, list, hash) : row
}

/** Math.max would also compare NaN. */
const largest = (a: number, b: number): number => (a > b ? a : b)

/** The costs of the lowest limits: 0 without a limit. */
export function costsOf(floors: Float64Array): Float64Array {
  return floors.map((limit, at) => (at % 2 === 0 ? 8 : 1) / limit)
}
