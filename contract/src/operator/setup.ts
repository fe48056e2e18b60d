// The first run of an installation: creating its first account with the setup code, and what is left to set up.
import { Type, type Static } from 'typebox'
import { route, staffChanging, staffReading } from '../route.ts'
import { passwordRules } from '../session/password.ts'
import { Component, EmailAddress, Enumeration, Id, Optional, Strict } from '../scalar.ts'
import { Line } from '../text.ts'

const PersonName = Line({ maxLength: 100 })

export const showSetupRoute = route({
  name: 'showSetup',
  group: 'Session',
  method: 'GET',
  path: '/v3/setup',
  summary: 'Show whether the first account is missing',
  description:
    'Returns whether the first account of the installation can be created: it has no account, never had one from a setup, and its database was not restored.',
  permission: { credential: 'none' },
  response: Component('SetupState', {
    open: Type.Boolean({ description: 'whether `createFirstAccount` is possible, with the setup code' }),
  }),
  success: 200,
})

export const FirstAccount = Component('FirstAccount', {
  email: Type.String({ description: 'address with which the account signs in' }),
  team_id: { ...Id, description: 'id of the team of the provider, in which the account is an admin' },
})
export type FirstAccount = Static<typeof FirstAccount>

export const createFirstAccountRoute = route({
  name: 'createFirstAccount',
  group: 'Session',
  method: 'POST',
  path: '/v3/setup',
  summary: 'Create the first account',
  description:
    'Creates the account of the operator, with the staff role admin, the team of the provider and its name. `code` is the setup code, which a ' +
    'process prints when it starts and `pharos setup-code` prints again: it proves access to the machine. A code that is wrong or has expired is ' +
    '400 `invalid_token`. It works once: with an account in the installation the answer is 409. No session is opened: sign in afterwards.',
  permission: { credential: 'none' },
  body: Strict({
    code: Line({ minLength: 1, maxLength: 100, description: 'the setup code' }),
    provider: Line({ minLength: 1, maxLength: 200, description: 'name of the provider' }),
    email: { ...EmailAddress, description: 'e-mail address of the account' },
    password: Type.String({ minLength: 1, maxLength: 1024, description: passwordRules }),
    first_name: Optional({ ...PersonName, description: 'first name' }),
    last_name: Optional({ ...PersonName, description: 'last name' }),
  }),
  response: FirstAccount,
  success: 200,
  keyless: 'no_caller',
  errors: ['invalid_token', 'conflict', 'unavailable'],
})

export const setupSteps = [
  'provider',
  'second_factor',
  'public_url',
  'mail',
  'region',
  'detector',
  'device',
  'customer',
] as const
export type SetupStep = (typeof setupSteps)[number]

export const SetupProgress = Component('SetupProgress', {
  steps: Type.Array(
    Component('SetupStepState', {
      step: {
        ...Enumeration('SetupStep', setupSteps),
        description:
          '`provider`: a support address; `second_factor`: of all staff; `public_url`: an address with TLS; `mail`: a mail server; `region`, `detector`, ' +
          '`device`, `customer`: at least one',
      },
      done: Type.Boolean({ description: 'whether it is there now' }),
    }),
    { description: 'in the order in which they are best done' },
  ),
  dismissed: Type.Boolean({ description: 'whether staff have hidden the list' }),
})
export type SetupProgress = Static<typeof SetupProgress>

export const getSetupProgressRoute = route({
  name: 'getSetupProgress',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/setup',
  summary: 'Get what is left to set up',
  description:
    'What an installation needs before it serves customers, computed from the settings and the elements of the platform.',
  permission: staffReading('operator.see'),
  response: SetupProgress,
  success: 200,
})

export const updateSetupProgressRoute = route({
  name: 'updateSetupProgress',
  group: 'Operator',
  method: 'PATCH',
  path: '/v3/admin/setup',
  summary: 'Hide or show what is left to set up',
  description: 'Hides the list on the overview of staff for everybody, or shows it again.',
  permission: staffChanging('platform.manage'),
  body: Strict({ dismissed: Type.Boolean({ description: 'true hides the list' }) }),
  response: SetupProgress,
  success: 200,
  dryRun: true,
})

export const setupRoutes = [
  showSetupRoute,
  createFirstAccountRoute,
  getSetupProgressRoute,
  updateSetupProgressRoute,
]
