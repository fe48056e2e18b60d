// The common parts of answers about flows: the team, the statements, and the sampling.
import { neededStaffRole } from '@pharos/contract/staff-role'
import type { FlowTimeseries, FlowTimeseriesRequest } from '@pharos/contract/flow/flow'
import type { Db } from '../db/postgres.ts'
import { seesAllTeams } from '../operation/grant.ts'
import type { ReadingActor } from '../operation/operation.ts'
import { fail, invalid } from '../runtime/error.ts'
import { delayFieldsOf, type DelayFields } from './flow-delay.ts'
import { readFlowDelay } from './flow-delay.store.ts'
import { asFlowFailure } from './flow-failure.ts'
import { asnKeys } from './flow-label.ts'
import { listAsNames, readFlowNames } from './flow-names.ts'
import {
  keysOf,
  samplingStatement,
  type FlowRetention,
  type FlowScope,
  type FlowSelection,
  type SamplingRow,
  type FlowStatement,
} from './flow-query.ts'
import type { FlowStore } from './flow-store.ts'

export type FlowDeps = {
  readonly db: Db
  readonly flowStore: FlowStore
  readonly retention: FlowRetention
  readonly now: () => Date
}

type Selected = Pick<
  FlowTimeseriesRequest,
  'metric' | 'direction' | 'filters' | 'group_by' | 'team_id' | 'all_teams'
>

/** The filter of a request, and its team. Throws `invalid`, and `forbidden` for teams of others. */
export async function selectionOf(
  { db }: FlowDeps,
  actor: ReadingActor['actor'],
  { metric = 'bps', direction = 'both', filters = [], group_by: groupBy = [], ...teams }: Selected,
): Promise<FlowSelection> {
  const scope = scopeOf(actor, teams)
  const names = await readFlowNames(db, scope, keysOf({ groupBy, filters }))
  return { scope, metric, direction, filters, groupBy, names }
}

/** Adds the names of the AS numbers in the rows. */
export async function withAsNames(
  { db }: FlowDeps,
  selection: FlowSelection,
  rows: readonly object[],
): Promise<FlowSelection> {
  const places = selection.groupBy.flatMap((key, at) => (asnKeys.has(key) ? [`k${at}`] : []))
  if (places.length === 0) return selection
  const asns = new Set(
    rows.flatMap((row) => places.map((place) => String((row as Record<string, unknown>)[place]))),
  )
  return { ...selection, names: { ...selection.names, asns: await listAsNames(db, [...asns]) } }
}

/** The greatest number of the column. */
const teamIdMax = 2_147_483_647

/** The team of the caller. Staff may name another one, or all. */
function scopeOf(
  { staffRoles, teamId }: ReadingActor['actor'],
  { team_id: wanted, all_teams: all = false }: Pick<FlowTimeseriesRequest, 'team_id' | 'all_teams'>,
): FlowScope {
  if ((wanted === undefined || wanted === teamId) && !all) return { teamId }
  if (!seesAllTeams({ staffRoles }))
    throw fail('forbidden', 'staffRole', { role: neededStaffRole('operator.see') })
  if (wanted !== undefined && all) throw invalid(['body', 'all_teams'], 'teamAndAll')
  if (wanted !== undefined && wanted > teamIdMax) throw invalid(['body', 'team_id'], 'teamOfAttachment')
  return { teamId: all ? 'all' : wanted! }
}

/** Rejects if any rejects; all others are awaited, so that no rejection is unhandled. */
export async function runAll<T extends readonly unknown[]>(
  all: [...T],
): Promise<{ [At in keyof T]: Awaited<T[At]> }> {
  const settled = await Promise.allSettled(all)
  const failed = settled.find((one): one is PromiseRejectedResult => one.status === 'rejected')
  if (failed) throw failed.reason
  return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as never
}

/** Throws `unavailable` without the store, and `query_too_expensive`. */
export const runFlows = async <T>(
  { flowStore }: FlowDeps,
  { sql, params, limits }: FlowStatement,
): Promise<T[]> => {
  try {
    return await flowStore.query<T>(sql, params, limits)
  } catch (error) {
    throw asFlowFailure(error)
  }
}

export async function readSampling(
  deps: FlowDeps,
  scope: FlowScope,
  from: Date,
  until: Date,
  now: Date,
): Promise<Pick<FlowTimeseries, 'sampled' | 'sampling_rate'> & DelayFields> {
  const window = { startMs: from.getTime(), endMs: Math.min(until.getTime(), now.getTime()) }
  const [[row], delay] = await runAll([
    runFlows<SamplingRow>(deps, samplingStatement(scope, from, until, now)),
    readFlowDelay(deps.db, window),
  ])
  const fields = delayFieldsOf(delay, window)
  if (!row || row.count === 0) return { sampled: true, sampling_rate: null, ...fields }
  const { least, most } = row
  return {
    sampled: least !== 1 || most !== 1,
    sampling_rate: least === most && least > 0 ? least : null,
    ...fields,
    partial: fields.partial || least === 0,
  }
}
