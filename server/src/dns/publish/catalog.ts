// The catalog zone (RFC 9432, version 2): which zones name servers transfer. A zone leaves it only with the row that says it was deleted, and
// many at once wait for staff: a name server stops to serve a removed zone within milliseconds. Pure.
import { createHash } from 'node:crypto'
import {
  nameFromWire,
  nameToWire,
  parseName,
  prependLabel,
  type DomainName,
  type ZoneName,
} from '../../net/dns/name.ts'
import type { Rrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'

export type CatalogZone = {
  readonly id: number
  readonly name: ZoneName
  readonly created: Date
  readonly isDeleted: boolean
}

export type CatalogPlan = {
  readonly added: readonly Rrset[]
  readonly removed: readonly Rrset[]
  /** Deleted zones that are not in the catalog after the plan. */
  readonly withdrawn: readonly number[]
  /** The removals that need an approval; undefined if none do. */
  readonly held:
    | { readonly reason: 'many_removals' | 'catalog_empty'; readonly sets: readonly string[] }
    | undefined
}

/** Removals within 10 minutes that need no approval: three, or this part of all members. */
const removalsMin = 3
const removalsShare = 0.05

/**
 * Returns the label of a zone. It depends on the creation, so that a zone that is deleted and created again is a new member: name servers drop
 * the old copy, whatever its serial was (RFC 9432 section 5.4).
 */
export function memberLabel({ id, created }: Pick<CatalogZone, 'id' | 'created'>): string {
  return createHash('sha256').update(`${id} ${created.toISOString()}`).digest('hex').slice(0, 32)
}

const ttl = 0

function memberSet(catalog: ZoneName, zone: CatalogZone): Rrset {
  const name = prependLabel(memberLabel(zone), prependLabel('zones', catalog))
  return { name, type: recordType.PTR, ttl, rdata: [nameToWire(zone.name)] }
}

/**
 * Plans the members. `members` are the published PTR records; `zones` all zones that have ever been published, deleted ones included;
 * `recentRemovals` the number of zones withdrawn in the last 10 minutes. `isApproved`: staff approved exactly these removals.
 */
export function planCatalog(
  catalog: ZoneName,
  members: readonly Rrset[],
  zones: readonly CatalogZone[],
  recentRemovals: number,
  isApproved: (held: NonNullable<CatalogPlan['held']>) => boolean,
): CatalogPlan {
  const present = new Map(members.map((set) => [set.name, set]))
  const wanted = zones.filter(({ isDeleted }) => !isDeleted).map((zone) => memberSet(catalog, zone))
  const added = wanted.filter(({ name }) => !present.has(name))
  const targets = new Set(wanted.map(targetOf))
  const deleted = zones.filter(({ isDeleted }) => isDeleted)
  const gone = deleted.flatMap((zone) => {
    const set = present.get(memberSet(catalog, zone).name)
    return set ? [set] : []
  })
  // A zone that was created again stays: its old member makes room for the new one.
  const replaced = gone.filter((set) => targets.has(targetOf(set)))
  const leaving = gone.filter((set) => !targets.has(targetOf(set)))
  const held = heldOf(present.size + added.length - replaced.length, leaving, recentRemovals)
  const isHeld = held !== undefined && !isApproved(held)
  const removed = isHeld ? replaced : [...replaced, ...leaving]
  const staying = new Set(isHeld ? leaving.map(({ name }) => name) : [])
  const withdrawn = deleted.filter((zone) => !staying.has(memberSet(catalog, zone).name)).map(({ id }) => id)
  return { added, removed, withdrawn, held: isHeld ? held : undefined }
}

function heldOf(
  membersAfter: number,
  leaving: readonly Rrset[],
  recentRemovals: number,
): CatalogPlan['held'] {
  if (leaving.length === 0) return undefined
  const sets = leaving.map(targetOf).sort()
  if (leaving.length === membersAfter) return { reason: 'catalog_empty', sets }
  const limit = Math.max(removalsMin, Math.floor((membersAfter + recentRemovals) * removalsShare))
  return recentRemovals + leaving.length > limit ? { reason: 'many_removals', sets } : undefined
}

const targetOf = ({ rdata: [target] }: Rrset): DomainName => nameFromWire(target!)

/** Servers keep the members they know while the primary is down, as long as a 31-bit number can say. */
const expire = 2_147_483_646

/** Returns the sets of a catalog zone without members. Nobody resolves it: its name server is `invalid.` (RFC 9432 section 4.1). */
export function catalogApex(catalog: ZoneName): Rrset[] {
  const nobody = nameToWire(parseName('invalid.'))
  const times = Buffer.alloc(20)
  for (const [at, seconds] of [0, 3600, 600, expire, 0].entries()) times.writeUInt32BE(seconds, 4 * at)
  return [
    {
      name: catalog,
      type: recordType.SOA,
      ttl,
      rdata: [new Uint8Array(Buffer.concat([nobody, nobody, times]))],
    },
    { name: catalog, type: recordType.NS, ttl, rdata: [nobody] },
    { name: versionName(catalog), type: recordType.TXT, ttl, rdata: [Uint8Array.of(1, 50)] },
  ]
}

const versionName = (catalog: ZoneName): DomainName => prependLabel('version', catalog)
