// Against a real OpenID provider, and against one that answers wrongly.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, test } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose'
import type { SignInReason } from '@pharos/contract/sign-in-reason'
import { conformsToIdentityProvider, oidcAnswers } from '../../identity/identity-provider.conformance.ts'
import { SignInFailure, type FlowAnswer, type OidcSettings } from '../../identity/identity-provider.ts'
import { createFetch } from '../outgoing/fetch.ts'
import { createHostResolver } from '../outgoing/resolve-host.ts'
import { createSandbox } from '../sandbox-identity/provider.ts'
import { loopback } from '../webhook/testing.ts'
import { createOidc } from './provider.ts'
import { followRedirects, startOidc, type TestOidc, type TestOidcOptions } from './testing.ts'

const redirectUri = 'https://portal.example/sign-in/return/k3j5mq2xw7ab'
const person = { sub: 'anna-1', email: 'anna@red.example', email_verified: true, groups: ['net-ops'] }
const safeFetch = createFetch({ resolver: createHostResolver(), allowed: loopback })

const settingsOf = (
  { issuer, clientId, clientSecret }: Pick<TestOidc, 'issuer' | 'clientId' | 'clientSecret'>,
  rest: Partial<OidcSettings> = {},
): OidcSettings => ({
  kind: 'oidc',
  key: 'k3j5mq2xw7ab',
  issuer,
  clientId,
  clientSecret,
  groupsClaim: 'groups',
  secondFactorValues: [],
  domains: ['red.example'],
  redirectUri,
  ...rest,
})

const browse = async (redirect: string) => (await followRedirects(redirect, redirectUri)) as FlowAnswer

async function openReal(options: Partial<TestOidcOptions> = {}) {
  const idp = await startOidc({ redirectUris: [redirectUri], ...options })
  idp.person = person
  const provider = createOidc({ fetch: safeFetch })(settingsOf(idp))
  return {
    idp,
    provider,
    browse,
    person: { email: person.email, subject: person.sub },
    protocol: oidcAnswers,
    [Symbol.asyncDispose]: () => idp[Symbol.asyncDispose](),
  }
}

conformsToIdentityProvider('an OpenID provider', openReal)
conformsToIdentityProvider('an OpenID provider that states claims at userinfo only', () =>
  openReal({ inUserinfoOnly: true }),
)
conformsToIdentityProvider('an OpenID provider with ES256', () => openReal({ algorithm: 'ES256' }))
conformsToIdentityProvider('an OpenID provider with PS256', () => openReal({ algorithm: 'PS256' }))
conformsToIdentityProvider('the sandbox', async () => ({
  provider: createSandbox()(settingsOf({ issuer: '', clientId: '', clientSecret: '' })),
  browse: async (redirect) => Object.fromEntries(new URL(redirect).searchParams) as FlowAnswer,
  person: { email: 'anna@red.example', subject: 'anna@red.example' },
  protocol: oidcAnswers,
  async [Symbol.asyncDispose]() {},
}))

async function reasonOf(work: Promise<unknown>): Promise<SignInReason | 'none'> {
  try {
    await work
    return 'none'
  } catch (error) {
    if (error instanceof SignInFailure) return error.reason
    throw error
  }
}

describe('claims', () => {
  it('have groups, names and the second factor', async () => {
    await using real = await openReal()
    const { idp, provider } = real
    idp.person = { ...person, name: 'Anna\u202e Berg\n', given_name: 'Anna', amr: ['pwd', 'mfa'] }
    const { redirect, secrets } = await provider.begin({ state: 's' })
    const assertion = await provider.finish(secrets, await browse(redirect))
    assert.deepEqual(assertion.groups, ['net-ops'])
    assert.deepEqual(assertion.names, { first: 'Anna', last: '', display: 'Anna Berg' })
    assert.equal(assertion.secondFactor, true)
    assert.equal(assertion.emailVerified, true)
    assert.ok(idp.requested.includes('/token') && !idp.requested.includes('/me'))
  })

  it('of Entra ID above its limit have no groups', async () => {
    await using real = await openReal()
    real.idp.person = { sub: 'b', email: 'b@red.example', _claim_names: { groups: 'src1' } }
    const { redirect, secrets } = await real.provider.begin({ state: 's' })
    assert.equal((await real.provider.finish(secrets, await browse(redirect))).groups, 'overflow')
  })
})

describe('an algorithm that is not accepted', () => {
  it('is refused', async () => {
    await using real = await openReal({ algorithm: 'ES384' })
    const { redirect, secrets } = await real.provider.begin({ state: 's' })
    assert.equal(await reasonOf(real.provider.finish(secrets, await browse(redirect))), 'algorithm')
  })
})

type Wrong = {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly key?: CryptoKey
  readonly expiresIn?: number
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly tokenStatus?: number
  readonly metadataBody?: string
}

/** A provider whose answers are signed by the test, with everything right except what is given. */
async function startWrong(wrong: Wrong) {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k', use: 'sig', alg: 'RS256' }
  let nonce = ''
  let authorization = ''
  const answer = async (request: IncomingMessage, response: ServerResponse, issuer: string) => {
    const json = (status: number, body: unknown) =>
      response
        .writeHead(status, {
          'content-type': 'application/json',
          ...(status === 401 ? { 'www-authenticate': 'Basic' } : {}),
        })
        .end(JSON.stringify(body))
    if (request.url === '/jwks') return json(200, { keys: [jwk] })
    if (request.url === '/token') {
      authorization = String(request.headers.authorization)
      const token = await new SignJWT({ nonce, email: person.email, ...wrong.claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'k' })
        .setIssuer(String(wrong.claims?.['iss'] ?? issuer))
        .setAudience((wrong.claims?.['aud'] as string | undefined) ?? 'pharos')
        .setSubject('anna-1')
        .setIssuedAt(Math.floor(Date.now() / 1000) + Math.min(0, (wrong.expiresIn ?? 300) - 300))
        .setExpirationTime(Math.floor(Date.now() / 1000) + (wrong.expiresIn ?? 300))
        .sign(wrong.key ?? privateKey)
      const error = { error: 'invalid_grant' }
      return json(
        wrong.tokenStatus ?? 200,
        wrong.tokenStatus ? error : { access_token: 'a', token_type: 'bearer', id_token: token },
      )
    }
    if (wrong.metadataBody !== undefined) return response.writeHead(200).end(wrong.metadataBody)
    return json(200, {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      id_token_signing_alg_values_supported: ['RS256'],
      ...wrong.metadata,
    })
  }
  const server = createServer((request, response) => void answer(request, response, issuer))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const settings = settingsOf({ issuer, clientId: 'pharos', clientSecret: 'a-secret_1.2: +é' })
  const provider = createOidc({ fetch: safeFetch })(settings)
  return {
    issuer,
    settings,
    authorization: () => authorization,
    async signIn() {
      const { secrets } = await provider.begin({ state: 's' })
      nonce = secrets['nonce']!
      const assertion = await provider.finish(secrets, { state: 's', code: 'c', iss: issuer })
      return assertion
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('an answer in which one thing is wrong is refused with its reason', async () => {
  const { privateKey: foreign } = await generateKeyPair('RS256')
  const cases: readonly (readonly [Wrong, SignInReason | 'none'])[] = [
    [{}, 'none'],
    [{ claims: { iss: 'https://mallory.example' } }, 'issuer'],
    [{ claims: { aud: 'another' } }, 'audience'],
    [{ claims: { aud: ['pharos', 'another'], azp: 'another' } }, 'audience'],
    [{ claims: { nonce: 'of another flow' } }, 'nonce'],
    [{ key: foreign }, 'signature'],
    [{ expiresIn: -600 }, 'time'],
    [{ tokenStatus: 400 }, 'idp_error'],
    [{ tokenStatus: 401 }, 'idp_error'],
    [{ metadata: { issuer: 'https://mallory.example' } }, 'issuer'],
    [{ metadataBody: '<html>' }, 'unavailable'],
    [{ metadataBody: 'x'.repeat(2_000_000) }, 'unavailable'],
    [{ metadata: { authorization_endpoint: undefined } }, 'document'],
    [{ metadata: { token_endpoint: 'http://169.254.169.254/token' } }, 'unavailable'],
    [{ metadata: { jwks_uri: 'http://10.0.0.1/jwks' } }, 'unavailable'],
    [{ metadata: { jwks_uri: 'http://public.example/jwks' } }, 'unavailable'],
  ]
  for (const [wrong, expected] of cases) {
    await using idp = await startWrong(wrong)
    assert.equal(await reasonOf(idp.signIn()), expected, JSON.stringify(wrong))
  }
})

test('the client secret is form-encoded, and readable for a provider that does not decode it', async () => {
  await using idp = await startWrong({})
  await idp.signIn()
  const [, credentials] = idp.authorization().split(' ')
  assert.equal(Buffer.from(credentials!, 'base64').toString(), 'pharos:a-secret_1.2%3A+%2B%C3%A9')
})

test('a Google account needs the domain of the company, since all companies share the issuer', async () => {
  const { assertionOf } = await import('./claims.ts')
  const settings = settingsOf({ issuer: 'https://accounts.google.com', clientId: '', clientSecret: '' })
  assert.equal(assertionOf({ sub: '1', hd: 'red.example' }, settings).subject, '1')
  for (const hd of ['mallory.example', undefined, 7])
    assert.throws(() => assertionOf({ sub: '1', hd }, settings), { reason: 'domain_not_yours' })
})

test('an issuer in a network that is not public is not reached', async () => {
  await using idp = await startWrong({})
  const closed = createOidc({ fetch: createFetch({ resolver: createHostResolver(), allowed: [] }) })
  assert.equal(await reasonOf(closed(idp.settings).begin({ state: 's' })), 'unavailable')
})

test('an issuer is compared with its spelling', async () => {
  await using idp = await startWrong({})
  const provider = createOidc({ fetch: safeFetch })({ ...idp.settings, issuer: `${idp.issuer}/` })
  assert.equal(await reasonOf(provider.begin({ state: 's' })), 'issuer')
})
