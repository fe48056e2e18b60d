// Examples of sessions and of the user's own account.
import {
  changeEmailRoute,
  changePasswordRoute,
  confirmEmailRoute,
  deleteSessionRoute,
  listSessionsRoute,
  requestPasswordResetRoute,
  resetPasswordRoute,
  updateUserRoute,
} from '../session/account.ts'
import { example } from '../example.ts'
import {
  confirmTotpRoute,
  createRecoveryCodesRoute,
  createTotpRoute,
  deleteTotpRoute,
  getSecondFactorRoute,
} from '../session/second-factor.ts'
import {
  createSessionTokenRoute,
  getSessionTokenRoute,
  logoutRoute,
  refreshSessionRoute,
  type SessionTokens,
} from '../session/session.ts'
import { admin, team, tokenId, user } from './world.ts'

const tokens: SessionTokens = {
  access: 'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.EXAMPLE.SIGNATURE',
  refresh: 'phr_1c7e2a90-4b3d-4f58-9a16-d05e7c82b3f4.12.EXAMPLE',
  user_etag: 'Kq2v8nR3mB7tYw5x',
  user,
}
const current_password = 'seven granite lighthouses'
const mailToken = 'EXAMPLE-TOKEN-OF-THE-MAIL'
const sessionId = '1c7e2a90-4b3d-4f58-9a16-d05e7c82b3f4'
const recovery_codes = [
  'k4t7-w2mq',
  'p9xd-3hrn',
  'v6bz-8fyc',
  'm2sj-5gkt',
  'r7wq-4nxd',
  'h3vb-9pzc',
  't8fy-2jms',
  'x5gk-7rwh',
  'n4qd-6vtb',
  'z2pc-8hxf',
]

export const sessionExamples = [
  example(refreshSessionRoute, {
    body: { refresh: tokens.refresh, etag: tokens.user_etag },
    response: tokens,
  }),
  example(createSessionTokenRoute, {
    body: { email: admin.email, password: current_password, otp: '492817' },
    response: tokens,
  }),
  example(getSessionTokenRoute, {
    response: {
      token: {
        type: 'api',
        id: tokenId,
        name: 'Terraform',
        scopes: ['ipam:read', 'ipam:write'],
        is_admin: true,
        roles: ['admin'],
        modules: ['ipam'],
        team_id: team.id,
        resources: { prefixes: ['203.0.113.0/24', '2001:db8:a::/48'] },
        service_account_id: null,
        created: '2026-03-02T08:59:14.020Z',
        expires: '2027-03-02T00:00:00Z',
        last_used: '2026-04-01T09:21:00.000Z',
      },
      user_etag: null,
      user: null,
    },
  }),
  example(logoutRoute, { body: { refresh: tokens.refresh } }),

  example(changePasswordRoute, {
    body: { current_password, new_password: 'nine harbours under rain' },
    response: tokens,
  }),
  example(confirmEmailRoute, {
    body: { token: mailToken },
    response: { email: admin.email, confirmed: '2026-02-27T08:51:33.002Z' },
  }),
  example(changeEmailRoute, { body: { email: 'maja.lindholm@lindholm.example', current_password } }),
  example(requestPasswordResetRoute, { body: { email: admin.email } }),
  example(resetPasswordRoute, {
    body: { token: mailToken, new_password: 'nine harbours under rain' },
    response: { email: admin.email },
  }),
  example(listSessionsRoute, {
    response: {
      results: [
        {
          id: sessionId,
          current: true,
          team_id: team.id,
          created: '2026-04-01T07:55:12.700Z',
          last_used: '2026-04-01T09:18:33.101Z',
          expires: '2026-05-01T07:55:12.700Z',
          address: '192.0.2.33',
          user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
        },
      ],
      count: 1,
    },
  }),
  example(deleteSessionRoute, { params: { session_id: sessionId } }),
  example(updateUserRoute, { body: { display_name: admin.name, country: 'SE' }, response: user }),

  example(getSecondFactorRoute, {
    response: { enabled: '2026-02-27T09:03:40.511Z', recovery_codes_left: 9 },
  }),
  example(createTotpRoute, {
    body: { current_password },
    response: {
      secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
      uri: 'otpauth://totp/Example%20Net:maja%40lindholm.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Example%20Net',
      expires: '2026-02-27T09:12:40.511Z',
    },
  }),
  example(confirmTotpRoute, {
    body: { otp: '492817' },
    response: { ...tokens, recovery_codes, enabled: '2026-02-27T09:03:40.511Z' },
  }),
  example(deleteTotpRoute, { body: { current_password, otp: '492817' }, response: tokens }),
  example(createRecoveryCodesRoute, {
    body: { current_password, otp: '492817' },
    response: { ...tokens, recovery_codes },
  }),
]
