// Every changing operation of the contract leaves an entry in the audit, and no entry holds a secret. What is called is
// enumerated from the contract, so that an operation cannot be forgotten.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { urlOf } from '@pharos/contract/client'
import type { Route } from '@pharos/contract/route'
import { routes } from '@pharos/contract/routes'
import { sql } from 'kysely'
import { open } from '../src/runtime/secrets.ts'
import { createTestApi, type TestApi } from './api.ts'
import { callers, type Caller } from './support/callers.ts'
import { formOf, formType } from './support/letters.ts'
import type { Subject } from './support/subject.ts'
import { subjects } from './support/subjects.ts'
import { verdictOn } from './support/verdict.ts'
import { createWorld, type World } from './support/world.ts'

/** Operations that are no GET and change nothing that the audit is about, or leave an entry only sometimes; and why. */
const unaudited: Readonly<Record<string, string>> = {
  refreshSession:
    'changes nothing but when the session ends; what is wrong with it is audited as session.reuse',
  ingestDelivery: 'a delivery is kept as it came, which says more than an entry would',
  validateAnnouncement: 'asks for checks that are made anyway',
  verifyDomain: 'asks for a check that is made anyway; what it finds is audited',
  showInvitation: 'reads; a POST so that the token stands in no URL',
  requestPasswordReset: 'sends a mail, and changes nothing; what is done with its link is audited',
}

/** What has to be so before, where the subject is content with a call that changes nothing. */
const prepared: Readonly<Record<string, () => Promise<unknown>>> = {
  confirmEmail: () =>
    owner()
      .updateTable('users')
      .set({ email_confirmed: null })
      .where('id', '=', world.people.member.userId)
      .execute(),
}

let api: TestApi
let world: World
const secrets = new Set<string>()

before(async () => {
  api = await createTestApi()
  world = await createWorld(api)
})
after(() => api[Symbol.asyncDispose]())

const owner = () => api.database.postgres.owner

const changing = routes.filter(({ method }) => method !== 'GET')
const isDryRun = ({ form = '' }: Subject) => /dry run|preflight/.test(form)

/** The object, and a caller, with whom the operation succeeds. */
function successOf(subject: Subject, route: Route): { caller: Caller; which: 'own' | 'only' } | undefined {
  const which = subject.requests.own ? 'own' : 'only'
  if (!subject.requests[which]) return undefined
  const caller = callers.find(
    ({ identity, elsewhere }) =>
      !elsewhere &&
      verdictOn(route.permission, identity) === 'pass' &&
      typeof subject.answers(which, identity) === 'number',
  )
  return caller && { caller, which }
}

/** Calls the operation, and answers its status and the actions of the entries that say that they are of this request. */
async function succeed(
  subject: Subject,
  route: Route,
): Promise<{ status: number; actions: string[] } | undefined> {
  const success = successOf(subject, route)
  if (!success) return undefined
  const { caller, which } = success
  const presented = await caller.present(api, world)
  const context = { api, world, identity: caller.identity, presented }
  await prepared[route.name]?.()
  const request = await subject.requests[which]!(context)
  const answer = await api.server.inject({
    method: route.method,
    url: urlOf(route, request.params ?? {}, request.query ?? {}),
    ...(request.body === undefined ? {} : { payload: request.body as object }),
    ...(request.form === undefined ? {} : { payload: formOf(request.form) }),
    headers: {
      ...(request.form === undefined ? {} : { 'content-type': formType }),
      ...(presented.authorization === undefined ? {} : { authorization: presented.authorization }),
    },
    ...(presented.from === undefined ? {} : { remoteAddress: presented.from }),
  })
  remember(presented)
  remember(request.body)
  if (answer.headers['content-type']?.toString().includes('json')) remember(JSON.parse(answer.body))
  const { rows } = await sql<{ action: string }>`
    select action from audit_entries where request_id = ${String(answer.headers['x-request-id'])}`.execute(
    owner(),
  )
  return { status: answer.statusCode, actions: rows.map(({ action }) => action) }
}

/** Names under which secrets are handed out or sent. */
const secretNames =
  /^(access|refresh|token|authorization|secret|otp|code|recovery_codes|otpauth_uri|uri|password|(current|new)_password|link)$/

/** Keeps the texts of a value that are secrets by their names; what is too short to be one is not. */
function remember(value: unknown, name = ''): void {
  if (typeof value === 'string' && secretNames.test(name)) return rememberText(value)
  if (Array.isArray(value)) for (const one of value) remember(one, name)
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) remember(inner, key)
}

/** Whole, and its last part: the first parts of a token are ids, which the audit may name. */
function rememberText(text: string): void {
  const bare = text.replace(/^(Bearer|Token|Basic) /, '').replace(/^https?:.*#/, '')
  const last = bare.split(/[._]/).at(-1)!
  for (const one of [bare, last]) if (one.length >= 6) secrets.add(one)
}

/** What stands in the mails that are on their way: whoever has a link has the account. */
async function rememberMails(): Promise<number> {
  const rows = await owner().selectFrom('mails').select(['template', 'content_sealed']).execute()
  for (const { template, content_sealed } of rows) {
    if (content_sealed)
      remember(JSON.parse(open(api.config.secret, 'mail', content_sealed, template).toString()))
  }
  return rows.length
}

describe('every changing operation', () => {
  for (const route of changing) {
    it(`leaves an entry: ${route.name}`, async (t) => {
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
      assert.notEqual(seen.length, 0, 'nobody succeeds with it')
      t.diagnostic(seen.join('; '))
      if (unaudited[route.name] === undefined) assert.notEqual(actions.size, 0, seen.join('; '))
    })
  }

  it('has no exception that needs none', () => {
    const names = new Set(changing.map(({ name }) => name))
    assert.deepEqual(
      Object.keys(unaudited).filter((name) => !names.has(name)),
      [],
    )
  })
})

describe('the audit', () => {
  it('holds none of the secrets that went in or came out', async () => {
    assert.ok((await rememberMails()) > 0)
    assert.ok(secrets.size > 30, `${secrets.size} secrets`)
    const { rows } = await sql<{ id: number; action: string; text: string }>`
      select id, action, to_jsonb(e)::text as text from audit_entries e`.execute(owner())
    assert.ok(rows.length > 20)
    for (const { id, action, text } of rows) {
      const found = [...secrets].find((secret) => text.includes(secret))
      assert.equal(found, undefined, `${action} (${id}) holds a secret: ${text.slice(0, 500)}`)
      assert.doesNotMatch(text, /\$argon2|whsec_|phs_|phr_|phm_|otpauth:/, `${action} (${id})`)
    }
  })
})
