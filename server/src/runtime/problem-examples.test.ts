// The documented example of each error code has the texts that the server sends: each is created here from the catalogue.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { problems, type ProblemCode } from '@pharos/contract/problem'
import { problemExample } from '@pharos/contract/document/problem-schema'
import { errorAt, fail, failWith, invalid, type Failure } from './error.ts'
import { invalidTexts } from './messages.ts'

const checks = [
  {
    loc: ['body', 'enabled'],
    msg: 'no letter of authorization has been accepted',
    type: 'not_validated',
    ctx: { missing: 'loa', state: 'missing', fix: 'Upload a signed letter of authorization.' },
  },
]
const regions = [
  {
    loc: ['regions', 'ams'],
    msg: 'is withdrawing there',
    type: 'still_announced',
    ctx: { region: 'ams', state: 'withdrawing' },
  },
]
const zoneClaims = [
  {
    loc: ['body', 'name'],
    msg: invalidTexts.prefixHeld[1],
    type: 'zone_claimed',
    ctx: {
      record_name: '_pharos-challenge.example.com',
      record_type: 'TXT',
      record_value: 'pharos-domain-verification=Zm9yIHRoZSBkb2N1bWVudGF0aW9u',
    },
  },
]
const tooLarge = [
  {
    loc: ['body'],
    msg: invalidTexts.tooLarge[1]({ bytes_max: 1_048_576 }),
    type: 'too_large',
    ctx: { bytes_max: 1_048_576 },
  },
]

const sent: Readonly<Record<ProblemCode, Failure>> = {
  malformed: fail('malformed', 'emptyBody'),
  invalid_token: fail('invalid_token', 'link'),
  unauthenticated: fail('unauthenticated', 'credentialInvalid', { credential: 'API token' }),
  wrong_scheme: fail('wrong_scheme', 'apiTokenAsBearer'),
  invalid_credentials: fail('invalid_credentials', 'signIn'),
  token_not_valid: fail('token_not_valid', 'refresh'),
  otp_required: fail('otp_required', 'missing'),
  forbidden: fail('forbidden', 'tokenAdminOnly', { scope: 'ipam:write' }),
  scope_missing: fail('scope_missing', 'needed', { scope: 'ipam:write' }),
  resource_limited: failWith('resource_limited', [
    errorAt(['body', 'name'], 'outsideLimit', { allowed: ['zone example.com (_acme-challenge; TXT)'] }),
  ]),
  module_disabled: fail('module_disabled', 'module', { module: 'ipam' }),
  wrong_password: fail('wrong_password', 'current'),
  second_factor_required: fail('second_factor_required', 'team'),
  sso_failed: fail(
    'sso_failed',
    'reason',
    { sentence: 'You have no role in the team. Ask an admin of your team to assign you' },
    { errors: [errorAt(['body', 'state'], 'signInFailed', { reason: 'not_assigned' })] },
  ),
  sign_in_required: fail('sign_in_required', 'team', {
    errors: [errorAt(['header', 'Authorization'], 'providerNeeded', { provider: 'k3j5mq2xw7ab' })],
  }),
  local_sign_in_required: fail('local_sign_in_required', 'account'),
  other_account: fail('other_account', 'session'),
  reason_required: fail('reason_required', 'team'),
  email_unconfirmed: fail('email_unconfirmed', 'account'),
  quota_exceeded: fail('quota_exceeded', 'webhooks', { limit: 5 }),
  not_found: fail('not_found', 'object', { noun: 'announcement' }),
  no_transceiver: fail('no_transceiver', 'port'),
  method_not_allowed: fail('method_not_allowed', 'method', { allowed: ['GET', 'HEAD', 'POST'] }),
  not_validated: fail('not_validated', 'checks', { missing: ['loa'] }, { errors: checks }),
  suspended: fail('suspended', 'announcement'),
  prefix_claimed: fail('prefix_claimed', 'byOther', { prefix: '203.0.113.0/24' }),
  still_announced: fail('still_announced', 'regions', { regions: ['ams'] }, { errors: regions }),
  already_member: fail('already_member', 'member', { email: 'ann@example.net' }),
  last_admin: fail('last_admin', 'team'),
  domain_claimed: fail('domain_claimed', 'byOther', { domain: 'acme.net' }),
  zone_claimed: fail(
    'zone_claimed',
    'byOther',
    { zone: 'example.com', record: '_pharos-challenge.example.com' },
    { errors: zoneClaims },
  ),
  would_drop: fail('would_drop', 'share', {
    prefix: '203.0.113.0/24',
    percent: 12.4,
    what: 'flows (connections) of normal traffic',
    max: 5,
  }),
  not_attacked: fail('not_attacked', 'host', { host: '203.0.113.77' }),
  exists: fail('exists', 'zone', { zone: 'example.com' }),
  delegated: fail('delegated', 'zone', { zone: 'example.com', servers: ['ns1.example.net.'] }),
  delete_protected: fail('delete_protected', 'zone', { zone: 'example.com' }),
  ds_present: fail('ds_present', 'zone', { zone: 'example.com' }),
  in_use: fail('in_use', 'reverseZones', { zones: ['113.0.203.in-addr.arpa'] }),
  managed: fail('managed', 'soa'),
  undecided: fail('undecided', 'items', { items: 3, uncompared: [] }),
  conflict: fail('conflict', 'webhookDisabled'),
  idempotency_in_flight: fail('idempotency_in_flight', 'request'),
  precondition_failed: fail('precondition_failed', 'etag', { etag: '"8"' }),
  body_too_large: fail('body_too_large', 'body', { bytesMax: 1_048_576 }, { errors: tooLarge }),
  unsupported_media_type: fail('unsupported_media_type', 'json', {
    given: 'application/x-www-form-urlencoded',
  }),
  invalid: invalid(['body', 'region'], 'region', { valid: ['ams', 'fra', 'nyc'], suggestion: 'ams' }),
  reserved_asn: fail('reserved_asn', 'asn', { asn: 64512, reservedFor: 'private use' }),
  idempotency_mismatch: fail('idempotency_mismatch', 'request', { differs: ['the body'] }),
  rate_limited: fail('rate_limited', 'requests', { seconds: 3 }),
  internal: fail('internal', 'unexpected'),
  unavailable: fail('unavailable', 'database', { degraded: ['postgresql'] }),
  restoring: fail('restoring', 'database'),
  query_too_expensive: fail('query_too_expensive', 'flows'),
}

/** The example of an error in the guide. */
const ofGuide = () => {
  const guide = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8')
  const blocks = [...guide.matchAll(/```json\n([^`]*)```/g)].map(([, text]) => text!)
  return JSON.parse(blocks.find((text) => text.includes('"code": "invalid"'))!)
}

describe('the documented example', () => {
  it('of the guide has the texts of the server', () => {
    const { detail, errors } = ofGuide()
    assert.deepEqual({ detail, errors }, { detail: sent.invalid.message, errors: sent.invalid.errors })
  })

  for (const code of Object.keys(problems) as ProblemCode[])
    it(`of ${code} has the texts of the server`, () => {
      const { detail, errors, degraded } = problemExample(code)
      const { message, errors: given, degraded: down } = sent[code]
      assert.deepEqual({ detail, errors, degraded }, { detail: message, errors: given, degraded: down })
    })
})
