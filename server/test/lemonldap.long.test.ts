// LemonLDAP::NG as an identity provider: the drivers of both protocols against it, and its team beside the team of SimpleSAMLphp, with one person in both.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { urlOf } from '@pharos/contract/client'
import { routes } from '@pharos/contract/document/routes'
import { isOfTeamInPath } from '@pharos/contract/route'
import { sql } from 'kysely'
import { createOidc } from '../src/drivers/oidc/provider.ts'
import { createFetch } from '../src/drivers/outgoing/fetch.ts'
import { createHostResolver } from '../src/drivers/outgoing/resolve-host.ts'
import { parseMetadata } from '../src/drivers/saml/metadata.ts'
import { createSaml } from '../src/drivers/saml/provider.ts'
import {
  browseForm,
  simplesamlphpMissing,
  startSimplesamlphp,
  type Simplesamlphp,
} from '../src/drivers/saml/testing-simplesamlphp.ts'
import { loopback } from '../src/drivers/webhook/testing.ts'
import type { FlowAnswer } from '../src/identity/identity-provider.ts'
import { conformsToIdentityProvider, oidcAnswers } from '../src/identity/identity-provider.conformance.ts'
import { redirectUriOf, serviceProviderOf } from '../src/identity/open-provider.ts'
import { open } from '../src/runtime/secrets.ts'
import { createTestApi, type TestApi } from './api.ts'
import { userIn } from './support/callers.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'
import { addProvider, type TestProvider } from './support/identity.ts'
import { formOf, formType } from './support/letters.ts'
import { browseLemonldap, lemonldapMissing, startLemonldap, type Lemonldap } from './support/lemonldap.ts'
import type { Subject, SubjectRequest } from './support/subject.ts'
import { subjects } from './support/subjects.ts'

const key = 'k3j5mq2xw7ab'
const clientOf = (publicUrl: string, of: string) => {
  const { entity_id: entityId, acs_url: acsUrl } = serviceProviderOf(publicUrl, of)
  return { redirectUri: redirectUriOf(publicUrl, of), entityId, acsUrl }
}

describe('LemonLDAP::NG', { skip: lemonldapMissing }, () => {
  const client = clientOf('https://portal.example', key)
  let peer: Lemonldap
  before(async () => {
    peer = await startLemonldap(client)
  })
  after(() => peer[Symbol.asyncDispose]())
  const shared = { async [Symbol.asyncDispose]() {} }

  conformsToIdentityProvider('LemonLDAP::NG with OpenID Connect', async () => ({
    ...shared,
    provider: createOidc({ fetch: createFetch({ resolver: createHostResolver(), allowed: loopback }) })({
      ...peer,
      kind: 'oidc',
      key,
      groupsClaim: 'groups',
      secondFactorValues: [],
      domains: ['badwolf.org'],
      redirectUri: client.redirectUri,
    }),
    browse: async (redirect) => (await browseLemonldap(redirect, client, 'dwho')) as unknown as FlowAnswer,
    person: { email: 'dwho@badwolf.org', subject: 'dwho' },
    // It does not state its issuer in answers.
    protocol: { ...oidcAnswers, ofOthers: (answer) => oidcAnswers.ofOthers(answer).slice(0, 1) },
  }))

  conformsToIdentityProvider('LemonLDAP::NG with SAML', async () => {
    const seen = new Set<string>()
    const person = { email: 'dwho@badwolf.org', subject: '' }
    return {
      ...shared,
      provider: createSaml({ claimAssertion: async (_, id) => seen.size < seen.add(id).size })({
        ...parseMetadata(Buffer.from(peer.metadata)),
        kind: 'saml',
        key,
        groupsClaim: 'groups',
        secondFactorValues: [],
        audience: client.entityId,
        acsUrl: client.acsUrl,
      }),
      browse: async (redirect) => {
        const { SAMLResponse, RelayState } = await browseLemonldap(redirect, client, 'dwho')
        // It makes a persistent name of its own for each person.
        const [, name] = /<saml:NameID[^>]*>([^<]+)</.exec(Buffer.from(SAMLResponse!, 'base64').toString())!
        person.subject = name!
        return { state: RelayState!, samlResponse: SAMLResponse! }
      },
      person,
      protocol: {
        subjectClaim: 'NameID',
        spent: 'replayed' as const,
        ofOthers: () => [],
        errors: ({ state }: { readonly state: string }) => [{ state }],
      },
    }
  })
})

describe('a person in the teams of two providers', { skip: lemonldapMissing || simplesamlphpMissing }, () => {
  let api: TestApi
  let fixtures: Fixtures
  let lemonldap: Lemonldap
  let simplesamlphp: Simplesamlphp
  let provider: Record<'red' | 'blue', TestProvider>

  const owner = () => api.database.postgres.owner
  const post = async (url: string, payload: object, headers: Record<string, string> = {}) =>
    api.server.inject({ method: 'POST', url, payload, headers })
  const bearer = (access: string) => ({ authorization: `Bearer ${access}` })

  before(async () => {
    api = await createTestApi({ PHAROS_SSO_NETWORKS_ALLOWED: '127.0.0.0/8' })
    fixtures = await createFixtures(api)
    const keys = { red: 'lemonldapred', blue: 'simplesamlbl' }
    const { publicUrl } = api.shared
    lemonldap = await startLemonldap(clientOf(publicUrl, keys.red))
    const person = { uid: 'dwho', email: 'dwho@tardis.example' }
    simplesamlphp = await startSimplesamlphp(clientOf(publicUrl, keys.blue), 'assertion', person)
    const { certificates, ...saml } = parseMetadata(Buffer.from(simplesamlphp.metadata))
    provider = {
      red: await addProvider(api, fixtures.red, {
        ...lemonldap,
        key: keys.red,
        domain: 'badwolf.org',
      }),
      blue: await addProvider(api, fixtures.blue, {
        saml: { ...saml, certificate: certificates[0]! },
        key: keys.blue,
        domain: 'tardis.example',
      }),
    }
    await sql`insert into provider_mappings (provider_id, group_name, roles) values
      (${provider.red.id}, 'timelords', '{admin}'), (${provider.blue.id}, 'net-ops', '{admin}')`.execute(
      owner(),
    )
  })
  after(async () => {
    await lemonldap?.[Symbol.asyncDispose]()
    await simplesamlphp?.[Symbol.asyncDispose]()
    await api?.[Symbol.asyncDispose]()
  })

  /** What the portal does with the answer of the provider. */
  async function signIn(team: 'red' | 'blue', headers: Record<string, string> = {}) {
    const begun = await post('/v3/session/sso', { provider: provider[team].key }, headers)
    assert.equal(begun.statusCode, 200, begun.body)
    const cookie = String(begun.headers['set-cookie']).split(';')[0]!
    const { redirect } = begun.json() as { redirect: string }
    const answer = team === 'red' ? await atLemonldap(redirect) : await atSimplesamlphp(redirect)
    return post('/v3/session/sso/complete', { provider: provider[team].key, ...answer }, { cookie })
  }

  async function atLemonldap(redirect: string): Promise<object> {
    const { code, state } = await browseLemonldap(
      redirect,
      clientOf(api.shared.publicUrl, provider.red.key),
      'dwho',
    )
    return { code, state }
  }

  async function atSimplesamlphp(redirect: string): Promise<object> {
    const { samlResponse, state } = await browseForm(redirect)
    const form = new URLSearchParams({ SAMLResponse: samlResponse, RelayState: state }).toString()
    const posted = await api.server.inject({
      method: 'POST',
      url: `/sso/saml/${provider.blue.key}/acs`,
      payload: form,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    assert.equal(posted.statusCode, 303, posted.body)
    return { state }
  }

  const access = { red: '', blue: '' }
  let userId: number

  it('signs in with each of them to one account, after the owner of the mailbox has agreed', async () => {
    const first = await signIn('blue')
    assert.equal(first.statusCode, 200, first.body)
    userId = first.json().user.id
    // As a change of the address does.
    await sql`update users set email = 'dwho@badwolf.org' where id = ${userId}`.execute(owner())
    const refused = await signIn('red')
    assert.equal(refused.json().errors[0].ctx.reason, 'linked_elsewhere', refused.body)
    const { rows } = await sql<{ content_sealed: Buffer }>`
      select content_sealed from mails where template = 'link-account'`.execute(owner())
    const { link } = JSON.parse(
      open(api.config.secret, 'mail', rows[0]!.content_sealed, 'link-account').toString(),
    ) as { link: string }
    const linked = await post('/v3/session/sso/link', { token: new URL(link).hash.slice(1) })
    assert.equal(linked.statusCode, 200, linked.body)
    for (const team of ['red', 'blue'] as const) {
      const { user, access: opened } = (await signIn(team)).json()
      assert.equal(user.id, userId)
      assert.deepEqual(
        user.teams.map(({ id }: { id: number }) => id),
        [fixtures[team].teamId],
      )
      access[team] = opened
    }
  })

  const routeOf = ({ route }: Subject) => routes.find(({ name }) => name === route)!
  // Operations on the session itself would end it; every-route.test.ts tries them.
  const ofObjects = subjects.filter(
    (one) => one.requests.foreign && !/^\/v3\/session\b/.test(routeOf(one).path),
  )
  const ofTeams = subjects.filter((one) => isOfTeamInPath(routeOf(one)))

  async function call(subject: Subject, request: SubjectRequest, headers: Record<string, string>) {
    const route = routeOf(subject)
    const answer = await api.server.inject({
      method: route.method,
      url: urlOf(route, request.params ?? {}, request.query ?? {}),
      ...(request.body === undefined ? {} : { payload: request.body as object }),
      ...(request.form === undefined ? {} : { payload: formOf(request.form) }),
      headers: { ...(request.form === undefined ? {} : { 'content-type': formType }), ...headers },
    })
    const got = `${route.name} ${subject.form ?? ''}: ${answer.statusCode} ${answer.body.slice(0, 300)}`
    return { answer, got }
  }

  for (const [team, other] of [
    ['red', 'blue'],
    ['blue', 'red'],
  ] as const)
    it(`does not open the team ${other} with the provider of ${team}, on any route`, async () => {
      const headers = bearer(access[team])
      const identity = userIn(team, { isAdmin: true, openedBy: 'own provider' })
      const context = { api, fixtures, identity, presented: { ...headers, userId } }
      for (const subject of ofObjects) {
        const { answer, got } = await call(subject, await subject.requests.foreign!(context), headers)
        for (const mark of fixtures[other].marks) assert.ok(!answer.body.includes(mark), got)
        const expected = subject.answers('foreign', identity)
        if (typeof expected === 'string')
          assert.ok([expected, 'sign_in_required'].includes(answer.json().code), got)
      }
      for (const subject of ofTeams) {
        const { own, only } = subject.requests
        const request = await (own ?? only)!(context)
        const params = { ...request.params, team_id: fixtures[other].teamId }
        const { answer, got } = await call(subject, { ...request, params }, headers)
        assert.equal(answer.json().code, 'sign_in_required', got)
      }
      const id = fixtures[other].teamId
      const switched = await post('/v3/session/token', { team_id: id }, headers)
      assert.equal(switched.json().code, 'sign_in_required')
      assert.deepEqual(switched.json().errors[0].ctx, { provider: provider[other].key })
    })

  it('opens both in one session, after a sign-in with each', async () => {
    const both = await signIn('red', bearer(access.blue))
    assert.deepEqual(
      both
        .json()
        .user.teams.map(({ id }: { id: number }) => id)
        .toSorted(),
      [fixtures.red.teamId, fixtures.blue.teamId].toSorted(),
    )
  })
})
