// Members of a team over HTTP: lists, changes by admins, and the effects of a removal.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Member } from '@pharos/contract/team/member'
import { sql } from 'kysely'
import { parseApiToken } from '../src/session/api-token-format.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import {
  addColleague,
  addCompany,
  assertAnswered,
  assertProblem,
  auditOfTarget,
  authorizationOf,
  call,
  invitedBy,
  memberIdOf,
  type Answered,
  type Colleague,
} from './support/company-teams.ts'
import { addApiToken, openSession } from './support/credentials.ts'
import { scaled } from '../src/runtime/testing-scale.ts'

let api: TestApi
let teams = 0
before(async () => {
  api = await createTestApi()
})
after(() => api[Symbol.asyncDispose]())

const newCompany = () => addCompany(api, `company-${teams++}`)
const members = '/v3/teams/current/members'
const read = async (by: Colleague, id: number): Promise<Member> =>
  assertAnswered(await call(api, by.authorization, `GET ${members}/${id}`))
const demote = (by: Colleague, id: number, is_admin = false) =>
  call(api, by.authorization, `PATCH ${members}/${id}`, { is_admin })
const remove = (by: Colleague, id: number) => call(api, by.authorization, `DELETE ${members}/${id}`)
const invite = async (by: Colleague, email: string, rest: object = {}): Promise<Member> =>
  assertAnswered(await call(api, by.authorization, `POST ${members}`, { email, ...rest }), 201)
const owner = () => api.database.postgres.owner

/** A cached credential is invalidated by the database's notification, which takes a moment. */
async function eventually(ask: () => Promise<Answered>, status: number): Promise<Answered> {
  for (;;) {
    const answered = await ask()
    if (answered.status === status) return answered
    await sleep(10)
  }
}

/** Creates an API token of the user and returns its text. */
async function addTokenOf({ userId }: Colleague, { teamId }: TestTeam, isAdmin: boolean) {
  const text = await addApiToken(api, teamId, { scopes: ['team:read', 'team:write'], isAdmin })
  const { id } = parseApiToken(text)!
  await owner().updateTable('api_tokens').set({ created_by: userId }).where('id', '=', id).execute()
  return { id, authorization: `Token ${text}` }
}

describe('the members of a team', () => {
  type Page = { readonly results: Member[]; readonly count: number }

  it('are returned to every member, including open invitations', async () => {
    const { admin, member } = await newCompany()
    await sql`update users set display_name = 'Ann Lee', totp_enabled = now() where id = ${admin.userId}`.execute(
      owner(),
    )
    const invited = await invite(admin, 'zoe@elsewhere.example', { is_admin: true })
    const { results, count } = assertAnswered<Page>(await call(api, member.authorization, `GET ${members}`))
    assert.equal(count, 3)
    const [first, second, third] = results
    assert.deepEqual(
      { ...first, joined: 'then', last_seen: 'then' },
      {
        id: admin.memberId,
        user_id: admin.userId,
        email: admin.email,
        display_name: 'Ann Lee',
        is_admin: true,
        roles: ['admin'],
        roles_source: 'manual',
        status: 'active',
        invited_by: null,
        joined: 'then',
        last_seen: 'then',
        two_factor: true,
      },
    )
    assert.ok(Date.parse(first!.joined!) <= Date.now() && Date.parse(first!.last_seen!) <= Date.now())
    assert.deepEqual([second?.email, second?.is_admin, second?.two_factor], [member.email, false, false])
    assert.deepEqual(third, invited)
    assert.deepEqual(invited, {
      id: invited.id,
      user_id: null,
      email: 'zoe@elsewhere.example',
      display_name: '',
      is_admin: true,
      roles: ['admin'],
      roles_source: 'manual',
      status: 'invited',
      invited_by: admin.email,
      joined: null,
      last_seen: null,
      two_factor: false,
    })
    assert.deepEqual(await read(member, invited.id), invited)
  })

  it('are found by address, status and role, and sorted as requested', async () => {
    const company = await newCompany()
    const { admin, member } = company
    const guest = await invite(admin, 'Seeker@Elsewhere.example')
    const list = async (query: string) => {
      const page = assertAnswered<Page>(await call(api, admin.authorization, `GET ${members}${query}`))
      return [page.results.map(({ id }) => id), page.count]
    }
    assert.deepEqual(await list('?email=SEEKER@else'), [[guest.id], 1])
    assert.deepEqual(await list('?email=_'), [[], 0])
    assert.deepEqual(await list('?status=invited'), [[guest.id], 1])
    assert.deepEqual(await list('?status=active&is_admin=false'), [[member.memberId], 1])
    assert.deepEqual(await list('?ordering=-id'), [[guest.id, member.memberId, admin.memberId], 3])
    assert.deepEqual(await list('?ordering=status,-email&limit=2'), [[member.memberId, admin.memberId], 3])
    assert.deepEqual(await list('?ordering=joined'), [[guest.id, admin.memberId, member.memberId], 3])
    assert.deepEqual(await list('?offset=9'), [[], 3])
    assertProblem(await call(api, admin.authorization, `GET ${members}?ordering=password`), 'invalid')
    assertProblem(await call(api, admin.authorization, `GET ${members}?status=`), 'invalid')
  })

  it('have a last activity in this team, whatever they do in others', async () => {
    const [one, two] = [await newCompany(), await newCompany()]
    const { userId } = await addUser(api, 'quiet', [one, two])
    await openSession(api, userId, two.teamId)
    const id = await memberIdOf(api, one, userId)
    assert.equal((await read(one.admin, id)).last_seen, null)
    assert.notEqual((await read(two.admin, await memberIdOf(api, two, userId))).last_seen, null)
  })

  it('have an ETag that changes with the listed fields', async () => {
    const { admin, member } = await newCompany()
    const get = (known = {}) =>
      call(api, admin.authorization, `GET ${members}/${member.memberId}`, undefined, known)
    const { headers } = await get()
    const known = { 'if-none-match': String(headers['etag']) }
    assert.equal((await get(known)).status, 304)
    await sql`update users set display_name = 'Another' where id = ${member.userId}`.execute(owner())
    assert.equal((await get(known)).status, 200)
    // A changed name of the user does not affect a change of the role.
    const changed = await call(
      api,
      admin.authorization,
      `PATCH ${members}/${member.memberId}`,
      { is_admin: true },
      { 'if-match': String(headers['etag']) },
    )
    assertAnswered(changed)
    assert.equal((await get()).headers['etag'], changed.headers['etag'])
    const stale = { 'if-match': String(headers['etag']) }
    const line = `${members}/${member.memberId}`
    assertProblem(
      await call(api, admin.authorization, `PATCH ${line}`, { is_admin: false }, stale),
      'precondition_failed',
    )
    assertProblem(
      await call(api, admin.authorization, `DELETE ${line}`, undefined, stale),
      'precondition_failed',
    )
  })
})

describe('the role of a member', () => {
  it("applies at once to the member's current access token", async () => {
    const { admin, member } = await newCompany()
    assertProblem(await demote(member, admin.memberId), 'forbidden')
    assert.equal(assertAnswered<Member>(await demote(admin, member.memberId, true)).is_admin, true)
    const renamed = await call(api, member.authorization, 'PATCH /v3/teams/current', { name: 'Mine' })
    assertAnswered(renamed)
    assertAnswered(await demote(admin, member.memberId))
    assertProblem(
      await call(api, member.authorization, 'PATCH /v3/teams/current', { name: 'x' }),
      'forbidden',
    )
    // Applies also to operations on teams by id.
    await eventually(() => call(api, member.authorization, 'GET /v3/tokens'), 403)
  })

  it('is audited, and changes nothing if it is repeated', async () => {
    const { admin, member, teamId } = await newCompany()
    const first = await demote(admin, member.memberId, true)
    const again = await demote(admin, member.memberId, true)
    assert.equal(again.headers['etag'], first.headers['etag'])
    assert.deepEqual(again.json(), first.json())
    assert.deepEqual(await auditOfTarget(api, `member:${member.memberId}`), [
      {
        team_id: teamId,
        actor: `user:${admin.userId}`,
        action: 'member.update',
        target: `member:${member.memberId}`,
        before: { email: member.email, roles: ['editor'] },
        after: { email: member.email, roles: ['admin'] },
      },
    ])
  })

  it('is also removed from the member’s tokens and open invitations', async () => {
    const company = await newCompany()
    const { admin } = company
    const other = await addColleague(api, company, 'other', { admin: true })
    const [strong, weak] = [await addTokenOf(other, company, true), await addTokenOf(other, company, false)]
    const foreign = await addTokenOf(admin, company, true)
    const by = { ...other, authorization: strong.authorization }
    const open = [await invite(other, 'one@elsewhere.example'), await invite(by, 'two@elsewhere.example')]
    const kept = await invite(admin, 'three@elsewhere.example')
    const link = await invitedBy(api, 'one@elsewhere.example')
    assertAnswered(await demote(admin, other.memberId))
    for (const { id } of open)
      assertProblem(await call(api, admin.authorization, `GET ${members}/${id}`), 'not_found')
    assert.equal((await read(admin, kept.id)).status, 'invited')
    assertProblem(await call(api, undefined, 'POST /v3/session/invitation', { token: link }), 'invalid_token')
    const rename = (authorization: string) =>
      call(api, authorization, 'PATCH /v3/teams/current', { description: 'by a program' })
    await eventually(() => rename(strong.authorization), 403)
    assertAnswered(await call(api, weak.authorization, 'GET /v3/teams/current'))
    assertAnswered(await rename(foreign.authorization))
    const [entry] = await auditOfTarget(api, `member:${other.memberId}`)
    assert.deepEqual(entry?.after, {
      email: other.email,
      roles: ['reader'],
      api_tokens_demoted: [strong.id],
      invitations_withdrawn: ['one@elsewhere.example', 'two@elsewhere.example'],
    })
  })

  it('cannot be removed from the last admin, by any caller', async () => {
    const { admin, member, teamId } = await newCompany()
    assertProblem(await demote(admin, admin.memberId), 'last_admin')
    assertProblem(await remove(admin, admin.memberId), 'last_admin')
    const { userId } = await addUser(api, 'staff', [], { staff: true })
    const staff = await authorizationOf(api, userId, { teamId, slug: '' })
    const line = `/v3/teams/${teamId}/members/${admin.memberId}`
    assertProblem(await call(api, staff, `PATCH ${line}`, { is_admin: false }), 'last_admin')
    assertProblem(await call(api, staff, `DELETE ${line}`), 'last_admin')
    // An open invitation for an admin does not count as an admin.
    await invite(admin, 'next@elsewhere.example', { is_admin: true })
    assertProblem(await demote(admin, admin.memberId), 'last_admin')
    assertAnswered(await demote(admin, member.memberId, true))
    assertAnswered(await demote(admin, admin.memberId))
  })

  it('of an open invitation is that of the resulting member', async () => {
    const { admin } = await newCompany()
    const { id } = await invite(admin, 'later@elsewhere.example')
    const changed = assertAnswered<Member>(await demote(admin, id, true))
    assert.deepEqual([changed.is_admin, changed.status], [true, 'invited'])
    assert.equal(assertAnswered<Member>(await demote(admin, id)).is_admin, false)
  })
})

describe('the roles of a member', () => {
  const change = (by: Colleague, id: number, body: object) =>
    call(api, by.authorization, `PATCH ${members}/${id}`, body)

  it('are set as a list, in a canonical order, and read by is_admin too', async () => {
    const { admin, member } = await newCompany()
    const set = async (roles: readonly string[]) => {
      const { roles: now, is_admin } = assertAnswered<Member>(await change(admin, member.memberId, { roles }))
      return [now, is_admin]
    }
    assert.deepEqual(await set(['dns', 'billing', 'network']), [['network', 'dns', 'billing'], false])
    assert.deepEqual(await set(['admin', 'reader']), [['reader', 'admin'], true])
    assert.deepEqual(await set(['reader']), [['reader'], false])
    const { roles } = await invite(admin, 'net@elsewhere.example', { roles: ['dns', 'network'] })
    assert.deepEqual(roles, ['network', 'dns'])
  })

  it('are one of two forms of a request, not both and not none', async () => {
    const { admin, member } = await newCompany()
    const path = `${members}/${member.memberId}`
    const refused: [body: object, field: string, type: string][] = [
      [{}, 'roles', 'required'],
      [{ roles: ['reader'], is_admin: false }, 'is_admin', 'exclusive'],
      [{ roles: [] }, 'roles', 'minItems'],
      [{ roles: ['reader', 'reader'] }, 'roles', 'uniqueItems'],
      [{ roles: ['operator'] }, 'roles', 'enum'],
      [{ roles: null }, 'roles', 'type'],
    ]
    for (const [body, field, type] of refused) {
      const { errors } = assertProblem(await call(api, admin.authorization, `PATCH ${path}`, body), 'invalid')
      assert.deepEqual(
        errors?.map(({ loc, type: kind }) => [loc[1], kind]),
        [[field, type]],
        JSON.stringify(body),
      )
    }
    const both = { email: 'both@elsewhere.example', roles: ['reader'], is_admin: true }
    assertProblem(await call(api, admin.authorization, `POST ${members}`, both), 'invalid')
  })

  it('without a choice are those that the team gives by default', async () => {
    const { admin, member } = await newCompany()
    assert.deepEqual((await invite(admin, 'first@elsewhere.example')).roles, ['reader'])
    assertAnswered(
      await call(api, admin.authorization, 'PATCH /v3/teams/current', { default_roles: ['dns', 'editor'] }),
    )
    const second = await invite(admin, 'second@elsewhere.example', { is_admin: false })
    assert.deepEqual(second.roles, ['editor', 'dns'])
    assertAnswered(await change(admin, member.memberId, { roles: ['network'] }))
    // The member is no admin already.
    const same = assertAnswered<Member>(await change(admin, member.memberId, { is_admin: false }))
    assert.deepEqual(same.roles, ['network'])
    assertAnswered(await change(admin, member.memberId, { is_admin: true }))
    const demoted = assertAnswered<Member>(await change(admin, member.memberId, { is_admin: false }))
    assert.deepEqual(demoted.roles, ['editor', 'dns'])
    assertProblem(
      await call(api, admin.authorization, 'PATCH /v3/teams/current', { default_roles: ['admin'] }),
      'invalid',
    )
  })

  it('apply at once, in every team by its id', async () => {
    const { admin, member, teamId } = await newCompany()
    assertAnswered(await change(admin, member.memberId, { roles: ['reader'] }))
    await eventually(() => call(api, member.authorization, 'POST /v3/dns/ptr/batch', { records: [] }), 403)
    const answer = await call(api, member.authorization, `PATCH /v3/teams/${teamId}`, { name: 'x' })
    assert.equal(assertProblem(answer, 'forbidden').detail, 'Needs the role Admin. Ask an admin of the team.')
    assertAnswered(await change(admin, member.memberId, { roles: ['billing'] }))
    const pay = { billing_email: 'pay@company.example' }
    assertAnswered(await call(api, member.authorization, `PATCH /v3/teams/${teamId}`, pay))
    assertProblem(
      await call(api, member.authorization, `PATCH /v3/teams/${teamId}`, { ...pay, name: 'x' }),
      'forbidden',
    )
    const { roles } = assertAnswered<{ token: { roles: string[] } }>(
      await call(api, member.authorization, 'GET /v3/session/token'),
    ).token
    assert.deepEqual(roles, ['billing'])
  })

  it('take scopes from the tokens of the member, as far as their grants are gone', async () => {
    const company = await newCompany()
    const { admin } = company
    const other = await addColleague(api, company, 'other', { admin: true })
    const { id } = await addTokenOf(other, company, true)
    const scopes = [
      'ipam:read',
      'ipam:write',
      'dns:read',
      'dns:write',
      'lighthouse:read',
      'inventory:read',
      'audit:read',
    ]
    await owner().updateTable('api_tokens').set({ scopes }).where('id', '=', id).execute()
    const held = async () => {
      const row = await owner()
        .selectFrom('api_tokens')
        .select(['is_admin', 'scopes'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return [row.is_admin, row.scopes]
    }
    assertAnswered(await change(admin, other.memberId, { roles: ['admin', 'dns'] }))
    assert.deepEqual(await held(), [true, scopes], 'nothing was lost')
    assertAnswered(await change(admin, other.memberId, { roles: ['editor'] }))
    assert.deepEqual(await held(), [false, scopes.filter((scope) => scope !== 'audit:read')])
    assertAnswered(await change(admin, other.memberId, { roles: ['dns'] }))
    assert.deepEqual(await held(), [false, ['ipam:read', 'dns:read', 'dns:write', 'inventory:read']])
    // The report is within the scope lighthouse:read, and attacks are too.
    assertAnswered(await change(admin, other.memberId, { roles: ['billing'] }))
    assert.deepEqual(await held(), [false, ['inventory:read']])
  })

  it('keep an admin in the team', async () => {
    const { admin } = await newCompany()
    assertProblem(await change(admin, admin.memberId, { roles: ['network', 'dns'] }), 'last_admin')
    assertAnswered(await change(admin, admin.memberId, { roles: ['network', 'admin'] }))
  })

  it('agree with is_admin, also if a statement forgets it', async () => {
    const { member } = await newCompany()
    await assert.rejects(
      sql`update memberships set is_admin = true where id = ${member.memberId}`.execute(owner()),
      /memberships_roles/,
    )
    await assert.rejects(
      sql`update memberships set roles = '{}' where id = ${member.memberId}`.execute(owner()),
      /memberships_roles/,
    )
  })

  it('are listed with their grants', async () => {
    const { member } = await newCompany()
    const { results } = assertAnswered<{ results: { name: string; grants: string[] }[] }>(
      await call(api, member.authorization, 'GET /v3/roles'),
    )
    assert.deepEqual(
      results.map(({ name, grants }) => [
        name,
        grants.includes('ipam.operate'),
        grants.includes('tokens.manage'),
      ]),
      [
        ['reader', false, false],
        ['editor', true, false],
        ['network', true, false],
        ['dns', false, false],
        ['billing', false, false],
        ['admin', true, true],
      ],
    )
  })
})

describe('two admins at the same moment', () => {
  const rounds = scaled(12)
  type Pair = { readonly one: Colleague; readonly two: Colleague }
  const races: Record<string, (pair: Pair) => readonly Promise<Answered>[]> = {
    'who demote each other': ({ one, two }) => [demote(one, two.memberId), demote(two, one.memberId)],
    'who each demote themselves': ({ one, two }) => [demote(one, one.memberId), demote(two, two.memberId)],
    'who remove each other': ({ one, two }) => [remove(one, two.memberId), remove(two, one.memberId)],
    'who both leave': ({ one, two }) => [remove(one, one.memberId), remove(two, two.memberId)],
    'of whom one leaves while being made the last admin': ({ one, two }) => [
      demote(one, two.memberId),
      remove(one, one.memberId),
    ],
  }
  for (const [who, race] of Object.entries(races)) {
    it(`leave one, ${who}`, async () => {
      for (let round = 0; round < rounds; round++) {
        const team = await addTeam(api, `race-${teams++}`)
        const one = await addColleague(api, team, 'one', { admin: true })
        const two = await addColleague(api, team, 'two', { admin: true })
        const statuses = (await Promise.all(race({ one, two }))).map(({ status }) => status)
        const won = statuses.filter((status) => status < 300)
        const lost = statuses.filter((status) => status >= 300)
        assert.equal(won.length, 1, `statuses ${statuses}`)
        assert.ok(
          // A removed member may get 401 before the check of the role.
          lost.every((status) => [401, 403, 404, 409].includes(status)),
          `statuses ${statuses}`,
        )
        const { rows } = await sql<{ admins: number }>`
          select count(*) as admins from memberships where team_id = ${team.teamId} and is_admin`.execute(
          owner(),
        )
        assert.equal(rows[0]!.admins, 1)
      }
    })
  }

  for (const [what, change] of Object.entries({ demoted: demote, removed: remove })) {
    it(`a member who creates an API token while being ${what} has none with the role afterwards`, async () => {
      for (let round = 0; round < rounds; round++) {
        const company = await newCompany()
        const other = await addColleague(api, company, 'other', { admin: true })
        const token = { name: 'late', scopes: ['team:write'], is_admin: true }
        const [made, changed] = await Promise.all([
          call(api, other.authorization, 'POST /v3/tokens', token),
          change(company.admin, other.memberId),
        ])
        assert.ok(changed.status < 300, changed.body)
        assert.ok([201, 401, 403].includes(made.status), made.body)
        const { rows } = await sql`
          select from api_tokens where team_id = ${company.teamId} and is_admin and revoked is null`.execute(
          owner(),
        )
        assert.equal(rows.length, 0)
      }
    })
  }

  it('an admin who invites while being demoted has either done so before, or not at all', async () => {
    for (let round = 0; round < rounds; round++) {
      const company = await newCompany()
      const other = await addColleague(api, company, 'other', { admin: true })
      const email = `guest-${round}@elsewhere.example`
      const [invited, demoted] = await Promise.all([
        call(api, other.authorization, `POST ${members}`, { email }),
        demote(company.admin, other.memberId),
      ])
      assertAnswered(demoted)
      assert.ok([201, 403].includes(invited.status), invited.body)
      const { rows } = await sql`select from invitations where team_id = ${company.teamId}`.execute(owner())
      assert.equal(rows.length, 0)
    }
  })
})

describe('removing a member', () => {
  it("ends the member's access to the team, and to nothing else", async () => {
    const [company, other] = [await newCompany(), await newCompany()]
    const { admin, teamId } = company
    const { userId, email } = await addUser(api, 'leaver', [company, other], { admin: true })
    const memberId = await memberIdOf(api, company, userId)
    const here = await openSession(api, userId, teamId)
    const elsewhere = await openSession(api, userId, other.teamId)
    const leaver = { userId, email, memberId, authorization: `Bearer ${here.access}` }
    const token = await addTokenOf(leaver, company, false)
    const tokenElsewhere = await addTokenOf(leaver, other, false)
    await invite(leaver, 'friend@elsewhere.example')
    const link = await invitedBy(api, 'friend@elsewhere.example')

    const trial = await call(api, admin.authorization, `DELETE ${members}/${memberId}?dry_run=true`)
    const { changes } = assertAnswered<{ changes: { field: string; before: unknown }[] }>(trial)
    const ends = Object.fromEntries(changes.map(({ field, before }) => [field, before]))
    assert.deepEqual(ends, {
      email,
      roles: ['admin'],
      sessions_revoked: 1,
      api_tokens_revoked: [token.id],
      invitations_withdrawn: ['friend@elsewhere.example'],
    })
    assertAnswered(await call(api, token.authorization, 'GET /v3/teams/current'))

    assert.equal((await remove(admin, memberId)).status, 204)

    const refresh = (text: string) => call(api, undefined, 'POST /v3/session/refresh', { refresh: text })
    assertProblem(await refresh(here.refresh), 'token_not_valid')
    assertAnswered(await refresh(elsewhere.refresh))
    await eventually(() => call(api, leaver.authorization, 'GET /v3/teams/current'), 401)
    await eventually(() => call(api, token.authorization, 'GET /v3/teams/current'), 401)
    assertAnswered(await call(api, tokenElsewhere.authorization, 'GET /v3/teams/current'))
    const by = `Bearer ${elsewhere.access}`
    assertProblem(await call(api, by, `GET /v3/teams/${teamId}`), 'not_found')
    assertProblem(await call(api, undefined, 'POST /v3/session/invitation', { token: link }), 'invalid_token')
    assertProblem(await call(api, admin.authorization, `GET ${members}/${memberId}`), 'not_found')
    assertProblem(await remove(admin, memberId), 'not_found')
    assert.deepEqual((await auditOfTarget(api, `member:${memberId}`)).at(-1), {
      team_id: teamId,
      actor: `user:${admin.userId}`,
      action: 'member.remove',
      target: `member:${memberId}`,
      before: { user_id: userId, email, roles: ['admin'] },
      after: {
        sessions_revoked: 1,
        api_tokens_revoked: [token.id],
        invitations_withdrawn: ['friend@elsewhere.example'],
      },
    })
  })

  it('is allowed for admins, and for members who leave', async () => {
    const company = await newCompany()
    const { admin, member } = company
    const other = await addColleague(api, company, 'other')
    assertProblem(await remove(member, admin.memberId), 'forbidden')
    assertProblem(await remove(member, other.memberId), 'forbidden')
    const { id } = await invite(admin, 'guest@elsewhere.example')
    assertProblem(await remove(member, id), 'forbidden')
    assert.equal((await remove(member, member.memberId)).status, 204)
    // An API token is not a member: with the role it can remove its creator.
    const [weak, strong] = [await addTokenOf(other, company, false), await addTokenOf(admin, company, true)]
    assertProblem(await remove({ ...other, ...weak }, other.memberId), 'forbidden')
    assert.equal((await remove({ ...admin, ...strong }, other.memberId)).status, 204)
  })

  it('is permanent until an invitation ends it', async () => {
    const company = await newCompany()
    const { admin, member } = company
    const formerOf = async () => {
      const { rows } = await sql<{ user_id: number }>`
        select user_id from former_members where team_id = ${company.teamId}`.execute(owner())
      return rows.map(({ user_id }) => user_id)
    }
    await remove(admin, member.memberId)
    assert.deepEqual(await formerOf(), [member.userId])
    const { id } = await invite(admin, member.email)
    assert.deepEqual(await formerOf(), [member.userId])
    const token = await invitedBy(api, member.email)
    assertAnswered(await call(api, undefined, 'POST /v3/session/invitation/accept', { token }))
    assert.deepEqual(await formerOf(), [])
    assert.deepEqual(
      [(await read(admin, id)).user_id, (await read(admin, id)).status],
      [member.userId, 'active'],
    )
  })

  it('of an invitation invalidates its link, and frees the address', async () => {
    const { admin } = await newCompany()
    const { id } = await invite(admin, 'undone@elsewhere.example')
    const token = await invitedBy(api, 'undone@elsewhere.example')
    assert.equal((await remove(admin, id)).status, 204)
    assertProblem(await call(api, undefined, 'POST /v3/session/invitation', { token }), 'invalid_token')
    assertProblem(
      await call(api, undefined, 'POST /v3/session/invitation/accept', { token, password: 'whatever it is' }),
      'invalid_token',
    )
    assert.equal((await auditOfTarget(api, `member:${id}`)).at(-1)?.action, 'invitation.withdraw')
  })
})

describe('the rows that the database returns to a team', () => {
  it('are its own members, with no more columns than it needs', async () => {
    const [one, two] = [await newCompany(), await newCompany()]
    const asOne = <T>(query: ReturnType<typeof sql<T>>) =>
      api.database.postgres.inTeam(one.teamId, async (trx) => (await query.execute(trx)).rows)
    const users = await asOne(sql<{ id: number }>`select id from users order by id`)
    assert.deepEqual(
      users.map(({ id }) => id),
      [one.admin.userId, one.member.userId],
    )
    const seen = await asOne(sql<{ team_id: number }>`select team_id from sessions`)
    assert.ok(seen.length > 0 && seen.every(({ team_id }) => team_id === one.teamId))
    for (const table of ['invitations', 'former_members', 'memberships'])
      for (const { team_id } of await asOne(
        sql<{ team_id: number }>`select team_id from ${sql.table(table)}`,
      ))
        assert.equal(team_id, one.teamId)
    const denied = [
      sql`select password_hash from users`,
      sql`select * from users`,
      sql`select address from sessions`,
      sql`select token_mac from invitations`,
      sql`update users set email = 'x'`,
      sql`update sessions set expires = now() + interval '1 year'`,
      sql`update teams set enabled_modules = '{dns}'`,
      sql`update teams set slug = 'x'`,
      sql`insert into memberships (team_id, user_id, roles) values (${one.teamId}, ${two.admin.userId}, '{editor}')`,
      sql`update memberships set team_id = ${two.teamId}`,
    ]
    for (const query of denied) await assert.rejects(asOne(query), /permission denied/)
    const foreign = [
      sql`update sessions set revoked = now() where team_id = ${two.teamId} returning id`,
      sql`delete from memberships where team_id = ${two.teamId} returning id`,
      sql`update teams set name = 'x' where id = ${two.teamId} returning id`,
    ]
    for (const query of foreign) assert.deepEqual(await asOne(query), [])
    await assert.rejects(
      asOne(sql`insert into former_members (team_id, user_id) values (${two.teamId}, ${two.admin.userId})`),
      /row-level security/,
    )
  })
})
