// Flow records of a port in whole hours, for comparison with the counters of its interface, and their completeness.
import type { FlowDifference } from '@pharos/contract/inventory/port-flows'
import { delayFieldsOf } from './flow-delay.ts'
import { readFlowDelay } from './flow-delay.store.ts'
import { asFlowFailure } from './flow-failure.ts'
import { secondsOf } from './flow-query.ts'
import { findPortCheck } from './port-flows.store.ts'
import type { FlowDeps } from './read-flows.ts'
import { Failure } from '../runtime/error.ts'

const hourMs = 3_600_000

export type PortFlowsQuery = {
  readonly teamId: number
  readonly portId: number
  /** Starts of whole hours, Unix milliseconds, in order. */
  readonly hours: readonly number[]
}

type FlowHour = { readonly at: number; readonly octetsIn: number; readonly octetsOut: number }

export type PortFlows = {
  /** The hours with flow records, and with all that have arrived; `in` is towards the team. */
  readonly hours: readonly FlowHour[]
  readonly samplingRate: number | null
  readonly check: { readonly hour: Date; readonly ratio: number } | null
  /** Known reasons of a difference, beside the figures. */
  readonly differences: readonly FlowDifference[]
}

type HourRow = Readonly<Record<'at' | 'octets_in' | 'octets_out', number>>
type RateRow = Readonly<Record<'count' | 'least' | 'most', number>>

/** Returns undefined without flow records of the port in these hours, and while the store does not answer: the figures of the port do not depend on it. */
export async function readPortFlows(deps: FlowDeps, query: PortFlowsQuery): Promise<PortFlows | undefined> {
  const { teamId, portId, hours } = query
  const [first, last] = [hours[0], hours.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const window = { startMs: first, endMs: last + hourMs }
  const delay = await readFlowDelay(deps.db, window)
  const completeMs = delay.completeUntil?.getTime() ?? deps.now().getTime()
  const stored = await readStored(deps, query, window)
  const wanted = new Set(hours)
  const known = stored.hours.filter(({ at }) => wanted.has(at) && at + hourMs <= completeMs)
  if (known.length === 0) return undefined
  const check = await findPortCheck(deps.db, teamId, portId)
  const { least, most } = stored.rates
  const isIncomplete = delayFieldsOf(delay, window).partial || known.length < hours.length
  const differences: FlowDifference[] = [
    'frame_overhead',
    ...(most > 1 ? (['sampling'] as const) : []),
    ...(least === 0 ? (['unknown_sampling'] as const) : []),
    ...(check?.has_internal ? (['not_exported'] as const) : []),
    ...(isIncomplete ? (['incomplete'] as const) : []),
    ...(check?.is_implausible ? (['implausible'] as const) : []),
  ]
  return {
    hours: known,
    samplingRate: least === most && least > 0 ? least : null,
    check: check ?? null,
    differences,
  }
}

const where =
  "where team_id = {team:UInt32} and port_id = {port:UInt32} and time >= toDateTime({from:UInt32}, 'UTC') and time < toDateTime({until:UInt32}, 'UTC')"

async function readStored(
  { flowStore }: FlowDeps,
  { teamId, portId }: PortFlowsQuery,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): Promise<{ readonly hours: readonly FlowHour[]; readonly rates: RateRow }> {
  const params = {
    team: teamId,
    port: portId,
    from: secondsOf(new Date(startMs)),
    until: secondsOf(new Date(endMs)),
  }
  const sums = (['in', 'out'] as const).map(
    (way) => `sumIf(bytes, direction in ('${way}', 'internal')) as octets_${way}`,
  )
  const hours = `select toUnixTimestamp(time) as at, ${sums.join(', ')} from flows_by_interface_1h ${where} group by at order by at`
  // For the last hour: a rate seldom changes, and a month has many raw flows.
  const rates = `select count() as count, min(sampling_rate) as least, max(sampling_rate) as most from flows ${where}`
  try {
    const [rows, [found]] = await Promise.all([
      flowStore.query<HourRow>(hours, params),
      flowStore.query<RateRow>(rates, { ...params, from: secondsOf(new Date(endMs - hourMs)) }),
    ])
    return {
      hours: rows.map(({ at, octets_in: octetsIn, octets_out: octetsOut }) => ({
        at: at * 1000,
        octetsIn,
        octetsOut,
      })),
      rates: found ?? { count: 0, least: 0, most: 0 },
    }
  } catch (error) {
    if (asFlowFailure(error) instanceof Failure) return { hours: [], rates: { count: 0, least: 0, most: 0 } }
    throw error
  }
}
