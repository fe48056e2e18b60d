// Creates, replaces and deletes record sets of a zone. Each request is one transaction and at most one new version of the zone.
import {
  ptrWarnings,
  type changeRecordSetsRoute,
  type createRecordSetsRoute,
  type deleteRecordSetRoute,
  type RecordSet as Wire,
  type updateRecordSetRoute,
  type ZoneChanges,
} from '@pharos/contract/dns/recordset'
import type { ProblemError } from '@pharos/contract/problem'
import type { BodyOf, QueryOf, ResponseOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { runChange, runOwnerChange, type ChangeAnswer, type ChangeResult } from '../../db/run-change.ts'
import { uniqueRdata } from '../../net/dns/record.ts'
import { compareOctets } from '../../net/dns/name.ts'
import { canonicalRdata } from '../../net/dns/rdata/rdata.ts'
import { requireMatch, requireNoMatch } from '../../operation/etag.ts'
import { admitsSet } from '../../limit/zone-limit.ts'
import type { ZoneLimit } from '../../operation/limits.ts'
import { actorName, type Operation, type ZoneEditor } from '../../operation/operation.ts'
import { errorAt, fail, failWith, invalid, notFound } from '../../runtime/error.ts'
import type { ReverseDeps } from '../reverse/reverse-zone.ts'
import { changeForward, deletePtr, type LeftOut } from '../reverse/forward-ptr.ts'
import {
  readExcerpt,
  type PlacedDesired,
  type ZoneChanged,
  type ZoneExcerpt,
} from '../zone/change-content.ts'
import { changeZone } from '../zone/change-zone.ts'
import { lockZoneOf, requirePrimary } from '../zone/find-zone.ts'
import { requireAdmitted, zoneLimitOf } from '../zone/limit.ts'
import { auditedSets, presentDifference, presentSet, zoneEtag } from '../zone/present-zone.ts'
import { isEmpty, type StoredSet } from '../zone/zone-change.ts'
import { readDefaults } from '../zone/zone.store.ts'
import { resolveSettings, type DnsDefaults, type Zone } from '../zone/zone.ts'
import { findSetId, setEtag } from './list-recordsets.ts'
import {
  idOf,
  managedType,
  readRecords,
  readRecordSets,
  type ReadSet,
  type RecordSetContext,
} from '../zone/recordset.ts'

export type RecordSetDeps = ReverseDeps & { readonly postgres: Postgres; readonly now: () => Date }

/** A locked zone with the context for parsing requests. */
export type Editing = RecordSetContext & {
  readonly locked: Zone
  readonly defaults: DnsDefaults
  /** The author's limit within the zone; null for full access. */
  readonly limit: ZoneLimit | null
}

async function edit(trx: Trx, operation: Operation<ZoneEditor>, text: string): Promise<Editing> {
  const [locked, defaults] = await Promise.all([
    lockZoneOf(trx, operation.actor.teamId, text),
    readDefaults(trx),
  ])
  const limit = zoneLimitOf(operation.actor.limits, locked)
  requirePrimary(locked)
  return { locked, defaults, limit, zone: locked.name, settings: resolveSettings(locked.settings, defaults) }
}

/** A zone with `auto_ptr` has PTR records written that the request did not ask for: the change is repeated as the owner. */
class NeedsOwner extends Error {}

type OwnChange<Body> = (trx: Trx, isOwner: boolean) => Promise<ChangeResult<Body>>

/**
 * Runs the change as the team; as the owner of the tables if PTR records are written, which can be in zones of the provider. Every
 * statement names the team in both cases.
 */
async function run<Body extends object | null>(
  { postgres }: Pick<RecordSetDeps, 'postgres'>,
  operation: Operation<ZoneEditor>,
  withPtr: boolean,
  change: OwnChange<Body>,
): Promise<ChangeAnswer<Body>> {
  const asOwner = () => runOwnerChange(postgres.owner, operation, (trx) => change(trx, true))
  if (withPtr) return asOwner()
  return runChange(postgres, operation, (trx) => change(trx, false)).catch((error: unknown) => {
    if (error instanceof NeedsOwner) return asOwner()
    throw error
  })
}

type MayHavePtr = { readonly ptr?: boolean | undefined }
const asksForPtr = (items: readonly MayHavePtr[]): boolean => items.some(({ ptr }) => ptr === true)

/** Returns one record set, or a list if the request is one. Throws 409 `exists` with the sets that exist. */
export function createRecordSets(
  deps: RecordSetDeps,
  operation: Operation,
  text: string,
  body: BodyOf<typeof createRecordSetsRoute>,
): Promise<ChangeAnswer<ResponseOf<typeof createRecordSetsRoute>>> {
  const items = Array.isArray(body) ? body : [body]
  return run<ResponseOf<typeof createRecordSetsRoute>>(
    deps,
    operation,
    asksForPtr(items),
    async (trx, isOwner) => {
      const editing = await edit(trx, operation, text)
      const sets = readRecordSets(itemsAt(items, Array.isArray(body) ? ['body'] : undefined), editing)
      const changed = await change(deps, trx, operation, { ...editing, isOwner }, sets, 'recordset.create')
      const { added } = changed.difference
      if (added.length < sets.length) throw existing(sets, added, editing)
      const stored = sets.map((set) =>
        presentSet(
          changed.zone,
          added.find((one) => isSame(one, set))!,
        ),
      )
      const tag = stored.length === 1 ? { etag: setEtag(stored[0]!) } : {}
      const results = stored.map((one, at) => ({ ...one, ...warningsOf(changed, [sets[at]!]) }))
      const [first] = results as [Wire, ...Wire[]]
      return { body: Array.isArray(body) ? { results, count: results.length } : first, ...tag }
    },
  )
}

const itemsAt = <Item>(items: readonly Item[], loc: ProblemError['loc'] | undefined) =>
  items.map((item, at) => ({ item, loc: loc ? [...loc, at] : ['body'] }))

const isSame = (a: Pick<StoredSet, 'name' | 'type'>, b: Pick<StoredSet, 'name' | 'type'>): boolean =>
  a.name === b.name && a.type === b.type

function existing(sets: readonly ReadSet[], added: readonly StoredSet[], { zone }: Editing) {
  const found = sets.filter((set) => !added.some((one) => isSame(one, set)))
  const errors = found.map((set) => ({
    loc: [...set.loc, 'name'],
    msg: `exists already as ${idOf(set, zone)}`,
    type: 'exists',
    ctx: { id: idOf(set, zone) },
  }))
  return fail('exists', 'recordSets', { ids: found.map((set) => idOf(set, zone)) }, { errors })
}

/** Writes the sets, their PTR records and the audit entry. */
async function change(
  deps: RecordSetDeps,
  trx: Trx,
  operation: Operation<ZoneEditor>,
  { locked, settings, defaults, limit, isOwner }: Editing & { readonly isOwner: boolean },
  sets: readonly PlacedDesired[],
  what: string,
  known?: ZoneExcerpt,
): Promise<ChangedSets> {
  requireAdmitted(limit, sets)
  const withPtr = sets.filter(isWithPtr)
  if (withPtr.length > 0 && !isOwner) throw new NeedsOwner()
  const options = {
    author: { actor: actorName(operation.actor), what },
    now: deps.now(),
    settings,
    limits: defaults,
    isAnsweredOnly: true,
  }
  const changed = await changeZone(trx, locked, sets, options, known)
  const leftOut = await changeForward(deps, trx, operation, withPtr, defaults)
  const { zone, difference } = changed
  if (!isEmpty(difference) || difference.commented.length > 0) {
    const { added, changed: replaced, removed, commented } = difference
    const both = [...replaced, ...commented]
    await writeAudit(trx, {
      ...auditOf(operation),
      action: what,
      target: `zone:${zone.id}`,
      before: auditedSets(zone, [...removed, ...both.map(({ before }) => before)]),
      after: auditedSets(zone, [...added, ...both.map(({ after }) => after)]),
    })
  }
  return { ...changed, leftOut }
}

type ChangedSets = ZoneChanged & { readonly leftOut: LeftOut }

/** The field of an answer with what was left out of these sets; none if nothing was. */
function warningsOf({ leftOut }: Pick<ChangedSets, 'leftOut'>, sets: readonly PlacedDesired[]) {
  const warnings = ptrWarnings(sets.flatMap((set) => leftOut.get(set as ReadSet) ?? []))
  return warnings.length === 0 ? {} : { warnings }
}

const isWithPtr = (set: PlacedDesired & Partial<Pick<ReadSet, 'withPtr'>>): set is ReadSet =>
  Boolean(set.withPtr)

type Update = BodyOf<typeof updateRecordSetRoute>

/** Returns the record set as GET does; 201 if it was created. The same records in another spelling are no change. */
export function updateRecordSet(
  deps: RecordSetDeps,
  operation: Operation,
  text: string,
  nameText: string,
  typeText: string,
  body: Update,
): Promise<ChangeAnswer<Wire>> {
  requireOneForm(body)
  return run(deps, operation, asksForPtr([body]), async (trx, isOwner) => {
    const editing = await edit(trx, operation, text)
    const { records: _records, add: _add, remove: _remove, ...rest } = body
    const item = { ...rest, name: nameText, type: typeText, records: body.records ?? [] }
    const [given] = readRecordSets([{ item, loc: ['body'], idLoc: ['path'] }], editing)
    requireAdmitted(editing.limit, [given!])
    if (body.id !== undefined && body.id !== idOf(given!, editing.zone))
      throw invalid(['body', 'id'], 'differsFromPath')
    const excerpt = await readExcerpt(trx, editing.locked, [given!])
    const before = excerpt.stored.find((one) => isSame(one, given!))
    // No tag matches a record set that does not exist, not even `*` (RFC 9110 section 13.1.1).
    if (!before) requireNoMatch(operation.ifMatch)
    if (before) requireMatch(operation.ifMatch, setEtag(presentSet(editing.locked, before)))
    const set = body.records === undefined ? mergeRecords(given!, before, body, editing) : given!
    const written = await change(
      deps,
      trx,
      operation,
      { ...editing, isOwner },
      [set],
      'recordset.update',
      excerpt,
    )
    const { zone, difference } = written
    const { added, changed, commented } = difference
    const [newest] = [...added, ...[...changed, ...commented].map((one) => one.after)]
    const after = presentSet(zone, (newest ?? before)!)
    const shown = before && { before: presentSet(editing.locked, before) }
    return {
      body: { ...after, ...warningsOf(written, [set]) },
      ...shown,
      etag: setEtag(after),
      ...(before ? {} : { status: 201 }),
    }
  })
}

function requireOneForm({ records, add, remove }: Update): void {
  const isPartial = add !== undefined || remove !== undefined
  if (records === undefined && !isPartial) throw invalid(['body', 'records'], 'recordsMissing')
  if (records !== undefined && isPartial) throw invalid(['body', 'records'], 'recordsExclusive')
  if (records?.length === 0) throw invalid(['body', 'records'], 'recordsEmpty')
}

/** `add` and `remove` on the stored records. */
function mergeRecords(
  set: ReadSet,
  before: StoredSet | undefined,
  { add = [], remove = [] }: Update,
  { zone }: Editing,
): ReadSet {
  const errors: ProblemError[] = []
  const added = readRecords(set.type, add, ['body', 'add'], zone, errors)
  const removed = readRecords(set.type, remove, ['body', 'remove'], zone, errors)
  if (errors.length > 0) throw failWith('invalid', errors)
  const gone = removed.map((rdata) => canonicalRdata(set.type, rdata))
  const kept = (before?.rdata ?? []).filter((rdata) => !gone.some((one) => compareOctets(one, rdata) === 0))
  const rdata = uniqueRdata([...kept, ...added.map((one) => canonicalRdata(set.type, one))])
  if (rdata.length === 0) throw failWith('invalid', [errorAt(['body', 'remove'], 'nothingLeft')])
  return { ...set, rdata }
}

/** Throws `not_found` for a record set that does not exist. */
export function deleteRecordSet(
  deps: RecordSetDeps,
  operation: Operation,
  text: string,
  nameText: string,
  typeText: string,
  { ptr }: QueryOf<typeof deleteRecordSetRoute>,
): Promise<ChangeAnswer<null>> {
  return run(deps, operation, ptr, async (trx, isOwner) => {
    const editing = await edit(trx, operation, text)
    const { locked, zone, settings, defaults } = editing
    const id = findSetId(locked, nameText, typeText)
    const set = { ...id, ttl: null, rdata: [], source: 'user' as const, loc: ['path', 'name'] }
    const excerpt = await readExcerpt(trx, locked, [set])
    if (editing.limit && !admitsSet(editing.limit, set)) throw notFound('record set')
    const before = excerpt.stored.find((one) => isSame(one, set))
    if (!before) throw notFound('record set')
    const refusal = managedType(id.type, id.name, zone, settings)
    if (refusal) throw refusal
    const shown = presentSet(locked, before)
    requireMatch(operation.ifMatch, setEtag(shown))
    await change(deps, trx, operation, { ...editing, isOwner }, [set], 'recordset.delete', excerpt)
    if (ptr) await deletePtr(deps, trx, operation, before, defaults)
    return { body: null, before: shown }
  })
}

/**
 * Replaces the record sets of the zone with the result of `plan`, in one step. For other protocols, whose requests
 * depend on the stored sets. The plan runs under the lock of the zone; if it throws, the transaction is rolled back.
 */
export function editRecordSets(
  deps: RecordSetDeps,
  operation: Operation<ZoneEditor>,
  text: string,
  what: string,
  plan: (trx: Trx, editing: Editing) => Promise<readonly ReadSet[]>,
): Promise<ChangeAnswer<null>> {
  // The plan may write addresses, and with them PTR records.
  return run(deps, operation, true, async (trx, isOwner) => {
    const editing = await edit(trx, operation, text)
    await change(deps, trx, operation, { ...editing, isOwner }, await plan(trx, editing), what)
    return { body: null }
  })
}

/** Replaces, creates and deletes sets in one step; a dry run is its plan. */
export function changeRecordSets(
  deps: RecordSetDeps,
  operation: Operation,
  text: string,
  { recordsets }: BodyOf<typeof changeRecordSetsRoute>,
): Promise<ChangeAnswer<ZoneChanges>> {
  return run(deps, operation, asksForPtr(recordsets), async (trx, isOwner) => {
    const editing = await edit(trx, operation, text)
    requireMatch(operation.ifMatch, zoneEtag(editing.locked))
    const sets = readRecordSets(itemsAt(recordsets, ['body', 'recordsets']), editing)
    const changed = await change(deps, trx, operation, { ...editing, isOwner }, sets, 'recordset.change')
    const { zone, difference } = changed
    const none = { ...difference, added: [], changed: [], removed: [] }
    const counted = { unchanged_count: difference.unchangedCount + difference.commented.length }
    return {
      body: {
        version: zone.version,
        ...presentDifference(zone, difference),
        ...counted,
        ...warningsOf(changed, sets),
      },
      before: { version: editing.locked.version, ...presentDifference(zone, none), ...counted },
      etag: zoneEtag(zone),
    }
  })
}
