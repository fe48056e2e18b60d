// The billed rate of services beside their committed rate, as of several times: the figures of the bill so far.
import type { BillablePort } from '@pharos/contract/inventory/bill'
import type { Postgres } from '../../db/postgres.ts'
import { findBilledService } from './bill.store.ts'
import { readBillsAt } from './read-bills.ts'
import { monthAt } from './terms.ts'

export type CommitShareQuery = {
  readonly teamId: number
  readonly serviceId: number
  /** Null: the greatest of all bills of the service. */
  readonly portId: number | null
  readonly measure: 'percentile' | 'forecast'
  /** In order. */
  readonly times: readonly Date[]
}

export type CommitShares = {
  readonly hasCommit: boolean
  /** Percent of the committed rate as of each time; null: not known. */
  readonly percents: readonly (number | null)[]
}

/** Undefined: the team has no such service. */
export async function readCommitShares(
  postgres: Postgres,
  { teamId, serviceId, portId, measure, times }: CommitShareQuery,
): Promise<CommitShares | undefined> {
  const service = await findBilledService(postgres, teamId, serviceId)
  if (!service) return undefined
  // The first moment of a month belongs to the bill of the month before: the new one has no sample yet.
  const byMonth = Map.groupBy(times, (at) => monthAt(at.getTime() - 1, service.terms))
  const percents: (number | null)[] = []
  let hasCommit = false
  for (const [month, own] of byMonth)
    for (const [index, bills] of (await readBillsAt(postgres, service, { month, times: own })).entries()) {
      const wanted = bills
        .map(({ bill }) => bill)
        .filter((bill) => portId === null || bill.port_id === portId)
        .filter((bill) => isCurrent(bill, own[index]!.getTime()))
      hasCommit ||= wanted.some(({ commit_bps: commit }) => commit !== null && commit > 0)
      const shares = wanted.flatMap((bill) => shareOf(bill, measure) ?? [])
      percents.push(shares.length === 0 ? null : Math.max(...shares))
    }
  return { hasCommit, percents }
}

/** A month has a bill for each part with other terms. */
const isCurrent = ({ period_start: start, period_end: end }: BillablePort, atMs: number): boolean =>
  atMs > Date.parse(start) && atMs <= Date.parse(end)

function shareOf(
  { billable_bps: billed, forecast_bps: forecast, commit_bps: commit }: BillablePort,
  measure: CommitShareQuery['measure'],
): number | undefined {
  const figure = measure === 'percentile' ? billed : forecast
  return figure === null || commit === null || commit === 0
    ? undefined
    : Math.round((100_000 * figure) / commit) / 1000
}
