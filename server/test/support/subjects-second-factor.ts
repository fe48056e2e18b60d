// The operations of the second factor: on the caller's own account, independent of the team.
import { testPassword } from '../api.ts'
import { addPendingFactor, addSecondFactor, codeOf } from './second-factor.ts'
import type { Context, Subject } from './subject.ts'

const wrong = '000000'

/** Refused callers have no account with a second factor. */
const factorOf = async ({ api, presented }: Context): Promise<string> =>
  presented.userId === undefined ? wrong : codeOf((await addSecondFactor(api, presented.userId)).secret)

const pendingCodeOf = async ({ api, presented: { userId } }: Context): Promise<string> =>
  userId === undefined ? wrong : codeOf(await addPendingFactor(api, userId))

export const secondFactorSubjects: readonly Subject[] = [
  { route: 'getSecondFactor', requests: { only: async () => ({}) }, answers: () => 200 },
  {
    route: 'createTotp',
    requests: { only: async () => ({ body: { current_password: testPassword } }) },
    answers: () => 200,
  },
  {
    route: 'createTotp',
    form: 'with a wrong password',
    requests: { only: async () => ({ body: { current_password: 'not this one' } }) },
    answers: () => 'wrong_password',
  },
  {
    route: 'confirmTotp',
    requests: { only: async (context) => ({ body: { otp: await pendingCodeOf(context) } }) },
    answers: () => 200,
  },
  {
    route: 'confirmTotp',
    form: 'with nothing to confirm',
    requests: { only: async () => ({ body: { otp: wrong } }) },
    answers: () => 'conflict',
  },
  {
    route: 'deleteTotp',
    requests: {
      only: async (context) => ({
        body: { current_password: testPassword, otp: await factorOf(context) },
      }),
    },
    answers: () => 200,
  },
  {
    route: 'deleteTotp',
    form: 'with a wrong password',
    requests: {
      only: async (context) => ({
        body: { current_password: 'not this one', otp: await factorOf(context) },
      }),
    },
    answers: () => 'wrong_password',
  },
  {
    route: 'createRecoveryCodes',
    requests: {
      only: async (context) => ({
        body: { current_password: testPassword, otp: await factorOf(context) },
      }),
    },
    answers: () => 200,
  },
  {
    route: 'createRecoveryCodes',
    form: 'without a second factor',
    requests: { only: async () => ({ body: { current_password: testPassword, otp: wrong } }) },
    answers: () => 'conflict',
  },
]
