// Octets and packets of a port by address family, which devices do not count: from the flows of the team that pass through it.
import type { FlowStore } from './flow-store.ts'
import { asFlowFailure } from './flow-failure.ts'
import { Failure } from '../runtime/error.ts'
import { keyExpression } from './flow-key.ts'
import { secondsOf } from './flow-query.ts'

export type FamilyBucket = {
  /** Start, ms since 1970. */
  readonly at: number
  readonly octetsIn: number
  readonly octetsOut: number
  readonly packetsIn: number
  readonly packetsOut: number
}

export type FamilyUsage = {
  readonly teamId: number
  readonly portId: number
  readonly family: 'ipv4' | 'ipv6'
  readonly start: Date
  readonly end: Date
  /** Length of a bucket. */
  readonly seconds: number
}

type Row = Readonly<Record<'at' | 'octets_in' | 'octets_out' | 'packets_in' | 'packets_out', number>>

/**
 * Returns the buckets in which flows of the port were received, in order; `in` is towards the team. Empty while the
 * store does not answer: usage of all families together does not depend on it.
 */
export async function readFamilyUsage(
  flowStore: FlowStore,
  { teamId, portId, family, start, end, seconds }: FamilyUsage,
): Promise<FamilyBucket[]> {
  const isFamily = `${keyExpression('flows', 'family')} = {family:String}`
  const sums = (['bytes', 'packets'] as const).flatMap((column) =>
    (['in', 'out'] as const).map(
      (way) =>
        `sumIf(${column} * greatest(sampling_rate, 1), direction in ('${way}', 'internal') and ${isFamily}) as ${column === 'bytes' ? 'octets' : 'packets'}_${way}`,
    ),
  )
  const sql =
    `select intDiv(toUInt32(time), {seconds:UInt32}) * {seconds:UInt32} as at, ${sums.join(', ')} from flows ` +
    `where team_id = {team:UInt32} and port_id = {port:UInt32} and time >= toDateTime({from:UInt32}, 'UTC') and time < toDateTime({until:UInt32}, 'UTC') ` +
    'group by at order by at'
  const params = {
    team: teamId,
    port: portId,
    family,
    seconds,
    from: secondsOf(start),
    until: secondsOf(end),
  }
  try {
    const rows = await flowStore.query<Row>(sql, params)
    return rows.map((row) => ({
      at: row.at * 1000,
      octetsIn: row.octets_in,
      octetsOut: row.octets_out,
      packetsIn: row.packets_in,
      packetsOut: row.packets_out,
    }))
  } catch (error) {
    if (asFlowFailure(error) instanceof Failure) return []
    throw error
  }
}
