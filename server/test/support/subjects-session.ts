// The operations of the session.
import { testPassword, type TestApi } from '../api.ts'
import { openSession } from './credentials.ts'
import { foreignOf, missingId, only, type Subject } from './subject.ts'
import type { World } from './world.ts'

export const sessionSubjects: readonly Subject[] = [
  {
    route: 'refreshSession',
    requests: {
      own: async ({ api, world }) => ({
        body: { refresh: (await openSession(api, world.people.member.userId, world.red.teamId)).refresh },
      }),
      foreign: async ({ api, world }) => ({ body: { refresh: await forgedRefresh(api, world) } }),
      missing: async () => ({
        body: { refresh: `phr_00000000-0000-4000-8000-000000000000.1.${'A'.repeat(43)}` },
      }),
    },
    answers: (which) => (which === 'own' ? 200 : 'token_not_valid'),
  },
  {
    route: 'createSessionToken',
    form: 'signing in',
    requests: {
      own: async ({ world }) => ({ body: { email: world.people.member.email, password: testPassword } }),
      foreign: async ({ api, world }) => {
        await forgetFailures(api)
        return { body: { email: world.people.blue.email, password: 'not this one' } }
      },
      missing: async ({ api }) => {
        await forgetFailures(api)
        return { body: { email: 'nobody@nowhere.example', password: testPassword } }
      },
    },
    answers: (which) => (which === 'own' ? 200 : 'invalid_credentials'),
  },
  {
    route: 'createSessionToken',
    form: 'switching the team',
    requests: {
      own: async ({ world, identity }) => ({
        body: { team_id: world['team' in identity ? identity.team : 'red'].teamId },
      }),
      foreign: async (context) => ({ body: { team_id: foreignOf(context).teamId } }),
      missing: async () => ({ body: { team_id: missingId } }),
    },
    answers: (which, identity) => {
      if (identity.kind !== 'user') return 'unauthenticated'
      if (which === 'own' || (which === 'foreign' && identity.isStaff)) return 200
      return 'not_found'
    },
  },
  { route: 'getSessionToken', requests: only(), answers: () => 200 },
  {
    route: 'logout',
    form: 'of the bearer',
    requests: only({ body: {} }),
    answers: (_which, { kind }) => (kind === 'user' ? 204 : 'unauthenticated'),
  },
  {
    route: 'logout',
    form: 'of a refresh token',
    requests: {
      own: async ({ api, world }) => ({
        body: { refresh: (await openSession(api, world.people.member.userId, world.red.teamId)).refresh },
      }),
      foreign: async ({ api, world }) => ({ body: { refresh: await forgedRefresh(api, world) } }),
      missing: async () => ({ body: { refresh: 'phr_unknown' } }),
    },
    answers: () => 204,
  },
]

/** Or the sixth caller of a sign-in that fails would have to wait. */
const forgetFailures = ({ database }: TestApi) =>
  database.postgres.owner.deleteFrom('sign_in_failures').execute()

/** A refresh token of a living session with a number that it has, and a MAC that is not ours. */
async function forgedRefresh(api: TestApi, world: World): Promise<string> {
  const { refresh } = await openSession(api, world.people.blue.userId, world.blue.teamId)
  return refresh.replace(/[^.]{43}$/, 'A'.repeat(43))
}
