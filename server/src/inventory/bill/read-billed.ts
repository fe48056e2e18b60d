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

/**
 * Returns the ports by name, or one for all of them. Members of a LAG that is a port of the service are in the LAG. `wanted`
 * limits the ports that are read, if each is billed by itself.
 */
export async function readBilled(
  postgres: Postgres,
  service: BilledService,
  period: Period,
  wanted: (portId: number) => boolean = () => true,
): Promise<Billed[]> {
  const { teamId, id, scope, name } = service
  const assignments = await listAssignments(postgres, teamId, id, period)
  const changes = Map.groupBy(
    await listStateChanges(postgres, teamId, id, period),
    ({ interfaceId }) => interfaceId,
  )
  const all = portsOf(assignments, period)
  const lags = new Set(all.flatMap(({ port }) => (port.isLag ? (port.interfaceId ?? []) : [])))
  const isMember = ({ port }: PortPart): boolean =>
    port.lagInterfaceId !== null && lags.has(port.lagInterfaceId)
  const read = async (one: PortPart): Promise<ReadPort> => {
    const own = await readSamples(postgres, teamId, one)
    const members = all.filter(({ port }) => one.port.isLag && port.lagInterfaceId === one.port.interfaceId)
    const samples =
      hasOctets(own) || members.length === 0
        ? own
        : addSamples((await Promise.all(members.map(read))).map(({ sampled }) => sampled))
    const states = changes.get(one.port.interfaceId ?? 0) ?? []
    return { ...one, sampled: { samples, wasUp: (startMs) => wasUp(one, states, startMs) } }
  }
  const ports = await Promise.all(
    all.filter((one) => !isMember(one) && (scope === 'service' || wanted(one.port.portId))).map(read),
  )
  const octets = await listAttackOctets(
    postgres,
    teamId,
    ports.map(({ port }) => port.portId),
    period,
  )
  if (scope === 'port') return ports.map((one) => billedPort(one, attackOctetsOf(octets, [one])))
  return ports.length === 0 ? [] : [billedService(name, ports, attackOctetsOf(octets, ports))]
}

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

/** Up at the start of the bucket, or at a change in it. Without any change the state is that of now. */
function wasUp({ port, parts }: PortPart, changes: readonly StateChange[], startMs: number): boolean {
  if (!parts.some((part) => startMs >= part.startMs && startMs < part.endMs)) return false
  const before = changes.findLast(({ atMs }) => atMs <= startMs)
  const state = before?.after ?? changes[0]?.before ?? port.oper
  const isIn = ({ atMs }: StateChange): boolean => atMs > startMs && atMs < startMs + billingGridMs
  return state === 'up' || changes.some((change) => isIn(change) && change.after === 'up')
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
  ports: readonly ReadPort[],
  attackOctets: ReadonlyMap<number, number> | null,
): Billed => ({
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
  samples: addSamples(ports.map(({ sampled }) => sampled)),
})
