// Samples of each kind of the platform, for the tests of its planner and of its operations: a kind or a field without a sample fails.
import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { parse } from 'yaml'
import type { Db } from '../db/postgres.ts'
import { nameKey, parseName } from '../net/dns/name.ts'
import { sampleText } from './samples.ts'

const hash = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
export const sampleFiles: Readonly<Record<string, string>> = {
  password: 'sentence of a file',
  secret: 'secret of a file',
  key: 'c2VjcmV0IG9mIGEgZmlsZQ==',
  logo: '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
}

export type SampleElement = Readonly<Record<string, unknown>>
export type SamplePlatform = Readonly<Record<string, readonly SampleElement[]>>

type Sample = {
  /** An element of sampleText by its index, or an additional one. */
  readonly element: number | SampleElement
  /** For each field of the schema: the changes to the element. Undefined removes a field. */
  readonly fields: Readonly<Record<string, SampleElement>>
}

const v3 = {
  version: 'v3',
  community: undefined,
  user: 'pharos',
  auth: 'sha256',
  auth_password: 'a password',
  privacy: 'aes128',
  privacy_password: 'a password',
}

/** Of the team demo. */
const sampleZone = 'example.com'

/** Creates the zone that the sample of a TSIG key names: the file has no zones. */
export async function addSampleZone(db: Db): Promise<void> {
  await sql`
    insert into dns_zones (team_id, name, name_key)
    select id, ${`${sampleZone}.`}, ${Buffer.from(nameKey(parseName(sampleZone)))} from teams where slug = 'demo'`.execute(
    db,
  )
}

/** By section. */
export const elementSamples: Readonly<Record<string, Sample>> = {
  locations: {
    element: 0,
    fields: { name: { name: 'X' }, country: { country: 'BE' }, timezone: { timezone: 'UTC' } },
  },
  regions: {
    element: 0,
    fields: {
      name: { name: 'X' },
      location: { location: 'fra' },
      open: { open: false },
      speaker: { speaker: { kind: 'sandbox', latency_ms: 5 } },
      speakers: { speaker: undefined, speakers: [{ name: 'r1', kind: 'sandbox' }] },
      quorum: { quorum: 1 },
      communities: { communities: ['64500:120'] },
      large_communities: { large_communities: ['64500:1:120'] },
      blackhole_next_hop: { blackhole_next_hop: { ipv4: '192.0.2.66' } },
    },
  },
  teams: {
    element: 0,
    fields: {
      name: { name: 'X' },
      modules: { modules: ['dns'] },
      enable_dns: { enable_dns: false },
      enable_sdwan: { enable_sdwan: true },
    },
  },
  users: {
    element: 0,
    fields: {
      username: { username: 'x' },
      first_name: { first_name: 'X' },
      last_name: { last_name: 'X' },
      display_name: { display_name: 'X' },
      avatar_url: { avatar_url: 'https://x.example/x.png' },
      country: { country: 'BE' },
      password: { password: 'another sentence for ada' },
      password_hash: { password: undefined, password_hash: hash },
      password_file: { password: undefined, password_file: 'password' },
      teams: {
        teams: [
          { team: 'demo', admin: true },
          { team: 'other', admin: true },
        ],
      },
      staff: { staff: ['billing', 'noc'] },
      demo: { demo: true },
      confirmed: { confirmed: false },
    },
  },
  prefixes: { element: 0, fields: { name: { name: 'X' }, location: { location: 'fra' } } },
  asns: { element: 0, fields: { name: { name: 'X' }, verified: { verified: false } } },
  services: {
    element: {
      team: 'demo',
      name: 'Transit Amsterdam',
      type: 'transit',
      location: 'ams',
      commit_bps: 10_000_000_000,
      start_date: '2026-01-31',
    },
    fields: {
      type: { type: 'wave' },
      state: { state: 'error' },
      location: { location: 'fra' },
      commit_bps: { commit_bps: 20_000_000_000 },
      burst_bps: { burst_bps: 100_000_000_000 },
      start_date: { start_date: '2026-02-28' },
      end_date: { end_date: '2027-01-31' },
      external_ref: { external_ref: 'PO 17' },
      billing_ref: { billing_ref: 'INV-17' },
      billing_method: { billing_method: 'p95' },
      billing_direction: { billing_direction: 'sum' },
      billing_scope: { billing_scope: 'service' },
      billing_commit_scope: { billing_commit_scope: 'port' },
      billing_timezone: { billing_timezone: 'Europe/Amsterdam' },
      billing_day: { billing_day: 15 },
      billing_pool: { billing_pool: 'Transit' },
      billing_included_octets: { billing_method: 'volume', billing_included_octets: 10_000_000_000_000 },
      billing_prices: {
        billing_prices: { currency: 'EUR', monthly: '250', tiers: [{ above: 0, price: '0.45' }] },
      },
      asn: { asn: 64496 },
    },
  },
  credentials: {
    element: { name: 'core', version: 'v2c', community: 'a-community' },
    fields: {
      version: { version: 'v3', community: undefined, user: 'pharos' },
      community: { community: 'another' },
      community_file: { community: undefined, community_file: 'password' },
      user: { version: 'v3', community: undefined, user: 'pharos' },
      auth: v3,
      auth_password: { ...v3, auth_password: 'another password' },
      auth_password_file: { ...v3, auth_password: undefined, auth_password_file: 'password' },
      privacy: v3,
      privacy_password: { ...v3, privacy_password: 'another password' },
      privacy_password_file: { ...v3, privacy_password: undefined, privacy_password_file: 'password' },
    },
  },
  devices: {
    element: {
      name: 'r3.ams',
      role: 'edge',
      address: '192.0.2.3',
      credential: 'core',
      settings: { interfaces: [] },
    },
    fields: {
      role: { role: 'core' },
      vendor: { vendor: 'Juniper' },
      model: { model: 'MX204' },
      serial: { serial: 'X1' },
      location: { location: 'fra' },
      address: { address: '2001:db8::1' },
      driver: { driver: 'sandbox' },
      credential: { credential: 'other' },
      settings: { settings: { interfaces: [{ name: 'et-0/0/1' }] } },
      tags: { tags: ['lab'] },
      external_ref: { external_ref: 'netbox:17' },
    },
  },
  exporters: {
    element: { address: '192.0.2.3', device: 'r3.ams' },
    fields: {
      device: { device: 'r2.ams' },
      sampling_rate: { sampling_rate: 1000 },
      interfaces: { interfaces: { 514: 'et-0/0/1' } },
      internal: { internal: ['ae0', '514'] },
    },
  },
  detector_thresholds: {
    element: { team: 'demo', prefix: '192.0.2.128/25', bps: 1e9 },
    fields: {
      bps: { bps: 2e9 },
      pps: { pps: 1e5 },
      ratio: { ratio: 4.5 },
      network_bps: { network_bps: 3e9 },
      network_pps: { network_pps: 2e5 },
      outgoing_bps: { outgoing_bps: 1e8 },
      outgoing_pps: { outgoing_pps: 2e4 },
      min_seconds: { min_seconds: 5 },
      locked: { locked: true },
    },
  },
  scrubbers: {
    element: { name: 'lab', driver: { kind: 'sandbox' } },
    fields: {
      driver: { driver: { kind: 'sandbox', latency_ms: 5 } },
      prefixes: { prefixes: ['203.0.113.0/24', '2001:db8:a::/48'] },
      rules_max: { rules_max: 500 },
    },
  },
  cross_connects: {
    element: { circuit_id: 'XC-1', team: 'demo', service: 'Transit', port: 'AMS-1' },
    fields: {
      name: { name: 'X' },
      service: { service: 'Transit Amsterdam' },
      port: { port: 'AMS-2' },
      location: { location: 'fra' },
      panel: { panel: 'P1' },
      module: { module: 'M2' },
      position: { position: '3' },
      z_name: { z_name: 'Acme' },
      z_circuit_id: { z_circuit_id: 'A7' },
      z_panel: { z_panel: 'C4' },
      z_module: { z_module: '1' },
      z_position: { z_position: '7' },
      media: { media: 'single-mode duplex' },
      connector: { connector: 'LC/UPC' },
      chargeable: { chargeable: true },
    },
  },
  ports: {
    element: {
      circuit_id: 'AMS-1',
      device: 'r3.ams',
      interface: 'et-0/0/1',
      team: 'demo',
      service: 'Transit',
    },
    fields: {
      device: { device: 'r2.ams' },
      interface: { interface: 'et-0/0/2' },
      name: { name: 'Port 1' },
      media: { media: '100GBASE-LR4' },
      speed_bps: { speed_bps: 100_000_000_000 },
      description: { description: 'X' },
      panel: { panel: 'P1' },
      module: { module: 'M2' },
      position: { position: '3' },
      external_ref: { external_ref: 'netbox:18' },
      bgp_peers: { bgp_peers: ['192.0.2.130', '2001:db8::2'] },
      service: { service: 'Transit Amsterdam' },
      since: { since: '2026-01-31T12:00:00Z' },
    },
  },
  announcements: {
    element: 1,
    fields: {
      origin_asn: { origin_asn: 64499 },
      description: { description: 'X' },
      regions: { regions: ['ams'] },
      enabled: { enabled: true, validated: true },
      suspended: { suspended: true },
      validated: { validated: { irr: false } },
    },
  },
  provider: {
    element: { name: 'Example Transit' },
    fields: {
      name: { name: 'X' },
      accent: { accent: '#0f766e' },
      support: { support: 'https://example.net/support' },
      asn: { asn: 64_500 },
      logo: { logo: '<svg xmlns="http://www.w3.org/2000/svg"><g></g></svg>' },
      logo_file: { logo_file: 'logo' },
    },
  },
  staff_sign_in: {
    element: {
      issuer: 'https://login.example.net',
      client_id: 'pharos',
      client_secret: 'secret of the client',
      domains: ['example.net'],
    },
    fields: {
      issuer: { issuer: 'https://login.example.net/staff' },
      client_id: { client_id: 'another' },
      client_secret: { client_secret: 'another secret' },
      client_secret_file: { client_secret: undefined, client_secret_file: 'secret' },
      domains: { domains: ['example.net', 'example.org'] },
      groups: { groups: { 'net-ops': ['noc'] } },
      groups_claim: { groups_claim: 'roles' },
      acr: { acr: 'phr' },
      second_factor: { second_factor: 'trust' },
      required: { required: true },
      break_glass: { break_glass: ['oncall@example.net'] },
    },
  },
  tsig_keys: {
    element: 0,
    fields: {
      algorithm: { algorithm: 'hmac-sha512' },
      secret: { secret: 'YW5vdGhlciBzZWNyZXQ=' },
      secret_file: { secret: undefined, secret_file: 'key' },
      team: { team: 'demo' },
      update: { update: true, team: 'demo' },
      resources: {
        team: 'demo',
        resources: { zones: [{ zone: sampleZone, names: ['_acme-challenge.*'], types: ['TXT'] }] },
      },
    },
  },
  name_servers: {
    element: { name: 'ns1.example.net.', address: '192.0.2.53', tsig_key: 'transfer.example.net.' },
    fields: {
      kind: { kind: 'sandbox' },
      address: { address: '2001:db8::53' },
      port: { port: 5353 },
      tsig_key: { tsig_key: 'other.example.net.' },
      region: { region: 'ams' },
      public: { public: false },
      catalog: { catalog: false },
      signing: { signing: 'external' },
    },
  },
  dns: {
    element: { hostmaster: 'hostmaster.example.net.' },
    fields: {
      hostmaster: { hostmaster: 'noc.example.net.' },
      default_ttl: { default_ttl: 7200 },
      minimum_ttl: { minimum_ttl: 600 },
      refresh: { refresh: 7200 },
      retry: { retry: 1800 },
      expire: { expire: 2_419_200 },
      negative_ttl: { negative_ttl: 600 },
      history_days: { history_days: 30 },
      zones_per_team: { zones_per_team: 10 },
      recordsets_per_zone: { recordsets_per_zone: 100 },
      aliases_per_zone: { aliases_per_zone: 0 },
      apex_ns_editable: { apex_ns_editable: true },
    },
  },
  sources: {
    element: 0,
    fields: {
      kind: { kind: 'generic', settings: { fields: { id: '/i', network: '/n' } } },
      name: { name: 'X' },
      secret: { secret: 'another secret' },
      secret_file: { secret: undefined, secret_file: 'secret' },
      settings: { settings: {} },
    },
  },
}

/** The sample platform with an element of each kind. */
export const samplePlatform = (() => {
  const platform: Record<string, readonly SampleElement[]> = {
    ...parse(sampleText),
    tsig_keys: [
      { name: 'transfer.example.net.', secret: 'c2VjcmV0IG9mIGEga2V5' },
      { name: 'other.example.net.', secret: 'c2VjcmV0IG9mIGFub3RoZXI=' },
    ],
    name_servers: [{ name: 'ns2.example.net.', address: '192.0.2.54', tsig_key: 'other.example.net.' }],
  }
  platform['services'] = [{ team: 'demo', name: 'Transit', type: 'transit' }]
  platform['credentials'] = [{ name: 'other', version: 'v2c', community: 'other' }]
  platform['devices'] = [{ name: 'r2.ams', address: '192.0.2.2', credential: 'other' }]
  platform['ports'] = [
    {
      circuit_id: 'AMS-2',
      device: 'r2.ams',
      interface: 'et-0/0/9',
      team: 'demo',
      service: 'Transit Amsterdam',
    },
  ]
  // Each port is referred to: pruning keeps all of them.
  platform['cross_connects'] = [
    { circuit_id: 'XC-2', team: 'demo', service: 'Transit', port: 'AMS-2' },
    { circuit_id: 'XC-3', team: 'demo', service: 'Transit Amsterdam' },
  ]
  for (const [section, { element }] of Object.entries(elementSamples))
    if (typeof element === 'object') platform[section] = [...(platform[section] ?? []), element]
  return platform
})()

export function sampleElement(section: string): SampleElement {
  const { element } = elementSamples[section] ?? assert.fail(`no sample of ${section}`)
  return typeof element === 'object' ? element : samplePlatform[section]![element]!
}
