// The operations of API tokens. Each call uses a new token, so that the caller's own credential does not change.
import { randomUUID } from 'node:crypto'
import { parseApiToken } from '../../src/session/api-token-format.ts'
import { addApiToken } from './credentials.ts'
import {
  absentIsNotFound,
  foreignOf,
  missingId,
  only,
  ownOf,
  type Context,
  type Subject,
  type SubjectRequest,
} from './subject.ts'

const idOf = async ({ api }: Context, teamId: number, revoked = false): Promise<string> =>
  parseApiToken(await addApiToken(api, teamId, { revoked }))!.id

function aboutTokens(rest: SubjectRequest = {}): Subject['requests'] {
  const request = (token_id: string) => ({ ...rest, params: { token_id } })
  return {
    own: async (context) => request(await idOf(context, ownTeamOf(context))),
    foreign: async (context) => request(await idOf(context, foreignOf(context).teamId)),
    missing: async () => request('aaaaaaaaaaaa'),
  }
}

/** Tokens need no module: teams without modules have them too. */
const ownTeamOf = (context: Context): number =>
  context.fixtures[teamNameOf(context) as 'red' | 'blue' | 'bare']?.teamId ?? ownOf(context).teamId

const teamNameOf = ({ identity }: Context): string => ('team' in identity ? identity.team : 'red')

async function addAccount({ api }: Context, teamId: number): Promise<number> {
  const { id } = await api.database.postgres.owner
    .insertInto('service_accounts')
    .values({ team_id: teamId, name: `robot ${randomUUID()}`, roles: ['reader'] })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

function aboutAccounts(rest: SubjectRequest = {}): Subject['requests'] {
  const request = (id: number) => ({ ...rest, params: { service_account_id: id } })
  return {
    own: async (context) => request(await addAccount(context, ownTeamOf(context))),
    foreign: async (context) => request(await addAccount(context, foreignOf(context).teamId)),
    missing: async () => request(missingId),
  }
}

const transfer = async (context: Context, token: string): Promise<SubjectRequest> => ({
  params: { token_id: token },
  body: { service_account_id: await addAccount(context, ownTeamOf(context)) },
})

export const tokenSubjects: readonly Subject[] = [
  { route: 'listTokens', requests: only(), answers: () => 200 },
  {
    route: 'listTokens',
    form: 'with filters',
    requests: only({ query: { name: 'te', active: 'false', ordering: '-last_used,name' } }),
    answers: () => 200,
  },
  { route: 'getToken', requests: aboutTokens(), answers: absentIsNotFound },
  {
    route: 'createToken',
    requests: only({ body: { name: 'backup', scopes: ['ipam:read', 'audit:read'], is_admin: true } }),
    answers: () => 201,
  },
  {
    route: 'updateToken',
    requests: aboutTokens({ body: { name: 'renamed', allowed_subnets: ['192.0.2.0/24'] } }),
    answers: absentIsNotFound,
  },
  {
    route: 'deleteToken',
    requests: aboutTokens(),
    answers: (which) => (which === 'own' ? 204 : 'not_found'),
  },
  {
    route: 'deleteToken',
    form: 'of a revoked token',
    requests: {
      own: async (context) => ({ params: { token_id: await idOf(context, ownTeamOf(context), true) } }),
      missing: async () => ({ params: { token_id: 'aaaaaaaaaaaa' } }),
    },
    answers: () => 'not_found',
    without: { foreign: 'the response does not depend on revocation' },
  },
  { route: 'rotateToken', requests: aboutTokens({ body: { overlap_hours: 1 } }), answers: absentIsNotFound },
  {
    route: 'transferToken',
    requests: {
      own: async (context) => transfer(context, await idOf(context, ownTeamOf(context))),
      foreign: async (context) => transfer(context, await idOf(context, foreignOf(context).teamId)),
      missing: async (context) => transfer(context, 'aaaaaaaaaaaa'),
    },
    answers: absentIsNotFound,
  },
  { route: 'listServiceAccounts', requests: only(), answers: () => 200 },
  { route: 'getServiceAccount', requests: aboutAccounts(), answers: absentIsNotFound },
  {
    route: 'createServiceAccount',
    requests: {
      only: async () => ({ body: { name: `robot ${randomUUID()}`, roles: ['reader', 'network'] } }),
    },
    answers: () => 201,
  },
  {
    route: 'updateServiceAccount',
    requests: aboutAccounts({ body: { disabled: true } }),
    answers: absentIsNotFound,
  },
  {
    route: 'deleteServiceAccount',
    requests: aboutAccounts(),
    answers: (which) => (which === 'own' ? 204 : 'not_found'),
  },
]
