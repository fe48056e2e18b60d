// For tests of the platform file: a small platform as text, and the check of a text without a database.
import { checkPlatform, type CheckedDocument } from './engine/check.ts'
import { parseYaml } from './engine/document.ts'
import type { Current } from './engine/kind.ts'
import { platformKinds } from './kinds/index.ts'
import { PlatformError } from './engine/problem.ts'

export const sampleText = `# A small world
locations:
  - {key: ams, name: Amsterdam, country: NL, timezone: Europe/Amsterdam}
  - {key: fra, name: Frankfurt, country: DE, timezone: Europe/Berlin}
regions:
  - {slug: ams, name: Amsterdam, location: ams, speaker: {kind: sandbox}}
  - slug: fra
    name: Frankfurt
    location: fra
    speaker: {kind: gobgp, address: '127.0.0.1:50051', owner: '64500:1:1', next_hop: {ipv4: 192.0.2.1}}
teams:
  - {slug: demo, name: Demo Networks, modules: [lighthouse, ipam], enable_dns: true}
  - {slug: other, name: Other Networks, modules: [ipam]}
users:
  - email: ada@demo.example
    first_name: Ada
    password: correct horse battery
    teams:
      - {team: demo, admin: true}
      - {team: other}
prefixes:
  - {team: demo, prefix: 192.0.2.0/24, name: Servers, location: ams}
  - {team: other, prefix: '2001:DB8::/32'}
asns:
  - {team: demo, asn: 64496, name: Demo, verified: true}
announcements:
  - {team: demo, prefix: 192.0.2.0/24, origin_asn: 64496, regions: [fra, ams], enabled: true, validated: true}
  - team: other
    prefix: 2001:db8::/32
    origin_asn: 64497
    validated: {irr: 2026-01-31T12:00:00+01:00, loa: true}
sources:
  - {key: fastnetmon, kind: fastnetmon, name: FastNetMon, secret: demo-secret, settings: {timezone: Europe/Amsterdam, location: ams}}
`

/** An empty database. */
export const nothing: Current = { rows: new Map(), removed: new Set() }

export function checkText(text: string, current = nothing, prune = false): CheckedDocument {
  return checkPlatform(platformKinds, parseYaml('platform.yaml', text), current, { prune })
}

/** `line:column: message` of every problem, in the order of the file. */
export function problemLinesOf(text: string, current = nothing, prune = false): string[] {
  const { problems } = new PlatformError('', checkText(text, current, prune).problems)
  return problems.map(({ line, column, message }) => `${line}:${column}: ${message}`)
}
