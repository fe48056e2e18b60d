// The history of a zone: list its versions, show the difference of one, and roll back to one.
import type { ZoneChanges } from '@pharos/contract/dns/recordset'
import type { listZoneVersionsRoute, ZoneVersion, ZoneVersionDiff } from '@pharos/contract/dns/version'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { runChange, type ChangeAnswer } from '../../db/run-change.ts'
import { isAtOrBelow, type DomainName } from '../../net/dns/name.ts'
import type { Rrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import { etagOf, requireMatch } from '../../operation/etag.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import { notFound } from '../../runtime/error.ts'
import type { PlacedDesired } from '../zone/change-content.ts'
import { changeZone } from '../zone/change-zone.ts'
import { getZoneOf, lockZoneOf, requirePrimary } from '../zone/find-zone.ts'
import { presentDifference, zoneEtag } from '../zone/present-zone.ts'
import { listChildZones } from '../zone/related-zone.store.ts'
import { decodeRrsets } from '../sign/rrset-list.ts'
import { contentOf, setId, type StoredSet, type ZoneDifference } from '../zone/zone-change.ts'
import {
  findVersion,
  hasVersion,
  listVersionRows,
  readVersionsAfter,
  type VersionHead,
  type VersionRow,
} from './version.store.ts'
import { readDefaults } from '../zone/zone.store.ts'
import { managedSets, resolveSettings, type Zone } from '../zone/zone.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { listTemplates } from '../reverse/reverse.store.ts'
import { isFromTemplate, parsePattern } from '../reverse/template.ts'

export type VersionDeps = { readonly postgres: Postgres; readonly now: () => Date }

export async function listZoneVersions(
  { postgres }: VersionDeps,
  { actor }: Operation,
  text: string,
  query: QueryOf<typeof listZoneVersionsRoute>,
): Promise<{ results: ZoneVersion[]; count: number }> {
  const zone = await getZoneOf(postgres, actor.teamId, text)
  const { page, count } = await listVersionRows(postgres, actor.teamId, zone.id, query)
  return { results: page.map(presentVersion), count }
}

const presentVersion = (row: VersionHead): ZoneVersion => ({
  ...headOf(row),
  added_count: row.added_count,
  changed_count: row.changed_count,
  removed_count: row.removed_count,
})

const headOf = ({ version, at, actor, what }: VersionHead) => ({ version, at: at.toISOString(), actor, what })

/** Returns the changes of the version; throws `not_found` if the version was purged. */
export async function getZoneVersion(
  { postgres }: VersionDeps,
  { actor }: Operation,
  text: string,
  version: number,
): Promise<{ body: ZoneVersionDiff; etag: string }> {
  const zone = await getZoneOf(postgres, actor.teamId, text)
  const row = await findVersion(postgres, actor.teamId, zone.id, version)
  if (!row) throw notFound('version')
  const body = { ...headOf(row), ...presentDifference(zone, differenceOf(row)) }
  return { body, etag: etagOf(zone.id, body.version) }
}

function differenceOf({ removed, added, at }: VersionRow): ZoneDifference {
  const before = new Map(decodeRrsets(removed).map((set) => [setId(set), asStored(set, at)]))
  const after = decodeRrsets(added).map((set) => asStored(set, at))
  const ids = new Set(after.map(setId))
  return {
    added: after.filter((set) => !before.has(setId(set))),
    changed: after
      .filter((set) => before.has(setId(set)))
      .map((set) => ({ before: before.get(setId(set))!, after: set })),
    removed: [...before.values()].filter((set) => !ids.has(setId(set))),
    commented: [],
    unchangedCount: 0,
  }
}

/** The journal has neither comments nor times of single sets. */
const asStored = (set: Rrset, at: Date): StoredSet => ({
  ...set,
  content: contentOf(set),
  source: 'user',
  comment: '',
  created: at,
  touched: at,
})

/** Restores the record sets of an earlier version, as a new version. Throws `not_found` if the version was purged. */
export function rollBackZone(
  { postgres, now }: VersionDeps,
  operation: Operation,
  text: string,
  version: number,
): Promise<ChangeAnswer<ZoneChanges>> {
  const { teamId } = operation.actor
  return runChange(postgres, operation, async (trx) => {
    const zone = await lockZoneOf(trx, teamId, text)
    requirePrimary(zone)
    requireMatch(operation.ifMatch, zoneEtag(zone))
    if (!(await hasVersion(trx, teamId, zone.id, version))) throw notFound('version')
    const defaults = await readDefaults(trx)
    const settings = resolveSettings(zone.settings, defaults)
    const restored = setsBefore(await readVersionsAfter(trx, teamId, zone.id, version))
    const desired = zone.isReverse ? await withSources(trx, teamId, restored) : restored
    const children = await listChildZones(trx, zone)
    const managed = new Set(managedSets(zone.name, settings).map(setId))
    const changed = await changeZone(
      trx,
      zone,
      desired.filter(
        (set) =>
          (!managed.has(setId(set)) || isOwnNs(set, settings.apex_ns_editable)) &&
          // Zones that were created since answer for their names.
          !children.some((child) => isAtOrBelow(set.name, child.name)),
      ),
      {
        author: { actor: actorName(operation.actor), what: 'zone.rollback' },
        now: now(),
        settings: { ...settings, minimum_ttl: 0 },
        limits: defaults,
      },
    )
    return answerOf(zone, changed, async (after) =>
      writeAudit(trx, {
        ...auditOf(operation),
        action: 'zone.rollback',
        target: `zone:${zone.id}`,
        before: { version: zone.version },
        after: { version: after.version, to: version },
      }),
    )
  })
}

/** NS is type 2: the apex NS records are the team's own if it may edit them. */
const isOwnNs = ({ type }: Pick<Rrset, 'type'>, isEditable: boolean): boolean => isEditable && type === 2

async function answerOf(
  before: Zone,
  { zone, difference }: { readonly zone: Zone; readonly difference: ZoneDifference },
  note: (after: Zone) => Promise<void>,
) {
  if (zone.version !== before.version) await note(zone)
  const none = { ...difference, added: [], changed: [], removed: [] }
  return {
    body: { version: zone.version, ...presentDifference(zone, difference), unchanged_count: 0 },
    before: { version: before.version, ...presentDifference(zone, none), unchanged_count: 0 },
    etag: zoneEtag(zone),
  }
}

/**
 * Returns the sets as they were before these versions, newest first: the journal contains the former value of removed
 * and changed sets; an added set was absent. The oldest version that touches a set decides. Delegations to zones
 * deleted since are absent: no server would answer there.
 */
export function setsBefore(
  versions: readonly Pick<VersionRow, 'what' | 'removed' | 'added'>[],
): PlacedDesired[] {
  const sets = new Map<string, PlacedDesired>()
  const ended = new EndedDelegations()
  for (const { what, ...version } of versions) {
    const [removed, added] = [decodeRrsets(version.removed), decodeRrsets(version.added)]
    if (what === 'zone.delegation') ended.read(removed, added)
    for (const set of added) sets.set(setId(set), placed({ ...set, rdata: [] }))
    for (const set of removed) sets.set(setId(set), placed(set))
  }
  return Array.from(sets.values(), (set) => (ended.has(set) ? { ...set, rdata: [] } : set))
}

/** The sets with which Pharos delegated to zones that it delegates to no more, read from the newest version on. */
class EndedDelegations {
  readonly #names = new Set<DomainName>()
  readonly #sets = new Map<string, DomainName>()

  has(set: PlacedDesired): boolean {
    return this.#sets.has(setId(set))
  }

  /** A version of a delegation. Sets that it removed where the delegation began were the team's own, and moved into the zone below. */
  read(removed: readonly Rrset[], added: readonly Rrset[]): void {
    for (const began of cutsOf(added, removed)) {
      this.#names.delete(began)
      for (const [id, name] of this.#sets) if (isAtOrBelow(name, began)) this.#sets.delete(id)
    }
    for (const name of cutsOf(removed, added)) this.#names.add(name)
    for (const set of [...removed, ...added])
      if (this.#names.values().some((name) => isAtOrBelow(set.name, name)))
        this.#sets.set(setId(set), set.name)
  }
}

/** The names delegated in exactly one of two lists. */
const cutsOf = (one: readonly Rrset[], other: readonly Rrset[]): DomainName[] =>
  one
    .filter((set) => set.type === recordType.NS && !other.some((set2) => setId(set2) === setId(set)))
    .map(({ name }) => name)

const placed = (set: Rrset): PlacedDesired => ({ ...set, source: 'user', loc: ['path', 'version'] })

/**
 * Returns the sets of a zone of reverse DNS with their sources, which the journal does not contain. A record that equals
 * the output of a template is generated, so that it is deleted or replaced with the template.
 */
async function withSources(
  trx: Trx,
  teamId: number,
  sets: readonly PlacedDesired[],
): Promise<PlacedDesired[]> {
  const patterns = (await listTemplates(trx, teamId)).map(({ prefix, pattern }) =>
    parsePattern(['template'], pattern, parsePrefix(prefix)),
  )
  const isGenerated = (set: PlacedDesired): boolean =>
    set.type === recordType.PTR && patterns.some((pattern) => isFromTemplate(pattern, set))
  return sets.map((set) => (isGenerated(set) ? { ...set, source: 'generated' } : set))
}
