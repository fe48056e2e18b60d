// LemonLDAP::NG as an identity provider on loopback, for OpenID Connect and SAML, with the demo accounts of the Debian package: dwho, rtyler and msmith, whose
// passwords are their names. It has one application.
import { createPublicKey, randomBytes, type KeyObject } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@pharos/lab/address'
import { killProgram, skipWithout, startProgram } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { writeMetadata } from '../../src/drivers/saml/metadata.ts'
import { createTestKey } from '../../src/drivers/saml/testing-certificate.ts'

/** Of the Debian packages. */
const share = '/usr/share/lemonldap-ng'
const needed = [
  `${share}/portal/htdocs/index.psgi`,
  '/usr/share/perl5/GD/SecurityImage.pm',
  '/usr/share/perl5/String/Random.pm',
  '/usr/share/perl5/XML/Simple.pm',
]

export const lemonldapMissing =
  skipWithout('plackup') || (needed.every(existsSync) ? false : 'lemonldap-ng is not installed')

export type LemonldapClient = {
  readonly redirectUri: string
  /** Of SAML: our entity ID and the ACS. */
  readonly entityId: string
  readonly acsUrl: string
}

export type Lemonldap = {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The metadata of SAML. */
  readonly metadata: string
  [Symbol.asyncDispose](): Promise<void>
}

const clientId = 'pharos'
const clientSecret = 'a-secret-of-the-client'

export async function startLemonldap(client: LemonldapClient): Promise<Lemonldap> {
  const folder = mkdtempSync(join(tmpdir(), 'lemonldap-'))
  const port = await freePort()
  const portal = `http://127.0.0.1:${port}/`
  writeConfiguration(folder, portal, client)
  const server = startProgram(
    'plackup',
    ['--host', '127.0.0.1', '--port', String(port), join(folder, 'portal.psgi')],
    join(folder, 'log'),
  )
  const read = async (path: string): Promise<string | undefined> => {
    const response = await fetch(`${portal}${path}`).catch(() => undefined)
    return response?.ok === true ? response.text() : undefined
  }
  await waitFor('LemonLDAP::NG', async () => (await read('.well-known/openid-configuration')) !== undefined)
  const { issuer } = JSON.parse((await read('.well-known/openid-configuration'))!) as { issuer: string }
  return {
    issuer,
    clientId,
    clientSecret,
    metadata: (await read('saml/metadata'))!,
    async [Symbol.asyncDispose]() {
      await killProgram(server, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What its manager would write, as docs/sign-in.md describes it. */
function writeConfiguration(folder: string, portal: string, client: LemonldapClient): void {
  const sessions = { Directory: `${folder}/sessions`, LockDirectory: `${folder}/locks` }
  for (const name of ['conf', 'sessions', 'locks']) mkdirSync(join(folder, name))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const configuration = {
    cfgNum: 1,
    cfgAuthor: 'test',
    cfgDate: '1',
    cfgVersion: '2.16.1',
    portal,
    domain: '127.0.0.1',
    cookieName: 'lemonldap',
    securedCookie: 0,
    key: randomBytes(16).toString('hex'),
    authentication: 'Demo',
    userDB: 'Same',
    demoExportedVars: { cn: 'cn', mail: 'mail', uid: 'uid' },
    globalStorage: 'Apache::Session::File',
    globalStorageOptions: {
      ...sessions,
      generateModule: 'Lemonldap::NG::Common::Apache::Session::Generate::SHA256',
    },
    persistentStorage: 'Apache::Session::File',
    persistentStorageOptions: sessions,
    locationRules: {},
    applicationList: {},
    exportedVars: {},
    ...openidSettings(client),
    ...samlSettings(client),
  }
  write('conf/lmConf-1.json', JSON.stringify(configuration))
  write(
    'lemonldap-ng.ini',
    `[all]
logLevel=warn
localSessionStorage=
[configuration]
type=File
dirName=${folder}/conf
localStorage=Cache::NullCache
[portal]
staticPrefix=/static
templateDir=${share}/portal/templates
languages=en
`,
  )
  write(
    'portal.psgi',
    `use Plack::Builder;
BEGIN { $ENV{LLNG_DEFAULTCONFFILE} = '${folder}/lemonldap-ng.ini' }
require Lemonldap::NG::Portal::Main;
my $portal = Lemonldap::NG::Portal::Main->run({});
builder { enable 'Static', path => sub { s!^/static/!! }, root => '${share}/portal/htdocs/static/'; $portal };
`,
  )
}

/** A private key with its certificate, as PEM. */
function createPair(): { readonly key: string; readonly certificate: string; readonly publicKey: string } {
  const { privateKey, certificate } = createTestKey()
  const pem = (key: KeyObject, type: 'pkcs1' | 'spki') =>
    key.export({ type: type as 'spki', format: 'pem' }) as string
  return {
    key: pem(privateKey, 'pkcs1'),
    publicKey: pem(createPublicKey(privateKey), 'spki'),
    certificate: `-----BEGIN CERTIFICATE-----\n${certificate.replaceAll(/(.{64})/g, '$1\n').trim()}\n-----END CERTIFICATE-----\n`,
  }
}

function openidSettings({ redirectUri }: LemonldapClient) {
  const { key, publicKey } = createPair()
  return {
    issuerDBOpenIDConnectActivation: 1,
    oidcServicePrivateKeySig: key,
    oidcServicePublicKeySig: publicKey,
    oidcServiceKeyIdSig: 'key-1',
    oidcRPMetaDataOptions: {
      pharos: {
        oidcRPMetaDataOptionsClientID: clientId,
        oidcRPMetaDataOptionsClientSecret: clientSecret,
        oidcRPMetaDataOptionsRedirectUris: redirectUri,
        oidcRPMetaDataOptionsIDTokenSignAlg: 'RS256',
        oidcRPMetaDataOptionsBypassConsent: 1,
      },
    },
    oidcRPMetaDataExportedVars: { pharos: { email: 'mail', name: 'cn', groups: 'groups' } },
    oidcRPMetaDataOptionsExtraClaims: { pharos: { email: 'email groups' } },
  }
}

function samlSettings({ entityId, acsUrl }: LemonldapClient) {
  const { key, certificate } = createPair()
  return {
    issuerDBSAMLActivation: 1,
    samlServicePrivateKeySig: key,
    samlServicePublicKeySig: certificate,
    samlSPMetaDataXML: { pharos: { samlSPMetaDataXML: writeMetadata(entityId, acsUrl) } },
    samlSPMetaDataOptions: {
      pharos: {
        samlSPMetaDataOptionsNameIDFormat: 'persistent',
        samlSPMetaDataOptionsCheckSSOMessageSignature: 0,
      },
    },
    samlSPMetaDataExportedAttributes: { pharos: { mail: '1;email', groups: '0;groups' } },
  }
}

/** What the browser of a person has: the cookies of the provider. */
export type Jar = Map<string, string>

export type BrowsedForm = Readonly<Record<string, string>>

/**
 * Follows the redirects, signs in with the form of the provider, and returns the query with which it redirects to Pharos, or the form that it posts to it.
 */
export async function browseLemonldap(
  start: string,
  { redirectUri, acsUrl }: Pick<LemonldapClient, 'redirectUri' | 'acsUrl'>,
  user: string,
  jar: Jar = new Map(),
): Promise<BrowsedForm> {
  let url = start
  let form: URLSearchParams | undefined
  for (let hops = 0; hops < 20; hops++) {
    if (url.startsWith(`${redirectUri}?`)) return Object.fromEntries(new URL(url).searchParams)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      redirect: 'manual',
      // As a browser: without, it answers in JSON.
      headers: { cookie, accept: 'text/html' },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    })
    form = undefined
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!
      jar.set(name!, value!)
    }
    const location = response.headers.get('location')
    if (location !== null) {
      url = new URL(location, url).href
      continue
    }
    const page = await response.text()
    const fields = fieldsOf(page)
    const action = unescaped(/<form[^>]*\saction="([^"]*)"/.exec(page)?.[1] ?? '')
    if (action === acsUrl) return Object.fromEntries(fields)
    if (!fields.has('user')) throw new Error(`no form to sign in at ${url}: ${page}`)
    fields.set('user', user)
    fields.set('password', user)
    form = fields
    url = new URL(action === '#' ? '' : action, url).href
  }
  throw new Error('too many redirects')
}

function fieldsOf(page: string): URLSearchParams {
  const fields = new URLSearchParams()
  for (const [input] of page.matchAll(/<input[^>]*>/g)) {
    const name = /\sname="([^"]*)"/.exec(input)?.[1]
    if (name !== undefined) fields.set(name, unescaped(/\svalue="([^"]*)"/.exec(input)?.[1] ?? ''))
  }
  return fields
}

const unescaped = (text: string): string =>
  text
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
