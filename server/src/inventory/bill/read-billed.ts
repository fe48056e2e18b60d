// Reads what is billed of a service in a period: its ports with their samples, each by itself or as one.
import type { Postgres } from '../../db/postgres.ts'
import { assignedPart, type Period } from '../usage/billing-month.ts'
import { billingGridMs } from '../usage/bucket.ts'
import type { Billed } from './bill.ts'
import {
  listAssignments,
  listAttackOctets,
  listStateChanges,
  readBuckets,
  type Assignment,
  type AttackOctets,
  type BilledService,
  type StateChange,
} from './bill.store.ts'
import { addSamples, samplesOf, type Sample, type SampledPort } from './samples.ts'

/** Ports with counters of 32 bits are too fast above this: they wrap in less than two polls. */
const smallCountersMaxBps = 100_000_000

type PortPart = { readonly port: Assignment; readonly parts: readonly Period[] }
type ReadPort = PortPart & { readonly sampled: SampledPort }

export type BilledReading = {
  /** Limits the ports that are read, if each is billed by itself. */
  readonly wanted?: (portId: number) => boolean
  /** Samples are read from here on, also of ports that left the service before the period; default: its start. */
  readonly sinceMs?: number
}

/**
 * Returns the ports of the period by name, or one for all of them. Members of a LAG that is a port of the service are in the LAG.
 */
export async function readBilled(
  postgres: Postgres,
  service: BilledService,
  period: Period,
  { wanted = () => true, sinceMs = period.startMs }: BilledReading = {},
): Promise<Billed[]> {
  const { teamId, id, scope, name } = service
  const read = { startMs: sinceMs, endMs: period.endMs }
  const assignments = await listAssignments(postgres, teamId, id, read)
  const changes = Map.groupBy(
    await listStateChanges(postgres, teamId, id, read),
    ({ interfaceId }) => interfaceId,
  )
  const all = portsOf(assignments, read)
  const isInPeriod = ({ parts }: PortPart): boolean => parts.some(({ endMs }) => endMs > period.startMs)
  const readPort = async (one: PortPart): Promise<ReadPort> => {
    const own = await readSamples(postgres, teamId, one)
    const members = all.filter((other) => isMemberOf(other, one))
    const isOwn = hasOctets(own) || members.length === 0
    const ofMembers = isOwn ? [] : await Promise.all(members.map(readPort))
    const samples = isOwn ? own : addSamples(ofMembers.map(({ sampled }) => sampled))
    const measuredMs = minOf([one, ...members].flatMap(({ port }) => port.measuredMs ?? []))
    const states = { changes: changes.get(one.port.interfaceId ?? 0) ?? [], measuredMs }
    return { ...one, sampled: { samples, wasUp: (startMs) => wasUp(one, states, startMs) } }
  }
  // A LAG that has left the service replaces its members only if they have left it too.
  const isInLag = (one: PortPart): boolean =>
    all.some((lag) => isMemberOf(one, lag) && (isInPeriod(lag) || !isInPeriod(one)))
  const hasLeft = (one: PortPart): boolean =>
    !isInPeriod(one) && all.some((member) => isMemberOf(member, one) && isInPeriod(member))
  const isWanted = (one: PortPart): boolean =>
    scope === 'service' || (isInPeriod(one) && wanted(one.port.portId))
  const ports = await Promise.all(
    all.filter((one) => !isInLag(one) && !hasLeft(one) && isWanted(one)).map(readPort),
  )
  const ofPeriod = ports.filter(isInPeriod)
  if (ofPeriod.length === 0) return []
  const portIds = ofPeriod.map(({ port }) => port.portId)
  const octets = await listAttackOctets(postgres, teamId, portIds, period)
  if (scope === 'port') return ofPeriod.map((one) => billedPort(one, attackOctetsOf(octets, [one])))
  const samples = addSamples(ports.map(({ sampled }) => sampled))
  return [{ ...billedService(name, ofPeriod, attackOctetsOf(octets, ofPeriod)), samples }]
}

const isMemberOf = (one: PortPart, lag: PortPart): boolean =>
  lag.port.isLag && lag.port.interfaceId !== null && one.port.lagInterfaceId === lag.port.interfaceId

const minOf = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : Math.min(...values)

function portsOf(assignments: readonly Assignment[], period: Period): PortPart[] {
  const byPort = Map.groupBy(assignments, ({ portId }) => portId)
  return [...byPort.values()].flatMap((own) => {
    const parts = own.flatMap(({ startMs, endMs }) => assignedPart(period, { startMs, endMs }) ?? [])
    return parts.length === 0 ? [] : [{ port: own[0]!, parts }]
  })
}

async function readSamples(postgres: Postgres, teamId: number, { port, parts }: PortPart): Promise<Sample[]> {
  const read = await Promise.all(parts.map((part) => readBuckets(postgres, teamId, port.portId, part)))
  return read.flatMap(samplesOf)
}

const hasOctets = (samples: readonly Sample[]): boolean =>
  samples.some(({ octetsIn, octetsOut }) => octetsIn !== null && octetsOut !== null)

type States = { readonly changes: readonly StateChange[]; readonly measuredMs: number | undefined }

/**
 * Up at the start of the bucket, or at a change in it. Before the first change the state is the one that it replaced, or that of
 * now; but a port that was not measured yet hides no traffic: its device was not connected. On another interface it was up if it was
 * measured: the states of that one are not its own.
 */
function wasUp({ port, parts }: PortPart, { changes, measuredMs }: States, startMs: number): boolean {
  if (!parts.some((part) => startMs >= part.startMs && startMs < part.endMs)) return false
  const endMs = startMs + billingGridMs
  const wasMeasured = endMs > (measuredMs ?? 0)
  if (startMs < (port.linkedMs ?? 0)) return wasMeasured
  const isIn = ({ atMs }: StateChange): boolean => atMs > startMs && atMs < endMs
  if (changes.some((change) => isIn(change) && change.after === 'up')) return true
  const before = changes.findLast(({ atMs }) => atMs <= startMs)
  if (before) return before.after === 'up'
  return (changes[0]?.before ?? port.oper) === 'up' && wasMeasured
}

const hasSmallCounters = ({ port: { bits, speedBps } }: PortPart): boolean =>
  bits === 32 && (speedBps ?? Infinity) > smallCountersMaxBps

/** Within the assignments. Null if no row says that flows were received. */
function attackOctetsOf(
  octets: readonly AttackOctets[],
  ports: readonly PortPart[],
): ReadonlyMap<number, number> | null {
  const own = octets.filter(({ portId, startMs }) =>
    ports.some(
      ({ port, parts }) =>
        port.portId === portId &&
        parts.some((part) => startMs >= part.startMs - dayMs && startMs < part.endMs),
    ),
  )
  if (own.length === 0) return null
  const sums = new Map<number, number>()
  for (const { startMs, octets: count } of own) sums.set(startMs, (sums.get(startMs) ?? 0) + count)
  return sums
}

const dayMs = 86_400_000

const billedPort = (
  { port, parts, sampled }: ReadPort,
  attackOctets: ReadonlyMap<number, number> | null,
): Billed => ({
  attackOctets,
  portId: port.portId,
  portIds: [port.portId],
  name: port.name,
  circuitId: port.circuitId,
  speedBps: port.speedBps,
  hasSmallCounters: hasSmallCounters({ port, parts }),
  parts,
  samples: sampled.samples,
})

const billedService = (
  name: string,
  ports: readonly PortPart[],
  attackOctets: ReadonlyMap<number, number> | null,
): Omit<Billed, 'samples'> => ({
  attackOctets,
  portId: null,
  portIds: ports.map(({ port }) => port.portId),
  name,
  circuitId: '',
  speedBps: ports.some(({ port }) => port.speedBps === null)
    ? null
    : ports.reduce((sum, { port }) => sum + port.speedBps!, 0),
  hasSmallCounters: ports.some(hasSmallCounters),
  parts: ports.flatMap(({ parts }) => parts),
})
