import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { seedZone } from '../dns/testing.ts'
import { createTestDatabase } from '../db/testing.ts'
import { Failure } from '../runtime/error.ts'
import { verifyMac } from '../runtime/secrets.ts'
import { parseApiToken } from '../session/api-token-format.ts'
import { findTokenRecord } from '../session/credentials.store.ts'
import { findStaffTokenRecord } from '../session/staff-token.store.ts'
import { UsageError } from './command.ts'
import { runCommand, testRing } from './testing.ts'
import { token } from './token.ts'

const database = await createTestDatabase()
after(() => database[Symbol.asyncDispose]())
const db = database.postgres.owner
const pharos = (...args: readonly string[]) => runCommand(database, token, ...args)
const create = (...args: readonly string[]) => pharos('create', '--team', 'demo', '--name', 'x', ...args)

before(async () => {
  await sql`insert into teams (slug, name, enabled_modules) values ('demo', 'Demo', '{ipam}'), ('other', 'Other', '{}'),
    ('brief', 'Brief', '{}')`.execute(db)
})

test('a new token is printed once, and the stored MAC matches it', async () => {
  const words =
    '--scopes ipam:read,lighthouse:read --scopes ipam:write --expires 90d --networks 192.0.2.0/24,2001:db8::7 ' +
    '--max-unused-days 30 --admin'
  const printed = await create(...words.split(' '))
  const [text = ''] = printed.split('\n')
  const { id, secret } = parseApiToken(text)!
  assert.equal(printed.split(secret).length, 2, 'the secret is printed once')
  const record = (await findTokenRecord(db, id))!
  assert.ok(verifyMac(testRing, 'api-token', secret, record.secretMac))
  assert.deepEqual(record.scopes, ['ipam:read', 'lighthouse:read', 'ipam:write'])
  assert.deepEqual(record.allowedNetworks, ['192.0.2.0/24', '2001:db8::7/128'])
  assert.equal(record.isAdmin, true)
  const days = (record.expires!.getTime() - Date.now()) / 86_400_000
  assert.ok(days > 89.9 && days <= 90)
  const stored = JSON.stringify(await db.selectFrom('api_tokens').selectAll().execute())
  const audit = await db.selectFrom('audit_entries').selectAll().execute()
  assert.ok(![stored, JSON.stringify(audit)].some((kept) => kept.includes(secret)))
  assert.deepEqual(
    audit.map(({ actor, action, target }) => [actor, action, target]),
    [['operator', 'api_token.create', `api_token:${id}`]],
  )
})

test('for scripts: only the token', async () => {
  const printed = await create('--scopes', 'ipam:read', '--quiet')
  assert.ok(parseApiToken(printed.trimEnd()))
  const record = await findTokenRecord(db, parseApiToken(printed.trimEnd())!.id)
  assert.deepEqual([record!.allowedNetworks, record!.isAdmin], [[], false])
})

const daysLeft = async (printed: string): Promise<number | null> => {
  const { expires } = (await findTokenRecord(db, parseApiToken(printed.trimEnd())!.id))!
  return expires && Math.round((expires.getTime() - Date.now()) / 86_400_000)
}

test('expires as a token of the API: in a year, never if asked for, not later than the team allows', async () => {
  assert.equal(await daysLeft(await create('--scopes', 'ipam:read', '--quiet')), 365)
  assert.equal(await daysLeft(await create('--scopes', 'ipam:read', '--expires', 'never', '--quiet')), null)
  await sql`update teams set token_days_max = 30 where slug = 'brief'`.execute(db)
  const brief = (...args: readonly string[]) =>
    pharos('create', '--team', 'brief', '--name', 'x', '--scopes', 'ipam:read', '--quiet', ...args)
  assert.equal(await daysLeft(await brief()), 30)
  for (const end of ['never', '31d']) await assert.rejects(brief('--expires', end), /30 days/)
})

test('is limited to zones with names and types, and to nothing of another team', async () => {
  const { rows: teams } = await sql<{ id: number; slug: string }>`select id, slug from teams`.execute(db)
  const idOf = (slug: string) => teams.find((team) => team.slug === slug)!.id
  await seedZone(database.postgres, { teamId: idOf('demo'), name: 'one.example.' })
  await seedZone(database.postgres, { teamId: idOf('other'), name: 'two.example.' })
  const words = '--scopes dns:write --zones one.example --names _acme-challenge.* --types TXT'
  assert.match(await create(...words.split(' ')), /limited to zone one\.example \(_acme-challenge\.\*; TXT\)/)
  const { rows } = await sql`select names, types from resource_limits`.execute(db)
  assert.deepEqual(rows, [{ names: ['_acme-challenge.*'], types: ['TXT'] }])
  await assert.rejects(create('--scopes', 'dns:write', '--zones', 'two.example'), /no such zone/)
  await assert.rejects(create('--scopes', 'lighthouse:read', '--zones', 'one.example'), /lighthouse:read/)
  await assert.rejects(create('--scopes', 'dns:write', '--zones', ''), /--zones is empty/)
  await assert.rejects(create('--scopes', 'dns:write', '--names', 'www'), /need --zones/)
  const zones = Array.from({ length: 101 }, (_, at) => `zone-${at}.example`).join()
  await assert.rejects(create('--scopes', 'dns:write', '--zones', zones), /zones must have at most 100/)
})

test('tokens are listed without their secrets, and one can be revoked by id or by its text', async () => {
  const [kept, leaked] = [
    await create('--scopes', 'ipam:read', '--quiet'),
    await create('--scopes', 'ipam:read', '--quiet'),
  ].map((text) => ({ text: text.trimEnd(), ...parseApiToken(text.trimEnd())! }))
  assert.match(await pharos('list'), new RegExp(`^${kept!.id} +demo +"x" +ipam:read `, 'm'))
  assert.equal(await pharos('list', '--team', 'other'), 'No tokens match.\n')
  assert.match(await pharos('revoke', leaked!.text), /was revoked/)
  assert.equal(await findTokenRecord(db, leaked!.id), undefined)
  const listed = JSON.parse(await pharos('list', '--team', 'demo', '--json')) as { id: string }[]
  assert.ok(listed.some(({ id }) => id === kept!.id) && !listed.some(({ id }) => id === leaked!.id))
  assert.ok(!('secret_mac' in listed[0]!))
  await pharos('revoke', leaked!.id)
  const { rows } = await sql`select 1 from audit_entries where action = 'api_token.revoke'`.execute(db)
  assert.equal(rows.length, 1, 'revoking again changes nothing')
})

const refused: readonly (readonly [string, readonly string[], RegExp])[] = [
  [
    'a scope that no operation requires',
    ['--scopes', 'ipam:raed'],
    /unknown scope ipam:raed; scopes are ipam:read, /,
  ],
  ['no scope at all', ['--scopes', ' , '], /must not be empty; scopes are /],
  ['a time in the past', ['--scopes', 'ipam:read', '--expires', '2020-01-01'], /is in the past/],
  ['no time', ['--scopes', 'ipam:read', '--expires', 'soon'], /neither a time such as/],
  ['host bits', ['--scopes', 'ipam:read', '--networks', '192.0.2.1/24'], /write 192\.0\.2\.0\/24/],
  ['an empty list of networks', ['--scopes', 'ipam:read', '--networks', ''], /name a network/],
  ['no days', ['--scopes', 'ipam:read', '--max-unused-days', '0'], /from 1 to/],
  ['a name that looks like another', ['--scopes', 'ipam:read', '--name', 'a\u200bb'], /U\+200B \(zero width/],
  ['an unknown option', ['--scopes', 'ipam:read', '--scope', 'x'], /--scope/],
]
for (const [what, args, message] of refused) {
  test(`is refused, and no token is created: ${what}`, async () => {
    const before = await db.selectFrom('api_tokens').selectAll().execute()
    await assert.rejects(create(...args), message)
    assert.deepEqual(await db.selectFrom('api_tokens').selectAll().execute(), before)
  })
}

test('an unknown team or token is named', async () => {
  const args = ['create', '--team', 'dmeo', '--name', 'x', '--scopes', 'ipam:read']
  await assert.rejects(pharos(...args), (error) => {
    assert.ok(error instanceof Failure && error.code === 'not_found')
    assert.match(error.message, /There is no team dmeo \(did you mean demo\?\)/)
    return true
  })
  await assert.rejects(pharos('list', '--team', 'nobody'), /There is no team nobody/)
  await assert.rejects(pharos('revoke', 'aaaaaaaaaaaa'), /no such API token/)
})

test('missing arguments are reported', async () => {
  for (const args of [
    [],
    ['make'],
    ['create'],
    ['create', '--team', 'demo'],
    ['revoke'],
    ['revoke', 'a', 'b'],
  ]) {
    await assert.rejects(pharos(...args), UsageError, args.join(' '))
  }
})

const createForStaff = (...args: readonly string[]) =>
  pharos('create', '--staff', '--name', 'deploy', ...args)

test('a staff token is printed once, stored as a MAC, listed and revoked', async () => {
  const printed = await createForStaff(
    ...'--scopes admin:read,admin:write --expires 90d --networks 192.0.2.0/24'.split(' '),
  )
  const [text = ''] = printed.split('\n')
  assert.match(text, /^phstaff_/)
  assert.match(printed, /of staff: admin:read, admin:write from 192\.0\.2\.0\/24, expires 2/)
  const { id, secret } = parseApiToken(text)!
  const record = (await findStaffTokenRecord(db, id))!
  assert.ok(verifyMac(testRing, 'staff-token', secret, record.secretMac))
  assert.deepEqual(record.scopes, ['admin:read', 'admin:write'])
  assert.deepEqual(record.allowedNetworks, ['192.0.2.0/24'])
  const stored = JSON.stringify(await db.selectFrom('staff_tokens').selectAll().execute())
  const audit = JSON.stringify(await db.selectFrom('audit_entries').selectAll().execute())
  assert.ok(![stored, audit].some((kept) => kept.includes(secret)))

  assert.match(
    await pharos('list'),
    new RegExp(`^${id} +\\(staff\\) +"deploy" +admin:read,admin:write `, 'm'),
  )
  assert.match(await pharos('list', '--staff'), new RegExp(`^${id} `))
  assert.doesNotMatch(await pharos('list', '--team', 'demo'), new RegExp(id))
  assert.match(await pharos('revoke', text), /was revoked/)
  assert.equal(await findStaffTokenRecord(db, id), undefined)
  await pharos('revoke', id)
  const { rows } = await sql<{ action: string; target: string; team_id: number | null }>`
    select action, target, team_id from audit_entries where target = ${`staff_token:${id}`} order by id`.execute(
    db,
  )
  const entry = { target: `staff_token:${id}`, team_id: null }
  assert.deepEqual(rows, [
    { action: 'staff_token.create', ...entry },
    { action: 'staff_token.revoke', ...entry },
  ])
})

const refusedForStaff: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['no expiry', ['--scopes', 'admin:read'], /needs --expires/],
  ['an expiry in six years', ['--scopes', 'admin:read', '--expires', '2200d'], /at most 5 years/],
  [
    'a scope of teams',
    ['--scopes', 'ipam:read', '--expires', '1d'],
    /unknown scope ipam:read; scopes are admin:read/,
  ],
  [
    'a team as well',
    ['--team', 'demo', '--scopes', 'admin:read', '--expires', '1d'],
    /either --team .* or --staff/,
  ],
  ['the admin role', ['--admin', '--scopes', 'admin:read', '--expires', '1d'], /for tokens of a team/],
]
for (const [what, args, message] of refusedForStaff) {
  test(`a staff token is refused with ${what}`, async () => {
    await assert.rejects(createForStaff(...args), message)
  })
}

test('a token of a team gets no scope of staff', async () => {
  await assert.rejects(create('--scopes', 'admin:read'), /unknown scope admin:read/)
})
