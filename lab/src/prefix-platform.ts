// A platform with one region of the lab and one team that announces prefixes there: for tests that need no more.
import type { Lab } from './network.ts'

export const labPerson = { email: 'lab@lab.example', password: 'a-password-for-the-lab' }

/** As in the platform file. */
export function prefixPlatform(lab: Lab, prefixes: readonly string[]) {
  const { name, apiAddress } = lab.region('ams')
  const next_hop = { ipv6: '2001:db8::1' }
  const speaker = { kind: 'gobgp', address: apiAddress, owner: '64500:1:1', next_hop, insecure: true }
  const about = { team: 'lab', origin_asn: 64496, regions: [name], enabled: true, validated: true }
  return {
    locations: [{ key: 'lab', name: 'Laboratory', country: 'NL', timezone: 'Europe/Amsterdam' }],
    regions: [{ slug: name, name, location: 'lab', speaker }],
    teams: [{ slug: 'lab', name: 'Laboratory', modules: ['ipam'] }],
    users: [{ ...labPerson, teams: [{ team: 'lab', admin: true }] }],
    asns: [{ team: 'lab', asn: 64496, verified: true }],
    announcements: prefixes.map((prefix) => ({ prefix, ...about })),
  }
}
