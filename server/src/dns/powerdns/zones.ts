// The operations of the PowerDNS-compatible API on zones, each on the operation of Pharos with the same meaning.
import { createZone, type ZoneDeps } from '../zone/create-zone.ts'
import { deleteZone } from '../zone/delete-zone.ts'
import { getZone, listZones } from '../zone/list-zones.ts'
import { readAllSets, readNames } from '../zone/zone-change.store.ts'
import { disableDnssec, enableDnssec, type DnssecDeps } from '../dnssec/request-dnssec.ts'
import { editRecordSets, type RecordSetDeps } from '../recordset/change-recordsets.ts'
import type { Postgres } from '../../db/postgres.ts'
import type { Operation } from '../../operation/operation.ts'
import { findType } from '../../net/dns/type.ts'
import { errorAt, failWith, invalid, notFound } from '../../runtime/error.ts'
import { exportZone } from '../import/export-zone.ts'
import { zoneInfo, zoneWithSets, type PowerdnsOptions } from './format.ts'
import { readDefaultsInTeam } from '../zone/zone.store.ts'
import { readOptions, saveOptions } from './powerdns.store.ts'
import { applyChanges, isUnchangedApex, itemOf, readChanges, type Rrset, type RrsetChange } from './rrset.ts'
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
    readOptions(postgres, operation.actor.teamId),
  ])
  return { body: results.map((one) => zoneInfo(one, options.get(one.id) ?? {})) }
}

type SetsQuery = { readonly rrsets?: boolean; readonly rrset_name?: string; readonly rrset_type?: string }

/** Returns the zone with its record sets, unless `rrsets` is false; only those of a name and type if they are given. */
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
  const [options, sets] = await Promise.all([
    readOptions(postgres, teamId, zone.id),
    rrsets ? postgres.inTeam(teamId, (trx) => readAllSets(trx, zone.id)) : undefined,
  ])
  const type = typeText === undefined ? undefined : findType(typeText)
  const wanted = sets?.filter(
    (set) =>
      (name === undefined || set.name === name.toLowerCase()) &&
      (typeText === undefined || set.type === type),
  )
  return { body: zoneWithSets(zone, options.get(zone.id) ?? {}, wanted) }
}

type Kind = 'Native' | 'Master' | 'Primary' | 'Slave' | 'Secondary'

export type NewPowerdnsZone = {
  readonly name: string
  readonly kind?: Kind
  readonly account?: string
  readonly soa_edit_api?: string
  readonly nameservers?: readonly string[]
  readonly masters?: readonly string[]
  readonly rrsets?: readonly Rrset[]
  readonly dnssec?: boolean
  readonly zone?: string
}

/** Creates a zone. NS records of the zone itself, as a set or in `nameservers`, are the name servers of its settings. */
export async function createPowerdnsZone(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  given: NewPowerdnsZone,
  { rrsets }: SetsQuery,
) {
  requireServer(server)
  const { name, kind = 'Native', masters = [], dnssec = false, zone } = given
  if (!name.endsWith('.'))
    throw failWith('invalid', [errorAt(['body', 'name'], 'trailingDot', { suggestion: `${name}.` })])
  if (zone !== undefined) throw invalid(['body', 'zone'], 'zoneText')
  const isSecondary = kind === 'Slave' || kind === 'Secondary'
  const sets = given.rrsets ?? []
  const isApex = (set: Rrset, type: string): boolean =>
    set.type.toUpperCase() === type && set.name.toLowerCase() === name.toLowerCase()
  const apexNs = sets.find((set) => isApex(set, 'NS'))?.records?.map(({ content }) => content)
  const nameservers = [...(given.nameservers ?? []), ...(apexNs ?? [])]
  // The SOA record follows from the settings; a client that sends one wants a zone that has one.
  const others = sets.filter((set) => !isApex(set, 'NS') && !isApex(set, 'SOA'))
  const { minimumTtl } = await readDefaultsInTeam(deps.postgres, operation.actor.teamId)
  const { body, status, replayed } = await createZone(deps, operation, {
    name,
    kind: isSecondary ? 'secondary' : 'primary',
    ...(isSecondary ? { primaries: masters.map(parsePrimary) } : { dnssec }),
    ...(nameservers.length > 0 ? { nameservers: [...new Set(nameservers)] } : {}),
    ...(others.length > 0
      ? { recordsets: others.map((set, at) => itemOf(set, ['body', 'rrsets', at], minimumTtl) as never) }
      : {}),
  })
  const { id } = body as { readonly id: number }
  await saveOptions(deps.postgres, operation.actor.teamId, id, optionsOf({ ...given, kind }))
  const created = await getPowerdnsZone(deps, operation, server, name, { rrsets: rrsets ?? true })
  return { ...created, ...(status === undefined ? {} : { status }), ...(replayed ? { replayed } : {}) }
}

/** The fields that are only stored; Master and Primary are two words for one kind. */
function optionsOf({
  kind,
  account,
  soa_edit_api: soaEditApi,
}: Omit<NewPowerdnsZone, 'name'>): PowerdnsOptions {
  return {
    ...(kind === undefined || kind === 'Slave' || kind === 'Secondary'
      ? {}
      : { kind: kind === 'Native' ? 'Native' : 'Master' }),
    ...(account === undefined ? {} : { account }),
    ...(soaEditApi === undefined ? {} : { soa_edit_api: soaEditApi }),
  }
}

/** Parses `192.0.2.1`, `192.0.2.1:5300`, `2001:db8::1` or `[2001:db8::1]:5300`; the operation checks the address. */
function parsePrimary(text: string): { address: string; port?: number } {
  const [, bracketed, v4, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const address = bracketed ?? v4
  if (address === undefined) return { address: text }
  return port === undefined ? { address } : { address, port: Number(port) }
}

export type PowerdnsZoneUpdate = Pick<
  NewPowerdnsZone,
  'kind' | 'account' | 'soa_edit_api' | 'dnssec' | 'masters'
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
  const isSecondary = given.kind === 'Slave' || given.kind === 'Secondary'
  if (given.kind !== undefined && isSecondary !== (zone.kind === 'secondary'))
    throw invalid(['body', 'kind'], 'kindFixed')
  if (given.dnssec === true && zone.dnssec === 'disabled')
    await enableDnssec(deps, operation, text, undefined)
  if (given.dnssec === false && zone.dnssec !== 'disabled')
    await disableDnssec(deps, operation, text, { force: false, request_removal: false })
  await saveOptions(deps.postgres, operation.actor.teamId, zone.id, optionsOf(given))
  return { body: null }
}

/** Applies the changes in their order, all or none. */
export async function patchPowerdnsZone(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
  { rrsets }: { readonly rrsets: readonly RrsetChange[] },
): Promise<{ body: null; replayed?: true }> {
  requireServer(server)
  const { replayed } = await editRecordSets(
    deps,
    operation,
    parseZoneId(id),
    'recordset.change',
    async (trx, editing) => {
      const apex = await readNames(trx, editing.locked.id, new Set([editing.zone]))
      const changes = readChanges(
        rrsets.filter((rrset) => !isUnchangedApex(rrset, apex, editing)),
        editing,
      )
      const stored = await readNames(trx, editing.locked.id, new Set(changes.map(({ set }) => set.name)))
      return applyChanges(stored, changes)
    },
  )
  return { body: null, ...(replayed ? { replayed } : {}) }
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

/** Followers are notified of every change, and the denial of existence is part of every signed zone: there is nothing to do. */
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
