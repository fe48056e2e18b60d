// Signs in as the security scheme of each operation in the published document requires: every operation that lists
// `token` accepts an API token with the listed scope, every operation that lists `bearer` a session, and no others.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { urlOf } from '@pharos/contract/client'
import { isForAdminTokens, type Grant } from '@pharos/contract/role'
import { routes } from '@pharos/contract/document/routes'
import { createTestApi, type TestApi } from './api.ts'
import { callers, type Identity, type Presented } from './support/callers.ts'
import { addApiToken, addStaffToken } from './support/credentials.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'
import { formOf, formType } from './support/letters.ts'
import { documentText } from './support/openapi-operations.ts'
import { removeSecondFactors } from './support/second-factor.ts'
import { subjects } from './support/subjects.ts'

type Scheme =
  | { readonly type: 'apiKey'; readonly in: 'header'; readonly name: string }
  | { readonly type: 'http'; readonly scheme: 'bearer' }
type SchemeName = 'token' | 'bearer' | 'source'
type Documented = {
  readonly operationId: string
  readonly security: readonly Partial<Record<SchemeName, readonly string[]>>[]
  readonly 'x-required-role'?: 'staff'
  readonly 'x-required-grant'?: Grant
  readonly 'x-web-session'?: true
  readonly description: string
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>
  readonly components: { readonly securitySchemes: Readonly<Record<SchemeName, Scheme>> }
}

const { paths, components } = JSON.parse(documentText) as Document
const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
const listing = (name: SchemeName) => operations.filter(({ security }) => security.some((one) => name in one))

/** The header of a scheme, as generated clients make it: an API key as it is, a bearer token after its word. */
function headerOf(name: SchemeName, secret: string): Record<string, string> {
  const scheme = components.securitySchemes[name]
  return scheme.type === 'apiKey'
    ? { [scheme.name.toLowerCase()]: secret }
    : { authorization: `Bearer ${secret}` }
}

const refusals: readonly unknown[] = [
  'unauthenticated',
  'wrong_scheme',
  'forbidden',
  'scope_missing',
  'module_disabled',
  'second_factor_required',
]

let api: TestApi
let fixtures: Fixtures

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
})
after(() => api[Symbol.asyncDispose]())

type SignIn = { readonly identity: Identity; readonly presented: Presented; readonly secret: string }

/** Creates an API token with the scope of the operation, or with any scope if it lists no scope. */
async function withToken({
  operationId,
  security,
  'x-required-role': role,
  'x-required-grant': grant,
}: Documented): Promise<SignIn> {
  const [listed = []] = security.flatMap((one) => (one.token ? [one.token] : []))
  const scopes = listed.length > 0 ? listed : ['ipam:read']
  if (role === 'staff')
    return {
      identity: { kind: 'staff_token', isStaff: true, scopes },
      presented: {},
      secret: `Token ${await addStaffToken(api, { scopes })}`,
    }
  // Only the member to be removed may call it without the role, and a token is no member.
  const isAdmin = (grant && isForAdminTokens(grant)) || operationId === 'removeMember'
  return {
    identity: identityOf(isAdmin ? 'an API token with the admin role' : 'an API token'),
    presented: {},
    secret: `Token ${await addApiToken(api, fixtures.red.teamId, { scopes, isAdmin })}`,
  }
}

async function withSession({ 'x-required-role': role }: Documented): Promise<SignIn> {
  const caller = callers.find(({ name }) => name === (role === 'staff' ? 'staff' : 'an admin'))!
  const presented = await caller.present(api, fixtures)
  return { identity: caller.identity, presented, secret: presented.authorization!.slice('Bearer '.length) }
}

const identityOf = (caller: string) => callers.find(({ name }) => name === caller)!.identity

/** Returns the code if the credential was refused, and undefined for any other answer. */
async function refusalOf(operation: Documented, scheme: SchemeName, signIn: SignIn): Promise<unknown> {
  const route = routes.find(({ name }) => name === operation.operationId)!
  const { requests } = subjects.find((one) => one.route === route.name)!
  const request = await (requests.own ?? requests.only)!({ api, fixtures, ...signIn })
  const { body, headers, statusCode } = await api.server.inject({
    method: route.method,
    url: urlOf(route, request.params ?? {}, request.query ?? {}),
    ...(request.body === undefined ? {} : { payload: request.body as object }),
    ...(request.form === undefined ? {} : { payload: formOf(request.form) }),
    headers: {
      ...headerOf(scheme, signIn.secret),
      ...(request.form === undefined ? {} : { 'content-type': formType }),
    },
  })
  const code = /problem/.test(String(headers['content-type']))
    ? (JSON.parse(body) as { code: string }).code
    : undefined
  assert.ok(statusCode < 500, `${route.name}: ${statusCode} ${code}`)
  return refusals.includes(code) ? `${route.name}: ${code}` : undefined
}

async function refusedOf(scheme: SchemeName, signIn: (operation: Documented) => Promise<SignIn>) {
  const refused = []
  for (const operation of listing(scheme)) {
    const refusal = await refusalOf(operation, scheme, await signIn(operation))
    if (refusal !== undefined) refused.push(refusal)
    await removeSecondFactors(api)
  }
  return refused
}

describe('a client that signs in as the document says', () => {
  it('is accepted with an API token by every operation that lists it', async () => {
    assert.ok(listing('token').length > 100)
    assert.deepEqual(await refusedOf('token', withToken), [])
  })

  it('is accepted with a session by every operation that lists it', async () => {
    assert.ok(listing('bearer').length > 10)
    assert.deepEqual(await refusedOf('bearer', withSession), [])
  })

  it('is accepted with a session by every operation that lists a token, which says so', async () => {
    const both = operations.filter((operation) => operation['x-web-session'])
    assert.deepEqual(
      both.map(({ operationId }) => operationId),
      listing('token').map(({ operationId }) => operationId),
    )
    for (const { description } of both)
      assert.match(description, /Sessions of the web application are accepted/)
    const refused = []
    for (const operation of both)
      refused.push(await refusalOf(operation, 'bearer', await withSession(operation)))
    assert.deepEqual(
      refused.filter((one) => one !== undefined),
      [],
    )
  })

  it('never has to choose between the two', () => {
    assert.deepEqual(
      operations
        .filter(({ security }) => new Set(security.flatMap((one) => Object.keys(one))).size > 1)
        .map(({ operationId }) => operationId),
      [],
    )
  })
})
