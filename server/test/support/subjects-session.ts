// The operations of the session.
import { createMailToken } from '../../src/session/mail-token.ts'
import type { MailTokenPurpose } from '../../src/session/mail-token.store.ts'
import { hashPassword } from '../../src/session/password.ts'
import { testPassword, type TestApi } from '../api.ts'
import { openSession } from './credentials.ts'
import { lacksSignIn } from './expected-access.ts'
import { ownTeamOf } from './subjects-team.ts'
import { foreignOf, missingId, only, type Context, type Subject } from './subject.ts'
import type { Person, Fixtures } from './fixtures.ts'
import type { Identity } from './callers.ts'

export const sessionSubjects: readonly Subject[] = [
  {
    route: 'refreshSession',
    requests: {
      own: async ({ api, fixtures }) => ({
        body: {
          refresh: (await openSession(api, fixtures.people.member.userId, fixtures.red.teamId)).refresh,
        },
      }),
      foreign: async ({ api, fixtures }) => ({ body: { refresh: await forgedRefresh(api, fixtures) } }),
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
      own: async ({ fixtures }) => ({
        body: { email: fixtures.people.member.email, password: testPassword },
      }),
      foreign: async ({ api, fixtures }) => {
        await forgetFailures(api)
        return { body: { email: fixtures.people.blue.email, password: 'not this one' } }
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
      own: async ({ fixtures, identity }) => ({
        body: { team_id: fixtures['team' in identity ? identity.team : 'red'].teamId },
      }),
      foreign: async (context) => ({ body: { team_id: foreignOf(context).teamId } }),
      missing: async () => ({ body: { team_id: missingId } }),
    },
    answers: (which, identity) => {
      if (identity.kind !== 'user') return 'unauthenticated'
      if (which === 'missing') return 'not_found'
      if (which === 'own' && lacksSignIn(identity)) return 'sign_in_required'
      if (identity.isStaff && (which === 'foreign' || identity.entry === 'none')) return 'reason_required'
      return which === 'own' ? 200 : 'not_found'
    },
  },
  {
    route: 'createSessionToken',
    form: 'entering the team of a customer',
    requests: {
      own: async ({ fixtures, identity }) =>
        entering(fixtures['team' in identity ? identity.team : 'red'].teamId),
      foreign: async (context) => entering(foreignOf(context).teamId),
      missing: async () => entering(missingId),
    },
    answers: (which, identity) => {
      if (identity.kind !== 'user') return 'unauthenticated'
      if (which !== 'missing' && identity.isStaff) return 200
      if (which === 'own' && lacksSignIn(identity)) return 'sign_in_required'
      return which === 'own' ? 'invalid' : 'not_found'
    },
  },
  {
    route: 'closeStaffAccess',
    requests: {
      own: async (context) => ({ body: { team_id: ownTeamOf(context).teamId } }),
      foreign: async (context) => ({ body: { team_id: foreignOf(context).teamId } }),
      missing: async () => ({ body: { team_id: missingId } }),
    },
    answers: (which, identity) =>
      which === 'own' && 'entry' in identity && identity.entry !== 'none' ? 200 : 'not_found',
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
    form: 'of all sessions',
    requests: only({ body: { all: true } }),
    answers: (_which, identity) => {
      if (identity.kind !== 'user') return 'unauthenticated'
      return identity.openedBy === 'account' ? 204 : 'local_sign_in_required'
    },
  },
  {
    route: 'logout',
    form: 'of a refresh token',
    requests: {
      own: async ({ api, fixtures }) => ({
        body: {
          refresh: (await openSession(api, fixtures.people.member.userId, fixtures.red.teamId)).refresh,
        },
      }),
      foreign: async ({ api, fixtures }) => ({ body: { refresh: await forgedRefresh(api, fixtures) } }),
      missing: async () => ({ body: { refresh: 'phr_unknown' } }),
    },
    answers: () => 204,
  },
]

const entering = (team_id: number) => ({
  body: { team_id, reason: 'a request of the customer', change: true },
})

const newPassword = 'blue kettle rainy tram'
const hash = hashPassword(testPassword)

/** Restores the caller's password after it was changed. */
async function withPassword({ api, presented: { userId } }: Context): Promise<void> {
  if (userId === undefined) return
  const password_hash = await hash
  const { owner } = api.database.postgres
  await owner.updateTable('users').set({ password_hash }).where('id', '=', userId).execute()
}

const withPasswordAlways = (
  body: (password: string) => object,
  password = testPassword,
): Subject['requests'] => ({
  only: async (context) => {
    await withPassword(context)
    return { body: body(password) }
  },
})

/** Creates a token as it is mailed to the user. */
function mailTokenOf(
  { api }: Context,
  purpose: MailTokenPurpose,
  { userId, email }: Person,
): Promise<string> {
  return api.database.postgres.owner
    .transaction()
    .execute((trx) => createMailToken(trx, api.config.secret, purpose, userId, email))
}

function aboutMailTokens(
  purpose: MailTokenPurpose,
  name: 'member' | 'former',
  rest: object = {},
): Pick<Subject, 'requests' | 'answers'> {
  const about = (token: string) => ({ body: { token, ...rest } })
  const tokenOf = (context: Context) => mailTokenOf(context, purpose, context.fixtures.people[name])
  return {
    requests: {
      own: async (context) => about(await tokenOf(context)),
      foreign: async (context) => about((await tokenOf(context)).replace(/[^.]{43}$/, 'A'.repeat(43))),
      missing: async () => about(`phm_${purpose}.00000000-0000-4000-8000-000000000000.${'A'.repeat(43)}`),
    },
    answers: (which) => (which === 'own' ? 200 : 'invalid_token'),
  }
}

let addresses = 0

export const accountSubjects: readonly Subject[] = [
  {
    route: 'changePassword',
    requests: withPasswordAlways((current_password) => ({ current_password, new_password: newPassword })),
    answers: () => 200,
  },
  {
    route: 'changePassword',
    form: 'with a wrong password',
    requests: withPasswordAlways(
      (current_password) => ({ current_password, new_password: newPassword }),
      'not this one',
    ),
    answers: () => 'wrong_password',
  },
  { route: 'confirmEmail', ...aboutMailTokens('confirm-email', 'member') },
  {
    route: 'changeEmail',
    requests: withPasswordAlways((current_password) => ({
      email: `address${++addresses}@blue.example`,
      current_password,
    })),
    answers: () => 202,
  },
  {
    route: 'changeEmail',
    form: 'with a wrong password',
    requests: withPasswordAlways(
      (current_password) => ({ email: 'another@red.example', current_password }),
      'not this one',
    ),
    answers: () => 'wrong_password',
  },
  {
    route: 'requestPasswordReset',
    requests: {
      own: async ({ fixtures }) => ({ body: { email: fixtures.people.member.email } }),
      missing: async () => ({ body: { email: 'nobody@nowhere.example' } }),
    },
    without: { foreign: 'an address is an address' },
    answers: () => 202,
  },
  // A user without a team still has an account; no other subject uses it.
  {
    route: 'resetPassword',
    ...aboutMailTokens('password-reset', 'former', { new_password: newPassword }),
  },
  { route: 'listSessions', requests: only(), answers: () => 200 },
  {
    route: 'deleteSession',
    requests: {
      own: async ({ api, fixtures, presented }) => ({
        params: {
          session_id: (
            await openSession(api, presented.userId ?? fixtures.people.member.userId, fixtures.red.teamId)
          ).sessionId,
        },
      }),
      foreign: async ({ api, fixtures }) => ({
        params: {
          session_id: (await openSession(api, fixtures.people.former.userId, fixtures.blue.teamId)).sessionId,
        },
      }),
      missing: async () => ({ params: { session_id: '00000000-0000-4000-8000-000000000000' } }),
    },
    answers: (which) => (which === 'own' ? 204 : 'not_found'),
  },
  {
    route: 'updateUser',
    requests: only({ body: { first_name: 'Ada', country: 'GB' } }),
    answers: () => 200,
  },
  { route: 'exportAccount', requests: only(), answers: () => 200 },
  {
    route: 'deleteAccount',
    form: 'dry run',
    requests: only({ query: { dry_run: 'true' }, body: {} }),
    answers: (_which, identity) => (isLastAdmin(identity) ? 'last_admin' : 200),
  },
  {
    route: 'deleteAccount',
    form: 'with a wrong password',
    requests: only({ body: { current_password: 'not this one' } }),
    answers: () => 'wrong_password',
  },
]

/** Only the team red has more than one admin. */
const isLastAdmin = (identity: Identity) =>
  'team' in identity && identity.isAdmin && !identity.isStaff && identity.team !== 'red'

/** Uses a new address each time: otherwise the sixth caller of a failing sign-in would have to wait. */
const forgetFailures = ({ database }: TestApi) =>
  database.postgres.owner.deleteFrom('sign_in_failures').execute()

/** Returns a refresh token of an active session with a current number and an invalid MAC. */
async function forgedRefresh(api: TestApi, fixtures: Fixtures): Promise<string> {
  const { refresh } = await openSession(api, fixtures.people.blue.userId, fixtures.blue.teamId)
  return refresh.replace(/[^.]{43}$/, 'A'.repeat(43))
}
