// Metadata and TSIG keys of the PowerDNS-compatible API: settings of zones under the names that PowerDNS has for them.
import type { ZoneSettingsUpdate } from '@pharos/contract/dns/settings'
import { etagOf } from '../../operation/etag.ts'
import type { Operation } from '../../operation/operation.ts'
import { invalid, notFound } from '../../runtime/error.ts'
import { getZoneSettings, updateZoneSettings } from '../settings/settings.ts'
import { listTsigKeys } from '../settings/tsig-keys.ts'
import { tsigKeyAt } from '../zone/create-zone.ts'
import { getZoneOf } from '../zone/find-zone.ts'
import { printServer, parseServer } from './format.ts'
import { readPowerDnsOptions, savePowerDnsOptions } from './powerdns.store.ts'
import { parseZoneId } from './zone-id.ts'
import { requireServer, type PowerdnsDeps } from './zones.ts'

const tsigKeysMax = 1_000

const writableKinds = ['ALLOW-AXFR-FROM', 'ALSO-NOTIFY', 'SOA-EDIT-API', 'TSIG-ALLOW-AXFR'] as const
type Kind = (typeof writableKinds)[number]

/** Returns the values of each kind, an empty list for one without a value. */
async function readMetadata(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
): Promise<Record<Kind, string[]>> {
  requireServer(server)
  const { teamId } = operation.actor
  const { id: zoneId } = await getZoneOf(deps.postgres, teamId, parseZoneId(id))
  const [{ body }, { results: keys }, options] = await Promise.all([
    getZoneSettings(deps, operation, String(zoneId)),
    listTsigKeys(deps, operation, { limit: tsigKeysMax, offset: 0, ordering: 'name' }),
    readPowerDnsOptions(deps.postgres, teamId, zoneId),
  ])
  const { soa_edit_api: soaEditApi } = options.get(zoneId) ?? {}
  const used = keys.filter((key) => body.tsig_key_ids.includes(key.id))
  return {
    'ALLOW-AXFR-FROM': body.allow_transfer,
    'ALSO-NOTIFY': body.also_notify.map(printServer),
    'SOA-EDIT-API': soaEditApi === undefined ? [] : [soaEditApi],
    'TSIG-ALLOW-AXFR': used.map(({ name }) => name.slice(0, -1)),
  }
}

const metadataOf = (kind: string, metadata: readonly string[]) => ({ type: 'Metadata', kind, metadata })

export async function listMetadata(deps: PowerdnsDeps, operation: Operation, server: string, id: string) {
  const kinds = await readMetadata(deps, operation, server, id)
  const given = Object.entries(kinds).filter(([, values]) => values.length > 0)
  return { body: given.map(([kind, values]) => metadataOf(kind, values)) }
}

/** A kind without a value has an empty list. */
export async function getMetadata(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
  kind: string,
) {
  const kinds: Readonly<Record<string, readonly string[]>> = await readMetadata(deps, operation, server, id)
  return { body: metadataOf(kind, Object.hasOwn(kinds, kind) ? kinds[kind]! : []) }
}

type Given = { readonly metadata: readonly string[] }

/** Replaces the values of a kind. Throws `invalid` for a kind that is no setting of zones. */
export async function putMetadata(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
  kindText: string,
  { metadata }: Given,
) {
  requireServer(server)
  const kind = parseKind(['path', 'kind'], kindText)
  await write(deps, operation, parseZoneId(id), kind, metadata)
  return { body: metadataOf(kind, metadata) }
}

/** Adds values to a kind of metadata. */
export async function addMetadata(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
  { kind: kindText, metadata }: Given & { readonly kind: string },
) {
  const before = await readMetadata(deps, operation, server, id)
  const kind = parseKind(['body', 'kind'], kindText)
  const values = [...new Set([...before[kind], ...metadata])]
  await write(deps, operation, parseZoneId(id), kind, values)
  return { body: metadataOf(kind, values) }
}

export async function deleteMetadata(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
  kindText: string,
): Promise<{ body: null }> {
  requireServer(server)
  await write(deps, operation, parseZoneId(id), parseKind(['path', 'kind'], kindText), [])
  return { body: null }
}

function parseKind(loc: readonly (string | number)[], text: string): Kind {
  const kind = writableKinds.find((one) => one === text.toUpperCase())
  if (kind === undefined) throw invalid(loc, 'metadataKind', { kinds: writableKinds.join(', ') })
  return kind
}

async function write(
  deps: PowerdnsDeps,
  operation: Operation,
  zoneText: string,
  kind: Kind,
  values: readonly string[],
): Promise<void> {
  const { teamId } = operation.actor
  const zone = await getZoneOf(deps.postgres, teamId, zoneText)
  if (kind === 'SOA-EDIT-API') {
    await savePowerDnsOptions(deps.postgres, teamId, zone.id, { soa_edit_api: values[0] ?? 'DEFAULT' })
    return
  }
  const changed = await settingsOf(deps, teamId, kind, values)
  // Settings that others changed in between are not overwritten.
  const unchanged = { ...operation, ifMatch: etagOf(zone.settingsVersion) }
  await updateZoneSettings(deps, unchanged, String(zone.id), { ...zone.settings, ...changed })
}

async function settingsOf(
  { postgres }: PowerdnsDeps,
  teamId: number,
  kind: Exclude<Kind, 'SOA-EDIT-API'>,
  values: readonly string[],
): Promise<ZoneSettingsUpdate> {
  if (kind === 'ALLOW-AXFR-FROM') return { allow_transfer: [...values] }
  if (kind === 'ALSO-NOTIFY') return { also_notify: values.map(parseServer) }
  const ids = values.map((name, at) =>
    tsigKeyAt(postgres.front, teamId, ['body', 'metadata', at], name.endsWith('.') ? name : `${name}.`),
  )
  return { tsig_key_ids: await Promise.all(ids) }
}

/** Lists the keys of the team, without their secrets. */
export async function listPowerdnsTsigKeys(deps: PowerdnsDeps, operation: Operation, server: string) {
  requireServer(server)
  const { results } = await listTsigKeys(deps, operation, { limit: tsigKeysMax, offset: 0, ordering: 'name' })
  return {
    body: results.map(({ name, algorithm }) => ({
      type: 'TSIGKey',
      id: name,
      name: name.slice(0, -1),
      algorithm,
      key: '',
    })),
  }
}

export async function getPowerdnsTsigKey(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
) {
  const { body } = await listPowerdnsTsigKeys(deps, operation, server)
  const name = id.endsWith('.') ? id : `${id}.`
  const key = body.find((one) => one.id === name.toLowerCase())
  if (!key) throw notFound('tsigKey')
  return { body: key }
}
