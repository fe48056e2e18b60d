// The operations of identity providers and of signing in with them. No provider answers: its address is not public.
import { sql } from 'kysely'
import { addProvider } from './identity.ts'
import { foreignOf, missingId, only, type Context, type Subject, type SubjectRequest } from './subject.ts'
import { ofAdmins, ownTeamOf } from './subjects-team.ts'

const unreachable = { issuer: 'https://192.0.2.1' }

/** A team has at most three; those of the callers' sessions stay. */
const removeProviders = ({ api }: Context): Promise<unknown> =>
  sql`
    delete from identity_providers p where not exists (select from session_proofs o where o.provider_id = p.id)`.execute(
    api.database.postgres.owner,
  )

const add = async (context: Context, team: { readonly teamId: number }): Promise<number> =>
  (await addProvider(context.api, team, { ...unreachable, status: 'draft' })).id

/** In the caller's team: its own provider, that of another team, and a missing one. */
function inCurrentTeam(request: SubjectRequest): Subject['requests'] {
  const about = (provider_id: number) => ({ ...request, params: { team_id: 'current', provider_id } })
  return {
    own: async (context) => about(await add(context, ownTeamOf(context))),
    foreign: async (context) => about(await add(context, foreignOf(context))),
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
        body: { provider: (await addProvider(context.api, context.fixtures.red, unreachable)).key },
      }),
      missing: async () => ({ body: { provider: 'aaaaaaaaaaaa' } }),
    },
    answers: (which) => (which === 'own' ? 'sso_failed' : 'not_found'),
    without: { foreign: 'everybody may sign in with every provider' },
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
  { route: 'linkIdentity', requests: only({ body: { token: 'unknown' } }), answers: () => 'invalid_token' },
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
  {
    route: 'createProvider',
    requests: {
      own: async (context) => {
        await removeProviders(context)
        return { ...newProvider, params: { team_id: ownTeamOf(context).teamId } }
      },
      foreign: async (context) => ({ ...newProvider, params: { team_id: foreignOf(context).teamId } }),
      missing: async () => ({ ...newProvider, params: { team_id: missingId } }),
    },
    answers: ofAdmins(201),
  },
  oneProvider('getProvider', 200),
  oneProvider('updateProvider', 200, { body: { name: 'Renamed', session_hours: 8 } }),
  oneProvider('deleteProvider', 204),
  {
    ...oneProvider('testProvider', 200),
    answers: (which, identity) => {
      const inTeam = ofAdmins(200)('own', identity)
      if (inTeam !== 200) return inTeam
      return which === 'own' ? 'sso_failed' : 'not_found'
    },
  },
  oneProvider('listSignInAttempts', 200),
]
