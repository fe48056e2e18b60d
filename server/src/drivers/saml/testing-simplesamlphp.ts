// SimpleSAMLphp as an identity provider on loopback, under the web server of php. It signs in one person without a page. The product does not import this file.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killProgram, skipWithout, startProgram } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { createTestKey } from './testing-certificate.ts'
import { nameIdFormats } from './names.ts'
import type { Signed } from './testing-responses.ts'

/** Of the Debian package. */
const program = '/usr/share/simplesamlphp'

export const simplesamlphpMissing =
  skipWithout('php') || (existsSync(`${program}/www`) ? false : 'simplesamlphp is not installed')

export type ServiceProvider = { readonly entityId: string; readonly acsUrl: string }

export type Simplesamlphp = {
  readonly metadata: string
  [Symbol.asyncDispose](): Promise<void>
}

const php = (values: object): string =>
  `<?php\n$values = json_decode(base64_decode('${Buffer.from(JSON.stringify(values)).toString('base64')}'), true);\n`

/** Whom it signs in. */
export type SamlPerson = { readonly uid: string; readonly email: string }

const anna: SamlPerson = { uid: 'anna-1', email: 'anna@red.example' }

export async function startSimplesamlphp(
  sp: ServiceProvider,
  signs: Signed,
  person = anna,
): Promise<Simplesamlphp> {
  const folder = mkdtempSync(join(tmpdir(), 'simplesamlphp-'))
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  writeConfiguration(folder, base, sp, signs, person)
  write('environment.php', `<?php\nputenv('SIMPLESAMLPHP_CONFIG_DIR=${folder}/config');\n`)
  const server = startProgram(
    'php',
    ['-d', `auto_prepend_file=${folder}/environment.php`, '-S', `127.0.0.1:${port}`, '-t', `${program}/www`],
    join(folder, 'log/php'),
  )
  let metadata = ''
  await waitFor('the metadata of SimpleSAMLphp', async () => {
    const response = await fetch(`${base}/saml2/idp/metadata.php`).catch(() => undefined)
    metadata = (await response?.text()) ?? ''
    return response?.ok === true && metadata.includes('EntityDescriptor')
  })
  return {
    metadata,
    async [Symbol.asyncDispose]() {
      await killProgram(server, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Its configuration, with a new key. */
function writeConfiguration(
  folder: string,
  base: string,
  sp: ServiceProvider,
  signs: Signed,
  { uid, email }: SamlPerson,
): void {
  const key = createTestKey()
  for (const name of ['config', 'metadata', 'cert', 'temp', 'log', 'data', 'sessions'])
    mkdirSync(join(folder, name))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  write('cert/idp.pem', key.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)
  write(
    'cert/idp.crt',
    `-----BEGIN CERTIFICATE-----\n${key.certificate.replaceAll(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`,
  )
  write(
    'config/config.php',
    `${php({
      baseurlpath: `${base}/`,
      certdir: `${folder}/cert/`,
      loggingdir: `${folder}/log/`,
      datadir: `${folder}/data/`,
      tempdir: `${folder}/temp`,
      secretsalt: 'a salt of the test',
      'auth.adminpassword': 'a password of the test',
      'logging.handler': 'file',
      'enable.saml20-idp': true,
      'module.enable': { exampleauth: true, saml: true, core: true },
      'store.type': 'phpsession',
      'session.phpsession.savepath': `${folder}/sessions`,
      'session.cookie.secure': false,
      metadatadir: `${folder}/metadata`,
      'metadata.sources': [{ type: 'flatfile', directory: `${folder}/metadata` }],
      technicalcontact_email: 'na@example.org',
    })}$config = $values;\n`,
  )
  write(
    'config/authsources.php',
    `${php({
      admin: ['core:AdminPassword'],
      person: {
        0: 'exampleauth:StaticSource',
        uid: [uid],
        email: [email],
        groups: ['net-ops', 'staff & co'],
      },
    })}$config = $values;\n`,
  )
  write(
    'metadata/saml20-idp-hosted.php',
    `${php({
      host: '__DEFAULT__',
      privatekey: 'idp.pem',
      certificate: 'idp.crt',
      auth: 'person',
      authproc: { 1: { class: 'saml:AttributeNameID', attribute: 'uid', Format: nameIdFormats.persistent } },
    })}$metadata['${base}/idp'] = $values;\n`,
  )
  write(
    'metadata/saml20-sp-remote.php',
    `${php({
      AssertionConsumerService: sp.acsUrl,
      NameIDFormat: nameIdFormats.persistent,
      'saml20.sign.response': signs !== 'assertion',
      'saml20.sign.assertion': signs !== 'response',
    })}$metadata['${sp.entityId}'] = $values;\n`,
  )
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Follows the redirects with the cookies of the provider, and returns the form of its last page. */
export async function browseForm(
  start: string,
): Promise<{ readonly samlResponse: string; readonly state: string }> {
  const jar = new Map<string, string>()
  let url = start
  for (let hops = 0; hops < 10; hops++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!
      jar.set(name!, value!)
    }
    const location = response.headers.get('location')
    if (location === null) return formOf(await response.text())
    url = new URL(location, url).href
  }
  throw new Error('too many redirects')
}

function formOf(page: string) {
  const field = (name: string) => {
    const [, value] = new RegExp(`name="${name}" value="([^"]*)"`).exec(page) ?? []
    if (value === undefined) throw new Error(`no ${name}: ${page}`)
    return value.replaceAll('&#039;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  }
  return { samlResponse: field('SAMLResponse'), state: field('RelayState') }
}
