// The engine with kinds that the product does not have yet: a sealed secret that only staff see, nested elements, references
// by id, and thousands of elements. Their tables exist in this test only.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Schema } from '../../db/schema.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../../db/testing.ts'
import { createKeyRing, isSealedUnderNewest, open, seal, type KeyRing } from '../../runtime/secrets.ts'
import { applyPlatform, preparePlatform } from './apply.ts'
import { defineKind } from './define-kind.ts'
import { documentOf } from './document.ts'
import { column, mapped, reference, referenceById } from './field.ts'
import type { Element, Kind } from './kind.ts'
import { locationKind } from '../kinds/location.ts'
import { teamKind } from '../kinds/team.ts'
import type { ApplyPlan } from './plan.ts'
import { planAsData, printPlan } from './print.ts'
import { PlatformError } from './problem.ts'
import { createRegistry } from './registry.ts'
import { FilePath, Name, Optional, SecretText, ShortSlug, Strict, TeamSlug } from './schema.ts'

/** The tables are not in the schema: teams lends its name to the types, and has columns of these names and types. */
const tableNamed = (name: string) => name as keyof Schema

const credential = defineKind({
  name: 'credential',
  plural: 'credentials',
  section: 'credentials',
  element: Strict({ name: ShortSlug, secret: Optional(SecretText), secret_file: Optional(FilePath) }),
  table: { name: tableNamed('toy_credentials'), id: 'id' },
  identity: ['name'],
  fields: {
    name: column('teams', 'name'),
    sealed: mapped('teams', ['slug'], {
      read: ({ slug }) => slug,
      write: (slug) => ({ slug }),
      secret: {
        name: 'secret',
        store(text, stored, ring, key) {
          const sealed = stored === undefined ? undefined : Buffer.from(stored, 'base64')
          if (
            sealed &&
            isSealedUnderNewest(ring, 'totp', sealed) &&
            open(ring, 'totp', sealed, key).toString() === text
          )
            return stored!
          return seal(ring, 'totp', Buffer.from(text), key).toString('base64')
        },
      },
    }),
  },
  check(context, elements): void {
    for (const { path, element } of elements) {
      context.add(credential, path, { name: element.name })
      context.addSecret(credential, 'sealed', { path, element })
    }
  },
})

const PortElement = Strict({ name: ShortSlug, team: Optional(TeamSlug) })

const device = defineKind({
  name: 'device',
  plural: 'devices',
  section: 'devices',
  element: Strict({
    name: ShortSlug,
    location: ShortSlug,
    credential: ShortSlug,
    description: Optional(Name),
    ports: Optional(Type.Array(PortElement, { expects: 'a list of ports' })),
  }),
  table: { name: tableNamed('toy_devices'), id: 'id' },
  identity: ['name'],
  fields: {
    name: column('teams', 'name'),
    location: reference('regions', 'location_key', locationKind),
    credential: referenceById('teams', 'credential_id' as 'name', credential),
    description: column('teams', 'description', { initial: '', isShown: true }),
  },
  check(context, elements): void {
    for (const { path, element } of elements) {
      const { ports: _, ...fields } = element
      context.add(device, path, fields)
    }
  },
})

type DeviceElement = { readonly name: string; readonly ports?: readonly { name: string; team?: string }[] }

const port = defineKind({
  name: 'port',
  plural: 'ports',
  section: 'devices',
  element: null,
  table: { name: tableNamed('toy_ports'), id: 'id' },
  identity: ['device', 'name'],
  fields: {
    device: referenceById('teams', 'device_id' as 'name', device),
    name: column('teams', 'name'),
    team: referenceById('memberships', 'team_id', teamKind),
  },
  check(context, elements: readonly Element<DeviceElement>[]): void {
    for (const { path, element } of elements) {
      for (const [at, one] of (element.ports ?? []).entries())
        context.add(port, [...path, 'ports', at], { ...one, device: element.name })
    }
  },
})

const kinds = [locationKind, teamKind, credential, device, port] as unknown as readonly Kind[]
const registry = createRegistry(kinds)

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
  await sql`create table toy_credentials (id integer generated always as identity primary key, name text unique, slug text not null);
    create table toy_devices (id integer generated always as identity primary key, name text unique, description text not null,
      location_key text not null references locations, credential_id integer not null references toy_credentials);
    create table toy_ports (id integer generated always as identity primary key, name text not null,
      device_id integer not null references toy_devices, team_id integer references teams, unique (device_id, name))`.execute(
    database.postgres.owner,
  )
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await emptyTables(database.postgres.owner, [
    'locations',
    'teams',
    'toy_credentials',
    'toy_devices',
    'toy_ports',
  ])
})

const oldKey = 'a-secret-of-at-least-thirty-two-bytes'
const ring = createKeyRing([oldKey])

async function apply(value: unknown, prune = false, keys: KeyRing = ring): Promise<ApplyPlan> {
  const readText = (path: string): string => assert.fail(`no file ${path}`)
  const { owner } = database.postgres
  const options = { prune, enforce: false }
  const prepared = await preparePlatform(
    registry,
    owner,
    documentOf('request', value),
    { ring: keys, readText },
    options,
  )
  await applyPlatform(registry, owner, prepared, new Date())
  return prepared.plan
}

const linesOf = (plan: ApplyPlan) => printPlan(registry, plan).split('\n')

const platform = {
  locations: [{ key: 'ams', name: 'Amsterdam', country: 'NL', timezone: 'UTC' }],
  teams: [{ slug: 'red', name: 'Red' }],
  credentials: [{ name: 'core', secret: 'community' }],
  devices: [
    { name: 'r1', location: 'ams', credential: 'core', ports: [{ name: 'p1', team: 'red' }, { name: 'p2' }] },
  ],
}

test('creates nested elements and references by id, and changes nothing the second time', async () => {
  assert.deepEqual(linesOf(await apply(platform)), [
    '+ location ams (name Amsterdam)',
    '+ team red (name Red)',
    '+ credential core',
    '+ device r1',
    '+ port r1 p1',
    '+ port r1 p2',
    '= 6 to create, 0 to change, 0 to delete, 0 unchanged',
  ])
  assert.deepEqual((await apply(platform)).changes, [])
})

test('keeps a sealed secret until it or the key changes, and shows it nowhere', async () => {
  await apply(platform)
  const changed = { credentials: [{ name: 'core', secret: 'another' }] }
  const plan = await apply(changed)
  assert.deepEqual(linesOf(plan)[0], '~ credential core secret: changed')
  assert.deepEqual(planAsData(registry, plan).changes, [
    { action: 'update', kind: 'credential', key: 'core', changes: [{ field: 'sealed' }] },
  ])
  const rotated = createKeyRing(['a-newer-secret-of-thirty-two-bytes!!', oldKey])
  assert.equal((await apply(changed, false, rotated)).changes.length, 1)
  assert.equal((await apply(changed, false, rotated)).changes.length, 0)
})

test('shows the audit entries of a team to that team, and those of kinds without a team to staff only', async () => {
  await apply(platform)
  const { rows } = await sql<{ action: string; slug: string | null }>`
    select a.action, t.slug from audit_entries a left join teams t on t.id = a.team_id
    order by a.id desc limit 6`.execute(database.postgres.owner)
  const teams = rows.toReversed().map(({ action, slug }) => `${action} ${slug}`)
  assert.deepEqual(teams, [
    'location.create null',
    'team.create red',
    'credential.create null',
    'device.create null',
    'port.create red',
    'port.create null',
  ])
})

test('reports problems with paths if there is no text', async () => {
  const wrong = {
    credentials: [{ name: 'core' }, { name: 'core', secret: 'x' }],
    devices: [{ name: 'r1', location: 'ams', credential: 'cor', ports: [{ nam: 'p1' }] }],
    device: [],
  }
  await assert.rejects(apply(wrong), (error) => {
    assert.ok(error instanceof PlatformError)
    assert.deepEqual(error.message.split('\n'), [
      'request: devices[0].ports[0].name: name is required',
      'request: devices[0].ports[0].nam: nam is not a known field (did you mean name?); known fields are name, team',
      'request: device: unknown section device (did you mean devices?); sections are locations, teams, credentials, devices',
      'request: credentials[0]: credential core is new and needs one of secret, secret_file',
      'request: credentials[1]: credential core is listed twice, first at credentials[0]',
    ])
    return true
  })
  await assert.rejects(apply({ devices: [{ name: 'r1', location: 'ams', credential: 'cor' }] }), (error) => {
    assert.ok(error instanceof PlatformError)
    assert.deepEqual(error.problems, [
      { path: ['devices', 0, 'location'], message: 'unknown location ams' },
      { path: ['devices', 0, 'credential'], message: 'unknown credential cor' },
    ])
    return true
  })
})

test('prunes nested elements with their section, and referenced elements after those that refer to them', async () => {
  await apply(platform)
  const { devices, ...rest } = platform
  const [first] = devices
  const onePort = { devices: [{ ...first, ports: [{ name: 'p2' }] }] }
  assert.deepEqual(linesOf(await apply(onePort, true)).slice(0, -1), ['- port r1 p1'])
  assert.deepEqual(linesOf(await apply({ credentials: [] }, true)).slice(0, -1), [
    '! credential core is not in the file and is kept: device r1 refers to it',
  ])
  // A reference that moves in the same run releases its old target.
  const moved = {
    credentials: [{ name: 'edge', secret: 'x' }],
    devices: [{ ...first, credential: 'edge', ports: [] }],
  }
  assert.deepEqual(linesOf(await apply(moved, true)).slice(0, -1), [
    '+ credential edge',
    '~ device r1 credential: core -> edge',
    '- port r1 p2',
    '- credential core',
  ])
  assert.deepEqual(linesOf(await apply({ ...rest, credentials: [], devices: [] }, true)).slice(0, -1), [
    '- device r1',
    '- credential edge',
  ])
})

test('applies 5,000 elements, and reports 5,000 unknown references', async () => {
  const ports = Array.from({ length: 5_000 }, (_, at) => ({ name: `p${at}`, team: 'red' }))
  const large = { ...platform, devices: [{ ...platform.devices[0], ports }] }
  assert.equal((await apply(large)).changes.length, 5_004)
  assert.deepEqual((await apply(large)).changes, [])
  const unknown = {
    devices: [{ ...platform.devices[0], ports: ports.map((one) => ({ ...one, team: 'rde' })) }],
  }
  await assert.rejects(apply(unknown), (error) => {
    assert.ok(error instanceof PlatformError)
    assert.equal(error.problems.length, 5_000)
    return true
  })
})

test('refuses a registry with two kinds of one name, or a kind before one that it refers to', () => {
  assert.throws(() => createRegistry([...kinds, kinds[0]!]), /two kinds are named location/)
  assert.throws(() => createRegistry(kinds.toReversed()), /port must come after device/)
})
