// Every changing operation of the contract adds an entry to the audit log, and no entry contains a secret. The
// operations are enumerated from the contract.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Route } from '@pharos/contract/route'
import { routes } from '@pharos/contract/document/routes'
import { sql } from 'kysely'
import { platformKinds } from '../src/platform/kinds/index.ts'
import { accessEffects } from '../src/restore/compare-audit.ts'
import { createTestApi, type TestApi } from './api.ts'
import { createIssuedSecrets, type IssuedSecrets } from './support/issued-secrets.ts'
import type { Subject } from './support/subject.ts'
import { subjects } from './support/subjects.ts'
import { callWithSuccess } from './support/successful-call.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

/** Operations that are not GET and make no audited change, or add an entry only sometimes; with the reason. */
const unaudited: Readonly<Record<string, string>> = {
  refreshSession:
    'changes nothing but when the session ends; what is wrong with it is audited as session.reuse',
  ingestDelivery: 'a delivery is stored as received, which is more detailed than an entry',
  addEventAttachment: 'a file is stored with the source that sent it, which is more detailed than an entry',
  validateAnnouncement: 'requests checks that run anyway',
  verifyDomain: 'requests a check that runs anyway; its result is audited',
  getFlowTimeseries: 'only reads; a POST because of its filters',
  exportFlowTimeseries: 'only reads; a POST because of its filters',
  getFlowGraph: 'only reads; a POST because of its filters',
  suggestShieldRules: 'only reads; a POST as simulateShield',
  simulateShield: 'only reads; a POST so that the rules are in a body',
  tryAlertCondition: 'only reads; a POST because of the condition',
  createSignInOptions: 'only reads; a POST because its answer is never the same',
  createPasskeyOptions: 'only reads; a POST because of the password',
  findSignInMethods: 'only reads; a POST so that the address is not in the URL',
  startSingleSignOn: 'stores a sign-in that is under way; its end is audited',
  testProvider: 'stores a test that is under way; its end is audited as provider.test',
  showInvitation: 'only reads; a POST so that the token is not in the URL',
  readNotifications: 'the state of a feed that only its user sees',
  requestPasswordReset: 'sends a mail and changes nothing; the use of its link is audited',
}

/** Operations that no caller can call with success here, with the test that reads their entries. */
const elsewhere: Readonly<Record<string, string>> = {
  createFirstAccount: 'needs an installation without an account: setup.test.ts',
  deleteAccount: 'deletes its caller: personal-data.test.ts',
}

/** Preconditions for subjects whose call would otherwise have no effect. */
const prepared: Readonly<Record<string, () => Promise<unknown>>> = {
  confirmEmail: () =>
    owner()
      .updateTable('users')
      .set({ email_confirmed: null })
      .where('id', '=', fixtures.people.member.userId)
      .execute(),
}

let api: TestApi
let fixtures: Fixtures
let issuedSecrets: IssuedSecrets

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  issuedSecrets = createIssuedSecrets(api)
})
after(() => api[Symbol.asyncDispose]())

const owner = () => api.database.postgres.owner

const changing = routes.filter(({ method }) => method !== 'GET')
const isDryRun = ({ form = '' }: Subject) => /dry run|preflight/.test(form)

/** Calls the operation, and returns its status and the actions of the audit entries of this request. */
async function succeed(
  subject: Subject,
  route: Route,
): Promise<{ status: number; actions: string[] } | undefined> {
  await prepared[route.name]?.()
  const called = await callWithSuccess(api, fixtures, subject, route)
  if (!called) return undefined
  issuedSecrets.collect(called.exchanged)
  const { rows } = await sql<{ action: string }>`
    select action from audit_entries where request_id = ${called.requestId}`.execute(owner())
  return { status: called.status, actions: rows.map(({ action }) => action) }
}

describe('every changing operation', () => {
  for (const route of changing.filter(({ name }) => elsewhere[name] === undefined)) {
    it(`adds an entry: ${route.name}`, async (t) => {
      const ofRoute = subjects.filter((subject) => subject.route === route.name && !isDryRun(subject))
      const seen: string[] = []
      const actions = new Set<string>()
      for (const subject of ofRoute) {
        const done = await succeed(subject, route)
        if (!done) continue
        seen.push(`${subject.form ?? ''} ${done.status} ${done.actions}`)
        assert.ok(done.status < 300, `${subject.form ?? ''}: ${done.status}`)
        for (const action of done.actions) actions.add(action)
      }
      assert.notEqual(seen.length, 0, 'no caller succeeds with it')
      t.diagnostic(seen.join('; '))
      if (unaudited[route.name] === undefined) assert.notEqual(actions.size, 0, seen.join('; '))
    })
  }

  it('has no unnecessary exception', () => {
    const names = new Set(changing.map(({ name }) => name))
    assert.deepEqual(
      Object.keys(unaudited).filter((name) => !names.has(name)),
      [],
    )
  })
})

describe('the audit', () => {
  it('contains every action about access that the comparison of a restored database explains', async () => {
    const { rows } = await sql<{ action: string }>`select distinct action from audit_entries`.execute(owner())
    const written = new Set(rows.map(({ action }) => action))
    const kinds = new Set<string>(platformKinds.kinds.map(({ name }) => name))
    // Tested with commands/token.ts, commands/user.ts and personal-data.test.ts.
    const ofOthers = ['staff_token.revoke', 'totp.reset', 'account.delete']
    const ofKind = (action: string) => kinds.has(action.split('.')[0]!) && /\.(?:update|delete)$/.test(action)
    assert.deepEqual(
      Object.keys(accessEffects).filter(
        (action) => !written.has(action) && !ofKind(action) && !ofOthers.includes(action),
      ),
      [],
    )
  })

  it('contains none of the secrets of requests and responses', async () => {
    assert.ok((await issuedSecrets.collectMails()) > 0)
    const secrets = [...issuedSecrets.texts]
    assert.ok(secrets.length > 30, `${secrets.length} secrets`)
    const { rows } = await sql<{ id: number; action: string; text: string }>`
      select id, action, to_jsonb(e)::text as text from audit_entries e`.execute(owner())
    assert.ok(rows.length > 20)
    for (const { id, action, text } of rows) {
      const found = secrets.find((secret) => text.includes(secret))
      assert.equal(found, undefined, `${action} (${id}) holds a secret: ${text.slice(0, 500)}`)
      assert.doesNotMatch(text, /\$argon2|whsec_|phs_|phr_|phm_|otpauth:/, `${action} (${id})`)
    }
  })
})
