// Records the examples of identity providers and of single sign-on, with the sandbox in the place of a provider.
import { admin, engineer, requestId, team } from '@pharos/contract/examples/world'
import type { BodyOf } from '@pharos/contract/route'
import {
  completeSingleSignOnRoute,
  deleteIdentityRoute,
  findSignInMethodsRoute,
  linkIdentityRoute,
  listIdentitiesRoute,
  recoverSessionRoute,
  startSignOutRoute,
  startSingleSignOnRoute,
} from '@pharos/contract/session/sso'
import {
  createProviderRoute,
  createScimTokenRoute,
  deleteScimTokenRoute,
  deleteProviderRoute,
  getProviderRoute,
  listProvidersRoute,
  listSignInAttemptsRoute,
  testProviderRoute,
  updateProviderRoute,
} from '@pharos/contract/team/provider'
import {
  createTeamRecoveryCodesRoute,
  getTeamSignInRoute,
  updateTeamSignInRoute,
} from '@pharos/contract/team/sign-in'
import { sql } from 'kysely'
import { sandboxIssuer } from '../../../src/drivers/sandbox-identity/provider.ts'
import { createState, saveFlow } from '../../../src/identity/flow.ts'
import type { Recorder } from './recorder.ts'

const issuer = 'https://login.lindholm.example/realms/staff'
const domainId = 9
const key = 'k3j5mq2xw7ab'
const inTeam = { params: { team_id: 'current' } }
const oneProvider = { params: { ...inTeam.params, provider_id: 4 } }

async function addVerifiedDomain({ owner }: Recorder): Promise<void> {
  await sql`delete from domains`.execute(owner)
  await sql`
    insert into domains (id, team_id, domain, verified) overriding system value
    values (${domainId}, ${team.id}, 'lindholm.example', now())`.execute(owner)
  await sql`update installation set schema_floor = '0.3.0'`.execute(owner)
}

type Callback = { readonly code: string; readonly state: string; readonly iss: string }

/** The sandbox redirects to the portal at once. */
function callbackOf({ replace }: Recorder, redirect: string, redirectUri: string): Callback {
  const answer = Object.fromEntries(new URL(redirect).searchParams) as Callback
  replace(
    JSON.stringify(redirect).slice(1, -1),
    `${issuer}/protocol/openid-connect/auth?client_id=pharos&response_type=code&scope=openid+email+profile&state=EXAMPLE-STATE`,
  )
  replace(sandboxIssuer, issuer)
  replace(answer.state, 'EXAMPLE-STATE')
  replace(answer.code, 'EXAMPLE-CODE')
  replace(redirectUri.split('/').at(-1)!, key)
  return answer
}

export async function recordProviders(recorder: Recorder): Promise<void> {
  const { api, record, replace, at, nextId, owner } = recorder
  for (const path of ['/sign-in', '/sso/oidc', '/scim/v2'])
    replace(api.shared.publicUrl + path, `https://portal.example.net${path}`)
  await nextId('identity_providers', 4)
  await nextId('sso_attempts', 12)
  await at('2026-04-02T09:12:30.114Z')
  await addVerifiedDomain(recorder)
  const body: BodyOf<typeof createProviderRoute> = {
    kind: 'oidc',
    name: 'Lindholm login',
    issuer: sandboxIssuer,
    client_id: 'pharos',
    client_secret: 'EXAMPLE-NOT-A-REAL-SECRET',
    domain_ids: [domainId],
    mappings: [{ group: 'net-ops', roles: ['network', 'dns'] }],
    default_roles: ['reader'],
  }
  const created = await record(createProviderRoute, { ...inTeam, body })
  if (created.kind !== 'oidc') throw new Error(created.kind)
  const { sp } = created
  replace(sp.redirect_uri.split('/').at(-1)!, key)
  replace(sandboxIssuer, issuer)
  const begun = await api.server.inject({
    method: 'POST',
    url: '/v3/session/sso',
    payload: { provider: sp.redirect_uri.split('/').at(-1) },
  })
  if (begun.statusCode !== 404) throw new Error('a draft signs in')
  const { redirect, cookie } = await beginTest(recorder)
  const answer = callbackOf(recorder, redirect, sp.redirect_uri)
  await sql`
    insert into sso_attempts (provider_id, reason, claims, request_id)
    values (4, 'not_assigned', '{sub,email,email_verified,groups}', ${requestId})`.execute(owner)
  await at('2026-04-02T09:14:02.870Z')
  await record(testProviderRoute, { ...oneProvider, body: answer }, { headers: { cookie } })
  await at('2026-04-02T09:15:11.006Z')
  await record(updateProviderRoute, {
    ...oneProvider,
    body: { status: 'active', session_hours: 8, sign_out_at_provider: true },
  })
  await recordScim(recorder)
  await record(getProviderRoute, oneProvider)
  await record(listProvidersRoute, inTeam)
  await record(listSignInAttemptsRoute, oneProvider)
  await record(deleteScimTokenRoute, oneProvider)
  await recordPolicy(recorder)
  await record(deleteProviderRoute, oneProvider)
}

const signOutPage = `${issuer}/protocol/openid-connect/logout?client_id=pharos&logout_hint=${encodeURIComponent(admin.email)}`

/** The provider has opened the session of the admin, who signs out. */
async function recordSignOut({ owner, record, replace }: Recorder, providerId: number): Promise<void> {
  await sql`
    update identity_providers set settings = settings || '{"sign_out_at_provider": true}'::jsonb`.execute(
    owner,
  )
  await sql`
    insert into session_proofs (session_id, kind, expires, strong, provider_id)
    select s.id, 'provider', now() + interval '8 hours', true, ${providerId} from sessions s where s.user_id = ${admin.id}`.execute(
    owner,
  )
  const { redirect } = await record(startSignOutRoute)
  replace(redirect!.replace(/^http:..[^/]*/, 'https://portal.example.net'), signOutPage)
  replace(redirect!, signOutPage)
}

async function recordScim({ record, replace, at }: Recorder): Promise<void> {
  await at('2026-04-02T09:17:40.225Z')
  const { token } = await record(createScimTokenRoute, { ...oneProvider, body: { overlap_hours: 24 } })
  replace(token, 'phscim_k3j5mq2xw7ab_EXAMPLE-NOT-A-REAL-SECRET')
}

const exampleCode = (index: number): string => `examp-le${String.fromCharCode(97 + index)}22`

/** The admin has just signed in with the provider. */
async function recordPolicy({ owner, call, record, replace, at }: Recorder): Promise<void> {
  await at('2026-04-02T09:20:45.318Z')
  const { recovery_codes: codes } = await record(createTeamRecoveryCodesRoute, inTeam)
  codes.forEach((code, index) => replace(code, exampleCode(index)))
  await sql`
    insert into session_proofs (session_id, kind, expires, strong, provider_id)
    select s.id, 'provider', now() + interval '8 hours', true, 4 from sessions s where s.user_id = ${admin.id}`.execute(
    owner,
  )
  await record(updateTeamSignInRoute, { ...inTeam, body: { policy: 'required' } })
  await record(getTeamSignInRoute, inTeam)
  await call(updateTeamSignInRoute, { ...inTeam, body: { policy: 'optional' } })
}

/** The admin has a second factor. */
async function recordRecovery({ owner, call, record, replace }: Recorder): Promise<void> {
  const { recovery_codes: codes } = await call(createTeamRecoveryCodesRoute, inTeam)
  replace(codes[0]!, exampleCode(0))
  await sql`update session_proofs set strong = true`.execute(owner)
  await sql`insert into second_factors (user_id, pending_until) values (${admin.id}, 'epoch')`.execute(owner)
  await record(recoverSessionRoute, { body: { team_id: team.id, code: codes[0]! } })
}

/** Begins a test as the admin, with the cookie that the answer sets. */
async function beginTest({ api, owner }: Recorder): Promise<{ redirect: string; cookie: string }> {
  const { openSession } = await import('../credentials.ts')
  const { access } = await openSession(api, admin.id, team.id)
  await sql`update sessions set second_factor = true`.execute(owner)
  const answer = await api.server.inject({
    method: 'POST',
    url: '/v3/teams/current/providers/4/test',
    headers: { authorization: `Bearer ${access}` },
  })
  if (answer.statusCode !== 200) throw new Error(answer.body)
  return {
    redirect: (answer.json() as { redirect: string }).redirect,
    cookie: String(answer.headers['set-cookie']).split(';')[0]!,
  }
}

export async function recordSingleSignOn(recorder: Recorder): Promise<void> {
  const { api, owner, record, replace, at } = recorder
  await at('2026-04-03T07:58:20.411Z')
  await addVerifiedDomain(recorder)
  const { addProvider } = await import('../identity.ts')
  await sql`select setval(pg_get_serial_sequence('identity_providers', 'id'), 3)`.execute(owner)
  await sql`select setval(pg_get_serial_sequence('user_identities', 'id'), 20)`.execute(owner)
  const provider = await addProvider(api, { teamId: team.id }, { key, issuer: sandboxIssuer })
  await sql`update domains set provider_id = ${provider.id}`.execute(owner)
  await sql`
    update users set billing_uuid = '4a1f7c3e-92d8-4b60-8e5f-0c7d6b1a2f39' where id = ${engineer.id}`.execute(
    owner,
  )
  await record(findSignInMethodsRoute, { body: { email: engineer.email } })
  const response = await api.server.inject({
    method: 'POST',
    url: '/v3/session/sso',
    payload: { email: engineer.email },
  })
  const cookie = String(response.headers['set-cookie']).split(';')[0]!
  const answer = callbackOf(
    recorder,
    (response.json() as { redirect: string }).redirect,
    provider.redirectUri,
  )
  const { redirect } = await record(startSingleSignOnRoute, {
    body: { email: engineer.email, return_to: '/zones' },
  })
  replace(
    JSON.stringify(redirect).slice(1, -1),
    `${issuer}/protocol/openid-connect/auth?client_id=pharos&response_type=code&scope=openid+email+profile&state=EXAMPLE-STATE`,
  )
  await at('2026-04-03T07:58:33.902Z')
  const tokens = await record(
    completeSingleSignOnRoute,
    { body: { provider: provider.key, ...answer } },
    { headers: { cookie } },
  )
  replace(tokens.access, 'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.EXAMPLE.SIGNATURE')
  replace(tokens.refresh, 'phr_1c7e2a90-4b3d-4f58-9a16-d05e7c82b3f4.1.EXAMPLE')
  const token = createState()
  replace(token, 'EXAMPLE-TOKEN-OF-THE-MAIL-NOT-A-REAL-SECRET')
  const content = { subject: 'maja', email: admin.email, userId: admin.id }
  await sql`update users set email = ${admin.email} where id = ${admin.id}`.execute(owner)
  const flow = { kind: 'link', state: token, providerId: provider.id, content, cookie: null } as const
  await saveFlow(owner, api.config.secret, flow)
  await record(linkIdentityRoute, { body: { token } })
  await record(listIdentitiesRoute)
  const { rows } = await sql<{ id: number }>`
    select id from user_identities where user_id = ${admin.id}`.execute(owner)
  await record(deleteIdentityRoute, { params: { identity_id: rows[0]!.id } })
  await recordSignOut(recorder, provider.id)
  await recordRecovery(recorder)
}
