// An identity provider of SAML on loopback for tests, with its metadata and its sign-on URL: it signs in the person that the test sets, and answers with the form that a
// browser would post. The product does not import this file.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inflateRawSync } from 'node:zlib'
import { namespaces, redirectBinding } from './names.ts'
import { createTestKey, type TestKey } from './testing-certificate.ts'
import {
  anna,
  assertionXml,
  responseXml,
  signatureOf,
  toBase64,
  type Signed,
  type TestStatement,
} from './testing-responses.ts'
import { escapeXml } from './write-xml.ts'
import { attributeOf, elementsOf, parseXml, elementText } from './xml.ts'

export type TestSaml = {
  readonly entityId: string
  readonly signOnUrl: string
  readonly metadataUrl: string
  readonly certificate: string
  /** Who signs in next, and what else the answer states instead of the honest values. */
  person: Partial<TestStatement>
  signs: Signed
  [Symbol.asyncDispose](): Promise<void>
}

export const metadataOf = (entityId: string, signOnUrl: string, certificates: readonly string[]): string =>
  `<md:EntityDescriptor xmlns:md="${namespaces.metadata}" entityID="${entityId}"><md:IDPSSODescriptor protocolSupportEnumeration="${namespaces.protocol}">` +
  certificates
    .map(
      (one) =>
        `<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="${namespaces.signature}"><ds:X509Data><ds:X509Certificate>${one}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`,
    )
    .join('') +
  `<md:SingleSignOnService Binding="${redirectBinding}" Location="${signOnUrl}"/></md:IDPSSODescriptor></md:EntityDescriptor>`

export async function startSaml(key: TestKey = createTestKey()): Promise<TestSaml> {
  const server = createServer((request, response) => {
    const url = new URL(request.url!, running.signOnUrl)
    if (url.pathname === '/metadata')
      return response.end(metadataOf(running.entityId, running.signOnUrl, [key.certificate]))
    const { acsUrl, form } = answer(running, key, url)
    if (request.headers.accept?.includes('text/html'))
      return response.writeHead(200, { 'content-type': 'text/html' }).end(formPage(acsUrl, form))
    return response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ acsUrl, form }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const running: TestSaml = {
    entityId: `${base}/metadata`,
    signOnUrl: `${base}/sso?tenant=1`,
    metadataUrl: `${base}/metadata`,
    certificate: key.certificate,
    person: {},
    signs: 'assertion',
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return running
}

/** Posts itself, as the pages of identity providers do. */
const formPage = (acsUrl: string, form: SamlForm): string =>
  `<!doctype html><form method="post" action="${escapeXml(acsUrl)}">${Object.entries(form)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeXml(value)}">`)
    .join('')}</form><script>document.forms[0].submit()</script>`

export type SamlForm = { readonly SAMLResponse: string; readonly RelayState: string }

function answer({ entityId, person, signs }: TestSaml, key: TestKey, { searchParams }: URL) {
  const request = parseXml(inflateRawSync(Buffer.from(searchParams.get('SAMLRequest')!, 'base64')).toString())
  const [acsUrl, requestId] = ['AssertionConsumerServiceURL', 'ID'].map((name) => attributeOf(request, name)!)
  const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
  const stated: TestStatement = {
    ...anna,
    id: `_${randomBytes(8).toString('hex')}`,
    issuer: entityId,
    issued: at(0),
    recipient: acsUrl!,
    inResponseTo: requestId!,
    notOnOrAfter: at(3600),
    conditions: `NotBefore="${at(-60)}" NotOnOrAfter="${at(3600)}"`,
    audience: elementText(elementsOf(request)[0]!),
    ...person,
  }
  const ofAssertion = signs === 'response' ? '' : signatureOf(assertionXml(stated), stated.id, { key })
  const parts = {
    issuer: stated.issuer,
    attributes: `Destination="${acsUrl!}" ID="_r" InResponseTo="${requestId!}" IssueInstant="${at(0)}" Version="2.0"`,
    content: assertionXml(stated, ofAssertion),
  }
  const signature = signs === 'assertion' ? '' : signatureOf(responseXml(parts), '_r', { key })
  const form: SamlForm = {
    SAMLResponse: toBase64(responseXml({ ...parts, signature })),
    RelayState: searchParams.get('RelayState')!,
  }
  return { acsUrl: acsUrl!, form }
}

/** Opens the sign-on URL as a browser, and returns the form that it would post. */
export async function browseSaml(redirect: string): Promise<{ acsUrl: string; form: SamlForm }> {
  const response = await fetch(redirect)
  return (await response.json()) as { acsUrl: string; form: SamlForm }
}
