// The operations of identity providers and of signing in with them: with the sandbox, and with a provider whose address is not public.
import { sql } from 'kysely'
import { sandboxIssuer } from '../../src/drivers/sandbox-identity/provider.ts'
import { createState, saveFlow } from '../../src/identity/flow.ts'
import { createRecoveryCodes, recoveryCodeMac } from '../../src/session/recovery-code.ts'
import type { Identity } from './callers.ts'
import { lacksSignIn } from './expected-access.ts'
import { addProvider, samlMetadata, type ProviderOptions } from './identity.ts'
import {
  foreignOf,
  missingId,
  only,
  type Context,
  type Outcome,
  type Subject,
  type SubjectRequest,
} from './subject.ts'
import { addScimToken } from './scim.ts'
import { aboutTeams, ofAdmins, ownTeamOf } from './subjects-team.ts'

const unreachable = { issuer: 'https://192.0.2.1' }
const sandbox = { issuer: sandboxIssuer }

const fromSandbox = (identity: Identity): Outcome =>
  'isElsewhere' in identity && identity.isElsewhere ? 'sso_failed' : 200

let subjects = 0

/** A verified assertion of the member, whose flow has no cookie: the request of the test has none. */
async function waitingForFactor({ api, fixtures }: Context): Promise<SubjectRequest> {
  const provider = await addProvider(api, fixtures.red, unreachable)
  const { userId } = fixtures.people.member
  const subject = `subject ${++subjects}`
  await sql`
    insert into domains (team_id, domain, verified, provider_id) values (${fixtures.red.teamId}, 'sso.example', now(), ${provider.id})
    on conflict (team_id, domain) do update set provider_id = excluded.provider_id`.execute(
    api.database.postgres.owner,
  )
  await sql`
    insert into user_identities (provider_id, subject, user_id, email)
    values (${provider.id}, ${subject}, ${userId}, 'member@sso.example')`.execute(api.database.postgres.owner)
  const names = { first: '', last: '', display: '' }
  const assertion = { subject, email: null, names, groups: [], secondFactor: false, claims: ['sub'] }
  const state = createState()
  const content = { assertion, returnTo: null, sessionId: null }
  const flow = { kind: 'factor', state, providerId: provider.id, content, cookie: null } as const
  await saveFlow(api.database.postgres.owner, api.config.secret, flow)
  return { body: { provider: provider.key, state } }
}

/** The link of a mail to the member. */
async function waitingForOwner({ api, fixtures }: Context): Promise<SubjectRequest> {
  const { userId, email } = fixtures.people.member
  const domain = email.slice(email.indexOf('@') + 1)
  const provider = await addProvider(api, fixtures.red, { ...unreachable, domain })
  const state = createState()
  const content = { subject: `subject ${++subjects}`, email, userId }
  const flow = { kind: 'link', state, providerId: provider.id, content, cookie: null } as const
  await saveFlow(api.database.postgres.owner, api.config.secret, flow)
  return { body: { token: state } }
}

/** A team has at most three; those of the callers' sessions stay. */
const removeProviders = ({ api }: Context): Promise<unknown> =>
  sql`
    delete from identity_providers p where not exists (select from session_proofs o where o.provider_id = p.id)`.execute(
    api.database.postgres.owner,
  )

const add = async (
  context: Context,
  team: { readonly teamId: number },
  kind: ProviderOptions = sandbox,
): Promise<number> => (await addProvider(context.api, team, { ...kind, status: 'draft' })).id

/** In the caller's team: its own provider, that of another team, and a missing one. */
function inCurrentTeam(request: SubjectRequest, kind?: ProviderOptions): Subject['requests'] {
  const about = (provider_id: number) => ({ ...request, params: { team_id: 'current', provider_id } })
  return {
    own: async (context) => about(await add(context, ownTeamOf(context), kind)),
    foreign: async (context) => about(await add(context, foreignOf(context), kind)),
    missing: async () => about(missingId),
  }
}

const oneProvider = (
  route: string,
  success: Parameters<typeof ofAdmins>[0],
  request: SubjectRequest = {},
): Subject => ({
  route,
  requests: inCurrentTeam(request),
  answers: (which, identity) => {
    const inTeam = ofAdmins(success)('own', identity)
    return inTeam === success && which !== 'own' ? 'not_found' : inTeam
  },
})

const newProvider = {
  body: { kind: 'oidc', name: 'Login', issuer: 'https://idp.example', client_id: 'a', client_secret: 'b' },
}

const newSamlProvider = {
  body: {
    kind: 'saml',
    name: 'Login',
    entity_id: samlMetadata.entityId,
    sign_on_url: samlMetadata.signOnUrl,
    certificates: [samlMetadata.certificate],
  },
}

const params = ({ teamId }: { readonly teamId: number }) => ({ params: { team_id: teamId } })
const recovering = (team_id: number, code = 'aaaaa-aaaaa') => ({ body: { team_id, code } })

const isOwnAdmin = ({ identity }: Context): boolean =>
  identity.kind === 'user' &&
  identity.isAdmin &&
  !identity.isStaff &&
  !identity.demoElsewhere &&
  !identity.lacksSecondFactor &&
  !lacksSignIn(identity)

/** The team requires its provider, and the caller has used a recovery code: `optional` is a change, which the caller may make. */
async function requireProvider(context: Context): Promise<void> {
  const { teamId } = ownTeamOf(context)
  const { owner } = context.api.database.postgres
  await sql`
    insert into session_proofs (session_id, kind, expires, strong, team_id)
    select id, 'recovery', now() + interval '1 hour', true, ${teamId} from sessions s
    where user_id = ${context.presented.userId!} and revoked is null
      and not exists (select from session_proofs p where p.session_id = s.id and p.kind = 'provider')`.execute(
    owner,
  )
  await sql`update teams set sign_in_policy = 'required' where id = ${teamId}`.execute(owner)
}

async function withRecoveryCode(context: Context): Promise<SubjectRequest> {
  const { teamId } = ownTeamOf(context)
  const { owner } = context.api.database.postgres
  const [code] = createRecoveryCodes()
  const codeMac = recoveryCodeMac(context.api.config.secret, `team ${teamId}`, code!)
  await sql`insert into team_recovery_codes (team_id, code_mac) values (${teamId}, ${codeMac})`.execute(owner)
  const { userId } = context.presented
  if (userId !== undefined) {
    await sql`
      insert into second_factors (user_id, pending_until) values (${userId}, 'epoch') on conflict do nothing`.execute(
      owner,
    )
    await sql`
      update session_proofs p set strong = true from sessions s
      where s.id = p.session_id and p.kind = 'local'
        and s.id = (select id from sessions where user_id = ${userId} order by created desc limit 1)`.execute(
      owner,
    )
  }
  return recovering(teamId, code)
}

const creating = (request: SubjectRequest): Subject => ({
  route: 'createProvider',
  requests: {
    own: async (context) => {
      await removeProviders(context)
      return { ...request, params: { team_id: ownTeamOf(context).teamId } }
    },
    foreign: async (context) => ({ ...request, params: { team_id: foreignOf(context).teamId } }),
    missing: async () => ({ ...request, params: { team_id: missingId } }),
  },
  answers: ofAdmins(201),
})

const addIdentity = async ({ api, fixtures }: Context, userId: number): Promise<SubjectRequest> => {
  const { id } = await addProvider(api, fixtures.red, unreachable)
  const { rows } = await sql<{ id: number }>`
    insert into user_identities (provider_id, subject, user_id, email) values (${id}, 'subject', ${userId}, 'a@red.example')
    returning id`.execute(api.database.postgres.owner)
  return { params: { identity_id: rows[0]!.id } }
}

export const identitySubjects: readonly Subject[] = [
  {
    route: 'findSignInMethods',
    requests: only({ body: { email: 'a@nowhere.example' } }),
    answers: () => 200,
  },
  {
    route: 'startSingleSignOn',
    requests: {
      own: async (context) => ({
        body: { provider: (await addProvider(context.api, context.fixtures.red, sandbox)).key },
      }),
      missing: async () => ({ body: { provider: 'aaaaaaaaaaaa' } }),
    },
    answers: (which, identity) => (which === 'own' ? fromSandbox(identity) : 'not_found'),
    without: { foreign: 'everybody may sign in with every provider' },
  },
  {
    route: 'startSingleSignOn',
    form: 'with a provider that is not public',
    requests: {
      only: async (context) => ({
        body: { provider: (await addProvider(context.api, context.fixtures.red, unreachable)).key },
      }),
    },
    answers: () => 'sso_failed',
  },
  {
    route: 'startSingleSignOn',
    form: 'with an address',
    requests: only({ body: { email: 'a@nowhere.example', return_to: '/zones' } }),
    answers: () => 'not_found',
  },
  {
    route: 'completeSingleSignOn',
    requests: only({ body: { provider: 'aaaaaaaaaaaa', state: 'unknown', code: 'unknown' } }),
    answers: () => 'sso_failed',
  },
  {
    route: 'completeSingleSignOn',
    form: 'after the second factor',
    requests: { only: waitingForFactor },
    answers: () => 200,
  },
  {
    route: 'linkIdentity',
    requests: { only: waitingForOwner },
    answers: () => 200,
    // The token is the credential.
    ofAllTeams: true,
  },
  {
    route: 'linkIdentity',
    form: 'with an unknown token',
    requests: only({ body: { token: 'unknown' } }),
    answers: () => 'invalid_token',
  },
  { route: 'listIdentities', requests: only(), answers: () => 200 },
  {
    route: 'deleteIdentity',
    requests: {
      own: (context) =>
        addIdentity(context, context.presented.userId ?? context.fixtures.people.member.userId),
      foreign: (context) => addIdentity(context, context.fixtures.people.former.userId),
      missing: async () => ({ params: { identity_id: missingId } }),
    },
    answers: (which) => (which === 'own' ? 204 : 'not_found'),
  },
  {
    route: 'listProviders',
    requests: {
      own: async (context) => ({ params: { team_id: ownTeamOf(context).teamId } }),
      foreign: async (context) => ({ params: { team_id: foreignOf(context).teamId } }),
      missing: async () => ({ params: { team_id: missingId } }),
    },
    answers: ofAdmins(200),
  },
  creating(newProvider),
  { ...creating(newSamlProvider), form: 'of SAML' },
  oneProvider('getProvider', 200),
  oneProvider('updateProvider', 200, { body: { name: 'Renamed', session_hours: 8 } }),
  {
    ...oneProvider('updateProvider', 200),
    form: 'of SAML',
    requests: inCurrentTeam({ body: { sign_on_url: 'https://idp.example/another' } }, { saml: samlMetadata }),
  },
  oneProvider('deleteProvider', 204),
  {
    ...oneProvider('testProvider', 200),
    answers: (which, identity) => {
      const inTeam = ofAdmins(200)('own', identity)
      if (inTeam !== 200) return inTeam
      return which === 'own' ? fromSandbox(identity) : 'not_found'
    },
  },
  oneProvider('listSignInAttempts', 200),
  oneProvider('createScimToken', 200),
  {
    ...oneProvider('deleteScimToken', 204),
    requests: {
      own: async (context) => {
        const id = await add(context, ownTeamOf(context))
        await addScimToken(context.api, ownTeamOf(context), { id })
        return { params: { team_id: 'current', provider_id: id } }
      },
      foreign: async (context) => {
        const id = await add(context, foreignOf(context))
        await addScimToken(context.api, foreignOf(context), { id })
        return { params: { team_id: 'current', provider_id: id } }
      },
      missing: async () => ({ params: { team_id: 'current', provider_id: missingId } }),
    },
  },
  { route: 'startSignOut', requests: only(), answers: () => 200 },
  { route: 'getTeamSignIn', requests: aboutTeams(), answers: ofAdmins(200) },
  {
    route: 'updateTeamSignIn',
    requests: {
      own: async (context) => {
        if (isOwnAdmin(context)) await requireProvider(context)
        return { ...params(ownTeamOf(context)), body: { policy: 'optional' } }
      },
      foreign: async (context) => ({ ...params(foreignOf(context)), body: { policy: 'optional' } }),
      missing: async () => ({ params: { team_id: missingId }, body: { policy: 'optional' } }),
    },
    answers: ofAdmins(200),
  },
  {
    route: 'updateTeamSignIn',
    form: 'to one that needs steps first',
    requests: aboutTeams({ body: { policy: 'required' } }),
    answers: (which, identity) => {
      const allowed = ofAdmins(200)(which, identity)
      return allowed === 200 ? 'conflict' : allowed
    },
  },
  { route: 'createTeamRecoveryCodes', requests: aboutTeams(), answers: ofAdmins(200) },
  {
    route: 'recoverSession',
    form: 'by an admin with a second factor',
    requests: {
      own: withRecoveryCode,
      foreign: async (context) => recovering(foreignOf(context).teamId),
      missing: async () => recovering(missingId),
    },
    answers: (which, identity) => {
      if (identity.kind !== 'user' || which !== 'own' || identity.isStaff) return 'not_found'
      return identity.isAdmin ? 200 : 'forbidden'
    },
  },
  {
    route: 'recoverSession',
    requests: {
      own: async (context) => recovering(ownTeamOf(context).teamId),
      foreign: async (context) => recovering(foreignOf(context).teamId),
      missing: async () => recovering(missingId),
    },
    answers: (which, identity) => {
      if (identity.kind !== 'user' || which !== 'own' || identity.isStaff) return 'not_found'
      if (!identity.isAdmin) return 'forbidden'
      return 'second_factor_required'
    },
  },
]
