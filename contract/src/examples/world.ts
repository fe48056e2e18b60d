// The world of the examples: one provider, one customer with its team, and objects that several operations show. All
// addresses, AS numbers and names are reserved for documentation (RFC 5737, RFC 3849, RFC 5398, RFC 2606).
import type { Static } from 'typebox'
import type { OpticWarning } from '../inventory/transceiver.ts'
import type { User } from '../session/session.ts'
import type { LocationReference, TeamReference } from '../scalar.ts'

export const team = {
  id: 7,
  name: 'Lindholm Hosting',
  is_admin: true,
  enable_sdwan: false,
  enable_dns: true,
}
export const teamReference: Static<typeof TeamReference> = { id: team.id, name: team.name }

/** An admin of the team. */
export const admin = { id: 31, email: 'maja@lindholm.example', name: 'Maja Lindholm' }
/** A member of the team without the admin role. */
export const engineer = { id: 32, email: 'tomas@lindholm.example', name: 'Tomás Ortega' }
/** An employee of the provider. */
export const employee = { id: 3, email: 'priya@example.net', name: 'Priya Nair' }

export const user: User = {
  id: admin.id,
  email: admin.email,
  avatar_url: '',
  username: 'maja',
  first_name: 'Maja',
  last_name: 'Lindholm',
  display_name: admin.name,
  country: 'SE',
  is_staff: false,
  billing_uuid: '9d3b2f60-51c4-4e0e-8d7a-6b0a4f1c2e95',
  current_team: team,
  teams: [team],
  enabled_modules: ['inventory', 'ipam', 'lighthouse'],
}

/** The API token of the team's Terraform runs. */
export const tokenId = 'k7m2q4x5w3zt'
export const apiToken = `phs_${tokenId}_EXAMPLE-NOT-A-REAL-SECRET`

export const web = {
  id: 4211,
  cidr: '203.0.113.0/24',
  prefix: '203.0.113.0',
  prefixlen: 24,
  origin_asn: 64496,
}
export const web6 = {
  id: 4212,
  cidr: '2001:db8:a::/48',
  prefix: '2001:db8:a::',
  prefixlen: 48,
  origin_asn: 64496,
}

/** A place of the provider. */
export const amsterdam: Static<typeof LocationReference> = { key: 'ams', name: 'Amsterdam', country: 'NL' }

/** A transit service of the team, with one port. */
export const serviceId = 87
export const portId = 512
export const uplink = {
  id: portId,
  name: 'et-0/0/1',
  circuit_id: 'AMS-0017',
  device_name: 'edge1.ams',
  service_id: serviceId,
}
/** An alert rule on it. */
export const alertRule = {
  id: 14,
  name: 'Uplink above its usual load',
  condition: {
    kind: 'port_utilisation',
    port_id: portId,
    direction: 'either',
    above_percent: 5,
    for_minutes: 15,
  },
} as const
/** A warning of its module. */
export const fading: OpticWarning = {
  code: 'trend',
  metric: 'rx_power',
  lane: 1,
  cause: 'path_or_far_module',
  since: '2026-03-02',
  margin_db: null,
  step_db: null,
  per_day: -0.061,
  limit_reached: '2026-04-09',
  message:
    'Lane 1: the received light falls by 0.061 dB a day and reaches its limit on 2026-04-09 at this rate. Check the fibre and its connectors, then the module at the other end.',
}

export const eventId = '3uu2hadob4dxwe2y33w4'
export const requestId = '5f0f6c1e-93a5-4d0c-8f4e-0a9c1d7b2e34'

/** An approval for withdrawals of these announcements of the team. */
export const approvalId = 12
export const withdrawnPrefixes = [
  { id: 4213, cidr: '198.51.100.0/24' },
  { id: web.id, cidr: web.cidr },
  { id: 4214, cidr: '2001:db8:8::/48' },
  { id: web6.id, cidr: web6.cidr },
]
