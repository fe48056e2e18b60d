// Reads the billed ports of a service in a period with their samples, separately or as one.
import type { BillingScope } from '@pharos/contract/inventory/billing-rules'
import type { Postgres } from '../../db/postgres.ts'
import { assignedPart, intersect, onGrid, subtract, type Period } from '../usage/billing-month.ts'
import { billingGridMs } from '../usage/bucket.ts'
import type { Billed } from './bill.ts'
import {
  listAssignments,
  listAttackOctets,
  listPortFacts,
  listStateChanges,
  readBuckets,
  type Assignment,
  type AttackOctets,
  type BilledService,
  type PortFact,
  type BillStateChange,
} from './bill.store.ts'
import { lagPartsOf, type LagPart } from './lag-part.ts'
import { addSamples, samplesOf, type Sample, type SampledPort } from './samples.ts'
import { ownTimes } from './terms.ts'

/** Ports with counters of 32 bits are too fast above this: they wrap in less than two polls. */
const smallCountersMaxBps = 100_000_000

type PortPart = { readonly port: Assignment; readonly parts: readonly Period[] }
type ReadPort = PortPart & {
  readonly sampled: SampledPort
  /** The ports that were counted, with their time: the port, or members of the LAG too. */
  readonly counted: readonly PortPart[]
}

export type BilledReading = Period & {
  readonly scope: BillingScope
  /** Limits the ports that are read, if each is billed by itself. */
  readonly wanted?: (portId: number) => boolean
  /** Samples are read from here on, also of ports that left the service before the period; default: its start. */
  readonly sinceMs?: number
}

/** Returns the services whose ports are billed, this one first, each with its times on the grid. */
function sourcesOf({ id, terms, pooled }: BilledService): { serviceId: number; times: readonly Period[] }[] {
  const others = Map.groupBy(pooled, ({ serviceId }) => serviceId)
  return [
    { serviceId: id, times: ownTimes(terms) },
    ...[...others].map(([serviceId, times]) => ({ serviceId, times: times.map(onGrid) })),
  ]
}

const within = <T extends Period>(rows: readonly T[], times: readonly Period[]): T[] =>
  rows.flatMap((row) =>
    times.flatMap((time) => {
      const both = intersect(row, time)
      return both ? [{ ...row, ...both }] : []
    }),
  )

/** Reads the stored values of the ports of all services that are billed together. */
async function readPorts(postgres: Postgres, service: BilledService, read: Period) {
  const found = await Promise.all(
    sourcesOf(service).map(async ({ serviceId, times }) => ({
      assignments: within(await listAssignments(postgres, service.teamId, serviceId, read), times),
      facts: within(await listPortFacts(postgres, service.teamId, serviceId, read), times),
      changes: await listStateChanges(postgres, service.teamId, serviceId, read),
    })),
  )
  const byStart = (one: Period, other: Period): number => one.startMs - other.startMs
  return {
    assignments: found.flatMap(({ assignments }) => assignments),
    facts: found.flatMap(({ facts }) => facts).sort(byStart),
    changes: found.flatMap(({ changes }) => changes).sort((one, other) => one.atMs - other.atMs),
  }
}

/**
 * Returns the ports of the period by name, or one for all of them. While a port is a member of a LAG that is a port of
 * the service, it counts in the LAG.
 */
export async function readBilled(
  postgres: Postgres,
  service: BilledService,
  { scope, wanted = () => true, sinceMs, ...period }: BilledReading,
): Promise<Billed[]> {
  const { teamId, name } = service
  const read = { startMs: sinceMs ?? period.startMs, endMs: period.endMs }
  const stored = await readPorts(postgres, service, read)
  const assigned = portsOf(stored.assignments, read)
  const facts = Map.groupBy(stored.facts, ({ portId }) => portId)
  const changes = Map.groupBy(stored.changes, ({ interfaceId }) => interfaceId)
  const members = assigned.flatMap((one) =>
    lagPartsOf(facts.get(one.port.portId) ?? [], one.parts, partsById(assigned)).map((part) => ({
      ...part,
      port: one.port,
    })),
  )
  const readPort = async (one: PortPart): Promise<ReadPort> => {
    const own = await readSamples(postgres, teamId, one)
    const inLag = membersOf(one, members)
    const isOwn = hasOctets(own) || inLag.length === 0
    const ofMembers = isOwn ? [] : await Promise.all(inLag.map(readPort))
    const samples = isOwn ? own : addSamples(ofMembers.map(({ sampled }) => sampled))
    const measuredMs = minOf([one, ...inLag].flatMap(({ port }) => port.measuredMs ?? []))
    const states = { changes: changes.get(one.port.interfaceId ?? 0) ?? [], measuredMs }
    // A LAG without counters cannot hide traffic while it has no members.
    const isCounted = (startMs: number) => isOwn || inLag.some(({ parts }) => isIn(parts, startMs))
    const sampled = {
      samples,
      wasUp: (startMs: number) => isCounted(startMs) && wasUp(one, states, startMs),
    }
    return { ...one, sampled, counted: [one, ...inLag] }
  }
  const isInPeriod = ({ parts }: PortPart): boolean => parts.some(({ endMs }) => endMs > period.startMs)
  const byThemselves = assigned.flatMap((one) => {
    const parts = subtract(
      one.parts,
      members.filter(({ port }) => port === one.port),
    )
    return parts.length > 0 ? [{ port: one.port, parts }] : []
  })
  const isWanted = (one: PortPart): boolean =>
    scope === 'service' || (isInPeriod(one) && wanted(one.port.portId))
  const ports = await Promise.all(byThemselves.filter(isWanted).map(readPort))
  const ofPeriod = ports.filter(isInPeriod)
  if (ofPeriod.length === 0) return []
  const ids = new Set(ofPeriod.flatMap(({ counted }) => counted.map(({ port }) => port.portId)))
  const octets = await listAttackOctets(postgres, teamId, [...ids], period)
  const billed = (some: readonly ReadPort[]) => ({
    attackOctets: attackOctetsOf(
      octets,
      some.flatMap(({ counted }) => counted),
    ),
    hasSmallCounters: some.some(({ counted }) => hasSmallCounters(counted, facts, period)),
  })
  if (scope === 'port') return ofPeriod.map((one) => ({ ...billedPort(one), ...billed([one]) }))
  const samples = addSamples(ports.map(({ sampled }) => sampled))
  return [{ ...billedService(name, ofPeriod), ...billed(ofPeriod), samples }]
}

const partsById = (ports: readonly PortPart[]): ReadonlyMap<number, readonly Period[]> =>
  new Map(ports.map(({ port, parts }) => [port.portId, parts]))

/** The members of a LAG, each with its time in it. */
function membersOf(lag: PortPart, members: readonly (LagPart & { readonly port: Assignment })[]): PortPart[] {
  const own = members.filter(({ lagPortId }) => lagPortId === lag.port.portId)
  return [...Map.groupBy(own, ({ port }) => port)].flatMap(([port, parts]) => {
    const inLag = parts.flatMap((part) => lag.parts.flatMap((of) => intersect(part, of) ?? []))
    return inLag.length > 0 ? [{ port, parts: inLag }] : []
  })
}

const isIn = (parts: readonly Period[], startMs: number): boolean =>
  parts.some((part) => startMs >= part.startMs && startMs < part.endMs)

const minOf = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : Math.min(...values)

function portsOf(assignments: readonly Assignment[], period: Period): PortPart[] {
  const byPort = Map.groupBy(assignments, ({ portId }) => portId)
  return [...byPort.values()].flatMap((own) => {
    const parts = own
      .flatMap(({ startMs, endMs }) => assignedPart(period, { startMs, endMs }) ?? [])
      .sort((one, other) => one.startMs - other.startMs)
    return parts.length === 0 ? [] : [{ port: own[0]!, parts }]
  })
}

async function readSamples(postgres: Postgres, teamId: number, { port, parts }: PortPart): Promise<Sample[]> {
  const read = await Promise.all(parts.map((part) => readBuckets(postgres, teamId, port.portId, part)))
  return read.flatMap(samplesOf)
}

const hasOctets = (samples: readonly Sample[]): boolean =>
  samples.some(({ octetsIn, octetsOut }) => octetsIn !== null && octetsOut !== null)

type States = { readonly changes: readonly BillStateChange[]; readonly measuredMs: number | undefined }

/**
 * Up at the start of the bucket, or at a change in it. Before the first change, the state is the one that this change
 * replaced, or the current state; but a port without measurements hides no traffic: its device was not connected. On
 * another interface, the port was up if it was measured: states of the former interface do not apply. After the last
 * reading of a device that is no longer read the state is unknown, so that the port may have been up.
 */
function wasUp({ port, parts }: PortPart, { changes, measuredMs }: States, startMs: number): boolean {
  if (!isIn(parts, startMs)) return false
  const endMs = startMs + billingGridMs
  const wasMeasured = endMs > (measuredMs ?? 0)
  if (startMs < (port.interface_since_ms ?? 0)) return wasMeasured
  if (port.unreadMs !== null && endMs > port.unreadMs) return wasMeasured
  const isMeanwhile = ({ atMs }: BillStateChange): boolean => atMs > startMs && atMs < endMs
  if (changes.some((change) => isMeanwhile(change) && change.after === 'up')) return true
  const before = changes.findLast(({ atMs }) => atMs <= startMs)
  if (before) return before.after === 'up'
  return (changes[0]?.before ?? port.oper) === 'up' && wasMeasured
}

/** Whether any of the ports counted with 32 bits at too high a speed in its time of the period. */
const hasSmallCounters = (
  ports: readonly PortPart[],
  facts: ReadonlyMap<number, readonly PortFact[]>,
  period: Period,
): boolean =>
  ports.some(({ port, parts }) =>
    facts
      .get(port.portId)
      ?.some(
        (fact) =>
          fact.bits === 32 &&
          (fact.speedBps ?? Infinity) > smallCountersMaxBps &&
          parts.some((part) => intersect(intersect(part, period) ?? { startMs: 0, endMs: 0 }, fact)),
      ),
  )

/** Attack octets of the ports in their time. Null if no row exists for received flows. */
function attackOctetsOf(
  octets: readonly AttackOctets[],
  ports: readonly PortPart[],
): ReadonlyMap<number, number> | null {
  const isOf = (portId: number, startMs: number, endMs: number): boolean =>
    ports.some(
      ({ port, parts }) =>
        port.portId === portId && parts.some((part) => intersect(part, { startMs, endMs }) !== undefined),
    )
  if (!octets.some(({ portId, startMs }) => isOf(portId, startMs, startMs + dayMs))) return null
  const sums = new Map<number, number>()
  for (const { portId, startMs, octets: count } of octets)
    if (isOf(portId, startMs, startMs + billingGridMs)) sums.set(startMs, (sums.get(startMs) ?? 0) + count)
  return sums
}

const dayMs = 86_400_000

const billedPort = ({
  port,
  parts,
  sampled,
}: ReadPort): Omit<Billed, 'attackOctets' | 'hasSmallCounters'> => ({
  portId: port.portId,
  portIds: [port.portId],
  name: port.name,
  circuitId: port.circuitId,
  speedBps: port.speedBps,
  parts,
  samples: sampled.samples,
})

const billedService = (
  name: string,
  ports: readonly PortPart[],
): Omit<Billed, 'samples' | 'attackOctets' | 'hasSmallCounters'> => ({
  portId: null,
  portIds: ports.map(({ port }) => port.portId),
  name,
  circuitId: '',
  speedBps: ports.some(({ port }) => port.speedBps === null)
    ? null
    : ports.reduce((sum, { port }) => sum + port.speedBps!, 0),
  parts: ports.flatMap(({ parts }) => parts),
})
