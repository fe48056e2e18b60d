// No secret that was returned or received is stored in plain text: every operation is called by an allowed caller, with an
// Idempotency-Key if it accepts one, and then every row of every table is searched.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { takesIdempotencyKey } from '@pharos/contract/answers'
import { routes } from '@pharos/contract/document/routes'
import { sql } from 'kysely'
import { createTestApi, testPassword, type TestApi } from './api.ts'
import { createIssuedSecrets, type IssuedSecrets } from './support/issued-secrets.ts'
import { listTables } from './support/generated-rows.ts'
import { subjects } from './support/subjects.ts'
import { callWithSuccess } from './support/successful-call.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

let api: TestApi
let fixtures: Fixtures
let issuedSecrets: IssuedSecrets
before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  issuedSecrets = createIssuedSecrets(api)
})
after(() => api[Symbol.asyncDispose]())

/** Six digits occur in many rows by chance. */
const lengthLeast = 10

/** Encodings of a secret: as text, as bytes, and decoded from its text. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const meant = [Buffer.from(secret, 'base64'), fromBase32(secret)].filter(
    ({ length }) => length >= lengthLeast,
  )
  return [
    secret,
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('hex'),
    ...meant.map((one) => one.toString('hex')),
  ]
}

/** Decodes Base32 (RFC 4648, section 6); empty for other text. */
function fromBase32(text: string): Buffer {
  if (!/^[A-Z2-7]+$/i.test(text)) return Buffer.alloc(0)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...text.toUpperCase()]
    .map((one) => alphabet.indexOf(one).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
}

describe('the database', () => {
  it('contains no secret in plain text after a call of every operation', async () => {
    let calls = 0
    for (const route of routes) {
      for (const subject of subjects.filter((one) => one.route === route.name)) {
        const headers = takesIdempotencyKey(route) ? { 'idempotency-key': `call-${calls}` } : {}
        const called = await callWithSuccess(api, fixtures, subject, route, headers)
        if (!called) continue
        calls += 1
        issuedSecrets.collect(called.exchanged)
      }
    }
    assert.ok(calls > routes.length / 2, `${calls} calls`)
    assert.ok((await issuedSecrets.collectMails()) > 0)
    issuedSecrets.collect({ password: testPassword, secret: Object.values(fixtures.sources) })

    const secrets = [...issuedSecrets.texts].filter(({ length }) => length >= lengthLeast)
    for (const kind of [
      /^phs_/,
      /^phr_/,
      /^phm_/,
      /^eyJ/,
      /^whsec_/,
      /^otpauth:/,
      /^[A-Z2-7]{32}$/,
      /^[a-z2-7]{5}-[a-z2-7]{5}$/,
    ])
      assert.ok(
        secrets.some((secret) => kind.test(secret)),
        `no secret of the kind ${kind} was issued`,
      )

    const spellings = secrets.map((secret) => [secret, spellingsOf(secret)] as const)
    const { owner } = api.database.postgres
    for (const { name } of await listTables(owner)) {
      const { rows } = await sql<{
        row: string
      }>`select to_jsonb(t)::text as row from ${sql.table(name)} t`.execute(owner)
      const text = rows.map(({ row }) => row).join('\n')
      for (const [secret, spelled] of spellings) {
        const found = spelled.find((spelling) => text.includes(spelling))
        assert.equal(found, undefined, `${name} holds ${secret}`)
      }
    }
  })
})
