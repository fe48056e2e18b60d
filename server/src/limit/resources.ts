// The resources of a limited credential: from a request to rows, and from rows to the limits of an actor and to an answer.
import type { ProblemError } from '@pharos/contract/problem'
import { describeResources, type Resources, type ZoneResource } from '@pharos/contract/resource-limit'
import type { Db, Trx } from '../db/postgres.ts'
import { NameError, parseName, type DomainName } from '../net/dns/name.ts'
import { findType, isMetaType, typeName } from '../net/dns/type.ts'
import { PrefixError } from '../net/prefix-error.ts'
import { parsePrefix, parsePrefixOrAddress, type Prefix } from '../net/prefix.ts'
import type { Limits, NamePattern, ZoneLimit } from '../operation/limits.ts'
import { collect } from '../runtime/collect.ts'
import { errorAt, failWith, notFound, prefixErrorAt } from '../runtime/error.ts'
import { findId } from '../text/id.ts'
import {
  findPorts,
  findPrefixes,
  findServices,
  findZones,
  type FoundZone,
  type LimitRow,
  type NewLimit,
} from './resource-limit.store.ts'
import { parseNamePattern, printNamePattern } from './zone-limit.ts'

type Loc = ProblemError['loc']

/** Returns the limits of an actor; null for one without. */
export function actorLimitsOf(rows: readonly LimitRow[] | null): Limits | null {
  if (rows === null) return null
  return {
    zones: new Map(rows.flatMap((row) => (row.zone_id === null ? [] : [[row.zone_id, zoneLimitOf(row)]]))),
    prefixes: rows.flatMap(({ network }) => (network === null ? [] : [parsePrefix(network)])),
    ports: new Set(rows.flatMap(({ port_id: id }) => (id === null ? [] : [id]))),
    services: new Set(rows.flatMap(({ service_id: id }) => (id === null ? [] : [id]))),
  }
}

function zoneLimitOf(row: LimitRow): ZoneLimit {
  const { zone_id: id, zone: name, names, types } = row
  return {
    id: id!,
    name: name!,
    names: names && names.map((one) => parseNamePattern(one, name!)),
    types: types && new Set(types.map((one) => findType(one)!)),
    text: describeResources({ zones: [presentZone(row)] }),
  }
}

/** Returns the resources as answers show them; null for a credential without a limit. */
export function presentResources(rows: readonly LimitRow[] | null): Resources | null {
  if (rows === null) return null
  const zones = rows.filter(({ zone_id: id }) => id !== null).map(presentZone)
  const prefixes = rows.flatMap(({ network }) => (network === null ? [] : [parsePrefix(network)]))
  const ports = rows.flatMap(({ port_id: id }) => (id === null ? [] : [id]))
  const services = rows.flatMap(({ service_id: id }) => (id === null ? [] : [id]))
  return {
    ...(zones.length > 0 ? { zones } : {}),
    ...(prefixes.length > 0 ? { prefixes } : {}),
    ...(ports.length > 0 ? { ports } : {}),
    ...(services.length > 0 ? { services } : {}),
  }
}

const presentZone = ({ zone, names, types }: LimitRow): ZoneResource => ({
  zone: zone === '.' ? zone : zone!.slice(0, -1),
  ...(names ? { names: [...names] } : {}),
  ...(types ? { types: [...types] } : {}),
})

/**
 * Finds the resources of a request among the team's. Throws `invalid` with every error of form, and `not_found` for a
 * resource that the team does not have, with the same text whether another team has it.
 */
export async function findResources(
  trx: Db | Trx,
  teamId: number,
  { zones = [], prefixes = [], ports = [], services = [] }: Resources,
  loc: Loc,
): Promise<NewLimit[]> {
  const errors: ProblemError[] = []
  const refs = zones.map(({ zone }, at) =>
    collect(errors, () => parseZoneText([...loc, 'zones', at, 'zone'], zone)),
  )
  const networks = prefixes.map((text, at) =>
    collect(errors, () => parseNetwork([...loc, 'prefixes', at], text)),
  )
  if (errors.length > 0) throw failWith('invalid', errors)
  return [
    ...(await findZoneLimits(trx, teamId, zones, refs as (number | DomainName)[], loc)),
    ...(await findPrefixLimits(trx, teamId, networks as Prefix[])),
    ...(await findIds('port', ports, () => findPorts(trx, teamId, ports))),
    ...(await findIds('service', services, () => findServices(trx, teamId, services))),
  ]
}

async function findZoneLimits(
  trx: Db | Trx,
  teamId: number,
  zones: readonly ZoneResource[],
  refs: readonly (number | DomainName)[],
  loc: Loc,
): Promise<NewLimit[]> {
  if (zones.length === 0) return []
  const ids = refs.filter((ref) => typeof ref === 'number')
  const names = refs.filter((ref) => typeof ref === 'string')
  const found = await findZones(trx, teamId, ids, names)
  const errors: ProblemError[] = []
  const seen = new Set<number>()
  const limits = zones.map((resource, at): NewLimit => {
    const zone = found.find(({ id, name }) => id === refs[at] || name === refs[at])
    if (!zone) throw notFound('zone')
    if (seen.has(zone.id)) errors.push(errorAt([...loc, 'zones', at, 'zone'], 'repeated'))
    seen.add(zone.id)
    return readZone(resource, zone, [...loc, 'zones', at], errors)
  })
  if (errors.length > 0) throw failWith('invalid', errors)
  return limits
}

function readZone(
  { names, types }: ZoneResource,
  zone: FoundZone,
  loc: Loc,
  errors: ProblemError[],
): NewLimit {
  const patterns = names?.flatMap((text, at) =>
    parsePatternAt([...loc, 'names', at], text, zone.name, errors),
  )
  const numbers = types?.flatMap((text, at) => {
    const type = findType(text)
    if (type !== undefined && type !== 0 && !isMetaType(type)) return [typeName(type)]
    errors.push(errorAt([...loc, 'types', at], 'recordType'))
    return []
  })
  return {
    kind: 'zone',
    zoneId: zone.id,
    names: patterns ? [...new Set(patterns.map((one) => printNamePattern(one, zone.name)))] : null,
    types: numbers ? [...new Set(numbers)] : null,
  }
}

function parsePatternAt(loc: Loc, text: string, zone: DomainName, errors: ProblemError[]): NamePattern[] {
  try {
    return [parseNamePattern(text, zone)]
  } catch (error) {
    if (!(error instanceof NameError)) throw error
    errors.push({ loc, msg: error.message, type: error.reason })
    return []
  }
}

function parseZoneText(loc: Loc, text: string): number | DomainName {
  const id = findId(text)
  if (id !== undefined) return id
  try {
    return parseName(text)
  } catch (error) {
    if (!(error instanceof NameError)) throw error
    throw failWith('invalid', [{ loc, msg: error.message, type: error.reason }])
  }
}

function parseNetwork(loc: Loc, text: string): Prefix {
  try {
    return parsePrefixOrAddress(text)
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    throw failWith('invalid', [prefixErrorAt(loc, error)])
  }
}

async function findPrefixLimits(
  trx: Db | Trx,
  teamId: number,
  networks: readonly Prefix[],
): Promise<NewLimit[]> {
  if (networks.length === 0) return []
  const unique = [...new Set(networks)]
  const ids = await findPrefixes(trx, teamId, unique)
  return unique.map((network, at) => {
    const prefixId = ids[at]
    if (prefixId === null || prefixId === undefined) throw notFound('prefix')
    return { kind: 'prefix', prefixId, network }
  })
}

async function findIds(
  kind: 'port' | 'service',
  ids: readonly number[],
  find: () => Promise<ReadonlySet<number>>,
): Promise<NewLimit[]> {
  if (ids.length === 0) return []
  const found = await find()
  if (ids.some((id) => !found.has(id))) throw notFound(kind)
  return ids.map((id) => ({ kind, id }))
}
