import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import * as fc from 'fast-check'
import { hash, verify } from '@node-rs/argon2'
import { createTestDatabase, emptyTables } from '../../db/testing.ts'
import { createKeyRing, verifyMac } from '../../runtime/secrets.ts'
import { applyPlatform, PlanOutdated, preparePlatform, type Prepared } from './apply.ts'
import { parseYaml } from './document.ts'
import { platformKinds } from '../kinds/index.ts'
import { printPlan } from './print.ts'
import { PlatformError } from './problem.ts'
import { sampleText } from '../samples.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const ring = createKeyRing(['a-secret-of-at-least-thirty-two-bytes'])
const now = new Date('2026-03-01T10:00:00Z')
const database = await createTestDatabase()
after(() => database[Symbol.asyncDispose]())
const db = database.postgres.owner

// The audit log is append-only: its triggers would refuse the truncation between tests.
await sql`do $$ declare kept record; begin
  for kept in select tgname, tgrelid::regclass as relation from pg_trigger
    where tgfoid = 'refuse_change'::regproc and tgparentid = 0 loop
    execute format('drop trigger %I on %s', kept.tgname, kept.relation);
  end loop; end $$`.execute(db)

const plain = { prune: false, enforce: false }

type Files = Readonly<Record<string, string>>

function prepare(text: string, options = plain, files: Files = {}, keys = ring): Promise<Prepared> {
  const readText = (path: string) => files[path] ?? assert.fail(`no file ${path}`)
  const document = parseYaml('platform.yaml', text)
  return preparePlatform(platformKinds, db, document, { ring: keys, readText }, options)
}

const applyPrepared = (prepared: Prepared) => applyPlatform(platformKinds, db, prepared, now)

/** Applies a text and returns the lines of its plan. */
async function apply(text: string, options = plain, files: Files = {}): Promise<string[]> {
  const prepared = await prepare(text, options, files)
  await applyPrepared(prepared)
  return printPlan(platformKinds, prepared.plan).split('\n')
}

async function empty(): Promise<void> {
  await emptyTables(
    db,
    [
      'locations',
      'regions',
      'teams',
      'users',
      'memberships',
      'prefixes',
      'asns',
      'announcements',
      'announcement_regions',
      'sources',
      'sessions',
      'audit_entries',
      'audit_unsealed',
      'deliveries',
      'delivery_ids',
    ],
    { restart: true },
  )
}

const rowsOf = async (query: ReturnType<typeof sql>) => (await query.execute(db)).rows

test('applies a file as a whole, and changes nothing when it is applied again', async () => {
  await empty()
  const first = await apply(sampleText)
  assert.equal(first.at(-1), '= 15 to create, 0 to change, 0 to delete, 0 unchanged')
  const passwords = await rowsOf(sql`select email, password_hash, email_confirmed from users`)
  const second = await apply(sampleText)
  assert.equal(second.length, 1)
  assert.match(second[0]!, /^= 0 to create, 0 to change, 0 to delete, 15 unchanged/)
  assert.deepEqual(await rowsOf(sql`select email, password_hash, email_confirmed from users`), passwords)
})

test('stores the rows that the rest of the product reads', async () => {
  await empty()
  await apply(sampleText)
  const [user] = (await rowsOf(sql`select * from users`)) as [Record<string, string>]
  assert.ok(await verify(user['password_hash']!, 'correct horse battery'))
  assert.match(user['password_hash']!, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.deepEqual(user['email_confirmed'], now)
  assert.equal(user['display_name'], 'Ada')
  const [source] = (await rowsOf(sql`select * from sources`)) as [{ secret_mac: Buffer; settings: unknown }]
  assert.ok(verifyMac(ring, 'source-secret', 'demo-secret', source.secret_mac))
  assert.deepEqual(source.settings, { timezone: 'Europe/Amsterdam', location: 'ams' })
  const announcements = await rowsOf(sql`
    select a.prefix, a.enabled, a.status, a.irr_validated is not null as irr, a.rpki_validated is not null as rpki,
      (select json_agg(json_build_array(r.slug, ar.configured, ar.state) order by r.slug)
        from announcement_regions ar join regions r on r.id = ar.region_id where ar.announcement_id = a.id) as regions
    from announcements a order by a.prefix`)
  assert.deepEqual(announcements, [
    {
      prefix: '192.0.2.0/24',
      enabled: true,
      status: 'announcing',
      irr: true,
      rpki: true,
      regions: [
        ['ams', true, 'announcing'],
        ['fra', true, 'announcing'],
      ],
    },
    {
      prefix: '2001:db8::/32',
      enabled: false,
      status: 'pending_validation',
      irr: true,
      rpki: false,
      regions: null,
    },
  ])
})

test('writes the changes to the audit log as the operator, without secrets', async () => {
  await empty()
  await apply(sampleText)
  await apply('users: [{email: ADA@demo.example, password: another good password}]\n')
  const entries = (await rowsOf(sql`
    select actor, action, target, team_id, after from audit_entries order by id`)) as Record<
    string,
    unknown
  >[]
  assert.equal(entries.length, 16)
  assert.ok(entries.every(({ actor }) => actor === 'operator'))
  const announcement = entries.find(({ action }) => action === 'announcement.create')!
  assert.match(String(announcement['target']), /^announcement:\d+$/)
  assert.ok(Number(announcement['team_id']) > 0)
  assert.doesNotMatch(JSON.stringify(entries), /argon2|secret_mac|password_hash/)
})

test('changes nothing if the file has a problem, and reports every problem', async () => {
  await empty()
  const text = `${sampleText}  - {key: Bad, kind: x, name: X, secret: y}\nteam: []\n`
  await assert.rejects(prepare(text), (error) => {
    assert.ok(error instanceof PlatformError)
    assert.match(
      error.message,
      /^platform\.yaml:34:11: key must be.*\nplatform\.yaml:35:1: unknown section team/m,
    )
    return true
  })
  assert.deepEqual(await rowsOf(sql`select 1 from teams`), [])
})

test('reads passwords and secrets from separate files', async () => {
  await empty()
  const text = [
    'users: [{email: a@x.example, password_file: pw}, {email: b@x.example, password_file: short}]',
    'sources: [{key: s, kind: fastnetmon, name: S, secret_file: none}]',
  ].join('\n')
  await assert.rejects(
    apply(text, plain, { pw: 'a password of some length\n', short: 'short\n' }),
    /platform\.yaml:1:86: the password has 5 characters.*\nplatform\.yaml:2:60: none cannot be read: no file none/,
  )
  const files = { pw: 'a password of some length\n', short: 'long enough after all', none: 's3cret\n' }
  assert.equal(
    (await apply(text, plain, files)).at(-1),
    '= 3 to create, 0 to change, 0 to delete, 0 unchanged',
  )
  assert.match((await apply(text, plain, files)).join(), /3 unchanged/)
})

test('a new password signs the user out everywhere', async () => {
  await empty()
  await apply(sampleText)
  await sql`insert into sessions (user_id, team_id, expires)
    select u.id, t.id, now() + interval '1 day' from users u, teams t where t.slug = 'demo'`.execute(db)
  await apply(sampleText.replace('correct horse battery', 'a whole new password'))
  const [row] = await rowsOf(sql`
    select u.session_version, s.revoked is not null as revoked from users u join sessions s on s.user_id = u.id`)
  assert.deepEqual(row, { session_version: 2, revoked: true })
})

test('a secret under an older key is renewed, so that the key can leave the ring', async () => {
  await empty()
  await apply(sampleText)
  const rotated = createKeyRing([
    'a-newer-secret-of-thirty-two-bytes!!',
    'a-secret-of-at-least-thirty-two-bytes',
  ])
  const prepared = await prepare(sampleText, plain, {}, rotated)
  assert.match(printPlan(platformKinds, prepared.plan), /^~ source fastnetmon secret: changed\n= /)
  await applyPrepared(prepared)
  const [source] = (await rowsOf(sql`select secret_mac from sources`)) as [{ secret_mac: Buffer }]
  const newest = createKeyRing(['a-newer-secret-of-thirty-two-bytes!!'])
  assert.ok(verifyMac(newest, 'source-secret', 'demo-secret', source.secret_mac))
})

test('suspending withdraws an announcement from its regions and keeps the settings of the team', async () => {
  await empty()
  await apply(sampleText)
  await sql`update announcement_regions set state = 'announced'`.execute(db)
  const changed = await apply(
    'announcements: [{team: demo, prefix: 192.0.2.0/24, origin_asn: 64496, suspended: true}]\n',
  )
  assert.equal(changed[0], '~ announcement 192.0.2.0/24 suspended: false -> true')
  const rows = await rowsOf(sql`
    select a.enabled, a.suspended, a.status, ar.configured, ar.state
    from announcements a join announcement_regions ar on ar.announcement_id = a.id limit 1`)
  assert.deepEqual(rows, [
    { enabled: true, suspended: true, status: 'withdrawing', configured: true, state: 'withdrawing' },
  ])
})

test('another origin requests all checks, and no stored answer about the earlier origin counts', async () => {
  await empty()
  await apply(sampleText)
  await sql`
    insert into announcement_validations (announcement_id, name, team_id, state, note, checked)
    select id, 'rpki', team_id, 'valid', '', now() from announcements`.execute(db)
  const stored = () =>
    rowsOf(sql`
      select a.prefix, a.check_requested is not null as requested, count(v)::integer as checks
      from announcements a left join announcement_validations v on v.announcement_id = a.id
      where a.prefix = '192.0.2.0/24' group by a.id`)
  await apply('announcements: [{team: demo, prefix: 192.0.2.0/24, origin_asn: 64496, description: x}]\n')
  assert.deepEqual(await stored(), [{ prefix: '192.0.2.0/24', requested: false, checks: 1 }])
  await apply('announcements: [{team: demo, prefix: 192.0.2.0/24, origin_asn: 64497}]\n')
  assert.deepEqual(await stored(), [{ prefix: '192.0.2.0/24', requested: true, checks: 0 }])
})

test('keeps what a team has enabled or disabled since, unless enforced', async () => {
  await empty()
  await apply(sampleText)
  await sql`update announcements set enabled = false where prefix = '192.0.2.0/24'`.execute(db)
  assert.match(
    (await apply(sampleText)).join('\n'),
    /^! announcement 192\.0\.2\.0\/24: enabled is true in the file and was set to false since/,
  )
  assert.deepEqual(await rowsOf(sql`select 1 from announcements where enabled`), [])
  await apply(sampleText, { prune: false, enforce: true })
  assert.deepEqual(await rowsOf(sql`select prefix from announcements where enabled`), [
    { prefix: '192.0.2.0/24' },
  ])
})

const people = (admin: string, rest = '') => `
teams:
  - {slug: red, name: Red}
users:
  - email: ann@red.example
    password: correct horse battery
    teams: [{team: red, admin: ${admin}}]
  - email: bob@red.example
    password: correct horse battery
    teams: [{team: red${rest}}]
`

test('keeps the name and the members that a team has changed since, unless enforced', async () => {
  await empty()
  const file = people('true', ', admin: true')
  await apply(file)
  await sql`update teams set name = 'Red by Choice', renamed = now()`.execute(db)
  await sql`update memberships set is_admin = false, roles = '{editor}', managed_by = 'team'
    where user_id = (select id from users where email = 'bob@red.example')`.execute(db)
  const stays = await apply(file)
  assert.deepEqual(stays.slice(0, -1), [
    '! team red: name is Red in the file and was set to Red by Choice since; kept (--enforce sets it)',
    '! membership red bob@red.example: roles is [admin] in the file and was set to [editor] since; kept (--enforce sets it)',
  ])
  await sql`with gone as (delete from memberships where not is_admin returning team_id, user_id)
    insert into former_members (team_id, user_id) select * from gone`.execute(db)
  assert.deepEqual((await apply(file)).slice(1, -1), [
    '! membership red bob@red.example: removed by the team or the user since; not created (--enforce creates it)',
  ])
  assert.deepEqual(
    (await apply(file, { prune: true, enforce: false })).filter((line) => /^[-+~]/.test(line)),
    [],
  )
  assert.deepEqual((await apply(file, { prune: false, enforce: true })).slice(0, -1), [
    '~ team red name: Red by Choice -> Red',
    '+ membership red bob@red.example (roles [admin])',
  ])
  assert.deepEqual(await rowsOf(sql`select name, renamed from teams`), [{ name: 'Red', renamed: null }])
  assert.deepEqual(await rowsOf(sql`select * from former_members`), [])
  // The field belongs to the operator again: no enforce is needed.
  const line = '~ membership red bob@red.example roles: [admin] -> [editor]'
  assert.deepEqual((await apply(people('true', ', admin: false'))).slice(0, -1), [line])
})

/**
 * Gives each of the two an admin session, an admin token and an open invitation in the team; returns the valid ones of
 * bob.
 */
async function addHoldings(): Promise<() => Promise<unknown[]>> {
  await sql`insert into sessions (user_id, team_id, expires) select id, 1, '2100-01-01' from users`.execute(
    db,
  )
  await sql`
    insert into api_tokens (id, team_id, name, secret_mac, scopes, is_admin, created_by, creator)
    select left(split_part(email, '@', 1), 3), 1, '', '', '{}', true, id, 'user:' || id from users`.execute(
    db,
  )
  await sql`
    insert into invitations (team_id, email, is_admin, roles, token_mac, invited_by, inviter, inviter_name, expires)
    select 1, split_part(email, '@', 1) || '@new.example', true, '{admin}', email::bytea, id, 'user:' || id, '', '2100-01-01'
    from users`.execute(db)
  return () =>
    rowsOf(sql`
      select 'session' as held, null as admin from sessions s join users u on u.id = s.user_id
        where u.email like 'bob@%' and s.revoked is null
      union all select 'token', is_admin from api_tokens where id = 'bob' and revoked is null
      union all select 'invitation', is_admin from invitations where email like 'bob@%'`)
}

const prune = { prune: true, enforce: false }

test('a removed member and a deleted user lose their sessions, API tokens and invitations', async () => {
  const without = {
    membership: people('true').replace(/    teams: \[\{team: red\}\]\n/, ''),
    user: people('true').replace(/  - email: bob[^]*/, ''),
  }
  for (const [what, file] of Object.entries(without)) {
    await empty()
    await apply(people('true'))
    const holdings = await addHoldings()
    assert.equal((await holdings()).length, 3)
    await apply(file, prune)
    assert.deepEqual(await holdings(), [], what)
    assert.deepEqual(await rowsOf(sql`select id from api_tokens where revoked is null`), [{ id: 'ann' }])
  }
})

test('the API tokens of a deleted user end also in teams that the user entered as staff', async () => {
  await empty()
  const withEntered = (file: string) => file.replace('users:', '  - {slug: entered, name: Entered}\nusers:')
  await apply(withEntered(people('true')))
  const holdings = await addHoldings()
  await sql`update api_tokens set team_id = (select id from teams where slug = 'entered')`.execute(db)
  await apply(withEntered(people('true').replace(/  - email: bob[^]*/, '')), prune)
  assert.deepEqual(await holdings(), [])
})

test('an admin who becomes a member keeps sessions and API tokens, without the role', async () => {
  await empty()
  await apply(people('true', ', admin: true'))
  const holdings = await addHoldings()
  await apply(people('true', ', admin: false'))
  assert.deepEqual(await holdings(), [
    { held: 'session', admin: null },
    { held: 'token', admin: false },
  ])
})

test('a member removed by the file is created again by the file', async () => {
  await empty()
  await apply(people('true'))
  const ended = sql`select u.email, f.ended_by from former_members f join users u on u.id = f.user_id`
  const without = people('true').replace(/    teams: \[\{team: red\}\]\n/, '')
  assert.deepEqual((await apply(without, { prune: true, enforce: false })).slice(0, -1), [
    '- membership red bob@red.example',
  ])
  assert.deepEqual(await rowsOf(ended), [{ email: 'bob@red.example', ended_by: 'operator' }])
  assert.deepEqual((await apply(people('true'))).slice(0, -1), [
    '+ membership red bob@red.example (roles [editor])',
  ])
  assert.deepEqual(await rowsOf(ended), [])
})

test('pruning keeps members that a team has invited and the accounts they created', async () => {
  await empty()
  await apply(people('true'))
  await sql`with made as (
      insert into users (email, username, password_hash) values ('eve@elsewhere.example', 'eve', '-') returning id)
    insert into memberships (team_id, user_id, roles) select (select id from teams), id, '{editor}' from made`.execute(
    db,
  )
  const lines = await apply(people('true'), { prune: true, enforce: true })
  assert.match(lines.join(), /0 to create, 0 to change, 0 to delete/)
})

test('keeps the last admin of a team, unless enforced, with a notice in both cases', async () => {
  await empty()
  await apply(people('true'))
  const kept = '! team red: no admin would be left; its admins are kept (--enforce removes them)'
  assert.deepEqual((await apply(people('false'))).slice(0, -1), [kept])
  const without = 'teams:\n  - {slug: red, name: Red}\nusers: []\n'
  assert.deepEqual((await apply(without, { prune: true, enforce: false })).slice(0, -1), [
    '- membership red bob@red.example',
    '- user bob@red.example',
    kept,
  ])
  // One file can replace the only admin.
  const handed = people('false', ', admin: true')
  assert.deepEqual(
    (await apply(handed)).filter((text) => text.startsWith('!')),
    [],
  )
  const lines = await apply(people('false', ', admin: false'), { prune: false, enforce: true })
  assert.ok(lines.includes('! team red: no admin is left'), lines.join('\n'))
  // A deleted team needs no admin.
  await apply(people('true'), { prune: false, enforce: true })
  const gone = await apply('teams: []\nusers: []\n', { prune: true, enforce: false })
  assert.deepEqual(
    gone.filter((text) => text.startsWith('!')),
    [],
  )
  assert.deepEqual(await rowsOf(sql`select id from teams`), [])
})

test('pruning keeps a team whose zones are served or whose shield rules are applied', async () => {
  await empty()
  const red = 'teams: [{slug: red, name: Red}]\n'
  const pruneTeams = () => apply('teams: []\n', { prune: true, enforce: false })
  await apply(red)
  await sql`insert into dns_zones (team_id, name, name_key) select id, 'red.example', '\\x00' from teams`.execute(
    db,
  )
  const kept = (reason: string) => `! team red is not in the file and is kept: ${reason}`
  assert.equal((await pruneTeams())[0], kept('its zones are served (1); delete them, then apply again'))
  await sql`update dns_zones set deleted = now(), deleted_by = 'user:1', withdrawn = now()`.execute(db)
  await sql`
    with list as (insert into shield_lists (team_id, prefix) select id, '192.0.2.0/24' from teams returning id, team_id)
    insert into shield_rules (list_id, team_id, sequence, enabled, action, match)
    select id, team_id, 10, true, 'deny', '{}' from list`.execute(db)
  assert.equal((await pruneTeams())[0], kept('it has shield rules; delete them, then apply again'))
  await sql`delete from shield_rules`.execute(db)
  assert.deepEqual((await pruneTeams()).slice(0, -1), ['- team red'])
})

test('enables in all open regions if the file names none', async () => {
  await empty()
  await apply(sampleText)
  await apply(
    'announcements: [{team: demo, prefix: 198.51.100.0/24, origin_asn: 64496, enabled: true, validated: true}]\n',
  )
  assert.deepEqual(
    await rowsOf(sql`
      select r.slug from announcement_regions ar join regions r on r.id = ar.region_id
      join announcements a on a.id = ar.announcement_id
      where a.prefix = '198.51.100.0/24' and ar.configured order by 1`),
    [{ slug: 'ams' }, { slug: 'fra' }],
  )
})

test('pruning withdraws first, and deletes only what is withdrawn', async () => {
  await empty()
  await apply(sampleText)
  const options = { prune: true, enforce: false }
  const text = sampleText.replace(/announcements:[^]*?sources:/, 'announcements: []\nsources:')
  assert.deepEqual((await apply(text, options)).slice(0, 2), [
    '~ announcement 192.0.2.0/24 enabled: true -> false',
    '- announcement 2001:db8::/32',
  ])
  const states = await rowsOf(sql`select distinct state from announcement_regions`)
  assert.deepEqual(states, [{ state: 'withdrawing' }], 'only the reconciler observes withdrawals')
  assert.match(
    (await apply(text, options)).join('\n'),
    /^! announcement 192\.0\.2\.0\/24 is not in the file and is kept/,
  )
  await sql`update announcement_regions set state = 'withdrawn'`.execute(db)
  assert.match((await apply(text, options)).join('\n'), /^- announcement 192\.0\.2\.0\/24/)
  const nothing =
    'locations: []\nregions: []\nteams: []\nusers: []\nprefixes: []\nasns: []\nannouncements: []\nsources: []\n'
  await apply(nothing, options)
  for (const table of [
    'locations',
    'regions',
    'teams',
    'users',
    'prefixes',
    'asns',
    'announcements',
    'sources',
  ]) {
    assert.deepEqual(await rowsOf(sql`select 1 from ${sql.table(table)}`), [], table)
  }
})

test('keeps the ASN proofs of a team, ends them with verified: false, replaces them with verified: true', async () => {
  await empty()
  await apply(sampleText)
  const prove = sql`insert into asns (team_id, asn, verified, verified_by, expires)
    select id, 64511, '2026-01-01Z', 'aut_num', '2026-06-30Z' from teams where slug = 'demo'`
  const stored = () =>
    rowsOf(
      sql`select verified, verified_by, expires, revoked is not null as revoked from asns where asn = 64511`,
    )
  await prove.execute(db)
  const before = await stored()
  const naming = (verified: string) =>
    sampleText.replace('\nasns:\n', `\nasns:\n  - {team: demo, asn: 64511${verified}}\n`)
  await apply(sampleText, { prune: true, enforce: false })
  await apply(naming(''))
  assert.deepEqual(await stored(), before)
  assert.equal((await apply(naming(', verified: true'))).length, 2)
  assert.deepEqual(await stored(), [{ verified: now, verified_by: null, expires: null, revoked: false }])
  assert.match((await apply(naming(', verified: true')))[0]!, /^= 0 to create, 0 to change/)
  await apply(naming(', verified: false'))
  const revoked = [{ verified: null, verified_by: null, expires: null, revoked: true }]
  assert.deepEqual(await stored(), revoked)
  assert.match((await apply(naming(', verified: false')))[0]!, /^= 0 to create, 0 to change/)
  await apply(sampleText, { prune: true, enforce: false })
  assert.deepEqual(await stored(), revoked)
})

test('verified: false revokes a proof in one run, with an entry in the audit log', async () => {
  await empty()
  await apply(sampleText)
  await sql`insert into asns (team_id, asn, verified, verified_by, expires)
    select id, 64511, '2026-01-01Z', 'aut_num', '2026-06-30Z' from teams where slug = 'demo'`.execute(db)
  const lines = await apply('asns: [{team: demo, asn: 64511, verified: false}]\n')
  assert.match(lines[0]!, /^~ asn demo AS64511 verified: .*"proven".* -> false$/)
  assert.deepEqual(await rowsOf(sql`select verified, revoked from asns where asn = 64511`), [
    { verified: null, revoked: now },
  ])
  assert.deepEqual(await rowsOf(sql`select actor from audit_entries where action = 'asn.update'`), [
    { actor: 'operator' },
  ])
})

test('verified: true for one team ends the proof of another team, and is possible for one team only', async () => {
  await empty()
  await apply(sampleText)
  const teams = 'teams: [{slug: demo, name: Demo}, {slug: two, name: Two}]\n'
  await apply(teams)
  await sql`insert into asns (team_id, asn, verified, verified_by, expires)
    select id, 64511, '2026-01-01Z', 'aut_num', '2026-06-30Z' from teams where slug = 'demo'`.execute(db)
  const stored = () =>
    rowsOf(sql`select t.slug, a.verified_by from asns a join teams t on t.id = a.team_id
      where a.asn = 64511 and a.verified is not null`)
  const lines = await apply('asns: [{team: two, asn: 64511, verified: true}]\n')
  assert.ok(
    lines.some((line) => /^~ asn demo AS64511 verified: .* -> null$/.test(line)),
    lines.join('\n'),
  )
  assert.deepEqual(await stored(), [{ slug: 'two', verified_by: null }])
  await assert.rejects(apply('asns: [{team: demo, asn: 64511, verified: true}]\n'), (error: PlatformError) =>
    /AS64511 is verified for team two; set verified: false there/.test(error.problems[0]!.message),
  )
  await apply('asns: [{team: demo, asn: 64511, verified: true}, {team: two, asn: 64511, verified: false}]\n')
  assert.deepEqual(await stored(), [{ slug: 'demo', verified_by: null }])
})

test('a source whose deliveries are kept is not deleted', async () => {
  await empty()
  await apply(sampleText)
  await sql`insert into deliveries (source_key, delivery_id, body) values ('fastnetmon', 'x', '')`.execute(db)
  const lines = await apply('sources: []\n', { prune: true, enforce: false })
  assert.equal(lines[0], '! source fastnetmon is not in the file and is kept: its deliveries are kept')
})

test('refuses an outdated plan', async () => {
  await empty()
  const prepared = await prepare(sampleText)
  await sql`insert into teams (slug, name) values ('demo', 'Another team')`.execute(db)
  await assert.rejects(applyPrepared(prepared), PlanOutdated)
  assert.deepEqual(await rowsOf(sql`select 1 from locations`), [])
})

test('one of two simultaneous runs is refused', async () => {
  await empty()
  const [one, two] = await Promise.all([1, 2].map(() => prepare(sampleText)))
  const results = await Promise.allSettled([applyPrepared(one!), applyPrepared(two!)])
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.match((await apply(sampleText)).join(), /15 unchanged/)
})

test('wakes the reconciler if announcements change, and only then', async () => {
  await empty()
  const client = await database.postgres.directConnection()
  const received: (string | undefined)[] = []
  client.on('notification', ({ payload }) => void received.push(payload))
  await client.query('listen pharos')
  await apply(sampleText)
  await client.query('select')
  assert.ok(received.includes('announcements') && received.includes('ownership'))
  received.length = 0
  await apply('teams: [{slug: demo, name: Renamed}]\n')
  await client.query('select')
  assert.ok(!received.includes('announcements'))
  await client.end()
})

const many = scaled(1_000)

test(`${many} announcements are applied in one run`, async () => {
  await empty()
  const announcements = Array.from({ length: many }, (_, at) => {
    const prefix = `100.${at >> 8}.${at & 255}.0/24`
    return `  - {team: demo, prefix: ${prefix}, origin_asn: 64496, regions: [ams], enabled: true, validated: true}`
  })
  const text = sampleText.replace('sources:', `${announcements.join('\n')}\nsources:`)
  assert.match((await apply(text)).at(-1)!, new RegExp(`^= ${many + 15} to create`))
  assert.match((await apply(text)).at(-1)!, new RegExp(`${many + 15} unchanged`))
})

const slugs = ['ams', 'fra']
const announcement = fc.record(
  {
    team: fc.constantFrom('demo', 'other'),
    prefix: fc.nat(4).map((at) => `198.51.${at}.0/24`),
    origin_asn: fc.integer({ min: 1, max: 2 }),
    validated: fc.oneof(fc.boolean(), fc.constant({ irr: true, loa: '2026-01-01' })),
    description: fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll('\0', '')),
    enabled: fc.boolean(),
    suspended: fc.boolean(),
    regions: fc.subarray(slugs),
  },
  { requiredKeys: ['team', 'prefix', 'origin_asn'] },
)
const prefix = fc.record(
  {
    team: fc.constantFrom('demo', 'other'),
    prefix: fc.nat(4).map((at) => `2001:db8:${at}::/48`),
    name: fc.string(),
  },
  { requiredKeys: ['team', 'prefix'] },
)

test('applying any accepted file a second time changes nothing', async () => {
  await empty()
  let applied = 0
  const file = fc.record({
    announcements: fc.array(announcement, { maxLength: 3 }),
    prefixes: fc.array(prefix, { maxLength: 3 }),
  })
  await apply(sampleText)
  await fc.assert(
    fc.asyncProperty(file, fc.boolean(), fc.boolean(), async (platform, prune, enforce) => {
      const text = JSON.stringify(platform)
      const options = { prune, enforce }
      const prepared = await prepare(text, options).catch((error) => {
        assert.ok(error instanceof PlatformError, String(error))
      })
      if (!prepared) return
      applied++
      await applyPrepared(prepared)
      const again = await prepare(text, options)
      assert.deepEqual(
        again.plan.changes.filter(({ action }) => action !== 'delete'),
        [],
      )
    }),
    { numRuns: 60 },
  )
  assert.ok(applied > 10, `only ${applied} files were accepted`)
})

test('keeps what users have changed in their accounts, unless enforced', async () => {
  await empty()
  const text = 'users: [{email: a@x.example, password: blue kettle rainy tram, confirmed: false}]\n'
  const force = { prune: false, enforce: true }
  type Stored = { confirmed: boolean; chosen: boolean; password_hash: string }
  const stored = async () =>
    (
      await rowsOf(sql`select email_confirmed is not null as confirmed, password_chosen is not null as chosen,
      password_hash from users`)
    )[0] as Stored
  await apply(text)
  assert.equal((await stored()).confirmed, false)
  assert.match((await apply(text)).at(-1)!, /^= 0 to create, 0 to change, 0 to delete, 1 unchanged/)
  await sql`update users set email_confirmed = now(), password_chosen = now(), password_hash = ${await hash('another one')}`.execute(
    db,
  )
  const chosen = await stored()
  const printed = await apply(text)
  assert.match(printed.join('\n'), /confirmed is false in the file and was set to true since; kept/)
  assert.match(printed.join('\n'), /the password was changed since; kept/)
  assert.doesNotMatch(printed.join('\n'), /argon2/)
  assert.deepEqual(await stored(), chosen)
  await apply(text, force)
  const enforced = await stored()
  assert.deepEqual([enforced.confirmed, enforced.chosen], [false, false])
  assert.ok(await verify(enforced.password_hash, 'blue kettle rainy tram'))
  await apply(text.replace('false', 'true'))
  assert.equal((await stored()).confirmed, true)
})

test('names of DNS are the same with and without the trailing dot, in any case', async () => {
  await empty()
  const written = (name: string) => `tsig_keys: [{name: ${name}, secret: c2VjcmV0IG9mIGEga2V5}]
name_servers: [{name: ns1.example.net, address: 192.0.2.53, tsig_key: ${name}}]
`
  const names = ['transfer.example.net', 'transfer.example.net.', 'Transfer.Example.Net']
  assert.equal(
    (await apply(written(names[0]!))).at(-1),
    '= 2 to create, 0 to change, 0 to delete, 0 unchanged',
  )
  for (const name of names) assert.match((await apply(written(name)))[0]!, /, 2 unchanged/, name)
  await apply(`tsig_keys: [{name: other.example.net, secret: c2VjcmV0IG9mIGEga2V5}]
name_servers: [{name: ns2.example.net, address: 192.0.2.54, tsig_key: other.example.net.}]
`)
  assert.deepEqual(
    await rowsOf(
      sql`select s.name, k.name as key from dns_servers s join dns_tsig_keys k on k.id = s.tsig_key_id order by 1`,
    ),
    [
      { name: 'ns1.example.net.', key: 'transfer.example.net.' },
      { name: 'ns2.example.net.', key: 'other.example.net.' },
    ],
  )
  await assert.rejects(
    apply(`tsig_keys: [{name: a.example.net, secret: c2VjcmV0}, {name: a.example.net., secret: c2VjcmV0}]\n`),
    PlatformError,
  )
})

test('ports exchange their interfaces in one run, and a new port gets that of another', async () => {
  await empty()
  const places = (ports: Readonly<Record<string, string>>) =>
    `ports:\n${Object.entries(ports)
      .map(([circuit, key]) => `  - {circuit_id: ${circuit}, device: moved.ams, interface: ${key}}\n`)
      .join('')}`
  await apply(`devices: [{name: moved.ams}]\n${places({ 'M-1': 'e1', 'M-2': 'e2' })}`)
  await sql`
    insert into interfaces (device_id, key, name, if_index, type)
    select d.id, k.key, k.key, k.place, 6
    from devices d, unnest(array['e1', 'e2', 'e3']) with ordinality k (key, place) where d.name = 'moved.ams'`.execute(
    db,
  )
  await apply(places({ 'M-1': 'e2', 'M-2': 'e1' }))
  await apply(places({ 'M-0': 'e1', 'M-1': 'e3', 'M-2': 'e2' }))
  assert.deepEqual(
    await rowsOf(sql`
      select p.circuit_id, p.interface_key, i.key as linked from ports p left join interfaces i on i.id = p.interface_id
      where p.circuit_id like 'M-%' order by 1`),
    [
      { circuit_id: 'M-0', interface_key: 'e1', linked: 'e1' },
      { circuit_id: 'M-1', interface_key: 'e3', linked: 'e3' },
      { circuit_id: 'M-2', interface_key: 'e2', linked: 'e2' },
    ],
  )
})

test('an announcement stays in a closed region, also if its prefix is written in capital letters', async () => {
  await empty()
  const written = (isOpen: boolean) => `locations: [{key: ams, name: Amsterdam, country: NL, timezone: UTC}]
regions: [{slug: ams, name: Amsterdam, location: ams, open: ${isOpen}, speaker: {kind: sandbox}}]
teams: [{slug: demo, name: Demo}]
announcements: [{team: demo, prefix: '2A00:DB8:5::/48', origin_asn: 64496, regions: [ams]}]
`
  await apply(written(true))
  assert.match((await apply(written(false))).join(), /region ams open: true -> false/)
})

test('a credential that gets another version needs the secrets of that version', async () => {
  await empty()
  await apply(`credentials: [{name: versioned, version: v2c, community: abc}]`)
  const v3 = 'name: versioned, version: v3, user: x, auth: sha256'
  await assert.rejects(apply(`credentials: [{${v3}}]`), /versioned needs one of auth_password/)
  await apply(`credentials: [{${v3}, auth_password: a long password}]`)
  await apply(`credentials: [{${v3}}]`)
  await assert.rejects(apply(`credentials: [{${v3}, privacy: aes128}]`), /needs one of privacy_password/)
})
