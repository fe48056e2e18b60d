// A team over HTTP: read by members, changed by admins, and the list of teams of a user.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { SessionTokens } from '@pharos/contract/session/session'
import type { AvailableTeam, Team } from '@pharos/contract/team/team'
import { sql } from 'kysely'
import { addUser, createTestApi, type TestApi } from './api.ts'
import {
  addColleague,
  addCompany,
  assertAnswered,
  assertProblem,
  auditOfTarget,
  authorizationOf,
  call,
  type Company,
} from './support/company-teams.ts'
import { addApiToken, openSession } from './support/credentials.ts'
import { markSessions } from './support/second-factor.ts'

let api: TestApi
let red: Company
let blue: Company
before(async () => {
  api = await createTestApi()
  red = await addCompany(api, 'red')
  blue = await addCompany(api, 'blue')
})
after(() => api[Symbol.asyncDispose]())

const patch = (body: object, headers: Record<string, string> = {}, by = red.admin.authorization) =>
  call(api, by, 'PATCH /v3/teams/current', body, headers)
const read = async (by = red.admin.authorization): Promise<Team> =>
  assertAnswered(await call(api, by, 'GET /v3/teams/current'))

describe('a team', () => {
  it('is returned with its ASNs, and with the role of the caller', async () => {
    await sql`insert into asns (team_id, asn, verified) values (${red.teamId}, 64500, '2026-01-02T03:04:05Z'),
      (${red.teamId}, 64499, null)`.execute(api.database.postgres.owner)
    const { created, ...team } = await read(red.member.authorization)
    assert.deepEqual(team, {
      id: red.teamId,
      name: 'Team red',
      is_admin: false,
      enable_sdwan: false,
      enable_dns: true,
      slug: 'red',
      description: '',
      billing_email: '',
      technical_email: '',
      abuse_email: '',
      noc_phone: '',
      country: '',
      timezone: 'UTC',
      asns: [
        { asn: 64_499, verified: null },
        { asn: 64_500, verified: '2026-01-02T03:04:05.000Z' },
      ],
      require_2fa: false,
      default_roles: ['reader'],
      token_days_max: null,
      member_count: 2,
    })
    assert.ok(Date.parse(created) <= Date.now())
    assert.equal((await read()).is_admin, true)
  })

  it('returns 304 until anything in it changes, whatever the cause', async () => {
    const first = await call(api, red.member.authorization, 'GET /v3/teams/current')
    const known = { 'if-none-match': String(first.headers['etag']) }
    const again = () => call(api, red.member.authorization, 'GET /v3/teams/current', undefined, known)
    assert.equal((await again()).status, 304)
    await addColleague(api, red, 'one-more')
    assert.equal((await again()).status, 200)
  })
})

describe('changing a team', () => {
  it('returns what the next GET returns, and changes only the named fields', async () => {
    const before = await read()
    const wanted = {
      name: 'Red Networks',
      description: 'Two lines\nof text',
      billing_email: 'Billing@Müller.example',
      technical_email: 'noc@red.example',
      abuse_email: 'abuse@red.example',
      noc_phone: '+31 (20) 123-4567',
      country: 'NL',
      timezone: 'Europe/Amsterdam',
    }
    const response = await patch(wanted)
    const changed = assertAnswered<Team>(response)
    assert.deepEqual(changed, { ...before, ...wanted, billing_email: 'Billing@xn--mller-kva.example' })
    assert.deepEqual(await read(), changed)
    const got = await call(api, red.admin.authorization, 'GET /v3/teams/current')
    assert.equal(got.headers['etag'], response.headers['etag'])
    const cleared = assertAnswered<Team>(await patch({ country: '', noc_phone: '', abuse_email: '' }))
    assert.deepEqual([cleared.country, cleared.noc_phone, cleared.abuse_email], ['', '', ''])
  })

  it('is returned in the session of every user at once', async () => {
    const { refresh } = await openSession(api, red.member.userId, red.teamId)
    const first = assertAnswered<SessionTokens>(
      await call(api, undefined, 'POST /v3/session/refresh', { refresh }),
    )
    assertAnswered(await patch({ name: 'Red Again' }))
    const second = assertAnswered<SessionTokens>(
      await call(api, undefined, 'POST /v3/session/refresh', { refresh: first.refresh }),
    )
    assert.notEqual(second.user_etag, first.user_etag)
    assert.equal(second.user.current_team.name, 'Red Again')
  })

  it('changes and audits nothing if it is repeated', async () => {
    const { headers } = await patch({ name: 'Quiet', billing_email: 'a@Quiet.Example' })
    const entries = (await auditOfTarget(api, `team:${red.teamId}`)).length
    for (const body of [{}, { name: 'Quiet' }, { billing_email: 'a@QUIET.example' }]) {
      const response = await patch(body)
      assertAnswered(response)
      assert.equal(response.headers['etag'], headers['etag'])
    }
    assert.equal((await auditOfTarget(api, `team:${red.teamId}`)).length, entries)
  })

  it('is audited in the team with the previous values', async () => {
    assertAnswered(await patch({ name: 'Before' }))
    assertAnswered(await patch({ name: 'After', country: 'DE' }))
    const entry = (await auditOfTarget(api, `team:${red.teamId}`)).at(-1)
    assert.deepEqual(entry, {
      team_id: red.teamId,
      actor: `user:${red.admin.userId}`,
      action: 'team.update',
      target: `team:${red.teamId}`,
      before: { name: 'Before', country: '' },
      after: { name: 'After', country: 'DE' },
    })
  })

  it('is rejected if the record has changed since it was read', async () => {
    const { headers } = await call(api, red.admin.authorization, 'GET /v3/teams/current')
    const ifMatch = { 'if-match': String(headers['etag']) }
    assertAnswered(await patch({ name: 'First' }, ifMatch))
    assertProblem(await patch({ name: 'Second' }, ifMatch), 'precondition_failed')
    assert.equal((await read()).name, 'First')
    // Data shown beside the record does not change its ETag.
    const newest = {
      'if-match': String(
        (await call(api, red.member.authorization, 'GET /v3/teams/current')).headers['etag'],
      ),
    }
    assertAnswered(await patch({ name: 'Third' }, newest))
  })

  it('is applied once for one Idempotency-Key; the same key in another team is a different key', async () => {
    const both = await addUser(api, 'both', [red, blue], { admin: true })
    const by = await authorizationOf(api, both.userId, red)
    const key = { 'idempotency-key': 'the-same' }
    const to = (teamId: number, body: object) => call(api, by, `PATCH /v3/teams/${teamId}`, body, key)
    const first = assertAnswered<Team>(await to(red.teamId, { description: 'once' }))
    assertAnswered(await patch({ description: 'by another admin' }))
    assert.deepEqual(assertAnswered<Team>(await to(red.teamId, { description: 'once' })), first)
    assert.equal((await read()).description, 'by another admin')
    assertProblem(await to(red.teamId, { description: 'twice' }), 'idempotency_mismatch')
    assert.equal(assertAnswered<Team>(await to(blue.teamId, { description: 'in blue' })).id, blue.teamId)
    const [entry] = (await auditOfTarget(api, `team:${blue.teamId}`)).toReversed()
    assert.deepEqual([entry?.team_id, entry?.actor], [blue.teamId, `user:${both.userId}`])
  })

  it('requires the admin role in that team, whatever the role in others', async () => {
    assertProblem(await patch({ name: 'x' }, {}, red.member.authorization), 'forbidden')
    const { userId } = await addUser(api, 'half', [red], { admin: true })
    await sql`insert into memberships (team_id, user_id, roles) values (${blue.teamId}, ${userId}, '{editor}')`.execute(
      api.database.postgres.owner,
    )
    const by = await authorizationOf(api, userId, red)
    assertProblem(await call(api, by, `PATCH /v3/teams/${blue.teamId}`, { name: 'x' }), 'forbidden')
    assertAnswered(await call(api, by, `PATCH /v3/teams/${red.teamId}`, { name: 'Red' }))
  })

  const invalid: Record<string, object> = {
    'a module': { enable_dns: false },
    'the slug': { slug: 'other' },
    'an empty name': { name: '' },
    'a name of spaces only': { name: '  ' },
    'a name of two lines': { name: 'a\nb' },
    'an invalid billing address': { billing_email: 'nobody' },
    'two addresses in one field': { abuse_email: 'a@b.example, c@d.example' },
    'an unknown country': { country: 'XX' },
    'a country in lowercase': { country: 'nl' },
    'an unknown time zone': { timezone: 'Europe/Atlantis' },
    'a UTC offset as time zone': { timezone: '+02:00' },
    'a telephone number without a country code': { noc_phone: '020 1234567' },
    'a null': { description: null },
    'a string for a boolean': { require_2fa: 'true' },
  }
  for (const [what, body] of Object.entries(invalid)) {
    it(`refuses ${what}`, async () => {
      const before = await read()
      const { errors } = assertProblem(await patch(body), 'invalid')
      assert.deepEqual(
        errors?.map(({ loc }) => loc),
        [['body', Object.keys(body)[0]]],
      )
      assert.deepEqual(await read(), before)
    })
  }

  it('returns all errors at once', async () => {
    const { errors } = assertProblem(
      await patch({ billing_email: 'x', country: 'XX', timezone: 'Nowhere' }),
      'invalid',
    )
    assert.deepEqual(
      errors?.map(({ loc }) => loc[1]),
      ['billing_email', 'country', 'timezone'],
    )
  })
})

describe('requiring a second factor', () => {
  it('is for an admin who has one, and refuses members without one', async () => {
    const strict = await addCompany(api, 'strict')
    const { admin, member } = strict
    const require2fa = () => call(api, admin.authorization, 'PATCH /v3/teams/current', { require_2fa: true })
    assert.match(assertProblem(await require2fa(), 'conflict').detail, /session\/totp/)
    const machine = `Token ${await addApiToken(api, strict.teamId, { scopes: ['team:write'], isAdmin: true })}`
    assertProblem(await call(api, machine, 'PATCH /v3/teams/current', { require_2fa: true }), 'conflict')
    await markSessions(api.database.postgres.owner, admin.userId, true)
    assert.equal(assertAnswered<Team>(await require2fa()).require_2fa, true)
    // By id, from another team: the team's setting applies, not the cached setting of the session.
    await sql`insert into memberships (team_id, user_id, roles) values (${blue.teamId}, ${member.userId}, '{editor}')`.execute(
      api.database.postgres.owner,
    )
    const elsewhere = await authorizationOf(api, member.userId, blue)
    assertProblem(await call(api, elsewhere, `GET /v3/teams/${strict.teamId}`), 'second_factor_required')
    assertProblem(
      await call(api, elsewhere, `GET /v3/teams/${strict.teamId}/members`),
      'second_factor_required',
    )
    const { results } = assertAnswered<{ results: AvailableTeam[] }>(
      await call(api, elsewhere, 'GET /v3/teams'),
    )
    assert.deepEqual(results.map(({ id }) => id).toSorted(), [strict.teamId, blue.teamId].toSorted())
    assertAnswered(await call(api, admin.authorization, 'PATCH /v3/teams/current', { require_2fa: false }))
    assertAnswered(await call(api, elsewhere, `GET /v3/teams/${strict.teamId}`))
  })
})

describe('the teams of a user', () => {
  type Page = { readonly results: AvailableTeam[]; readonly count: number }
  const list = async (by: string, query = ''): Promise<Page> =>
    assertAnswered(await call(api, by, `GET /v3/teams${query}`))

  it('contain the role in each, in the requested order', async () => {
    const [one, two] = [await addCompany(api, 'list-b'), await addCompany(api, 'list-a')]
    const { userId } = await addUser(api, 'lister', [one], { admin: true })
    await sql`insert into memberships (team_id, user_id, roles) values (${two.teamId}, ${userId}, '{editor}')`.execute(
      api.database.postgres.owner,
    )
    const by = await authorizationOf(api, userId, one)
    const flags = { enable_sdwan: false, enable_dns: true }
    const a = {
      id: two.teamId,
      name: 'Team list-a',
      is_admin: false,
      ...flags,
      role: 'member',
      roles: ['editor'],
      sign_in: null,
    }
    const b = {
      id: one.teamId,
      name: 'Team list-b',
      is_admin: true,
      ...flags,
      role: 'admin',
      roles: ['admin'],
      sign_in: null,
    }
    assert.deepEqual(await list(by), { results: [a, b], count: 2 })
    assert.deepEqual(await list(by, '?ordering=-name'), { results: [b, a], count: 2 })
    assert.deepEqual(await list(by, '?ordering=id&limit=1&offset=1'), { results: [a], count: 2 })
    assert.deepEqual(await list(by, '?name=LIST-B'), { results: [b], count: 1 })
    assert.deepEqual(await list(by, '?name=%25'), { results: [], count: 0 })
    assert.deepEqual(await list(by, '?offset=5'), { results: [], count: 2 })
  })

  it('contain all teams for staff, who are admins of none', async () => {
    const { userId } = await addUser(api, 'staff', [], { staff: true })
    const by = await authorizationOf(api, userId, red)
    const { count } = await list(by)
    const total = await sql<{ count: number }>`select count(*) from teams`.execute(
      api.database.postgres.owner,
    )
    assert.equal(count, total.rows[0]!.count)
    const [team] = (await list(by, '?name=list-a')).results
    assert.deepEqual([team?.role, team?.is_admin, team?.roles], ['staff', false, []])
    const inBlue = await authorizationOf(api, userId, blue)
    const { is_admin } = assertAnswered<Team>(await call(api, inBlue, `GET /v3/teams/${blue.teamId}`))
    assert.equal(is_admin, false)
    assertAnswered(await call(api, inBlue, `PATCH /v3/teams/${blue.teamId}`, { description: 'by staff' }))
  })

  it('contain one team for an API token', async () => {
    const by = `Token ${await addApiToken(api, blue.teamId, { scopes: ['team:read'], isAdmin: true })}`
    const { results, count } = await list(by)
    assert.deepEqual([results.map(({ id, role }) => [id, role]), count], [[[blue.teamId, 'admin']], 1])
    assertProblem(await call(api, by, `GET /v3/teams/${red.teamId}`), 'not_found')
    assert.equal(assertAnswered<Team>(await call(api, by, `GET /v3/teams/${blue.teamId}`)).is_admin, true)
  })
})
