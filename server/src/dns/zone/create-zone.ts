// Creates a zone with the records that follow from its settings and, if given, further record sets, in one transaction.
import type { createZoneRoute, CreatedZone } from '@pharos/contract/dns/zone'
import type { DnssecAlgorithm } from '@pharos/contract/dns/term'
import type { DnssecKey } from '@pharos/contract/dns/dnssec'
import type { ZoneSettingsUpdate } from '@pharos/contract/dns/settings'
import type { BodyOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import { runChange, type ChangeAnswer } from '../../db/run-change.ts'
import { parseName, type ZoneName } from '../../net/dns/name.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import { fail, invalid } from '../../runtime/error.ts'
import { readRecordSets } from './recordset.ts'
import { changeContent, type PlacedDesired } from './change-content.ts'
import { claimName, type ClaimZoneDeps } from './claim-zone.ts'
import {
  auditOthers,
  delegateNewZone,
  planDelegations,
  planTakeover,
  presentOthers,
  type OtherZone,
} from './delegate-zone.ts'
import { planWildcards } from './plan-wildcards.ts'
import { parseZoneInclude, presentSet, presentZone, zoneEtag, type ZoneIncludeQuery } from './present-zone.ts'
import {
  countZones,
  findTsigKeyId,
  insertSecondary,
  insertZone,
  isNameTaken,
  readDefaults,
  readShownZone,
} from './zone.store.ts'
import { readServer, type ServerRules } from './server-of-team.ts'
import { setId, type StoredSet } from './zone-change.ts'
import { readNames } from './zone-change.store.ts'
import { parseNameAt, parseZoneNameAt, shownZoneName } from './zone-name.ts'
import { managedSets, resolveSettings, type DnsDefaults, type Zone } from './zone.ts'

/** The part of DNSSEC that creating a zone needs; see dns/dnssec. */
export type EnableDnssec = (
  trx: Trx,
  zone: Zone,
  options: { readonly algorithm: DnssecAlgorithm },
) => Promise<DnssecKey[]>

export type ZoneDeps = ClaimZoneDeps & {
  readonly postgres: Postgres
  /** Null: zones are created unsigned. */
  readonly enableDnssec: EnableDnssec | null
  readonly serverRules: ServerRules
  readonly now: () => Date
}

type Body = BodyOf<typeof createZoneRoute>
const nameAt = ['body', 'name']

/** For interfaces whose clients send the SOA record of a new zone. The first published serial follows `serial`. */
export type SoaOfNewZone = { readonly soa?: ZoneSettingsUpdate['soa']; readonly serial?: number | null }

export const createZone = (
  deps: ZoneDeps,
  operation: Operation,
  body: Body,
  query: ZoneIncludeQuery = {},
): Promise<ChangeAnswer<CreatedZone>> => createZoneWithSoa(deps, operation, body, query, {})

export async function createZoneWithSoa(
  deps: ZoneDeps,
  operation: Operation,
  body: Body,
  query: ZoneIncludeQuery,
  { soa, serial = null }: SoaOfNewZone,
): Promise<ChangeAnswer<CreatedZone>> {
  const name = parseZoneNameAt(nameAt, body.name)
  const primaries = await readPrimaries(deps, operation.actor.teamId, body)
  return runChange(deps.postgres, operation, async (trx) => {
    const { zone, defaults, created, others, copied } = await insertNewZone(deps, trx, operation, {
      name,
      primaries,
      settings: { ...settingsOf(body), ...(soa ? { soa } : {}) },
      serial,
      recordsets: body.recordsets ?? [],
      what: 'zone.create',
      signing: body,
    })
    // A dry run does not store the key, so its DS record must not be entered.
    const keys = operation.dryRun ? [] : created
    const shown = await readShownZone(trx, operation.actor.teamId, zone.id)
    const presented = presentZone(shown, defaults, parseZoneInclude(query.include))
    const answer = {
      ...presented,
      keys,
      other_zones: presentOthers(others),
      copied: copied.map((set) => presentSet(zone, set)),
    }
    await writeAudit(trx, {
      ...auditOf(operation),
      action: 'zone.create',
      target: `zone:${zone.id}`,
      after: {
        name: answer.name,
        kind: answer.kind,
        dnssec: answer.dnssec,
        record_count: answer.record_count,
      },
    })
    return { body: answer, etag: zoneEtag(shown, answer) }
  })
}

/** Signs a new primary zone, unless the request disables it or the zone is not served. */
async function sign(
  { enableDnssec }: Pick<ZoneDeps, 'enableDnssec'>,
  trx: Trx,
  zone: Zone,
  { dnssec = true, algorithm = 'ECDSAP256SHA256' }: Pick<Body, 'dnssec' | 'algorithm'>,
): Promise<DnssecKey[]> {
  if (!dnssec || enableDnssec === null || zone.kind === 'secondary') return []
  return enableDnssec(trx, zone, { algorithm })
}

type Creation = {
  readonly name: ZoneName
  /** Null for a primary zone. */
  readonly primaries: readonly object[] | null
  readonly settings: ZoneSettingsUpdate
  readonly serial: number | null
  readonly recordsets: NonNullable<Body['recordsets']>
  /** Sets that were read elsewhere, such as from a zone file. */
  readonly sets?: readonly PlacedDesired[]
  readonly what: string
  readonly signing: Pick<Body, 'dnssec' | 'algorithm'>
}

type Created = {
  readonly zone: Zone
  readonly defaults: DnsDefaults
  readonly created: DnssecKey[]
  /** Zones above that delegate to the new one. */
  readonly others: readonly OtherZone[]
  /** Its sets that are copies of a wildcard above. */
  readonly copied: readonly StoredSet[]
}

/**
 * Checks the name and the quota, and stores the zone with its records as version 1, signed unless the request disables
 * it. A zone of the team above delegates to it, and zones of the team below are delegated from it.
 */
export async function insertNewZone(
  deps: ZoneDeps,
  trx: Trx,
  operation: Operation,
  { name, primaries, settings, serial, recordsets, sets = [], what, signing }: Creation,
): Promise<Created> {
  const { teamId } = operation.actor
  const defaults = await readDefaults(trx)
  const count = await countZones(trx, teamId)
  const { network, isClaimed } = await claimName(deps, trx, teamId, name, nameAt)
  if (count >= defaults.zonesMax) throw fail('quota_exceeded', 'zones', { limit: defaults.zonesMax })
  const inserted = await insertZone(trx, {
    teamId,
    name,
    kind: primaries === null ? 'primary' : 'secondary',
    isReverse: network !== null,
    isGenerated: false,
    managedBy: 'team',
    serial,
    settings,
    isClaimed,
  })
  if (!inserted) {
    // Another team may have created it since; then the claim fails now.
    if (!(await isNameTaken(trx, teamId, name))) await claimName(deps, trx, teamId, name, nameAt)
    throw fail('exists', 'zone', { zone: shownZoneName(name) })
  }
  const author = { actor: actorName(operation.actor), what }
  if (primaries !== null) {
    if (isClaimed) await planTakeover(trx, inserted, [])
    await insertSecondary(trx, inserted.id, primaries)
    return { zone: inserted, defaults, created: [], others: [], copied: [] }
  }
  const resolved = resolveSettings(settings, defaults)
  const items = recordsets.map((item, at) => ({ item, loc: ['body', 'recordsets', at] }))
  const given = readRecordSets(items, { zone: name, settings: resolved })
  const managed = managedSets(name, resolved).map((set): PlacedDesired => ({ ...set, loc: nameAt }))
  // If the request has apex NS records, the zone has those instead.
  const own = [...given, ...sets]
  const takeover = isClaimed ? await planTakeover(trx, inserted, own) : undefined
  const wildcards = takeover ? await planWildcards(trx, takeover, inserted, own) : []
  const desired = [
    ...managed.filter(({ type }) => !own.some((set) => set.name === name && set.type === type)),
    ...own,
    ...(takeover?.moved ?? []),
    ...wildcards,
    ...(isClaimed ? await planDelegations(trx, inserted) : []),
  ]
  const { zone } = await changeContent(trx, inserted, desired, {
    author,
    now: deps.now(),
    // A zone file keeps its TTLs.
    settings: { ...resolved, ...(sets.length > 0 ? { minimum_ttl: 0 } : {}) },
    limits: defaults,
  })
  const created = await sign(deps, trx, zone, signing)
  const others = takeover ? await delegateNewZone(trx, zone, takeover, { author, now: deps.now() }) : []
  await auditOthers(trx, operation, others)
  const copied = await readSets(trx, zone.id, wildcards)
  return { zone, defaults, created, others, copied }
}

async function readSets(trx: Trx, zoneId: number, sets: readonly PlacedDesired[]): Promise<StoredSet[]> {
  if (sets.length === 0) return []
  const ids = new Set(sets.map(setId))
  const stored = await readNames(trx, zoneId, new Set(sets.map(({ name }) => name)))
  return stored.filter((set) => ids.has(setId(set)))
}

/** Names in settings are stored in canonical form. */
function settingsOf({ ttl, nameservers }: Body): ZoneSettingsUpdate {
  return {
    ...(ttl === undefined ? {} : { default_ttl: ttl }),
    ...(nameservers === undefined
      ? {}
      : { nameservers: nameservers.map((text, at) => parseNameAt(['body', 'nameservers', at], text)) }),
  }
}

/** Returns the servers of a secondary zone as stored, null for a primary zone. Throws `invalid`. */
async function readPrimaries(
  { postgres, serverRules }: ZoneDeps,
  teamId: number,
  { kind = 'primary', primaries, tsig_key: keyName, recordsets }: Body,
): Promise<readonly object[] | null> {
  if (kind === 'primary') {
    if (primaries !== undefined) throw invalid(['body', 'primaries'], 'primariesOfPrimary')
    if (keyName !== undefined) throw invalid(['body', 'tsig_key'], 'primariesOfPrimary')
    return null
  }
  if (primaries === undefined) throw invalid(['body', 'primaries'], 'primariesMissing')
  if (recordsets !== undefined && recordsets.length > 0)
    throw invalid(['body', 'recordsets'], 'secondaryContent')
  const keyId =
    keyName === undefined ? undefined : await tsigKeyAt(postgres.front, teamId, ['body', 'tsig_key'], keyName)
  return primaries.map((primary, at) => ({
    ...readServer(['body', 'primaries', at], primary, serverRules),
    ...(keyId === undefined ? {} : { tsig_key_id: keyId }),
  }))
}

/** Returns the id of the key with the name. Throws `invalid`. */
export async function tsigKeyAt(
  db: Db,
  teamId: number,
  loc: readonly (string | number)[],
  text: string,
): Promise<number> {
  const id = await findTsigKeyId(db, teamId, parseName(parseNameAt(loc, text)))
  if (id === undefined) throw invalid(loc, 'tsigKey')
  return id
}
