// A NetBox for tests: lists of own objects over HTTP, with pages, filters by id and tag, and faults on demand. Its objects have the
// fields of NetBox's REST API, in the forms of its serializers of 3.7, 4.0 and 4.6; no NetBox was asked.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Row = { readonly id: number } & Readonly<Record<string, unknown>>
export type TestLists = Record<string, readonly Row[]>

export type Faults = {
  /** NetBox's MAX_PAGE_SIZE: pages are shorter than requested. */
  pageMax: number
  /** Answers to the next requests, before any page. */
  answers: {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: unknown
  }[]
  /** Every page from this offset on fails. */
  failFrom: number
  /** Added to `count`. */
  countBy: number
  /** Instead of the origin in `next`. */
  nextOrigin: string | undefined
  /** Value of the header `API-Version`. */
  version: string
}

export type TestNetbox = AsyncDisposable & {
  readonly url: URL
  readonly lists: TestLists
  readonly faults: Faults
  /** Path and query of each request, and its Authorization header. */
  readonly requests: { readonly url: string; readonly authorization: string | undefined }[]
}

export const noFaults = (): Faults => ({
  pageMax: 1000,
  answers: [],
  failFrom: Infinity,
  countBy: 0,
  nextOrigin: undefined,
  version: '4.2',
})

export async function startTestNetbox(lists: TestLists): Promise<TestNetbox> {
  const netbox = { lists, faults: noFaults(), requests: [] as TestNetbox['requests'] }
  const server = createServer((request, response) => answer(netbox, request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    ...netbox,
    url: new URL(`http://127.0.0.1:${port}/`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function answer(
  { lists, faults, requests }: Pick<TestNetbox, 'lists' | 'faults' | 'requests'>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const url = new URL(request.url!, `http://${request.headers.host}`)
  requests.push({ url: request.url!, authorization: request.headers.authorization })
  const send = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'api-version': faults.version, ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body))
  const planned = faults.answers.shift()
  if (planned) return void send(planned.status, planned.body ?? { detail: 'planned' }, planned.headers)
  const rows = lists[url.pathname.replace(/^\/api\/|\/$/g, '')]
  if (!rows) return void send(404, { detail: 'Not found.' })
  const offset = Number(url.searchParams.get('offset') ?? 0)
  if (offset >= faults.failFrom) return void send(500, { detail: 'failed' })
  // A tag that is on no object does not exist here.
  const tag = url.searchParams.get('tag')
  if (tag !== null && !Object.values(lists).some((all) => all.some((row) => hasTag(row, tag))))
    return void send(400, { tag: [`Select a valid choice. ${tag} is not one of the available choices.`] })
  const limit = Math.min(Number(url.searchParams.get('limit') ?? 50), faults.pageMax)
  const found = rows.filter((row) => isSelected(row, url.searchParams))
  const next = new URL(url)
  next.searchParams.set('offset', String(offset + limit))
  const link =
    faults.nextOrigin === undefined ? next.href : `${faults.nextOrigin}${next.pathname}${next.search}`
  send(200, {
    count: found.length + faults.countBy,
    next: offset + limit < found.length ? link : null,
    previous: null,
    results: found.slice(offset, offset + limit),
  })
}

function isSelected(row: Row, query: URLSearchParams): boolean {
  const ids = query.getAll('id')
  const tag = query.get('tag')
  return (ids.length === 0 || ids.includes(String(row.id))) && (tag === null || hasTag(row, tag))
}

const hasTag = (row: Row, tag: string): boolean =>
  ((row['tags'] ?? []) as readonly { readonly slug: string }[]).some(({ slug }) => slug === tag)

const nested = (slug: string) => ({
  id: 1,
  url: 'http://netbox/',
  display: slug,
  name: slug,
  slug,
  description: '',
})
const tagsOf = (slugs: readonly string[]) => slugs.map((slug) => ({ ...nested(slug), color: '9e9e9e' }))

/** Objects as NetBox returns them. `over` replaces fields. */
export const site = (id: number, slug: string, over: object = {}): Row => ({
  ...nested(slug),
  id,
  status: { value: 'active', label: 'Active' },
  region: null,
  time_zone: 'Europe/Amsterdam',
  custom_fields: { country: 'NL' },
  tags: [],
  ...over,
})

export const netboxDevice = (id: number, name: string | null, over: object = {}): Row => ({
  id,
  url: `http://netbox/api/dcim/devices/${id}/`,
  display: name ?? 'unnamed',
  name,
  device_type: {
    ...nested('mx204'),
    manufacturer: { ...nested('juniper'), name: 'Juniper' },
    model: 'MX204',
  },
  role: nested('edge'),
  tenant: null,
  platform: null,
  serial: `SN${id}`,
  asset_tag: null,
  site: nested('ams1'),
  status: { value: 'active', label: 'Active' },
  primary_ip: { id, url: '', display: '', family: { value: 4, label: 'IPv4' }, address: `192.0.2.${id}/24` },
  tags: tagsOf(['b', 'a']),
  custom_fields: {},
  ...over,
})

export const circuit = (id: number, cid: string, tenant: string | null, over: object = {}): Row => ({
  id,
  url: `http://netbox/api/circuits/circuits/${id}/`,
  display: cid,
  cid,
  provider: nested('carrier'),
  type: nested('transit'),
  status: { value: 'active', label: 'Active' },
  tenant: tenant === null ? null : nested(tenant),
  install_date: '2026-01-31',
  termination_date: null,
  commit_rate: 10_000_000,
  description: '',
  tags: [],
  custom_fields: {},
  ...over,
})

/** Cabled to the interface `peer`, `[id, device id]`. */
export const termination = (id: number, circuitId: number, peer: readonly [number, number] | null): Row => ({
  id,
  url: `http://netbox/api/circuits/circuit-terminations/${id}/`,
  display: '',
  circuit: { id: circuitId, url: '', display: '', cid: '' },
  term_side: 'A',
  port_speed: null,
  xconnect_id: '',
  pp_info: '',
  cable: peer && { id, url: '', display: '' },
  cable_end: 'A',
  link_peers: peer === null ? [] : [{ id: peer[0], url: '', display: '', device: { id: peer[1] }, name: '' }],
  link_peers_type: peer === null ? null : 'dcim.interface',
})

export const networkInterface = (id: number, deviceId: number, name: string, over: object = {}): Row => ({
  id,
  url: `http://netbox/api/dcim/interfaces/${id}/`,
  display: name,
  device: { id: deviceId, url: '', display: '', name: null },
  name,
  type: { value: '100gbase-x-qsfp28', label: 'QSFP28 (100GE)' },
  enabled: true,
  lag: null,
  speed: 100_000_000,
  description: '',
  mark_connected: false,
  tags: [],
  custom_fields: {},
  ...over,
})

export const withTags = (...slugs: readonly string[]) => ({ tags: tagsOf(slugs) })

/** Two devices, one without a name; a circuit of the team `demo` on one interface, and a tagged interface. */
export const smallWorld = (): TestLists => ({
  'dcim/sites': [site(1, 'ams1'), site(2, 'unused')],
  'dcim/devices': [netboxDevice(1, 'r1.ams'), netboxDevice(2, null)],
  'circuits/circuits': [circuit(1, 'C-1', 'demo'), circuit(2, 'UP-1', null)],
  'circuits/circuit-terminations': [termination(1, 1, [11, 1]), termination(2, 2, [12, 1])],
  'dcim/interfaces': [
    networkInterface(11, 1, 'et-0/0/1'),
    networkInterface(12, 1, 'et-0/0/2'),
    networkInterface(13, 1, 'et-0/0/3', { ...withTags('pharos'), speed: null }),
  ],
})

export const netboxVersions = ['3.7', '4.0', '4.6'] as const
type Fields = Readonly<Record<string, unknown>>

/** Returns the lists in the serialization of a version, with all its differences, also in unused fields. */
export function inForm(version: (typeof netboxVersions)[number], lists: TestLists): TestLists {
  const isOld = version === '3.7'
  const isNew = version === '4.6'
  /** Nested objects have no description in 3.7, and their depth in trees in 4.6. */
  const brief = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(brief)
    if (typeof value !== 'object' || value === null || !('id' in value)) return value
    const fields = Object.entries(value as Fields)
      .filter(([name]) => !(isOld && name === 'description'))
      .map(([name, inner]) => [name, brief(inner)])
    return Object.fromEntries([...fields, ...(isNew ? [['_depth', 0]] : [])])
  }
  const whole = (row: Row): Row => {
    const fields = Object.entries(row).map(([name, value]) => [name, brief(value)])
    return {
      ...(Object.fromEntries(fields) as Row),
      ...(isNew && { display_url: `http://netbox/objects/${row.id}/`, owner: null }),
      created: '2026-01-01T00:00:00Z',
      last_updated: '2026-01-01T00:00:00Z',
    }
  }
  const addressOf = (ip: Fields | null): Fields | null =>
    ip && { ...ip, family: isOld ? 4 : { value: 4, label: 'IPv4' }, ...(isNew && { nat_inside: null }) }
  const forms: Readonly<Record<string, (row: Row) => Row>> = {
    'dcim/devices': (row) => ({
      ...row,
      // An alias of `role` until 4.0.
      ...(isOld && { device_role: row['role'] }),
      primary_ip: addressOf(row['primary_ip'] as Fields | null),
      ...(isNew && { cooling_method: null, front_port_count: 0 }),
    }),
    'circuits/circuits': (row) => ({
      ...row,
      ...(isNew && { provider_account: null, distance: null, assignments: [] }),
    }),
    'circuits/circuit-terminations': (row) => ({
      ...row,
      ...(isOld
        ? { site: brief(nested('ams1')), provider_network: null }
        : isNew
          ? { termination_type: 'dcim.site', termination_id: 1, termination: brief(nested('ams1')) }
          : { site: brief(nested('ams1')), provider_network: null }),
      upstream_speed: null,
      mark_connected: false,
      _occupied: row['cable'] !== null,
    }),
    'dcim/interfaces': (row) => ({
      ...row,
      module: null,
      label: '',
      mtu: null,
      // In 4.2 and later it is a separate object.
      mac_address: null,
      ...(isNew && { primary_mac_address: null, mac_addresses: [], qinq_svlan: null }),
      // 64 bits since 4.5.
      ...(isNew && row['speed'] !== null && { speed: 3_200_000_000 }),
    }),
  }
  return Object.fromEntries(
    Object.entries(lists).map(([path, rows]) => [
      path,
      rows.map((row) => (forms[path] ?? ((same: Row) => same))(whole(row))),
    ]),
  )
}
