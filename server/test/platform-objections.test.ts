// Changes that rows outside of the platform file forbid: `pharos apply --dry-run`, a dry run over HTTP and the
// application itself report the same objections, all of them, at their place in the file. A kind that objects and has
// no case here fails.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { operationOf, seedRegions, seedTeams } from '../src/byoip/announcement/testing.ts'
import { apply } from '../src/commands/apply.ts'
import { CommandFailure } from '../src/commands/command.ts'
import { runCommand, testRing as ring } from '../src/commands/testing.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { applyDocument } from '../src/platform/apply-document.ts'
import { applyPlatform, preparePlatform } from '../src/platform/engine/apply.ts'
import { parseYaml } from '../src/platform/engine/document.ts'
import { platformKinds } from '../src/platform/kinds/index.ts'
import { Failure } from '../src/runtime/error.ts'
import { parse } from 'yaml'
import { nameKey, type DomainName } from '../src/net/dns/name.ts'

let database: TestDatabase
const folder = mkdtempSync(join(tmpdir(), 'pharos-objections-'))
const owner = () => database.postgres.owner
before(async () => {
  database = await createTestDatabase()
  await seedRegions(database.postgres, ['objections'])
  await seedTeams(database.postgres, 2)
})
after(async () => {
  rmSync(folder, { recursive: true })
  await database[Symbol.asyncDispose]()
})
beforeEach(() =>
  emptyTables(owner(), [
    'announcements',
    'asns',
    'shield_lists',
    'blackholes',
    'ports',
    'devices',
    'services',
  ]),
)

type Case = {
  readonly first: string
  /** What the plan refers to. */
  readonly begin?: () => Promise<unknown>
  /** The plan, which is refused after `make`. */
  readonly next: string
  readonly make: () => Promise<unknown>
  /** With line and column. */
  readonly problems: readonly string[]
}

const announcements = (team: string) => `asns:
  - {team: team-0, asn: 64496, verified: ${team === 'team-0'}}
  - {team: team-1, asn: 64496, verified: ${team === 'team-1'}}
announcements:
  - {team: ${team}, prefix: 203.0.113.0/24, origin_asn: 64496, validated: true}
  - {team: ${team}, prefix: '2001:db8::/32', origin_asn: 64496, validated: true}
`
const inventory = `locations:
  - {key: here, name: Here, country: NL, timezone: UTC}
services:
  - {team: team-0, name: transit, type: transit, location: here}
  - {team: team-1, name: transit, type: transit, location: here}
credentials:
  - {name: public, version: v2c, community: secret-text}
devices:
  - {name: r1, location: here, address: 192.0.2.1, credential: public}
`
const ports = (...details: readonly string[]) =>
  `${inventory}ports:\n${details.map((more, at) => `  - {circuit_id: C${at}, device: r1, interface: e${at}${more}}\n`).join('')}`
const assigned = (team: string, since: string) => `, team: ${team}, service: transit, since: '${since}'`

const staffSignIn = (more = '') =>
  `staff_sign_in:\n  - {issuer: 'https://idp.example', client_id: pharos, client_secret: secret-text, domains: [net.example]${more}}\n`

const tsigKeys = (more = '') =>
  `tsig_keys:\n  - {name: acme.example.net., secret: c2VjcmV0LXRleHQtb2YtYS1rZXk=, team: team-0${more}}\n`

const cases: Readonly<Record<string, Case>> = {
  announcement: {
    first: announcements('team-0'),
    next: announcements('team-1'),
    make: async () => {
      await sql`insert into blackholes (team_id, host, forced, expires)
        select id, '203.0.113.7/32', true, now() + interval '1 hour' from teams where slug = 'team-0'`.execute(
        owner(),
      )
      await sql`with list as (insert into shield_lists (team_id, prefix, version)
          select id, '2001:db8:1::/48', 1 from teams where slug = 'team-0' returning id, team_id)
        insert into shield_rules (list_id, team_id, sequence, enabled, action, match)
          select id, team_id, 1, true, 'deny', '{}' from list`.execute(owner())
    },
    problems: [
      '5:12: 203.0.113.0/24 stays with team team-0 because of its black hole of 203.0.113.7; end that first',
      '6:12: 2001:db8::/32 stays with team team-0 because of its shield list of 2001:db8:1::/48; end that first',
    ],
  },
  port: {
    first: ports(assigned('team-0', '2026-01-01T00:00:00Z'), assigned('team-1', '2026-01-01T00:00:00Z'), ''),
    // The start of an assignment, another service, and a service for a port without one.
    next: ports(
      assigned('team-0', '2025-12-15T00:00:00Z'),
      assigned('team-0', '2026-01-02T00:00:00Z'),
      assigned('team-0', '2026-02-01T00:00:00Z'),
    ),
    make: async () => {
      const ended = (port: string, from: string, until: string) =>
        sql`insert into port_assignments (port_id, service_id, team_id, valid)
          select p.id, s.id, s.team_id, tstzrange(${from}, ${until}) from ports p, services s join teams t on t.id = s.team_id
          where p.circuit_id = ${port} and t.slug = 'team-1'`.execute(owner())
      await ended('C0', '2025-12-01T00:00:00Z', '2026-01-01T00:00:00Z')
      await ended('C2', '2026-01-01T00:00:00Z', '2026-03-01T00:00:00Z')
    },
    problems: [
      '11:88: port C0: since is before the end of the previous assignment at 2026-01-01T00:00:00.000Z',
      '13:88: port C2: since is before the end of the previous assignment at 2026-03-01T00:00:00.000Z',
    ],
  },
  staff_sign_in: {
    first: staffSignIn(),
    next: staffSignIn(', required: true'),
    // The upgrade from 0.2 is not finished.
    make: () => sql`update installation set schema_floor = '0.2.0'`.execute(owner()),
    problems: [
      '2:118: staff_sign_in: required is possible once the upgrade of the installation is finished; run pharos migrate --finish first',
    ],
  },
  tsig_key: {
    first: tsigKeys(),
    next: tsigKeys(', resources: {zones: [{zone: gone.example}]}'),
    begin: () =>
      sql`insert into dns_zones (team_id, name, name_key)
        select id, 'gone.example.', ${nameKey('gone.example.' as DomainName)} from teams where slug = 'team-0'`.execute(
        owner(),
      ),
    make: () => sql`delete from dns_zones where name = 'gone.example.'`.execute(owner()),
    problems: ['2:94: team team-0 has no zone gone.example.'],
  },
}

const options = { prune: false, enforce: false }
const prepare = (text: string) =>
  preparePlatform(
    platformKinds,
    owner(),
    parseYaml('platform.yaml', text),
    { ring, readText: () => '' },
    options,
  )
const write = (text: string): string => {
  const path = join(folder, 'platform.yaml')
  writeFileSync(path, text)
  return path
}

describe('objections of kinds of the platform file', () => {
  it('have a case for each kind that objects, and no kind refuses a change without one', () => {
    const objecting = platformKinds.kinds.filter(({ objectionsTo }) => objectionsTo).map(({ name }) => name)
    assert.deepEqual(objecting.toSorted(), Object.keys(cases).toSorted())
    const kinds = new URL('../src/platform/kinds/', import.meta.url)
    const throwing = readdirSync(kinds).filter((name) => {
      const text = readFileSync(new URL(name, kinds), 'utf8')
      return /PlatformError|\bfail(With)?\(/.test(text) && !name.endsWith('.test.ts')
    })
    assert.deepEqual(throwing, [])
  })

  for (const [kind, { first, begin, next, make, problems }] of Object.entries(cases))
    it(`are the same in the plan and in the application: ${kind}`, async () => {
      await applyPlatform(platformKinds, owner(), await prepare(first), new Date())
      await begin?.()
      const planned = await prepare(next)
      const audited = async () => (await sql`select from audit_entries`.execute(owner())).rows.length
      await make()
      const before = await audited()
      const messages = (name: string) => problems.map((problem) => `${name}:${problem}`).join('\n')
      await assert.rejects(applyPlatform(platformKinds, owner(), planned, new Date()), {
        message: messages('platform.yaml'),
      })
      const file = write(next)
      for (const option of ['--dry-run', '--yes'])
        await assert.rejects(
          runCommand(database, apply, '-f', file, option),
          (error) => error instanceof CommandFailure && error.message === messages(file),
        )
      // Secrets are not accepted over HTTP.
      const body = parse(next.replace(/ (?:client_)?secret: [^,]+,/, '')) as Record<string, unknown>
      const { credentials: _, ...rest } = body
      for (const dryRun of [true, false]) {
        const operation = operationOf(1, { dryRun, actor: { isStaff: true } })
        await assert.rejects(
          applyDocument({ db: owner(), ring }, operation, rest, {}),
          (error) =>
            error instanceof Failure &&
            problems.every((problem) => JSON.stringify(error.errors).includes(problem.split(': ')[1]!)) &&
            error.errors?.length === problems.length,
        )
      }
      assert.equal(await audited(), before)
    })
})
