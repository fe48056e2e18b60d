// Who manages each element: the source whose document named it last, unless another source manages it already.
import type { Db, Trx } from '../../db/postgres.ts'
import { rowsByKey } from './define-kind.ts'
import type { PlatformDocument } from './document.ts'
import type { Current, ElementOwner, Kind, PlanOptions, PlatformChange, Row, Update } from './kind.ts'
import { deleteOwners, saveOwnerRows, listOwners, type OwnerRow } from './owners.store.ts'
import { managerOf, type Desired } from './plan.ts'
import type { Registry } from './registry.ts'

/** By `kind id`. */
type Owners = ReadonlyMap<string, ElementOwner>

type AppliedDocument = {
  readonly document: PlatformDocument
  readonly desired: Desired
  readonly options: PlanOptions
}

const ownersIn = (rows: readonly OwnerRow[]): Owners =>
  new Map(
    rows.map(({ kind, row_id: id, managed_by: managedBy, file }) => [nameOf(kind, id), { managedBy, file }]),
  )

const nameOf = (kind: string, id: number | string): string => `${kind} ${id}`

export async function readOwners(db: Db | Trx, kinds: Registry['kinds']): Promise<Owners> {
  const listed = await listOwners(
    db,
    kinds.map(({ name }) => name),
  )
  return ownersIn(listed)
}

export const withOwners = (rows: readonly Row[], owners: Owners): Row[] =>
  rows.map((row) => {
    const owner = owners.get(nameOf(row.kind, row.id))
    return owner ? { ...row, owner } : row
  })

/** `managed_by` is a column of few kinds; the owner of all others is saved by `saveOwners`. */
export function withoutOwner(kind: Kind, change: Update): Update {
  if ('managed_by' in kind.fields) return change
  const { managed_by: _, ...fields } = change.fields
  return { ...change, fields }
}

/**
 * Saves the owners of the elements that the document names, and returns the rows with them. An element of another source keeps its
 * owner, unless the document takes it over.
 */
export async function saveOwners(
  { kinds, get }: Registry,
  trx: Trx,
  { document, desired, options }: AppliedDocument,
  changes: readonly PlatformChange[],
  after: Current,
): Promise<Current> {
  const { source = 'platform', enforce, release = false } = options
  const deleted = changes.flatMap((change) =>
    change.action === 'delete' ? [{ kind: change.kind, row_id: String(change.row.id) }] : [],
  )
  if (deleted.length > 0) await deleteOwners(trx, deleted)
  if (source === 'netbox') return after
  const created = new Set(
    changes.flatMap((change) => (change.action === 'create' ? [nameOf(change.kind, change.key)] : [])),
  )
  const owned = desired.entries.flatMap(({ kind, key }): OwnerRow[] => {
    const row = rowsByKey(after, get(kind)).get(key)
    if (!row) return []
    const isTaken = enforce || source === 'portal' || created.has(nameOf(kind, key))
    if (managerOf(row) === 'netbox' || (managerOf(row) !== source && !isTaken)) return []
    const managed_by = release ? 'portal' : source
    return [{ kind, row_id: String(row.id), managed_by, file: release ? null : document.file }]
  })
  if (owned.length > 0) await saveOwnerRows(trx, owned)
  const owners = ownersIn(owned)
  return {
    ...after,
    rows: new Map(
      kinds.map((kind) => [
        kind.name,
        new Map(withOwners([...rowsByKey(after, kind).values()], owners).map((row) => [row.key, row])),
      ]),
    ),
  }
}
