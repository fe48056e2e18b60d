// The operations of the PowerDNS-compatible API on zones, each on the operation of Pharos with the same meaning.
import { dnsAdmin } from '@pharos/contract/dns/term'
import type { CreatedZone } from '@pharos/contract/dns/zone'
import type { ZoneSettingsUpdate } from '@pharos/contract/dns/settings'
import type { ProblemError } from '@pharos/contract/problem'
import { createZoneWithSoa, type SoaOfNewZone, type ZoneDeps } from '../zone/create-zone.ts'
import { deleteZone } from '../zone/delete-zone.ts'
import { getZone, listZones } from '../zone/list-zones.ts'
import { readAllSets, readNames } from '../zone/zone-change.store.ts'
import { disableDnssec, enableDnssec, type DnssecDeps } from '../dnssec/request-dnssec.ts'
import { readDnssec } from '../dnssec/dnssec.store.ts'
import { editRecordSets, type Editing, type RecordSetDeps } from '../recordset/change-recordsets.ts'
import { readRecords, type ReadSet } from '../zone/recordset.ts'
import { requestTransfer } from '../publish/follow.store.ts'
import { requireAdmitted, requireWholeZone, zoneLimitOf } from '../zone/limit.ts'
import { replaceSettings } from '../settings/settings.ts'
import { managedSets } from '../zone/zone.ts'
import { admitsSet } from '../../limit/zone-limit.ts'
import { requireGrant } from '../../operation/grant.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { root } from '../../net/dns/name.ts'
import type { Operation } from '../../operation/operation.ts'
import { findType, recordType } from '../../net/dns/type.ts'
import { errorAt, Failure, failWith, invalid, notFound } from '../../runtime/error.ts'
import { exportZone } from '../import/export-zone.ts'
import { printServer, parseServer, zoneInfo, zoneWithSets, type PowerdnsOptions } from './format.ts'
import { readDefaultsInTeam } from '../zone/zone.store.ts'
import { readPowerDnsOptions, savePowerDnsOptions } from './powerdns.store.ts'
import {
  applyChanges,
  isUnchangedApex,
  itemOf,
  readChanges,
  type PlacedChange,
  type PowerDnsRrset,
  type PowerDnsRrsetChange,
} from './rrset.ts'
import { readSoa, soaSettings } from './soa.ts'
import { parseZoneId } from './zone-id.ts'

export type PowerdnsDeps = ZoneDeps & RecordSetDeps & DnssecDeps

/** Throws `not_found` unless it is the one server there is. */
export function requireServer(server: string): void {
  if (server !== 'localhost') throw notFound('server')
}

/** PowerDNS has no pages; a team has a quota of zones. */
const allZones = { limit: 1_000_000, offset: 0, ordering: 'name', include: 'details' } as const

export async function listPowerdnsZones(
  { postgres }: { readonly postgres: Postgres },
  operation: Operation,
  server: string,
  { zone }: { readonly zone?: string },
) {
  requireServer(server)
  const named = zone === undefined || zone === '' ? {} : { name: [zone] }
  const [{ results }, options] = await Promise.all([
    listZones({ postgres }, operation, { ...allZones, ...named } as never),
    readPowerDnsOptions(postgres, operation.actor.teamId),
  ])
  return { body: results.map((one) => zoneInfo(one, options.get(one.id) ?? {})) }
}

type SetsQuery = { readonly rrsets?: boolean; readonly rrset_name?: string; readonly rrset_type?: string }

/** Returns the zone with its record sets, unless `rrsets` is false; filtered by name and type if they are given. */
export async function getPowerdnsZone(
  { postgres }: { readonly postgres: Postgres },
  operation: Operation,
  server: string,
  id: string,
  { rrsets = true, rrset_name: name, rrset_type: typeText }: SetsQuery = {},
) {
  requireServer(server)
  const { teamId } = operation.actor
  const { body: zone } = await getZone({ postgres }, operation, parseZoneId(id), { include: 'details' })
  const [options, { sets, hasNsec3 }] = await Promise.all([
    readPowerDnsOptions(postgres, teamId, zone.id),
    postgres.inTeam(teamId, async (trx) => ({
      sets: rrsets ? await readAllSets(trx, zone.id) : undefined,
      hasNsec3: zone.dnssec !== 'disabled' && (await readDnssec(trx, zone.id)).options.nsec3 === true,
    })),
  ])
  const type = typeText === undefined ? undefined : findType(typeText)
  const limit = zoneLimitOf(operation.actor.limits, zone)
  const wanted = sets?.filter(
    (set) =>
      (limit === null || admitsSet(limit, set)) &&
      (name === undefined || set.name === name.toLowerCase()) &&
      (typeText === undefined || set.type === type),
  )
  const nsec3param = hasNsec3 ? nsec3Parameters : ''
  return { body: { ...zoneWithSets(zone, options.get(zone.id) ?? {}, wanted), nsec3param } }
}

const kinds = ['Native', 'Master', 'Primary', 'Slave', 'Secondary'] as const
type Kind = (typeof kinds)[number]

function parseKind(text: string): Kind {
  const kind = kinds.find((one) => one.toLowerCase() === text.toLowerCase())
  if (kind === undefined) throw invalid(['body', 'kind'], 'powerdnsKind', { kinds: kinds.join(', ') })
  return kind
}

const isSecondaryKind = (kind: Kind): boolean => kind === 'Slave' || kind === 'Secondary'

export type NewPowerdnsZone = {
  readonly name: string
  readonly kind?: string
  readonly account?: string
  readonly soa_edit_api?: string
  readonly nameservers?: readonly string[]
  readonly masters?: readonly string[]
  readonly rrsets?: readonly PowerDnsRrset[]
  readonly dnssec?: boolean
  readonly zone?: string
} & Nsec3Fields

type Nsec3Fields = { readonly nsec3param?: string; readonly nsec3narrow?: boolean }

/** Creates a zone. NS records of the zone itself, as a set or in `nameservers`, are the name servers of its settings. */
export async function createPowerdnsZone(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  given: NewPowerdnsZone,
  { rrsets }: SetsQuery,
) {
  requireServer(server)
  const { name, kind: kindText = 'Native', masters = [], dnssec = false, zone } = given
  const kind = parseKind(kindText)
  if (!name.endsWith('.'))
    throw failWith('invalid', [errorAt(['body', 'name'], 'trailingDot', { suggestion: `${name}.` })])
  if (zone !== undefined) throw invalid(['body', 'zone'], 'zoneText')
  const isSecondary = isSecondaryKind(kind)
  const sets = given.rrsets ?? []
  const isApex = (set: PowerDnsRrset, type: string): boolean =>
    set.type.toUpperCase() === type && set.name.toLowerCase() === name.toLowerCase()
  const apexNs = sets.find((set) => isApex(set, 'NS'))?.records?.map(({ content }) => content)
  const nameservers = [...(given.nameservers ?? []), ...(apexNs ?? [])]
  const others = sets
    .map((set, at) => ({ set, loc: ['body', 'rrsets', at] }))
    .filter(({ set }) => !isApex(set, 'NS') && !isApex(set, 'SOA'))
  const { minimumTtl } = await readDefaultsInTeam(deps.postgres, operation.actor.teamId)
  const isNsec3 = readNsec3(given)
  if (isNsec3 && !dnssec) throw invalid(['body', 'nsec3param'], 'nsec3Unsigned')
  const { body, status, replayed } = await createZoneWithSoa(
    deps,
    operation,
    {
      name,
      kind: isSecondary ? 'secondary' : 'primary',
      ...(isSecondary ? { primaries: masters.map(parseServer) } : { dnssec }),
      ...(nameservers.length > 0 ? { nameservers: [...new Set(nameservers)] } : {}),
      ...(others.length > 0
        ? { recordsets: others.map(({ set, loc }) => itemOf(set, loc, minimumTtl) as never) }
        : {}),
    },
    {},
    isSecondary ? {} : soaOf(sets, (set) => isApex(set, 'SOA')),
  ).catch((error: unknown) => {
    throw atRrsets(error, others)
  })
  const { id, dnssec: state } = body as Pick<CreatedZone, 'id' | 'dnssec'>
  // Name servers that sign by themselves get the zone unsigned.
  if (isNsec3 && !replayed && state !== 'disabled')
    await enableDnssec(deps, { ...operation, idempotency: null }, name, { nsec3: true })
  await savePowerDnsOptions(deps.postgres, operation.actor.teamId, id, optionsOf({ ...given, kind }))
  const created = await getPowerdnsZone(deps, operation, server, name, { rrsets: rrsets ?? true })
  return { ...created, ...(status === undefined ? {} : { status }), ...(replayed ? { replayed } : {}) }
}

/** Returns the failure with the places of sets in the request instead of places in `others`. */
function atRrsets(error: unknown, others: readonly { readonly loc: ProblemError['loc'] }[]): unknown {
  if (!(error instanceof Failure) || error.code !== 'invalid' || !error.errors) return error
  const errors = error.errors.map((one) => {
    const [part, list, at, ...rest] = one.loc
    const other = part === 'body' && list === 'recordsets' ? others[Number(at)] : undefined
    return other ? { ...one, loc: [...other.loc, ...rest] } : one
  })
  return failWith('invalid', errors)
}

/**
 * Returns the fields of a new zone that come from its SOA record. The name server in it follows from the NS records.
 */
function soaOf(sets: readonly PowerDnsRrset[], isSoa: (set: PowerDnsRrset) => boolean): SoaOfNewZone {
  const at = sets.findIndex(isSoa)
  if (at === -1) return {}
  const loc = ['body', 'rrsets', at, 'records']
  const contents = (sets[at]!.records ?? []).map(({ content }) => content)
  const errors: ProblemError[] = []
  const [rdata, ...more] = readRecords(recordType.SOA, contents, loc, root, errors)
  if (errors.length > 0) throw failWith('invalid', errors)
  if (rdata === undefined || more.length > 0) throw invalid(loc, 'oneSoa')
  const { soa, serial } = readSoa(rdata)
  return { soa, ...(serial === 0 ? {} : { serial }) }
}

/** Hash algorithm, flags, iterations and salt as recommended by RFC 9276; the only supported values. */
const nsec3Parameters = '1 0 0 -'

/** Returns whether the zone is to have NSEC3 records, undefined if the request does not say. Throws `invalid` for other parameters. */
function readNsec3({ nsec3param, nsec3narrow }: Nsec3Fields): boolean | undefined {
  if (nsec3narrow) throw invalid(['body', 'nsec3narrow'], 'nsec3Narrow')
  if (nsec3param === undefined) return undefined
  if (nsec3param !== '' && nsec3param !== nsec3Parameters)
    throw invalid(['body', 'nsec3param'], 'nsec3Parameters', { parameters: nsec3Parameters })
  return nsec3param !== ''
}

/** The fields that are only stored; Master and Primary are two words for one kind. */
function optionsOf({
  kind,
  account,
  soa_edit_api: soaEditApi,
}: Omit<NewPowerdnsZone, 'name' | 'kind'> & { readonly kind: Kind | undefined }): PowerdnsOptions {
  return {
    ...(kind === undefined || isSecondaryKind(kind) ? {} : { kind: kind === 'Native' ? 'Native' : 'Master' }),
    ...(account === undefined ? {} : { account }),
    ...(soaEditApi === undefined ? {} : { soa_edit_api: soaEditApi }),
  }
}

export type PowerdnsZoneUpdate = Pick<
  NewPowerdnsZone,
  'kind' | 'account' | 'soa_edit_api' | 'dnssec' | 'masters' | 'nsec3param' | 'nsec3narrow'
>

/** Stores the fields without an effect, and enables or disables DNSSEC, which waits for the parent as everywhere. */
export async function updatePowerdnsZone(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
  given: PowerdnsZoneUpdate,
): Promise<{ body: null }> {
  requireServer(server)
  const text = parseZoneId(id)
  const { body: zone } = await getZone(deps, operation, text)
  if (given.masters !== undefined && given.masters.length > 0)
    throw invalid(['body', 'masters'], 'primariesFixed')
  const kind = given.kind === undefined ? undefined : parseKind(given.kind)
  if (kind !== undefined && isSecondaryKind(kind) !== (zone.kind === 'secondary'))
    throw invalid(['body', 'kind'], 'kindFixed')
  const nsec3 = readNsec3(given)
  const isSigned = given.dnssec ?? (zone.dnssec !== 'disabled' && zone.dnssec !== 'pending_disabled')
  if (nsec3 && !isSigned) throw invalid(['body', 'nsec3param'], 'nsec3Unsigned')
  if (isSigned && (zone.dnssec === 'disabled' || nsec3 !== undefined))
    await enableDnssec(deps, operation, text, nsec3 === undefined ? undefined : { nsec3 })
  if (given.dnssec === false && zone.dnssec !== 'disabled')
    await disableDnssec(deps, operation, text, { force: false, request_removal: false })
  await savePowerDnsOptions(deps.postgres, operation.actor.teamId, zone.id, optionsOf({ ...given, kind }))
  return { body: null }
}

/** Applies the changes in order, all or none. */
export async function patchPowerdnsZone(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
  { rrsets }: { readonly rrsets: readonly PowerDnsRrsetChange[] },
): Promise<{ body: null; replayed?: true }> {
  requireServer(server)
  const { replayed } = await editRecordSets(
    deps,
    operation,
    parseZoneId(id),
    'recordset.change',
    async (trx, editing) => {
      const { locked, zone, settings, limit } = editing
      const apex = {
        stored: await readNames(trx, locked.id, new Set([zone])),
        keys: locked.dnssec === 'disabled' ? [] : await listPublishedKeys(trx, locked.id),
      }
      let soa: ZoneSettingsUpdate['soa']
      const others: PlacedChange[] = []
      for (const [at, rrset] of rrsets.entries()) {
        if (isUnchangedApex(rrset, apex, editing)) continue
        const asked = soaSettings(rrset, zone, apex.stored, settings.soa)
        if (asked) soa = asked
        else others.push({ rrset, loc: ['body', 'rrsets', at] })
      }
      const changes = readChanges(others, editing)
      requireAdmitted(
        limit,
        changes.map(({ set }) => set),
      )
      const stored = await readNames(trx, locked.id, new Set(changes.map(({ set }) => set.name)))
      const written = soa && Object.keys(soa).length > 0 ? [await writeSoa(trx, operation, editing, soa)] : []
      return [...written, ...applyChanges(stored, changes)]
    },
  )
  return { body: null, ...(replayed ? { replayed } : {}) }
}

/** Returns the rdata of the DNSKEY records of the zone. */
async function listPublishedKeys(trx: Trx, zoneId: number): Promise<Uint8Array[]> {
  const { keys, otherKeys } = await readDnssec(trx, zoneId)
  return [...keys, ...otherKeys].map(({ dnskey }) => dnskey)
}

/**
 * Stores the values of the SOA record as settings of the zone, which requires an admin of the team, and returns the
 * resulting set.
 */
async function writeSoa(
  trx: Trx,
  operation: Operation,
  { locked, defaults, limit }: Editing,
  soa: NonNullable<ZoneSettingsUpdate['soa']>,
): Promise<ReadSet> {
  const { actor } = operation
  requireWholeZone(limit, ['body'])
  requireGrant(actor, dnsAdmin.grant, dnsAdmin.scope)
  const settings = { ...locked.settings, soa: { ...locked.settings.soa, ...soa } }
  const { after } = await replaceSettings(trx, operation, locked, settings, defaults)
  const [set] = managedSets(locked.name, after)
  return { ...set!, loc: ['body'], withPtr: false }
}

export async function deletePowerdnsZone(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
): Promise<{ body: null }> {
  requireServer(server)
  const name = parseZoneId(id)
  await deleteZone(deps, operation, name, { confirm: name, force: false })
  return { body: null }
}

/**
 * Answers without any effect: followers are notified of every change, and every signed zone has its denial of
 * existence.
 */
export async function acknowledge(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
  result: string,
) {
  requireServer(server)
  await getZone(deps, operation, parseZoneId(id))
  return { body: { result } }
}

/** Has a secondary zone transferred now. Throws `invalid` for a primary one. */
export async function retrievePowerdnsZone(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
) {
  requireServer(server)
  const text = parseZoneId(id)
  const { body: zone } = await getZone(deps, operation, text, { include: 'details' })
  const [primary] = zone.details?.primaries ?? []
  if (zone.kind !== 'secondary' || !primary) throw invalid(['path', 'zone'], 'notSecondary')
  await requestTransfer(deps.postgres.owner, zone.id)
  return { body: { result: `Added retrieval request for '${text}' from primary ${printServer(primary)}` } }
}

export async function exportPowerdnsZone(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
) {
  requireServer(server)
  const file = await exportZone(deps, operation, parseZoneId(id))
  return { ...file, mediaType: 'text/plain; charset=us-ascii' }
}
