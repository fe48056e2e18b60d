// The PowerDNS-compatible API: its routes, for clients of PowerDNS 4.9, on the operations of Pharos. It is no part of the contract and of
// its document; the credential is an API token in X-API-Key.
import type { Problem } from '@pharos/contract/problem'
import { route } from '@pharos/contract/route'
import { dnsAdmin, dnsReading, dnsWriting } from '@pharos/contract/dns/term'
import { Type, type TProperties } from 'typebox'
import { invalid } from '../../runtime/error.ts'
import type { Facade } from '../../http/facade.ts'
import { handle } from '../../http/mount.ts'
import {
  createCryptokey,
  deleteCryptokey,
  getCryptokey,
  listCryptokeys,
  searchData,
  updateCryptokey,
} from './cryptokeys.ts'
import { reportedVersion, server } from './format.ts'
import {
  addMetadata,
  deleteMetadata,
  getMetadata,
  getPowerdnsTsigKey,
  listMetadata,
  listPowerdnsTsigKeys,
  putMetadata,
} from './metadata.ts'
import {
  acknowledge,
  createPowerdnsZone,
  deletePowerdnsZone,
  exportPowerdnsZone,
  getPowerdnsZone,
  listPowerdnsZones,
  patchPowerdnsZone,
  requireServer,
  retrievePowerdnsZone,
  updatePowerdnsZone,
  type PowerdnsDeps,
} from './zones.ts'

const Optional = Type.Optional
const Text = Type.String({ maxLength: 65_535 })
/** Clients send fields of several versions: unknown fields are ignored, as in PowerDNS. */
const Open = <T extends TProperties>(properties: T) => Type.Object(properties)
const Exact = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false })

const inServer = Exact({ server: Type.String({ maxLength: 100 }) })
const inZone = Exact({
  server: Type.String({ maxLength: 100 }),
  zone: Type.String({ minLength: 1, maxLength: 800 }),
})
const ofServer = '/api/v1/servers/{server}'
const ofZone = `${ofServer}/zones/{zone}` as const

/** In any case, as in PowerDNS: octodns writes `master`. */
const Kind = Type.String({ maxLength: 20 })

const rrset = {
  name: Type.String({ minLength: 1, maxLength: 1_100 }),
  type: Type.String({ minLength: 1, maxLength: 20 }),
  ttl: Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  records: Optional(
    Type.Array(Open({ content: Type.String({ maxLength: 262_144 }), disabled: Optional(Type.Boolean()) }), {
      maxItems: 4_096,
    }),
  ),
  comments: Optional(Type.Array(Open({ content: Type.String({ maxLength: 500 }) }), { maxItems: 100 })),
}
const setsMax = 10_000
const RrsetChange = Open({ ...rrset, changetype: Type.Enum(['REPLACE', 'DELETE', 'EXTEND', 'PRUNE']) })
const nsec3 = {
  nsec3param: Optional(Type.String({ maxLength: 600 })),
  nsec3narrow: Optional(Type.Boolean()),
}
const NoSets = Optional(Type.Boolean())
/** Any JSON: format.ts defines the shapes. */
const Answer = Type.Unknown()

/** Every body is optional in PowerDNS's clients; `answer` false is an answer without a body. */
const common = {
  group: 'DNS',
  summary: 'PowerDNS-compatible API',
  description: 'As in PowerDNS 4.9.',
} as const
const reading = { ...common, method: 'GET', permission: dnsReading, response: Answer, success: 200 } as const
/** About the server, open to limited tokens: clients ask for it first. */
const discovering = { ...reading, permission: { ...dnsReading, limitedBy: 'nothing' } } as const
const readingZones = { ...reading, permission: { ...dnsReading, limitedBy: 'zone' } } as const
const readingWholeZones = { ...reading, permission: { ...dnsReading, limitedBy: 'whole_zone' } } as const

const discover = route({ ...discovering, name: 'powerdnsDiscover', path: '/api' })
const discoverV1 = route({ ...discovering, name: 'powerdnsDiscoverV1', path: '/api/v1' })
const listServers = route({ ...discovering, name: 'powerdnsListServers', path: '/api/v1/servers' })
const getServer = route({ ...discovering, name: 'powerdnsGetServer', path: ofServer, params: inServer })
const getConfig = route({
  ...discovering,
  name: 'powerdnsGetConfig',
  path: `${ofServer}/config`,
  params: inServer,
})
const listZonesRoute = route({
  ...readingZones,
  name: 'powerdnsListZones',
  path: `${ofServer}/zones`,
  params: inServer,
  query: Exact({ zone: Optional(Text), dnssec: Optional(Type.Boolean()) }),
})
const createZoneRoute = route({
  ...common,
  name: 'powerdnsCreateZone',
  method: 'POST',
  path: `${ofServer}/zones`,
  permission: dnsAdmin,
  params: inServer,
  query: Exact({ rrsets: NoSets }),
  body: Open({
    name: Type.String({ minLength: 1, maxLength: 1_100 }),
    kind: Optional(Kind),
    account: Optional(Type.String({ maxLength: 40 })),
    soa_edit_api: Optional(Type.String({ maxLength: 40 })),
    nameservers: Optional(Type.Array(Text, { maxItems: 13 })),
    masters: Optional(Type.Array(Text, { maxItems: 8 })),
    rrsets: Optional(Type.Array(Open(rrset), { maxItems: setsMax })),
    dnssec: Optional(Type.Boolean()),
    ...nsec3,
    zone: Optional(Text),
  }),
  response: Answer,
  success: 201,
})
const getZoneRoute = route({
  ...readingZones,
  name: 'powerdnsGetZone',
  path: ofZone,
  params: inZone,
  query: Exact({ rrsets: NoSets, rrset_name: Optional(Text), rrset_type: Optional(Text) }),
})
const changing = { ...common, permission: { ...dnsWriting, limitedBy: 'zone' }, params: inZone } as const
const patchZone = route({
  ...changing,
  name: 'powerdnsPatchZone',
  method: 'PATCH',
  path: ofZone,
  body: Open({ rrsets: Type.Array(RrsetChange, { maxItems: setsMax }) }),
  success: 204,
})
const administrating = { ...changing, permission: { ...dnsAdmin, limitedBy: 'whole_zone' } } as const
const putZone = route({
  ...administrating,
  name: 'powerdnsPutZone',
  method: 'PUT',
  path: ofZone,
  body: Open({
    kind: Optional(Kind),
    account: Optional(Type.String({ maxLength: 40 })),
    soa_edit_api: Optional(Type.String({ maxLength: 40 })),
    masters: Optional(Type.Array(Text, { maxItems: 8 })),
    dnssec: Optional(Type.Boolean()),
    ...nsec3,
  }),
  success: 204,
})
const deleteZoneRoute = route({
  ...administrating,
  name: 'powerdnsDeleteZone',
  method: 'DELETE',
  path: ofZone,
  success: 204,
})
const acknowledging = { ...changing, method: 'PUT', response: Answer, success: 200 } as const
const notify = route({ ...acknowledging, name: 'powerdnsNotify', path: `${ofZone}/notify` })
const rectify = route({ ...acknowledging, name: 'powerdnsRectify', path: `${ofZone}/rectify` })
const exportRoute = route({
  ...common,
  name: 'powerdnsExport',
  method: 'GET',
  path: `${ofZone}/export`,
  permission: { ...dnsReading, limitedBy: 'whole_zone' },
  params: inZone,
  download: ['text/plain'],
  success: 200,
})
const cryptokeys = `${ofZone}/cryptokeys` as const
const listKeys = route({ ...readingWholeZones, name: 'powerdnsListKeys', path: cryptokeys, params: inZone })
const createKey = route({
  ...administrating,
  name: 'powerdnsCreateKey',
  method: 'POST',
  path: cryptokeys,
  body: Open({
    algorithm: Optional(Type.Union([Type.String({ maxLength: 40 }), Type.Integer()])),
    content: Optional(Text),
  }),
  response: Answer,
  success: 201,
})
const ofKey = {
  path: `${cryptokeys}/{key}`,
  params: Exact({ ...inZone.properties, key: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) }),
} as const
const getKey = route({ ...readingWholeZones, ...ofKey, name: 'powerdnsGetKey' })
const putKey = route({
  ...administrating,
  ...ofKey,
  name: 'powerdnsPutKey',
  method: 'PUT',
  body: Open({ active: Optional(Type.Boolean()), published: Optional(Type.Boolean()) }),
  success: 204,
})
const deleteKey = route({
  ...administrating,
  ...ofKey,
  name: 'powerdnsDeleteKey',
  method: 'DELETE',
  success: 204,
})
const retrieve = route({
  ...acknowledging,
  name: 'powerdnsRetrieve',
  path: `${ofZone}/axfr-retrieve`,
  permission: { ...dnsWriting, limitedBy: 'whole_zone' },
})
const metadata = route({
  ...readingWholeZones,
  name: 'powerdnsListMetadata',
  path: `${ofZone}/metadata`,
  params: inZone,
})
const Values = Type.Array(Type.String({ minLength: 1, maxLength: 1_100 }), { maxItems: 64 })
const addKind = route({
  ...administrating,
  name: 'powerdnsAddMetadata',
  method: 'POST',
  path: `${ofZone}/metadata`,
  body: Open({ kind: Type.String({ minLength: 1, maxLength: 100 }), metadata: Values }),
  response: Answer,
  success: 201,
})
const ofKind = {
  path: `${ofZone}/metadata/{kind}`,
  params: Exact({ ...inZone.properties, kind: Type.String({ minLength: 1, maxLength: 100 }) }),
} as const
const getKind = route({ ...readingWholeZones, ...ofKind, name: 'powerdnsGetMetadata' })
const putKind = route({
  ...administrating,
  ...ofKind,
  name: 'powerdnsPutMetadata',
  method: 'PUT',
  body: Open({ metadata: Values }),
  response: Answer,
  success: 200,
})
const deleteKind = route({
  ...administrating,
  ...ofKind,
  name: 'powerdnsDeleteMetadata',
  method: 'DELETE',
  success: 204,
})
const tsigKeys = `${ofServer}/tsigkeys` as const
const listTsigKeysRoute = route({
  ...reading,
  name: 'powerdnsListTsigKeys',
  path: tsigKeys,
  params: inServer,
})
const getTsigKeyRoute = route({
  ...reading,
  name: 'powerdnsGetTsigKey',
  path: `${tsigKeys}/{key}`,
  params: Exact({ ...inServer.properties, key: Type.String({ minLength: 1, maxLength: 1_100 }) }),
})
const statistics = route({
  ...reading,
  name: 'powerdnsStatistics',
  path: `${ofServer}/statistics`,
  params: inServer,
  query: Exact({ statistic: Optional(Text), includerings: Optional(Text) }),
})
const flush = route({
  ...common,
  name: 'powerdnsFlush',
  method: 'PUT',
  path: `${ofServer}/cache/flush`,
  permission: dnsWriting,
  params: inServer,
  query: Exact({ domain: Text }),
  response: Answer,
  success: 200,
})
const search = route({
  ...reading,
  name: 'powerdnsSearch',
  path: `${ofServer}/search-data`,
  params: inServer,
  query: Exact({
    q: Type.String({ minLength: 1, maxLength: 255 }),
    max: Type.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
    object_type: Type.Enum(['all', 'zone', 'record', 'comment'], { default: 'all' }),
  }),
})

const settingsShown = [{ type: 'ConfigSetting', name: 'version-string', value: `Pharos ${reportedVersion}` }]

/** The only figure of PowerDNS that Pharos has: the age of the process, in seconds. Figures of the service are Prometheus metrics. */
const readStatistics = (
  _deps: object,
  _operation: object,
  server: string,
  { statistic }: { readonly statistic?: string },
): { body: object[] } => {
  requireServer(server)
  const uptime = { type: 'StatisticItem', name: 'uptime', value: String(Math.floor(process.uptime())) }
  if (statistic !== undefined && statistic !== uptime.name) throw invalid(['query', 'statistic'], 'statistic')
  return { body: [uptime] }
}

/** Answers come from the published zones: there is no cache to flush. */
const flushNothing = (
  _deps: object,
  _operation: object,
  server: string,
  { domain }: { readonly domain: string },
): { body: object } => {
  requireServer(server)
  if (!domain.endsWith('.')) throw invalid(['query', 'domain'], 'canonicalName')
  return { body: { count: 0, result: 'Flushed cache.' } }
}

/** Refuses another server than `localhost`, and answers the same for everybody. */
const constant =
  (body: unknown) =>
  (_deps: object, _operation: object, server?: unknown): { body: never } => {
    if (typeof server === 'string') requireServer(server)
    return { body: body as never }
  }

export const powerdnsApi = (deps: PowerdnsDeps): Facade => ({
  prefix: '/api/v1/',
  tokenHeader: 'x-api-key',
  errorBody,
  mediaType: 'application/json',
  challenge: 'X-API-Key realm="pharos"',
  mounted: [
    handle(discover, constant([{ version: 1, url: '/api/v1' }]), deps),
    handle(discoverV1, constant({ server_url: '/api/v1/servers{/server}', api_features: [] }), deps),
    handle(listServers, constant([server]), deps),
    handle(getServer, constant(server), deps),
    handle(getConfig, constant(settingsShown), deps),
    handle(listZonesRoute, listPowerdnsZones, deps),
    handle(createZoneRoute, createPowerdnsZone, deps),
    handle(getZoneRoute, getPowerdnsZone, deps),
    handle(patchZone, patchPowerdnsZone, deps),
    handle(putZone, updatePowerdnsZone, deps),
    handle(deleteZoneRoute, deletePowerdnsZone, deps),
    handle(
      notify,
      (all: PowerdnsDeps, operation, ...ids) =>
        acknowledge(all, operation, ids[0], ids[1], 'Notification queued'),
      deps,
    ),
    handle(
      rectify,
      (all: PowerdnsDeps, operation, ...ids) => acknowledge(all, operation, ids[0], ids[1], 'Rectified'),
      deps,
    ),
    handle(exportRoute, exportPowerdnsZone, deps),
    handle(listKeys, listCryptokeys, deps),
    handle(createKey, createCryptokey, deps),
    handle(getKey, getCryptokey, deps),
    handle(putKey, updateCryptokey, deps),
    handle(deleteKey, deleteCryptokey, deps),
    handle(retrieve, retrievePowerdnsZone, deps),
    handle(metadata, listMetadata, deps),
    handle(addKind, addMetadata, deps),
    handle(getKind, getMetadata, deps),
    handle(putKind, putMetadata, deps),
    handle(deleteKind, deleteMetadata, deps),
    handle(listTsigKeysRoute, listPowerdnsTsigKeys, deps),
    handle(getTsigKeyRoute, getPowerdnsTsigKey, deps),
    handle(statistics, readStatistics, deps),
    handle(flush, flushNothing, deps),
    handle(search, searchData, deps),
  ],
})

/** Like PowerDNS: one sentence, and a list if there are several. */
function errorBody({ detail, title, errors = [] }: Problem): object {
  const texts = errors.map(({ loc, msg }) => `${loc.slice(1).join('.')} ${msg}`)
  const error = texts[0] ?? detail ?? title
  return texts.length > 1 ? { error, errors: texts } : { error }
}
