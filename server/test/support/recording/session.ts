// Records the examples of sessions and of the user's own account: an admin confirms the address, enables a second factor, signs in, and
// changes address and password.
import { admin, apiToken, team, tokenId, user, web, web6 } from '@pharos/contract/examples/world'
import {
  changeEmailRoute,
  changePasswordRoute,
  confirmEmailRoute,
  deleteSessionRoute,
  listSessionsRoute,
  requestPasswordResetRoute,
  resetPasswordRoute,
  updateUserRoute,
} from '@pharos/contract/session/account'
import {
  createPasskeyOptionsRoute,
  createPasskeyRoute,
  createSignInOptionsRoute,
  deletePasskeyRoute,
  getPasskeyRoute,
  listPasskeysRoute,
  updatePasskeyRoute,
} from '@pharos/contract/session/passkey'
import { deleteAccountRoute, exportAccountRoute } from '@pharos/contract/session/personal-data'
import {
  confirmTotpRoute,
  createRecoveryCodesRoute,
  createTotpRoute,
  deleteTotpRoute,
  getSecondFactorRoute,
} from '@pharos/contract/session/second-factor'
import {
  createSessionTokenRoute,
  getSessionTokenRoute,
  logoutRoute,
  refreshSessionRoute,
} from '@pharos/contract/session/session'
import { createTokenRoute } from '@pharos/contract/team/token'
import { sql } from 'kysely'
import { Secret, TOTP } from 'otpauth'
import { waitFor } from '../../../../lab/src/wait.ts'
import { createMailToken } from '../../../src/session/mail-token.ts'
import { hashPassword } from '../../../src/session/password.ts'
import { relyingPartyOf } from '../../../src/session/relying-party.ts'
import { Authenticator } from '../authenticator.ts'
import type { Recorder } from './recorder.ts'

const current_password = 'seven granite lighthouses'
const new_password = 'nine harbours under rain'
const sessionId = '1c7e2a90-4b3d-4f58-9a16-d05e7c82b3f4'
const mailSecret = 'EXAMPLE-TOKEN-OF-THE-MAIL-NOT-A-REAL-SECRET'
const browser = {
  headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
}
const recoveryCodes = [
  'k4t7w-2mqxe',
  'p5xdn-3hrnb',
  'v6bzt-4fyca',
  'm2sjk-5gktr',
  'r7wqd-4nxdo',
  'h3vbu-6pzci',
  't4fys-2jmsl',
  'x5gkf-7rwhg',
  'n4qdy-6vtbm',
  'z2pcw-5hxfj',
]

type Tokens = { readonly access: string; readonly refresh: string }

/** Replaces the secrets of sessions, links and codes. */
function replacing({ replace }: Recorder) {
  return {
    tokens({ access, refresh }: Tokens): void {
      replace(access, 'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.EXAMPLE.SIGNATURE')
      replace(refresh, `phr_${sessionId}.12.EXAMPLE`)
    },
    codes(codes: readonly string[]): void {
      codes.forEach((code, at) => replace(code, recoveryCodes[at]!))
    },
    mail(text: string): string {
      const [purpose] = text.split('.')
      replace(text, `${purpose}.7b0e4c52-6f0e-4d1b-8a57-1f2c3d4e5f60.${mailSecret}`)
      return text
    },
    /** In quotes: the same digits may be a part of a number. */
    otp(secret: string): string {
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() })
      replace(`"${code}"`, '"492817"')
      return code
    },
  }
}

async function addAccount({ owner }: Recorder): Promise<void> {
  await sql`
    update users set password_hash = ${await hashPassword(current_password)}, billing_uuid = ${user.billing_uuid},
      email_confirmed = null
    where id = ${admin.id}`.execute(owner)
  for (const { cidr } of [web, web6])
    await sql`insert into prefixes (team_id, prefix) values (${team.id}, ${cidr}::cidr)`.execute(owner)
}

/** Adds a passkey after the authenticator was disabled, and removes it. The bytes of the authenticator are shortened. */
async function recordPasskeys(recorder: Recorder): Promise<void> {
  const { api, record, replace, at } = recorder
  const { tokens, codes } = replacing(recorder)
  const challenge = (text: string) => replace(text, 'MTc3NTAzODU5MTg3MC5FWEFNUExFLkNIQUxMRU5HRQ')
  await at('2026-04-01T10:14:02.115Z')
  const { public_key: creation } = await record(createPasskeyOptionsRoute, {
    body: { current_password: new_password },
  })
  challenge(creation.challenge)
  const key = new Authenticator(relyingPartyOf(api.shared.publicUrl, '')!.origin)
  const response = key.create(creation)
  replace(response.id, 'q3nKc1o8mQh0Zk5vTq2bW9yR4sLd7uXe')
  replace(response.response.clientDataJSON, 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0')
  replace(response.response.attestationObject, 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVg')
  const added = await record(createPasskeyRoute, { body: { name: 'Laptop', response } })
  tokens(added)
  codes(added.recovery_codes!)
  const params = { passkey_id: added.passkey.id }
  const bearer = { headers: { authorization: `Bearer ${added.access}` } }
  await record(listPasskeysRoute, {}, bearer)
  await record(getPasskeyRoute, { params }, bearer)
  await record(updatePasskeyRoute, { params, body: { name: 'Laptop in Malmö' } }, bearer)
  challenge((await record(createSignInOptionsRoute)).public_key.challenge)
  tokens(await record(deletePasskeyRoute, { params, body: { current_password: new_password } }, bearer))
}

/** Exports and deletes the account of a member, who is used for nothing else. */
async function recordPersonalData({ owner, record, call, replace, nextId, at }: Recorder): Promise<void> {
  const email = 'olle.ek@lindholm.example'
  await at('2026-04-01T10:30:00.000Z')
  await nextId('users', 94)
  await sql`
    with added as (
      insert into users (email, email_confirmed, password_hash, username, first_name, last_name, billing_uuid)
      values (${email}, now(), ${await hashPassword(current_password)}, 'olle.ek', 'Olle', 'Ek', '5f0c7a52-9b1e-4f6d-8c3a-2d4e6f8a0b1c')
      returning id)
    insert into memberships (team_id, user_id, roles) select ${team.id}, id, '{editor}' from added`.execute(
    owner,
  )
  const opened = await call(createSessionTokenRoute, { body: { email, password: current_password } }, browser)
  const bearer = { headers: { ...browser.headers, authorization: `Bearer ${opened.access}` } }
  await call(updateUserRoute, { body: { display_name: 'Olle' } }, bearer)
  const { sessions, audit_entries: entries } = await record(exportAccountRoute, {}, bearer)
  replace(sessions[0]!.id, '8b2f6c14-0d7e-4a93-b5c8-41e9d2a7f603')
  entries.forEach(({ request_id: id }, at) => replace(id!, `req-4kq2m7xw3zt${at}`))
  await record(deleteAccountRoute, { body: { current_password } }, bearer)
}

export async function recordSession(recorder: Recorder): Promise<void> {
  const { api, owner, record, call, replace, at } = recorder
  const { tokens, codes, mail, otp } = replacing(recorder)
  const mailToken = (purpose: 'confirm-email' | 'password-reset') =>
    owner
      .transaction()
      .execute((trx) => createMailToken(trx, api.config.secret, purpose, admin.id, admin.email))
  await addAccount(recorder)

  await at('2026-03-01T08:51:33.002Z')
  await record(confirmEmailRoute, { body: { token: mail(await mailToken('confirm-email')) } })
  await at('2026-03-01T09:02:40.511Z')
  const totp = await record(createTotpRoute, { body: { current_password } })
  replace(totp.secret, 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP')
  await at('2026-03-01T09:03:40.511Z')
  const confirmed = await record(confirmTotpRoute, { body: { otp: otp(totp.secret) } })
  tokens(confirmed)
  codes(confirmed.recovery_codes)

  await at('2026-03-02T08:59:14.020Z')
  const created = await call(createTokenRoute, {
    body: {
      name: 'Terraform',
      scopes: ['ipam:read', 'ipam:write'],
      is_admin: true,
      resources: { prefixes: [web.cidr, web6.cidr] },
      allowed_subnets: ['192.0.2.0/28'],
      expires: '2027-03-02T00:00:00Z',
    },
  })
  replace(created.token, apiToken)
  replace(created.id, tokenId)
  await at('2026-04-01T09:20:30.000Z')
  const program = { headers: { authorization: `Token ${created.token}` }, remoteAddress: '192.0.2.5' }
  await call(getSessionTokenRoute, {}, program)
  // The use is stored beside the answer, and at most once a minute.
  await waitFor('the use of the token', async () => {
    const { rows } = await sql`select from api_tokens where last_used is not null`.execute(owner)
    return rows.length > 0
  })
  await at('2026-04-01T09:21:00.000Z')
  await record(getSessionTokenRoute, {}, program)

  await at('2026-04-01T09:30:12.700Z')
  await sql`delete from sessions`.execute(owner)
  const opened = await record(
    createSessionTokenRoute,
    { body: { email: admin.email, password: current_password, otp: otp(totp.secret) } },
    browser,
  )
  tokens(opened)
  const bearer = { headers: { ...browser.headers, authorization: `Bearer ${opened.access}` } }
  const { results: sessions } = await record(listSessionsRoute, {}, bearer)
  replace(sessions[0]!.id, sessionId)
  await record(updateUserRoute, { body: { display_name: admin.name, country: 'SE' } }, bearer)
  const refreshed = await record(
    refreshSessionRoute,
    { body: { refresh: opened.refresh, etag: opened.user_etag } },
    browser,
  )
  tokens(refreshed)
  await record(deleteSessionRoute, { params: { session_id: sessions[0]!.id } }, bearer)
  await record(logoutRoute, { body: { refresh: refreshed.refresh } }, browser)

  await at('2026-04-01T10:02:44.190Z')
  const renewed = await record(createRecoveryCodesRoute, {
    body: { current_password, otp: otp(totp.secret) },
  })
  tokens(renewed)
  codes(renewed.recovery_codes)
  await at('2026-04-01T10:04:10.008Z')
  await record(getSecondFactorRoute)
  const without = await record(deleteTotpRoute, { body: { current_password, otp: otp(totp.secret) } })
  tokens(without)
  await at('2026-04-01T10:10:31.870Z')
  await record(changeEmailRoute, { body: { email: 'maja.lindholm@lindholm.example', current_password } })
  tokens(await record(changePasswordRoute, { body: { current_password, new_password } }))
  await recordPasskeys(recorder)
  await at('2026-04-01T10:20:05.300Z')
  await record(requestPasswordResetRoute, { body: { email: admin.email } })
  await record(resetPasswordRoute, {
    body: { token: mail(await mailToken('password-reset')), new_password: 'eleven lanterns over water' },
  })
  await recordPersonalData(recorder)
}
