// Signing in with SAML over HTTP, with providers of two teams: the assertion consumer service, what it must not do, and how admins add a provider.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestKey } from '../src/drivers/saml/testing-certificate.ts'
import {
  browseSaml,
  metadataOf,
  startSaml,
  type SamlForm,
  type TestSaml,
} from '../src/drivers/saml/testing.ts'
import { toBase64 } from '../src/drivers/saml/testing-responses.ts'
import { open } from '../src/runtime/secrets.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { openSession } from './support/credentials.ts'
import { addProvider, type TestProvider } from './support/identity.ts'

let api: TestApi
let red: TestTeam
let blue: TestTeam
let idp: TestSaml
let otherIdp: TestSaml
let provider: TestProvider

const owner = () => api.database.postgres.owner

before(async () => {
  api = await createTestApi({ PHAROS_SSO_NETWORKS_ALLOWED: '127.0.0.0/8' })
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  idp = await startSaml()
  otherIdp = await startSaml()
})
after(async () => {
  await idp[Symbol.asyncDispose]()
  await otherIdp[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await sql`delete from identity_providers`.execute(owner())
  await sql`delete from users`.execute(owner())
  idp.person = {}
  provider = await addProvider(api, red, { saml: idp, domain: 'red.example' })
})

type Answer = Awaited<ReturnType<typeof api.server.inject>>
const post = async (url: string, payload: object, headers: Record<string, string> = {}) =>
  api.server.inject({ method: 'POST', url, payload, headers })
const get = (url: string, access?: string) =>
  api.server.inject({ url, headers: access === undefined ? {} : { authorization: `Bearer ${access}` } })

const acsOf = ({ key }: { readonly key: string }): string => `/sso/saml/${key}/acs`
const formType = { 'content-type': 'application/x-www-form-urlencoded' }
const postForm = (at: { readonly key: string }, form: Readonly<Record<string, string>> | string) =>
  api.server.inject({
    method: 'POST',
    url: acsOf(at),
    payload: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
    headers: formType,
  })

async function start(at = provider) {
  const response = await post('/v3/session/sso', { provider: at.key })
  assert.equal(response.statusCode, 200, response.body)
  const cookie = String(response.headers['set-cookie']).split(';')[0]!
  const { acsUrl, form } = await browseSaml(response.json().redirect as string)
  assert.equal(acsUrl, `${api.shared.publicUrl}${acsOf(at)}`)
  return { cookie, form }
}

const complete = (at: TestProvider, state: string, cookie: string) =>
  post('/v3/session/sso/complete', { provider: at.key, state }, { cookie })

/** Posts the form, and returns the answer to the page of the portal. */
async function deliver(at: TestProvider, form: SamlForm, cookie: string): Promise<Answer> {
  const redirected = await postForm(at, form)
  assert.equal(redirected.statusCode, 303, redirected.body)
  assert.equal(redirected.headers['location'], `${at.redirectUri}?state=${form.RelayState}`)
  return complete(at, form.RelayState, cookie)
}

async function signIn(at = provider): Promise<Answer> {
  const { cookie, form } = await start(at)
  return deliver(at, form, cookie)
}

function assertRefused(response: Answer, reason: string): void {
  const body = response.json() as { code: string; errors: { ctx: { reason: string } }[] }
  assert.equal(body.code, 'sso_failed', response.body)
  assert.equal(body.errors[0]!.ctx.reason, reason)
}

describe('a person', () => {
  it('signs in, whichever part of the answer is signed', async () => {
    for (const signs of ['assertion', 'response', 'both'] as const) {
      idp.signs = signs
      const response = await signIn()
      assert.equal(response.statusCode, 200, response.body)
      const { user, access } = response.json()
      assert.deepEqual(
        [user.email, user.teams.map(({ id }: { id: number }) => id)],
        ['anna@red.example', [red.teamId]],
      )
      assert.equal((await get(`/v3/teams/${blue.teamId}`, access)).statusCode, 404)
    }
    idp.signs = 'assertion'
  })

  it('has the roles of the groups', async () => {
    await sql`insert into provider_mappings (provider_id, group_name, roles) values (${provider.id}, 'net-ops', '{network}')`.execute(
      owner(),
    )
    const { access } = (await signIn()).json()
    assert.deepEqual((await get('/v3/session/token', access)).json().token.roles, ['network'])
  })

  it('of another domain, without an address, or with the provider of another team is refused', async () => {
    idp.person = { email: 'anna@green.example' }
    assertRefused(await signIn(), 'domain_not_yours')
    idp.person = { email: '' }
    assertRefused(await signIn(), 'email_missing')
    const other = await addProvider(api, blue, { saml: otherIdp, domain: 'blue.example' })
    otherIdp.person = { email: 'anna@red.example' }
    assertRefused(await signIn(other), 'domain_not_yours')
  })
})

describe('an attack', () => {
  it('with the answer of another provider fails', async () => {
    const other = await addProvider(api, blue, { saml: otherIdp, domain: 'blue.example' })
    const [mine, theirs] = [await start(), await start(other)]
    const mixed = { ...theirs.form, RelayState: mine.form.RelayState }
    assertRefused(await deliver(provider, mixed, mine.cookie), 'signature')
    // The state of a flow of another provider stores nothing.
    const crossed = await postForm(other, (await start()).form)
    assert.equal(crossed.headers['location'], `${other.redirectUri}?anew`)
  })

  it('with an answer that another browser has fetched fails, and spends it (login CSRF)', async () => {
    const { form, cookie } = await start()
    const { cookie: victim } = await start()
    assertRefused(await deliver(provider, form, victim), 'wrong_browser')
    assertRefused(await complete(provider, form.RelayState, cookie), 'expired')
    const another = await start()
    await postForm(provider, another.form)
    assertRefused(await complete(provider, another.form.RelayState, ''), 'wrong_browser')
  })

  it('by a replay fails, in the same flow and in another', async () => {
    const { form, cookie } = await start()
    assert.equal((await deliver(provider, form, cookie)).statusCode, 200)
    assertRefused(await complete(provider, form.RelayState, cookie), 'expired')
    const next = await start()
    assertRefused(
      await deliver(provider, { ...form, RelayState: next.form.RelayState }, next.cookie),
      'nonce',
    )
  })

  it('with a second answer to a flow changes nothing', async () => {
    const { form, cookie } = await start()
    await postForm(provider, form)
    await postForm(provider, { ...form, SAMLResponse: toBase64('<forged/>') })
    assert.equal((await complete(provider, form.RelayState, cookie)).statusCode, 200)
  })

  it('with a changed or forged answer fails', async () => {
    for (const [change, reason] of [
      [(xml: string) => xml.replace('anna@red.example', 'carl@red.example'), 'signature'],
      [(xml: string) => xml.replace(/<ds:Signature .*<\/ds:Signature>/, ''), 'signature'],
      [() => 'hello', 'document'],
    ] as const) {
      const { form, cookie } = await start()
      const xml = Buffer.from(form.SAMLResponse, 'base64').toString()
      assertRefused(await deliver(provider, { ...form, SAMLResponse: toBase64(change(xml)) }, cookie), reason)
    }
  })

  it('without an answer fails', async () => {
    const { form, cookie } = await start()
    assertRefused(await complete(provider, form.RelayState, cookie), 'idp_error')
  })

  it('by an answer that nobody asked for starts a sign-in anew, and so does an incomplete form', async () => {
    const { form } = await start()
    for (const body of [
      { SAMLResponse: form.SAMLResponse },
      { RelayState: form.RelayState },
      { SAMLResponse: form.SAMLResponse, RelayState: 'https://mallory.example/' },
      `SAMLResponse=a&SAMLResponse=b&RelayState=${form.RelayState}`,
      `SAMLResponse=a&RelayState=${form.RelayState}&RelayState=b`,
      '',
      '%%%=&&&',
    ]) {
      const answer = await postForm(provider, body)
      assert.deepEqual([answer.statusCode, answer.headers['location']], [303, `${provider.redirectUri}?anew`])
    }
  })

  it('with a form that is too large, of another type, compressed or to no provider of SAML fails', async () => {
    const { form } = await start()
    const large = { ...form, SAMLResponse: 'A'.repeat(300_000) }
    assert.equal((await postForm(provider, large)).statusCode, 413)
    const send = (url: string, headers: Record<string, string>) =>
      api.server.inject({ method: 'POST', url, payload: 'a=b', headers })
    assert.equal((await send(acsOf(provider), { 'content-type': 'text/plain' })).statusCode, 415)
    assert.equal((await send(acsOf(provider), { ...formType, 'content-encoding': 'gzip' })).statusCode, 415)
    const oidc = await addProvider(api, red)
    for (const key of [oidc.key, 'aaaaaaaaaaaa', 'x', '..%2f', 'a'.repeat(250)])
      assert.equal((await send(acsOf({ key }), formType)).statusCode, 404, key)
    assert.equal((await get(acsOf(provider))).statusCode, 405)
  })

  it('with 500 large forms at once without a sign-in under way reads none of them', async () => {
    await using server = await listening()
    const payload = new URLSearchParams({ SAMLResponse: 'A'.repeat(260_000), RelayState: 'x' }).toString()
    const answers = await Promise.all(
      Array.from({ length: 500 }, () =>
        fetch(`${server.url}${acsOf(provider)}`, {
          method: 'POST',
          body: payload,
          headers: formType,
          redirect: 'manual',
        }).then(
          ({ status }) => status,
          () => 0,
        ),
      ),
    )
    assert.deepEqual(
      [...new Set(answers)].filter((status) => ![303, 429, 503].includes(status)),
      [],
    )
    assert.equal((await fetch(`${server.url}/healthz`)).status, 200)
  })
})

describe('slow forms of one client', () => {
  it('do not keep out those of others', async () => {
    await using server = await listening()
    await start()
    const slow = Array.from({ length: 8 }, () => slowForm(server.url, '127.0.0.2'))
    try {
      const ninth = () => answerTo(server.url, '127.0.0.2')
      await waitFor('the limit of the client', async () => (await ninth()) === 503)
      assert.equal(await answerTo(server.url, '127.0.0.3'), 303)
    } finally {
      for (const one of slow) one.destroy()
    }
  })
})

/** A form of which only the head is sent. */
function slowForm(url: string, localAddress: string) {
  const headers = { ...formType, 'content-length': 1000 }
  const sent = request(`${url}${acsOf(provider)}`, { method: 'POST', headers, localAddress, agent: false })
  sent.on('error', () => undefined)
  sent.flushHeaders()
  return sent
}

async function answerTo(url: string, localAddress: string): Promise<number> {
  const sent = request(`${url}${acsOf(provider)}`, {
    method: 'POST',
    headers: formType,
    localAddress,
    agent: false,
  })
  sent.end('RelayState=x')
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode!
}

async function listening() {
  const on = await createTestApi({}, { sameInstallationAs: api })
  await on.server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = on.server.server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => on[Symbol.asyncDispose]() }
}

describe('our metadata', () => {
  it('names the entity and the assertion consumer service', async () => {
    const response = await get(`/sso/saml/${provider.key}/metadata`)
    assert.equal(response.statusCode, 200)
    assert.match(String(response.headers['content-type']), /^application\/samlmetadata\+xml/)
    assert.ok(response.body.includes(`Location="${api.shared.publicUrl}${acsOf(provider)}"`))
    assert.equal((await get('/sso/saml/aaaaaaaaaaaa/metadata')).statusCode, 404)
  })
})

describe('an admin', () => {
  async function admin() {
    const { userId } = await addUser(api, 'chief', [red], { admin: true })
    const { access } = await openSession(api, userId, red.teamId)
    return { authorization: `Bearer ${access}` }
  }
  const providers = '/v3/teams/current/providers'
  const key = createTestKey()
  const fields = {
    entity_id: 'https://idp.example/saml',
    sign_on_url: 'https://idp.example/sso',
    certificates: [key.certificate],
  }
  const errorOf = (response: Answer): string => {
    const [error] = (response.json() as { errors: { loc: string[]; msg: string }[] }).errors
    return `${error!.loc.join('.')} ${error!.msg}`
  }

  it('adds a provider by the URL of its metadata, by the metadata, or by fields, and tests it', async () => {
    const bearer = await admin()
    const add = (body: object) => post(providers, { kind: 'saml', name: 'Login', ...body }, bearer)
    await sql`delete from identity_providers`.execute(owner())
    const byUrl = await add({ metadata_url: idp.metadataUrl, default_roles: ['reader'] })
    assert.equal(byUrl.statusCode, 201, byUrl.body)
    const { id, sp, entity_id, certificates, problem, metadata_url } = byUrl.json()
    assert.deepEqual(
      [entity_id, certificates, problem, metadata_url],
      [idp.entityId, [idp.certificate], null, idp.metadataUrl],
    )
    const { acs_url, metadata_url: ours } = sp as Record<string, string>
    assert.ok((await get(new URL(ours!).pathname)).body.includes(acs_url!))

    const xml = metadataOf(fields.entity_id, fields.sign_on_url, fields.certificates)
    const byText = await add({ metadata: `<?xml version="1.0"?>\n<!-- a comment -->\n${xml}` })
    assert.equal(byText.statusCode, 201, byText.body)
    const pem = `-----BEGIN CERTIFICATE-----\n${key.certificate.replaceAll(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`
    const byFields = await add({ ...fields, certificates: [pem] })
    assert.deepEqual(byFields.json().certificates, [key.certificate])

    await sql`insert into domains (team_id, domain, verified, provider_id) values (${red.teamId}, 'red.example', now(), ${id})
      on conflict (team_id, domain) do update set provider_id = excluded.provider_id`.execute(owner())
    const begun = await post(`${providers}/${id}/test`, {}, bearer)
    const cookie = String(begun.headers['set-cookie']).split(';')[0]!
    const { form } = await browseSaml(begun.json().redirect as string)
    await postForm({ key: acs_url!.split('/').at(-2)! }, form)
    const tested = await post(`${providers}/${id}/test`, { state: form.RelayState }, { ...bearer, cookie })
    assert.deepEqual(tested.json().result.roles, ['reader'], tested.body)
    assert.equal(tested.json().result.reason, null)
    const activated = await api.server.inject({
      method: 'PATCH',
      url: `${providers}/${id}`,
      payload: { status: 'active' },
      headers: bearer,
    })
    assert.equal(activated.json().status, 'active')
  })

  it('reads why metadata and certificates are not accepted', async () => {
    const bearer = await admin()
    const add = async (body: object) => {
      const response = await post(providers, { kind: 'saml', name: 'Login', ...body }, bearer)
      assert.equal(response.statusCode, 422, response.body)
      return errorOf(response)
    }
    const xml = metadataOf(fields.entity_id, fields.sign_on_url, fields.certificates)
    const cases: readonly [object, RegExp][] = [
      [{}, /is required, or metadata_url/],
      [{ metadata: xml, metadata_url: idp.metadataUrl }, /send one of them/],
      [{ ...fields, metadata: xml }, /send one of them/],
      [{ entity_id: 'a' }, /send one of them/],
      [{ metadata: 'hello' }, /^body\.metadata must be SAML metadata/],
      [{ metadata: `<!DOCTYPE a>${xml}` }, /must be SAML metadata/],
      [{ metadata: `<a>${xml}${xml}</a>` }, /has several entities/],
      [{ metadata: '<a/>' }, /has no identity provider/],
      [{ metadata: xml.replace('HTTP-Redirect', 'SOAP') }, /HTTP-Redirect binding/],
      [{ metadata: metadataOf('a', 'https://a.example', []) }, /has no certificate/],
      [{ metadata: metadataOf('a', 'javascript:alert(1)', fields.certificates) }, /must be an https/],
      [{ metadata: 'x'.repeat(300_000) }, /at most 262144/],
      [{ metadata_url: 'http://10.0.0.1/metadata' }, /^body\.metadata_url was not read/],
      [{ metadata_url: 'ftp://idp.example/' }, /was not read/],
      [{ ...fields, sign_on_url: 'javascript:alert(1)' }, /^body\.sign_on_url must be an https/],
      [{ ...fields, sign_on_url: 'https://user:pass@idp.example' }, /must be an https/],
      [{ ...fields, certificates: ['hello'] }, /^body\.certificates\.0 must be an X\.509/],
      [
        { ...fields, certificates: [createTestKey({ expires: new Date('2024-01-01') }).certificate] },
        /has expired/,
      ],
      [{ ...fields, certificates: [createTestKey({ bits: 1024 }).certificate] }, /less than 2048 bits/],
      [{ ...fields, certificates: Array.from({ length: 20 }, (_, at) => `${at}`) }, /at most 5/],
      [{ issuer: 'https://idp.example' }, /issuer/],
    ]
    for (const [body, expected] of cases)
      assert.match(await add(body), expected, JSON.stringify(body).slice(0, 200))
    const many = Array.from({ length: 6 }, () => createTestKey({ kind: 'ec' }).certificate)
    assert.match(await add({ metadata: metadataOf('a', 'https://a.example', many) }), /too many certificates/)
  })

  it('reads no metadata of 5 MB', async () => {
    const bearer = await admin()
    const server = createServer((_, response) => response.end('<a>'.repeat(1_700_000)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const body = { kind: 'saml', name: 'Login', metadata_url: `http://127.0.0.1:${port}/` }
    assert.match(errorOf(await post(providers, body, bearer)), /was not read/)
    server.closeAllConnections()
    server.close()
  })

  async function mailsOfCertificates() {
    const { rows } = await sql<{ recipient: string; content_sealed: Buffer }>`
      select recipient, content_sealed from mails where template = 'team-sign-in' and team_id = ${red.teamId}`.execute(
      owner(),
    )
    return rows
      .map(({ recipient, content_sealed }) => ({
        recipient,
        content: JSON.parse(open(api.config.secret, 'mail', content_sealed, 'team-sign-in').toString()),
      }))
      .filter(({ content }) => content.change === 'certificates changed')
  }

  it('changes certificates, of which all admins get a mail, and never the entity or a field of the other kind', async () => {
    const bearer = await admin()
    const change = (payload: object) =>
      api.server.inject({ method: 'PATCH', url: `${providers}/${provider.id}`, payload, headers: bearer })
    const soon = createTestKey({ expires: new Date(Date.now() + 20 * 86_400_000) })
    const changed = (await change({ certificates: [soon.certificate] })).json()
    assert.deepEqual([changed.certificates, changed.problem], [[soon.certificate], 'certificate_expires'])
    const fingerprint = createHash('sha256').update(Buffer.from(soon.certificate, 'base64')).digest('hex')
    const told = await mailsOfCertificates()
    assert.equal(told.length, 1)
    assert.equal(told[0]!.recipient, 'chief@red.example')
    assert.deepEqual(told[0]!.content.fingerprints, [fingerprint])
    await change({ name: 'Renamed' })
    assert.equal((await mailsOfCertificates()).length, 1)
    assert.equal((await change({ metadata_url: idp.metadataUrl })).json().problem, null)
    assert.equal((await signIn()).statusCode, 200)
    assert.match(
      errorOf(await change({ metadata_url: otherIdp.metadataUrl })),
      /is of another identity provider/,
    )
    assert.match(
      errorOf(await change({ client_secret: 'a' })),
      /is not a field of a provider of the kind saml/,
    )
    const oidc = await addProvider(api, red)
    const wrong = await api.server.inject({
      method: 'PATCH',
      url: `${providers}/${oidc.id}`,
      payload: { certificates: [key.certificate] },
      headers: bearer,
    })
    assert.match(errorOf(wrong), /is not a field of a provider of the kind oidc/)
  })
})
