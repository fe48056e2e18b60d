// Former routers of a region in its full run: reads them, and determines the result of each. They are planned as
// drained routers; a former router that does not answer does not fail the run.
import type { Prefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import type { FormerCheck } from './former-speakers.store.ts'
import type { FormerMemory, RegionMemory } from './region-lock.store.ts'
import {
  callAll,
  RoutersFailed,
  type Router,
  type RouterAfter,
  type RouterFailure,
  type RouterView,
} from './region-run.ts'

/** A plan expires after ten seconds: a router that is gone must not use up the time. */
const readTimeoutMs = 5_000

type Read = { readonly answers: readonly RouterView[]; readonly failures: readonly RouterFailure[] }

/** Reads all routes of every former router. */
export async function readFormers(formers: readonly Router[]): Promise<Read> {
  try {
    return await callAll(formers, (router) => router, readInTime)
  } catch (error) {
    if (error instanceof RoutersFailed) return { answers: [], failures: error.failures }
    throw error
  }
}

async function readInTime(router: Router): Promise<RouterView> {
  const timeout = Promise.withResolvers<never>()
  const error = new DriverError('unreachable', `no answer within ${readTimeoutMs / 1000} s`)
  const timer = setTimeout(() => timeout.reject(error), readTimeoutMs)
  const read = Promise.all([router.speaker.list(), router.asn(), router.daemon()])
  try {
    const [observed, asn, daemon] = await Promise.race([read, timeout.promise])
    return { router, asn, daemon, observed, neighbors: [] }
  } finally {
    clearTimeout(timer)
    read.catch(() => {})
  }
}

/**
 * Returns whether the former router is also in use, under another spelling of its address: it must not be emptied. The
 * daemons of this region were just read, other regions at their last check.
 */
export function isInUse(
  { daemon }: RouterView,
  current: readonly RouterView[],
  { daemons }: Pick<RegionMemory, 'daemons'>,
): boolean {
  return daemons.includes(daemon) || current.some((view) => view.daemon === daemon)
}

/** Returns the prefixes that former routers had when they were last read. */
export const prefixesOf = (formers: readonly FormerMemory[]): ReadonlySet<Prefix> =>
  new Set(formers.flatMap(({ prefixes }) => [...prefixes]))

type FormerRun = {
  readonly read: Read
  /** The routers in `read` that are in use. */
  readonly inUse: readonly RouterView[]
  readonly afters: readonly RouterAfter[]
  readonly failures: readonly RouterFailure[]
}

/**
 * The results of a run for each former router that it read. A router is done if it was empty twice: in this run, and in
 * the previous reading.
 */
export function checksOfFormers(
  formers: readonly FormerMemory[],
  { read, inUse, afters, failures }: FormerRun,
): FormerCheck[] {
  return formers.flatMap(({ id, isRead, prefixes: before }): FormerCheck[] => {
    const isThis = ({ router }: { readonly router: Router }) => router.former === id
    const failure = [...read.failures, ...failures].find(isThis)
    if (failure) return [{ id, error: failure.error.message }]
    const used = inUse.find(isThis)
    if (used) {
      const prefixes = used.observed.map(({ prefix }) => prefix)
      return [{ id, error: inUseError, prefixes, isDone: false }]
    }
    const view = read.answers.find(isThis)
    const after = afters.find(isThis)?.after
    if (!view || !after) return []
    const isDone = isRead && before.size + view.observed.length + after.size === 0
    return [{ id, error: null, prefixes: [...after.keys()], isDone }]
  })
}

const inUseError =
  'it has the router ID and the owner of a router in use, so that it is not emptied. If it is that router, say that it is gone'

/** Whether the next run can do more: a former router has other routes than before, or some of its routes are on the region's own routers only now. */
export function canContinue(
  formers: readonly FormerMemory[],
  checks: readonly FormerCheck[],
  announced: ReadonlySet<Prefix>,
): boolean {
  return checks.some((check) => {
    if (check.error !== null || check.prefixes === undefined) return false
    const before = formers.find(({ id }) => id === check.id)!
    const isChanged = !before.isRead || before.prefixes.size !== check.prefixes.length
    return !check.isDone && (isChanged || check.prefixes.some((prefix) => announced.has(prefix)))
  })
}
