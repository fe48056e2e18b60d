// One run of a scrubber: reads the lists and the rules of the scrubber, applies the differences as far as the guard allows, and reads the
// scrubber again. The order and the fence are those of reconcile/run.ts. On any doubt the scrubber keeps its rules.
import type { Difference } from '@pharos/contract/operator/restore'
import type { ShieldReason } from '@pharos/contract/reason/shield-reason'
import type { Db } from '../db/postgres.ts'
import type { FilterRule } from '../net/filter-rule.ts'
import type { Prefix } from '../net/prefix.ts'
import type { Fence } from '../reconcile/lease.ts'
import { runOnce, type Reconciler, type FencedRunDeps } from '../reconcile/run.ts'
import { listDecidedDigests, saveApprovals } from './approval-area.ts'
import { applyEach, type RefusedChange } from './apply-each.ts'
import { compileLists, type CompileRefusal, type CompileResult, type OrderedList } from './compile.ts'
import { decideChanges, keptBy } from './decide-changes.ts'
import type { GuardedChanges } from './reconcile-guard.ts'
import type { RuleCount } from './record-hits.ts'
import {
  listDesired,
  listEvidence,
  listInstalledRules,
  saveHits,
  saveInstalls,
  saveUnreachable,
  type CountedHits,
  type DesiredRow,
  type EvidenceRow,
  type Install,
  type StoredRule,
} from './reconcile.store.ts'
import {
  fingerprintOf,
  planLists,
  ScrubberError,
  type CompiledList,
  type InstalledList,
  type Scrubber,
} from './scrubber.ts'
import { reasonOfRefusal } from './refusal-reason.ts'
import { findStored } from './shield-rule.ts'

export type ScrubberTarget = {
  readonly name: string
  /** Limits the scrubber to the lists inside these prefixes; empty: all lists. */
  readonly prefixes: readonly Prefix[]
  readonly scrubber: Scrubber
}

export type ReconcileDeps = FencedRunDeps & {
  /** Replaced by tests that inject faults. */
  readonly compile?: typeof compileLists
  readonly plan?: typeof planLists
  /** Gets the hits of rules since the last reading of the counters. It must not throw. */
  readonly recordHits?: (counted: readonly RuleCount[]) => Promise<void>
}

export type ScrubberRun = {
  readonly applied: number
  readonly removed: number
  readonly held: number
  /** Ids of approvals that this run has opened. */
  readonly opened: readonly number[]
  /** By prefix: lists that the scrubber refused, although they were compiled for it. */
  readonly refused: ReadonlyMap<Prefix, ScrubberError>
}

/** Runs once under the lease. Throws the ScrubberError of the scrubber, after it is saved that it does not answer. */
export const reconcileScrubber = (
  deps: ReconcileDeps,
  lease: Fence,
  target: ScrubberTarget,
): Promise<ScrubberRun> => runOnce(deps, lease, scrubberReconciler(deps, target))

type Sent = {
  readonly notApplied: readonly RefusedChange<CompiledList>[]
  readonly notRemoved: readonly RefusedChange<Prefix>[]
}

type After = Awaited<ReturnType<typeof enforcementOf>> & { readonly lists: readonly InstalledList[] }

function scrubberReconciler(
  { db, compile = compileLists, plan = planLists, recordHits }: ReconcileDeps,
  { name, prefixes, scrubber }: ScrubberTarget,
) {
  return {
    async read() {
      const state = await readState(db, name, prefixes)
      return { state, before: await scrubber.list() }
    },
    decide: ({ state, before }) => ({
      state,
      before,
      ...decideChanges(state, before, { can: scrubber.can, compile, plan }),
    }),
    isEmpty: ({ guarded }) => guarded.apply.length === 0 && guarded.remove.length === 0,
    async send({ guarded }, requireCurrent) {
      const notApplied = await applyEach(guarded.apply, async (lists) => {
        await requireCurrent()
        await scrubber.apply(lists)
      })
      const notRemoved = await applyEach(guarded.remove, async (removed) => {
        await requireCurrent()
        await scrubber.remove(removed)
      })
      return { notApplied, notRemoved }
    },
    async readBack({ before }, sent) {
      const lists = sent ? await scrubber.list() : before
      return { lists, ...(await enforcementOf(scrubber)) }
    },
    async save({ fence }, decided, sent, after) {
      const { state, guarded } = decided
      const { notApplied = [], notRemoved = [] } = sent ?? {}
      const refused = new Map([
        ...notApplied.map(({ change, error }) => [change.prefix, error] as const),
        ...notRemoved.map(({ change, error }) => [change, error] as const),
      ])
      const installs = installsOf(decided, refused, after, { name, scrubber })
      const opened = await fence(db, async (trx) => {
        await saveInstalls(trx, name, installs, after.lists)
        return saveApprovals(trx, name, guarded.approvals)
      })
      if (scrubber.can.hits) {
        const hits = await scrubber.hits()
        const counted = await fence(db, (trx) => saveHits(trx, name, hits))
        await recordHits?.(countsOf(state.desired, counted))
      }
      if (!after.isEnforced)
        throw new ScrubberError('unreachable', `${name}: none of ${after.routers} routers has a session`)
      return {
        applied: guarded.apply.length - notApplied.length,
        removed: guarded.remove.length - notRemoved.length,
        held: guarded.approvals.length,
        opened,
        refused,
      }
    },
    saveFailure: (trx) => saveUnreachable(trx, name, prefixes, scrubber.can.keepsRules),
  } satisfies Reconciler<Read, Decided, Sent, After, ScrubberRun>
}

type Read = {
  readonly state: Awaited<ReturnType<typeof readState>>
  readonly before: readonly InstalledList[]
}
type Decided = Read & ReturnType<typeof decideChanges>

/** Returns what the scrubber has of each list; of one that nothing enforces, no rule is in force. */
function installsOf(
  { state: { desired, unreadable, decided }, before, compiled, guarded }: Decided,
  refused: ReadonlyMap<Prefix, ScrubberError>,
  { lists: after, isEnforced }: After,
  { name, scrubber }: Pick<ScrubberTarget, 'name' | 'scrubber'>,
): Install[] {
  const installs = [
    ...desired.map((list) =>
      refused.has(list.prefix)
        ? installOfRefused(list, name, after)
        : installOf(list, compiled, guarded, decided.rejected, [before, after], scrubber),
    ),
    ...unreadable.map((list) => installOfUnreadable(list, after)),
  ]
  return isEnforced ? installs : installs.map((install) => ({ ...install, held: [] }))
}

/** Returns the differences between the lists of a restored database and the scrubber, before any guard. It only reads. */
export async function compareScrubber(
  db: Db,
  { name, prefixes, scrubber }: ScrubberTarget,
): Promise<Difference[]> {
  const { desired, unreadable } = await readState(db, name, prefixes)
  const before = await scrubber.list()
  const { can } = scrubber
  const { lists, refused } = compileLists(
    desired.map(({ prefix, rules }) => ({ prefix, rules })),
    can,
    before,
  )
  const kept = new Set([...refused, ...unreadable].map(({ prefix }) => prefix))
  const planned = planLists(lists, before, can.ordering)
  const installed = new Map(before.map((list) => [list.prefix, list.ruleCount]))
  const stored = new Map(desired.map((list) => [list.prefix, list]))
  const differenceOf = (prefix: Prefix): Difference => {
    const list = stored.get(prefix)
    const rules = list?.rules.length ?? 0
    const held = installed.get(prefix)
    return {
      subject: prefix,
      kind: held === undefined ? 'add' : rules === 0 ? 'remove' : 'change',
      teamId: list?.teamId ?? null,
      database: rules === 0 ? null : { rules, version: list!.version },
      network: held === undefined ? null : { rules: held },
      // A scrubber does not return its rules, only whether they match a list.
      adoptable: false,
    }
  }
  return [...planned.apply.map(({ prefix }) => prefix), ...planned.remove]
    .filter((prefix) => !kept.has(prefix))
    .map(differenceOf)
}

/** A program with rules for routers enforces no rules while no router has a session. */
async function enforcementOf(scrubber: Scrubber) {
  const { neighbors } = await scrubber.probe()
  return { isEnforced: neighbors?.established !== 0, routers: neighbors?.configured }
}

/** Skips rules that are no longer desired: they are not installed any more. */
function countsOf(desired: readonly Desired[], counted: readonly CountedHits[]): RuleCount[] {
  if (counted.length === 0) return []
  const rules = new Map(
    desired.flatMap(({ teamId, rules: of }) => of.map((rule) => [rule.id, { teamId, rule }] as const)),
  )
  return counted.flatMap(({ id, packets, bytes }) => {
    const found = rules.get(id)
    return found ? [{ ...found, packets, bytes }] : []
  })
}

type Desired = OrderedList &
  Pick<DesiredRow, 'listId' | 'teamId' | 'version'> & { readonly stored: DesiredRow['rules'] }

type Unreadable = Pick<DesiredRow, 'listId' | 'version' | 'prefix'> & { readonly rule: number }

/** Everything from one snapshot. */
const readState = (db: Db, scrubber: string, prefixes: readonly Prefix[]) =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const desired = parseLists(await listDesired(trx, prefixes))
      const evidence = parseLists(await listEvidence(trx, prefixes))
      const unreadable = new Map(
        [...desired.unreadable, ...evidence.unreadable].map((list) => [list.prefix, list]),
      )
      return {
        desired: desired.lists.filter(({ prefix }) => !unreadable.has(prefix)),
        evidence: evidence.lists,
        unreadable: [...unreadable.values()],
        decided: await listDecidedDigests(trx),
        held: await listInstalledRules(trx, scrubber),
      }
    })

/** A rule that can no longer be parsed would let packets pass or drop them: its list is not touched, and stops no other. */
function parseLists<Row extends DesiredRow | EvidenceRow>(rows: readonly Row[]) {
  const lists: (Omit<Row, 'rules'> & { readonly rules: FilterRule[]; readonly stored: Row['rules'] })[] = []
  const unreadable: Unreadable[] = []
  for (const row of rows) {
    const rules: FilterRule[] = []
    let broken: Pick<StoredRule, 'id'> | undefined
    for (const rule of row.rules) {
      const parsed = findStored(rule, row.prefix)
      if (parsed) rules.push({ id: rule.id, ...parsed })
      else broken = rule
    }
    if (broken) unreadable.push({ ...row, rule: broken.id })
    else lists.push({ ...row, rules, stored: row.rules })
  }
  return { lists, unreadable }
}

const installOfUnreadable = (
  { listId, version, prefix, rule }: Unreadable,
  after: readonly InstalledList[],
): Install => ({
  listId,
  version,
  state: 'rejected',
  reason: 'unreadable',
  attrs: {},
  held: keptBy(after, prefix),
  rules: { [rule]: { reason: 'unreadable', attrs: {} } },
})

const installOfRefused = (
  { listId, version, prefix }: Desired,
  scrubber: string,
  after: readonly InstalledList[],
): Install => ({
  listId,
  version,
  state: 'rejected',
  reason: 'scrubber_refused',
  attrs: { scrubbers: [scrubber] },
  held: keptBy(after, prefix),
  rules: {},
})

function installOf(
  { listId, version, prefix, rules, stored }: Desired,
  compiled: CompileResult,
  guarded: GuardedChanges,
  refusedByStaff: ReadonlySet<string>,
  [before, after]: readonly [readonly InstalledList[], readonly InstalledList[]],
  { can }: Scrubber,
): Install {
  const base = { listId, version, attrs: {}, rules: {}, held: keptBy(after, prefix) }
  const approval = guarded.approvals.find((one) => one.listId === listId)
  if (approval && refusedByStaff.has(approval.evidence))
    return { ...base, state: 'rejected', reason: 'not_approved' }
  if (approval) return { ...base, state: 'held', reason: 'held' }
  const refusal = compiled.refused.find((one) => one.prefix === prefix)
  // The next run finds the room.
  if (refusal?.code === 'rules_max' && hasMadeRoom(before, after))
    return { ...base, state: 'pending', reason: 'waiting' }
  if (refusal) return { ...base, state: 'rejected', ...ofRefusal(refusal, can) }
  const wanted = compiled.lists.find((list) => list.prefix === prefix)
  if (!isHeldBy(wanted, after, prefix, can.ordering)) return { ...base, state: 'pending', reason: 'waiting' }
  const shadowed = compiled.shadowed.filter((one) => one.prefix === prefix)
  const notes = {
    ...(can.ordering === 'flowspec' ? noteEach(rules, 'routers_may_validate') : {}),
    ...Object.fromEntries(
      compiled.multiplied
        .filter((one) => one.prefix === prefix)
        .map(({ rule, count }) => [rule, { reason: 'limit_in_parts' as const, attrs: { count } }]),
    ),
    ...Object.fromEntries(
      shadowed.map(({ rule, by }) => [rule, { reason: 'shadowed' as const, attrs: { other: by } }]),
    ),
  }
  const held = stored.filter(({ id }) => !shadowed.some(({ rule }) => rule === id))
  return { ...base, state: 'active', reason: null, rules: notes, held }
}

/** Whether some list has fewer rules than before. */
const hasMadeRoom = (before: readonly InstalledList[], after: readonly InstalledList[]): boolean => {
  const counts = new Map(after.map(({ prefix, ruleCount }) => [prefix, ruleCount]))
  return before.some(({ prefix, ruleCount }) => (counts.get(prefix) ?? 0) < ruleCount)
}

const noteEach = (rules: readonly FilterRule[], reason: ShieldReason) =>
  Object.fromEntries(rules.map(({ id }) => [id, { reason, attrs: {} }]))

function isHeldBy(
  wanted: CompiledList | undefined,
  after: readonly InstalledList[],
  prefix: Prefix,
  ordering: Scrubber['can']['ordering'],
): boolean {
  const held = after.find((list) => list.prefix === prefix)
  if (!wanted || wanted.rules.length === 0) return held === undefined
  return held?.fingerprint === fingerprintOf(wanted, ordering)
}

function ofRefusal(
  refusal: CompileRefusal,
  can: Scrubber['can'],
): Pick<Install, 'reason' | 'attrs' | 'rules'> {
  const { reason, attrs, rules } = reasonOfRefusal(refusal, can)
  return { reason, attrs, rules: Object.fromEntries(rules.map((id) => [id, { reason, attrs }])) }
}
