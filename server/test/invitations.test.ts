// Invitations over HTTP: the mail, its link, the resulting member, and the limits of a link.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AcceptedInvitation, Invitation } from '@pharos/contract/session/invitation'
import type { Member } from '@pharos/contract/team/member'
import type { SessionTokens } from '@pharos/contract/session/session'
import { sql } from 'kysely'
import { addTeam, addUser, createTestApi, testPassword, type TestApi } from './api.ts'
import {
  addColleague,
  addCompany,
  assertAnswered,
  assertProblem,
  auditOfTarget,
  authorizationOf,
  call,
  invitedBy,
  mailsTo,
  type Answered,
  type Colleague,
  type Company,
} from './support/company-teams.ts'
import { addApiToken } from './support/credentials.ts'
import { parseApiToken } from '../src/session/api-token-format.ts'

const chosen = 'seven unlikely words of mine'

let api: TestApi
before(async () => {
  api = await createTestApi({ PHAROS_PUBLIC_URL: 'https://portal.example', PHAROS_PROVIDER_NAME: 'Provider' })
})
after(() => api[Symbol.asyncDispose]())

let made = 0
const newCompany = (server = api) => addCompany(server, `company-${made++}`)
const newAddress = (domain = 'elsewhere.example') => `guest-${made++}@${domain}`
const members = '/v3/teams/current/members'

const invite = (by: Colleague, email: string, rest: object = {}, server = api) =>
  call(server, by.authorization, `POST ${members}`, { email, ...rest })
const show = (token: string, server = api) =>
  call(server, undefined, 'POST /v3/session/invitation', { token })
const accept = (token: string, rest: object = {}, server = api) =>
  call(server, undefined, 'POST /v3/session/invitation/accept', { token, ...rest })
const signIn = (email: string, password: string) =>
  call(api, undefined, 'POST /v3/session/token', { email, password })
const owner = () => api.database.postgres.owner

/** Creates an invitation of the admin to a new address and returns the token of its mail. */
async function invited({ admin }: Company, rest: object = {}, email = newAddress()) {
  const { id } = assertAnswered<Member>(await invite(admin, email, rest), 201)
  return { id, email, token: await invitedBy(api, email) }
}

const statusOf = async ({ admin }: Company, id: number): Promise<Answered> =>
  call(api, admin.authorization, `GET ${members}/${id}`)

describe('inviting', () => {
  it('mails a link to the web application, with the inviter and their message', async () => {
    const company = await newCompany()
    const email = newAddress()
    assertAnswered(await invite(company.admin, email, { message: 'Welcome!\nAnn' }), 201)
    const [mail, ...others] = await mailsTo(api, email, 'invitation')
    assert.equal(others.length, 0)
    const { link, ...content } = mail!
    assert.match(link, /^https:\/\/portal\.example\/invitation#phm_invitation\.[1-9]\d*\.[\w-]{43}$/)
    assert.deepEqual(content, {
      days: 7,
      team: `Team ${company.slug}`,
      invitedBy: company.admin.email,
      roles: ['reader'],
      message: 'Welcome!\nAnn',
      provider: null,
    })
  })

  it('stores a MAC of the link, and returns the link in no response', async () => {
    const company = await newCompany()
    const { email, token, id } = await invited(company)
    const secret = token.split('.')[2]!
    const { rows } = await sql<{ text: string }>`
      select to_jsonb(i)::text as text from invitations i union all
      select to_jsonb(a)::text from audit_entries a union all
      select to_jsonb(m)::text from mails m where recipient = ${email}`.execute(owner())
    for (const { text } of rows) assert.ok(!text.includes(secret))
    assert.ok(!(await statusOf(company, id)).body.includes(secret))
    assert.deepEqual(await auditOfTarget(api, `member:${id}`), [
      {
        team_id: company.teamId,
        actor: `user:${company.admin.userId}`,
        action: 'member.invite',
        target: `member:${id}`,
        before: null,
        after: { email, roles: ['reader'], again: false },
      },
    ])
  })

  it('returns the same response whether or not the account exists', async () => {
    const [company, other] = [await newCompany(), await newCompany()]
    const known = await invite(company.admin, other.member.email)
    const unknown = await invite(company.admin, newAddress())
    const anonymous = ({ body, headers }: Answered, email: string) => ({
      body: { ...JSON.parse(body), id: 0, email: email.length },
      headers: Object.keys(headers),
    })
    assert.deepEqual(anonymous(known, 'x'), anonymous(unknown, 'x'))
    assert.equal(known.status, unknown.status)
    assert.equal(known.json<Member>().user_id, null)
    assert.equal(known.json<Member>().email, other.member.email)
    assert.equal((await mailsTo(api, other.member.email, 'invitation')).length, 1)
  })

  it('is rejected for a member, whatever the case of the address', async () => {
    const { admin, member } = await newCompany()
    for (const email of [member.email, member.email.toUpperCase(), admin.email])
      assertProblem(await invite(admin, email), 'already_member')
    assert.deepEqual(await mailsTo(api, member.email, 'invitation'), [])
  })

  it('accepts an address in any script, once for all its spellings', async () => {
    const { admin } = await newCompany()
    const first = assertAnswered<Member>(await invite(admin, 'rené@Bücher.example', { is_admin: true }), 201)
    assert.equal(first.email, 'rené@xn--bcher-kva.example')
    assert.equal((await mailsTo(api, 'rené@xn--bcher-kva.example', 'invitation')).length, 1)
    const again = await invite(admin, 'RENE\u0301@XN--Bcher-KVA.example')
    assert.equal(assertAnswered<Member>(again, 200).id, first.id)
    const token = await invitedBy(api, 'rené@xn--bcher-kva.example')
    assertAnswered(await accept(token, { password: chosen }))
    assertAnswered(await signIn('rené@xn--bcher-kva.example', chosen))
    assertProblem(await invite(admin, 'René@bücher.example'), 'already_member')
  })

  for (const email of [
    'nobody',
    'a@b@c.example',
    'a b@c.example',
    'a@c.example\nBcc: e@e.example',
    'a@[::1]',
  ]) {
    it(`is rejected for ${JSON.stringify(email)}`, async () => {
      const { admin } = await newCompany()
      const { errors } = assertProblem(await invite(admin, email), 'invalid')
      assert.deepEqual(errors?.[0]?.loc, ['body', 'email'])
    })
  }

  it('is sent once for one Idempotency-Key, including its mail', async () => {
    const { admin } = await newCompany()
    const email = newAddress()
    const send = () =>
      call(api, admin.authorization, `POST ${members}`, { email }, { 'idempotency-key': 'invite' })
    const [first, second] = [await send(), await send()]
    assert.deepEqual([second.status, second.body], [201, first.body])
    assert.equal((await mailsTo(api, email, 'invitation')).length, 1)
  })

  it('names the inviter: a member by name, a program as the team, staff as the provider', async () => {
    const company = await newCompany()
    const { userId: staffId } = await addUser(api, 'staff', [], { staff: true })
    const machine = await addApiToken(api, company.teamId, { scopes: ['team:write'], isAdmin: true })
    await sql`update users set display_name = 'Ann Lee' where id = ${company.admin.userId}`.execute(owner())
    const names: Record<string, string> = {
      [`Ann Lee (${company.admin.email})`]: company.admin.authorization,
      [`Team ${company.slug}`]: `Token ${machine}`,
      Provider: await authorizationOf(api, staffId, company),
    }
    for (const [name, authorization] of Object.entries(names)) {
      const email = newAddress()
      assertAnswered(await invite({ ...company.admin, authorization }, email), 201)
      const [mail] = await mailsTo(api, email, 'invitation')
      assert.equal(mail?.invitedBy, name)
      const shown = assertAnswered<Invitation>(await show(await invitedBy(api, email)))
      assert.equal(shown.invited_by, name)
    }
  })
})

describe('inviting again', () => {
  it('returns the open invitation with its role, and mails nothing, however often and from whichever process', async () => {
    const company = await newCompany()
    const first = await invited(company)
    const shown = (await statusOf(company, first.id)).body
    await using second = await createTestApi(
      { PHAROS_INVITATIONS_PER_HOUR: '1', PHAROS_INVITATION_INTERVAL_SECONDS: '86400' },
      { sameInstallationAs: api },
    )
    for (const server of [api, second, second, second, second]) {
      const again = await invite(
        company.admin,
        first.email.toUpperCase(),
        { is_admin: true, message: 'Again' },
        server,
      )
      assertAnswered(again, 200)
      assert.equal(again.body, shown)
    }
    assert.equal((await mailsTo(api, first.email, 'invitation')).length, 1)
    assert.equal((await mailsTo(api, first.email.toUpperCase(), 'invitation')).length, 0)
    assert.equal(assertAnswered<Invitation>(await show(first.token)).is_admin, false)
    assert.equal((await auditOfTarget(api, `member:${first.id}`)).length, 1)
  })

  it('is repeated with the same status for the same Idempotency-Key', async () => {
    const company = await newCompany()
    const { email } = await invited(company)
    const send = () =>
      call(
        api,
        company.admin.authorization,
        `POST ${members}`,
        { email, is_admin: true },
        { 'idempotency-key': 'again' },
      )
    const [first, second] = [await send(), await send()]
    assert.deepEqual([first.status, second.status, second.body], [200, 200, first.body])
  })

  it('creates a new invitation once the old one has expired', async () => {
    const company = await newCompany()
    const first = await invited(company)
    await sql`update invitations set expires = now() where id = ${first.id}`.execute(owner())
    assertProblem(await statusOf(company, first.id), 'not_found')
    assertProblem(await show(first.token), 'invalid_token')
    await using second = await createTestApi({}, { sameInstallationAs: api })
    const again = assertAnswered<Member>(await invite(company.admin, first.email, {}, second), 201)
    assert.notEqual(again.id, first.id)
    assertProblem(await show(first.token), 'invalid_token')
    assertAnswered(await show(await invitedBy(api, first.email)))
  })

  it('may come from several teams at once, up to a limit', async () => {
    await using slow = await createTestApi(
      { PHAROS_INVITATION_INTERVAL_SECONDS: '86400' },
      { sameInstallationAs: api },
    )
    const email = newAddress()
    for (let at = 0; at < 3; at++)
      assertAnswered(await invite((await newCompany()).admin, email, {}, slow), 201)
    assertProblem(await invite((await newCompany()).admin, email, {}, slow), 'rate_limited')
    assert.equal((await mailsTo(api, email, 'invitation')).length, 3)
  })

  it('has an hourly limit per team', async () => {
    await using slow = await createTestApi({ PHAROS_INVITATIONS_PER_HOUR: '2' }, { sameInstallationAs: api })
    const [one, two] = [await newCompany(), await newCompany()]
    assertAnswered(await invite(one.admin, newAddress(), {}, slow), 201)
    // Calls that are refused for other reasons do not count.
    assertProblem(await invite(one.admin, one.member.email, {}, slow), 'already_member')
    assertAnswered(await invite(one.admin, newAddress(), {}, slow), 201)
    assertProblem(await invite(one.admin, newAddress(), {}, slow), 'rate_limited')
    assertAnswered(await invite(two.admin, newAddress(), {}, slow), 201)
  })
})

describe('sending an invitation again', () => {
  const resend = (by: Colleague, id: number, server = api) =>
    call(server, by.authorization, `POST ${members}/${id}/resend`)
  const sentEarlier = (id: number) =>
    sql`update invitations set sent = now() - interval '2 days', expires = now() + interval '1 hour'
      where id = ${id}`.execute(owner())

  it('mails a new link with a new lifetime, keeps id and role, and invalidates the previous link', async () => {
    const company = await newCompany()
    const first = await invited(company, { is_admin: true })
    await sentEarlier(first.id)
    const again = assertAnswered<Member>(await resend(company.admin, first.id))
    assert.deepEqual([again.id, again.email, again.is_admin], [first.id, first.email, true])
    assertProblem(await show(first.token), 'invalid_token')
    assertProblem(await accept(first.token, { password: chosen }), 'invalid_token')
    assert.equal((await mailsTo(api, first.email, 'invitation')).length, 2)
    const token = await invitedBy(api, first.email)
    const { expires, is_admin } = assertAnswered<Invitation>(await show(token))
    assert.equal(is_admin, true)
    assert.ok(Date.parse(expires) > Date.now() + 6 * 86_400_000)
    assert.deepEqual(
      (await auditOfTarget(api, `member:${first.id}`)).map(({ after }) => after),
      [
        { email: first.email, roles: ['admin'], again: false },
        { email: first.email, roles: ['admin'], again: true },
      ],
    )
  })

  it('must wait for the interval, also in another process, and the answer contains when', async () => {
    await using slow = await createTestApi(
      { PHAROS_INVITATION_INTERVAL_SECONDS: '86400' },
      { sameInstallationAs: api },
    )
    const company = await newCompany()
    const { id, email, token } = await invited(company)
    const refused = await resend(company.admin, id, slow)
    const { detail } = assertProblem(refused, 'rate_limited')
    const seconds = Number(refused.headers['retry-after'])
    assert.ok(seconds > 86_000 && seconds <= 86_400, String(seconds))
    assert.ok(detail.includes(email) && detail.includes(`in ${seconds} s`), detail)
    assertAnswered(await show(token))
    assert.equal((await mailsTo(api, email, 'invitation')).length, 1)
    await sentEarlier(id)
    assertAnswered(await resend(company.admin, id, slow))
    assertProblem(await resend(company.admin, id, slow), 'rate_limited')
    assert.equal((await mailsTo(api, email, 'invitation')).length, 2)
  })

  it('counts as a mail of the team', async () => {
    await using slow = await createTestApi({ PHAROS_INVITATIONS_PER_HOUR: '1' }, { sameInstallationAs: api })
    const company = await newCompany()
    const { id } = await invited(company)
    await sentEarlier(id)
    assertAnswered(await resend(company.admin, id, slow))
    assertProblem(await invite(company.admin, newAddress(), {}, slow), 'rate_limited')
  })

  it('is rejected for a member who has joined, and for an expired invitation', async () => {
    const company = await newCompany()
    const joined = await invited(company)
    assertAnswered(await accept(joined.token, { password: chosen }))
    const { detail } = assertProblem(await resend(company.admin, joined.id), 'already_member')
    assert.match(detail, /has joined/)
    const expired = await invited(company)
    await sql`update invitations set expires = now() where id = ${expired.id}`.execute(owner())
    assertProblem(await resend(company.admin, expired.id), 'not_found')
  })

  it('is sent once for one Idempotency-Key, and for admins only', async () => {
    const company = await newCompany()
    const { id, email } = await invited(company)
    await sentEarlier(id)
    assertProblem(await resend(company.member, id), 'forbidden')
    const send = () =>
      call(api, company.admin.authorization, `POST ${members}/${id}/resend`, undefined, {
        'idempotency-key': 'resend',
      })
    const [first, second] = [await send(), await send()]
    assert.deepEqual([first.status, second.status, second.body], [200, 200, first.body])
    assert.equal((await mailsTo(api, email, 'invitation')).length, 2)
  })
})

describe('the quota of a team', () => {
  it('counts members and open invitations, but not expired ones', async () => {
    await using small = await createTestApi({ PHAROS_MEMBERS_PER_TEAM: '4' }, { sameInstallationAs: api })
    const { admin, teamId } = await newCompany()
    const first = assertAnswered<Member>(await invite(admin, newAddress(), {}, small), 201)
    assertAnswered(await invite(admin, newAddress(), {}, small), 201)
    assertProblem(await invite(admin, newAddress(), {}, small), 'quota_exceeded')
    await sql`update invitations set expires = now() where id = ${first.id}`.execute(owner())
    assertAnswered(await invite(admin, newAddress(), {}, small), 201)
    const { rows } = await sql`select from invitations where team_id = ${teamId} and expires > now()`.execute(
      owner(),
    )
    assert.equal(rows.length, 2)
  })

  it('applies to concurrent invitations', async () => {
    await using small = await createTestApi({ PHAROS_MEMBERS_PER_TEAM: '4' }, { sameInstallationAs: api })
    const { admin } = await newCompany()
    const all = await Promise.all(
      Array.from({ length: 6 }, () => invite(admin, newAddress(), {}, small).then(({ status }) => status)),
    )
    assert.deepEqual(all.toSorted(), [201, 201, 403, 403, 403, 403])
  })

  it('does not prevent accepting an earlier invitation', async () => {
    await using small = await createTestApi({ PHAROS_MEMBERS_PER_TEAM: '1' }, { sameInstallationAs: api })
    const { token } = await invited(await newCompany())
    assertAnswered(await accept(token, { password: chosen }, small))
  })
})

describe('the link of an invitation', () => {
  it('shows its content to the holder of the link', async () => {
    const company = await newCompany()
    const { email, token } = await invited(company, { is_admin: true })
    const { expires, ...shown } = assertAnswered<Invitation>(await show(token))
    assert.deepEqual(shown, {
      email,
      team_name: `Team ${company.slug}`,
      invited_by: company.admin.email,
      is_admin: true,
      roles: ['admin'],
      has_account: false,
      sso: null,
    })
    const days = (Date.parse(expires) - Date.now()) / 86_400_000
    assert.ok(days > 6.9 && days <= 7)
    const colleague = await invited(company, {}, (await newCompany()).member.email)
    assert.equal(assertAnswered<Invitation>(await show(colleague.token)).has_account, true)
  })

  it('returns the same error for every invalid token', async () => {
    const company = await newCompany()
    const used = await invited(company)
    assertAnswered(await accept(used.token, { password: chosen }))
    const over = await invited(company)
    await sql`update invitations set expires = now() where id = ${over.id}`.execute(owner())
    const open = await invited(company)
    const [, id, secret] = open.token.split('.')
    const tokens = [
      used.token,
      over.token,
      `phm_invitation.${id}.${'A'.repeat(43)}`,
      `phm_invitation.${Number(id) + 1000}.${secret}`,
      `phm_password-reset.${id}.${secret}`,
      open.token.slice(0, -1),
      `${open.token}.`,
      'anything',
    ]
    const answers = await Promise.all(tokens.map((token) => show(token)))
    const shown = new Set(answers.map((answer) => assertProblem(answer, 'invalid_token').detail))
    assert.equal(shown.size, 1)
    for (const token of tokens.slice(1))
      assert.ok(shown.has(assertProblem(await accept(token, { password: chosen }), 'invalid_token').detail))
    assertAnswered(await show(open.token))
  })

  it('is rate-limited before any lookup or hashing', async () => {
    await using slow = await createTestApi(
      { PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '2' },
      { sameInstallationAs: api },
    )
    const { token } = await invited(await newCompany())
    assertProblem(await show('anything', slow), 'invalid_token')
    assertProblem(await accept('anything', {}, slow), 'invalid_token')
    assertProblem(await accept(token, { password: chosen }, slow), 'rate_limited')
    assertProblem(await show(token, slow), 'rate_limited')
    assertAnswered(await show(token))
  })
})

describe('accepting', () => {
  it('creates a missing account: confirmed, with the password and the names', async () => {
    const company = await newCompany()
    const { id, email, token } = await invited(company, { is_admin: true })
    const accepted = assertAnswered<AcceptedInvitation>(
      await accept(token, { password: chosen, first_name: 'Zoë', last_name: 'Lee' }),
    )
    assert.deepEqual(accepted, {
      email,
      team_id: company.teamId,
      team_name: `Team ${company.slug}`,
      account_created: true,
    })
    const { user } = assertAnswered<SessionTokens>(await signIn(email, chosen))
    assert.deepEqual(
      [user.email, user.first_name, user.last_name, user.display_name, user.is_staff],
      [email, 'Zoë', 'Lee', 'Zoë Lee', false],
    )
    assert.deepEqual(user.current_team.is_admin, true)
    const member = assertAnswered<Member>(await statusOf(company, id))
    assert.deepEqual([member.status, member.user_id, member.is_admin], ['active', user.id, true])
    assert.equal(member.invited_by, company.admin.email)
    const entries = await auditOfTarget(api, `member:${id}`)
    assert.deepEqual(entries.at(-1), {
      team_id: company.teamId,
      actor: `user:${user.id}`,
      action: 'member.join',
      target: `member:${id}`,
      before: null,
      after: { user_id: user.id, email, roles: ['admin'], account_created: true },
    })
    const [account] = await auditOfTarget(api, `user:${user.id}`)
    assert.deepEqual([account?.action, account?.after], ['account.create', { email }])
  })

  it('adds the membership to an existing account, and changes nothing else of it', async () => {
    const [company, other] = [await newCompany(), await newCompany()]
    const { member } = other
    await sql`update users set email_confirmed = null where id = ${member.userId}`.execute(owner())
    const { id, token } = await invited(
      company,
      {},
      member.email.toUpperCase().replace(/@.*/, (x) => x.toLowerCase()),
    )
    const accepted = assertAnswered<AcceptedInvitation>(
      await accept(token, { password: 'another one of my choice', first_name: 'Mallory' }),
    )
    assert.equal(accepted.account_created, false)
    const { user } = assertAnswered<SessionTokens>(await signIn(member.email, testPassword))
    assert.deepEqual([user.email, user.first_name], [member.email, ''])
    assert.deepEqual(
      user.teams.map((team) => [team.id, team.is_admin]).toSorted(),
      [
        [company.teamId, false],
        [other.teamId, false],
      ].toSorted(),
    )
    assert.equal(assertAnswered<Member>(await statusOf(company, id)).user_id, member.userId)
  })

  it('opens no session, so that the second factor is still required', async () => {
    const { token } = await invited(await newCompany())
    const { body, headers } = await accept(token, { password: chosen })
    assert.deepEqual(Object.keys(JSON.parse(body)).toSorted(), [
      'account_created',
      'email',
      'team_id',
      'team_name',
    ])
    assert.equal(headers['set-cookie'], undefined)
  })

  it('requires a valid password if there is no account', async () => {
    const company = await newCompany()
    const { email, token } = await invited(company)
    for (const password of [undefined, 'short', 'aaaaaaaaaaaaaaaa', `${email} 1`, 'password1234']) {
      const { errors } = assertProblem(
        await accept(token, password === undefined ? {} : { password }),
        'invalid',
      )
      assert.deepEqual(errors?.[0]?.loc, ['body', 'password'])
    }
    const { rows } = await sql`select from users where lower(email) = ${email}`.execute(owner())
    assert.equal(rows.length, 0)
    assertAnswered(await accept(token, { password: chosen }))
  })

  it('returns the same response for a repeated call, which has no effect', async () => {
    const company = await newCompany()
    const { email, token } = await invited(company)
    const first = await accept(token, { password: chosen })
    const second = await accept(token, { password: 'another one of my choice' })
    assert.deepEqual([second.status, second.body], [200, first.body])
    assert.deepEqual([(await accept(token)).status, (await accept(token)).body], [200, first.body])
    assertAnswered(await signIn(email, chosen))
    assertProblem(await signIn(email, 'another one of my choice'), 'invalid_credentials')
    // A removed member cannot return by the old link.
    await sql`delete from memberships where team_id = ${company.teamId} and is_admin = false`.execute(owner())
    assertProblem(await accept(token, { password: chosen }), 'invalid_token')
  })

  it('creates one member and one account if followed concurrently', async () => {
    const company = await newCompany()
    const { email, token, id } = await invited(company)
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, at) => accept(token, { password: `${chosen} ${at}` })),
    )
    for (const answer of answers) assert.deepEqual([answer.status, answer.body], [200, answers[0]!.body])
    const { rows } = await sql<{ id: number; members: number }>`
      select u.id, (select count(*) from memberships m where m.user_id = u.id) as members
      from users u where lower(u.email) = ${email}`.execute(owner())
    assert.deepEqual(
      rows.map(({ members: count }) => count),
      [1],
    )
    const joined = (await auditOfTarget(api, `member:${id}`)).filter(({ action }) => action === 'member.join')
    assert.equal(joined.length, 1)
    const signedIn = []
    for (let at = 0; at < 5; at++) {
      // Failed sign-ins cause a delay, which is not tested here.
      await sql`delete from sign_in_failures`.execute(owner())
      signedIn.push((await signIn(email, `${chosen} ${at}`)).status)
    }
    assert.equal(signedIn.filter((status) => status === 200).length, 1)
  })

  it('creates one account for concurrently accepted invitations of two teams', async () => {
    const email = newAddress()
    const [one, two] = [await newCompany(), await newCompany()]
    await using second = await createTestApi({}, { sameInstallationAs: api })
    assertAnswered(await invite(one.admin, email), 201)
    const first = await invitedBy(api, email)
    assertAnswered(await invite(two.admin, email, {}, second), 201)
    const other = await invitedBy(api, email)
    const answers = await Promise.all([first, other].map((token) => accept(token, { password: chosen })))
    const created = answers.map((answer) => assertAnswered<AcceptedInvitation>(answer).account_created)
    assert.deepEqual(created.toSorted(), [false, true])
    const { user } = assertAnswered<SessionTokens>(await signIn(email, chosen))
    assert.equal(user.teams.length, 2)
  })

  it('makes a member an admin if the invitation is for an admin, and keeps the id', async () => {
    const company = await newCompany()
    const email = newAddress()
    const { token, id } = await invited(company, { is_admin: true }, email)
    // The user has become a member in another way in the meantime.
    const { userId } = await addUser(api, email.split('@')[0]!, [
      { teamId: company.teamId, slug: 'elsewhere' },
    ])
    const { memberId } = await owner()
      .selectFrom('memberships')
      .select('id as memberId')
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow()
    await sql`update memberships set roles_source = 'scim' where id = ${memberId}`.execute(owner())
    assert.equal(assertAnswered<AcceptedInvitation>(await accept(token)).account_created, false)
    const member = assertAnswered<Member>(await statusOf(company, memberId))
    // The groups of an identity provider do not take the roles of the invitation away.
    assert.deepEqual([member.is_admin, member.status, member.roles_source], [true, 'active', 'manual'])
    assertProblem(await statusOf(company, id), 'not_found')
  })

  it('of a former admin has no effect, however the role was lost', async () => {
    const company = await newCompany()
    const other = await addColleague(api, company, 'other', { admin: true })
    const machine = await addApiToken(api, company.teamId, { scopes: ['team:write'], isAdmin: true })
    const [email, ofMachine] = [newAddress(), newAddress()]
    assertAnswered(await invite(other, email), 201)
    assertAnswered(await invite({ ...other, authorization: `Token ${machine}` }, ofMachine), 201)
    const [token, tokenOfMachine] = [await invitedBy(api, email), await invitedBy(api, ofMachine)]
    assertAnswered(await show(token))
    assertAnswered(await show(tokenOfMachine))
    // Like `pharos apply`, without changing the invitations.
    await sql`update memberships set is_admin = false, roles = '{editor}' where user_id = ${other.userId}`.execute(
      owner(),
    )
    await sql`update api_tokens set revoked = now() where id = ${parseApiToken(machine)!.id}`.execute(owner())
    for (const one of [token, tokenOfMachine]) {
      assertProblem(await show(one), 'invalid_token')
      assertProblem(await accept(one, { password: chosen }), 'invalid_token')
    }
  })

  it('is invalid once the team is deleted', async () => {
    const team = await addTeam(api, `gone-${made++}`)
    const admin = await addColleague(api, team, 'admin', { admin: true })
    const email = newAddress()
    assertAnswered(await invite(admin, email), 201)
    const token = await invitedBy(api, email)
    await sql`delete from mails where team_id = ${team.teamId}`.execute(owner())
    await sql`delete from teams where id = ${team.teamId}`.execute(owner())
    assertProblem(await accept(token, { password: chosen }), 'invalid_token')
  })
})
