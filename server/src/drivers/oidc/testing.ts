// A real OpenID provider on loopback for tests (oidc-provider), and a browser without a screen. The product does not import this file.
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
// @ts-expect-error The package has no types.
import OpenidProvider from 'oidc-provider'

type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> }

/** The part of the package that is used here. */
type Provider = {
  readonly Grant: new (of: { accountId: string; clientId: string }) => Grant
  callback(): (request: IncomingMessage, response: ServerResponse) => void
  interactionDetails(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<{ readonly prompt: { readonly name: string } }>
  interactionFinished(
    request: IncomingMessage,
    response: ServerResponse,
    result: object,
    options: { readonly mergeWithLastSubmission: boolean },
  ): Promise<void>
}
const createOpenidProvider = (issuer: string, configuration: object): Provider =>
  // oxlint-disable-next-line typescript/no-unsafe-call
  new OpenidProvider(issuer, configuration) as Provider

export type TestPerson = {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly name?: string
  readonly given_name?: string
  readonly family_name?: string
  readonly groups?: readonly string[]
  readonly amr?: readonly string[]
  readonly [claim: string]: unknown
}

export type TestOidcOptions = {
  readonly redirectUris: readonly string[]
  /** TokenClaims only in the answer of the userinfo endpoint. */
  readonly inUserinfoOnly?: boolean
  readonly algorithm?: 'RS256' | 'ES256' | 'PS256' | 'ES384'
}

export type TestLogout = { readonly backchannelUri: string; readonly returnTo: string }

export type TestOidc = {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** Who signs in next; a page of the provider never asks. */
  person: TestPerson
  /** Accepts these redirect URIs instead of those before; `logout`: and sends logout tokens. */
  register(redirectUris: readonly string[], logout?: TestLogout): void
  /** The paths that were requested. */
  readonly requested: string[]
  [Symbol.asyncDispose](): Promise<void>
}

const keyOf = (algorithm: string) => {
  const { privateKey } = algorithm.startsWith('ES')
    ? generateKeyPairSync('ec', { namedCurve: algorithm === 'ES384' ? 'P-384' : 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { ...privateKey.export({ format: 'jwk' }), kid: algorithm, use: 'sig', alg: algorithm }
}

export async function startOidc(options: TestOidcOptions): Promise<TestOidc> {
  const { redirectUris } = options
  let provider: Provider
  const requested: string[] = []
  const key = keyOf(options.algorithm ?? 'RS256')
  const server = createServer((request, response) => {
    requested.push(request.url!.split('?')[0]!)
    if (request.url!.startsWith('/interaction/'))
      void interact(provider, running, request, response).catch((error: unknown) =>
        response.writeHead(500).end(String(error)),
      )
    else provider.callback()(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const running: TestOidc = {
    issuer,
    clientId: 'pharos',
    clientSecret: 'a-secret-of-the-client',
    person: { sub: 'nobody' },
    requested,
    register(uris, logout) {
      provider = createProvider(running, uris, options, key, logout)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  running.register(redirectUris)
  return running
}

function createProvider(
  running: TestOidc,
  redirectUris: readonly string[],
  { inUserinfoOnly = false, algorithm = 'RS256' }: TestOidcOptions,
  key: object,
  logout: TestLogout | undefined,
): Provider {
  return createOpenidProvider(running.issuer, {
    clients: [
      {
        client_id: running.clientId,
        client_secret: running.clientSecret,
        redirect_uris: redirectUris,
        id_token_signed_response_alg: algorithm,
        ...(logout
          ? {
              backchannel_logout_uri: logout.backchannelUri,
              backchannel_logout_session_required: true,
              post_logout_redirect_uris: [logout.returnTo],
            }
          : {}),
      },
    ],
    jwks: { keys: [key] },
    enabledJWA: { idTokenSigningAlgValues: [algorithm] },
    cookies: { keys: ['a key of the test provider'] },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'given_name', 'family_name', 'groups', 'hd', 'amr', '_claim_names'],
    },
    conformIdTokenClaims: inUserinfoOnly,
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: logout !== undefined },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx: { body: unknown }, form: string) => void (ctx.body = form),
      },
    },
    // Its dispatcher refuses loopback, where Pharos is.
    fetch: (url: string, init: RequestInit) =>
      fetch(url, Object.fromEntries(Object.entries(init).filter(([name]) => name !== 'dispatcher'))),
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ ...running.person, sub: id }),
    }),
    renderError: (ctx: { body: unknown }, out: { error: string }) => void (ctx.body = out.error),
  })
}

/** Signs the person in and consents, without a page. */
async function interact(
  provider: Provider,
  { person, clientId }: TestOidc,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') {
    const login = { accountId: person.sub, amr: person.amr }
    return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false })
  }
  const grant = new provider.Grant({ accountId: person.sub, clientId })
  grant.addOIDCScope('openid email profile')
  const consent = { grantId: await grant.save() }
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true })
}

/** Follows the redirects of the provider with its cookies, and returns the query with which it redirects to Pharos. */
export async function followRedirects(
  start: string,
  redirectUri: string,
  jar = new Map<string, string>(),
): Promise<Readonly<Record<string, string>>> {
  let url = start
  for (let hops = 0; hops < 20; hops++) {
    if (url === redirectUri || url.startsWith(`${redirectUri}?`))
      return Object.fromEntries(new URL(url).searchParams)
    const response = await fetchWith(jar, url)
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${url} answers ${response.status}: ${await response.text()}`)
    url = new URL(location, url).href
  }
  throw new Error('too many redirects')
}

async function fetchWith(jar: Map<string, string>, url: string, init: RequestInit = {}): Promise<Response> {
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } })
  for (const set of response.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!
    jar.set(name!, value!)
  }
  return response
}

/** Signs out at the provider in the browser of the jar, and confirms it. Returns where the provider redirects to. */
export async function signOutAt(start: string, jar: Map<string, string>): Promise<string | null> {
  const page = await fetchWith(jar, start)
  const [, action] = /action="([^"]+)"/.exec(await page.clone().text()) ?? []
  const [, xsrf] = /name="xsrf" value="([^"]+)"/.exec(await page.text()) ?? []
  if (action === undefined || xsrf === undefined) throw new Error(`no form at ${start}`)
  const body = new URLSearchParams({ xsrf, logout: 'yes' })
  return (await fetchWith(jar, action, { method: 'POST', body })).headers.get('location')
}
