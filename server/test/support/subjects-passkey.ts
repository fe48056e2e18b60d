// The operations of passkeys: on the caller's own account, independent of the team.
import { testPassword } from '../api.ts'
import { addPasskey, createRegistration, createUnknownAssertion } from './passkey.ts'
import { missingId, type Context, type Subject, type SubjectRequest, type Which } from './subject.ts'

const ownOr404 = (which: Which) => (which === 'own' ? 200 : 'not_found')

/** Of the caller, of another user, and missing. */
function aboutPasskeys(body?: object): Subject['requests'] {
  const request = (id: number): SubjectRequest => ({ params: { passkey_id: id }, ...(body ? { body } : {}) })
  return {
    own: async ({ api, fixtures, presented }: Context) =>
      request(await addPasskey(api, presented.userId ?? fixtures.people.member.userId)),
    foreign: async ({ api, fixtures }: Context) =>
      request(await addPasskey(api, fixtures.people.former.userId)),
    missing: async () => request(missingId),
  }
}

export const passkeySubjects: readonly Subject[] = [
  { route: 'createSignInOptions', requests: { only: async () => ({}) }, answers: () => 200 },
  {
    route: 'createSessionToken',
    form: 'with an unknown passkey',
    requests: { only: async ({ api }) => ({ body: { passkey: createUnknownAssertion(api) } }) },
    answers: () => 'invalid_credentials',
  },
  {
    route: 'createPasskeyOptions',
    requests: { only: async () => ({ body: { current_password: testPassword } }) },
    answers: () => 200,
  },
  {
    route: 'createPasskeyOptions',
    form: 'with a wrong password',
    requests: { only: async () => ({ body: { current_password: 'not this one' } }) },
    answers: () => 'wrong_password',
  },
  {
    route: 'createPasskey',
    requests: {
      only: async ({ api, presented }) => ({
        body: { name: 'Key', response: createRegistration(api, presented.authorization, presented.userId) },
      }),
    },
    answers: () => 200,
  },
  {
    route: 'createPasskey',
    form: 'with the challenge of another session',
    requests: {
      only: async ({ api }) => ({ body: { name: 'Key', response: createRegistration(api, undefined) } }),
    },
    answers: () => 'invalid',
  },
  { route: 'listPasskeys', requests: { only: async () => ({}) }, answers: () => 200 },
  { route: 'getPasskey', requests: aboutPasskeys(), answers: ownOr404 },
  { route: 'updatePasskey', requests: aboutPasskeys({ name: 'Phone' }), answers: ownOr404 },
  {
    route: 'deletePasskey',
    requests: aboutPasskeys({ current_password: testPassword }),
    answers: ownOr404,
  },
]
