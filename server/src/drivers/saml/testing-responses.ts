// SAML Responses for tests, signed with node:crypto. The texts are in canonical form, so that no canonicalization of another program is needed to sign them. The
// product does not import this file.
import { createHash, createHmac, createPublicKey, sign, X509Certificate } from 'node:crypto'
import { bearer, enveloped, exclusive, nameIdFormats, namespaces, success } from './names.ts'
import type { Expected } from './read-assertion.ts'
import { createTestKey, type TestKey } from './testing-certificate.ts'
import { escapeXml } from './write-xml.ts'

export const idpKey = createTestKey()
export const ecKey = createTestKey({ kind: 'ec' })
export const otherKey = createTestKey()

const now = Date.parse('2026-05-01T12:00:00Z')
const at = (seconds: number): string => new Date(now + seconds * 1000).toISOString()

export const expected: Expected = {
  issuer: 'https://idp.example/saml',
  audience: 'https://portal.example/sso/saml/k3j5mq2xw7ab/metadata',
  recipient: 'https://portal.example/sso/saml/k3j5mq2xw7ab/acs',
  requestId: '_8f14e45fceea167a5a36dedd4bea2543',
  now,
  groupsAttribute: 'groups',
  secondFactorValues: [],
}

export type TestStatement = {
  readonly id: string
  readonly issuer: string
  readonly issued: string
  readonly nameId: string
  readonly format: string
  readonly method: string
  readonly recipient: string
  readonly inResponseTo: string | null
  readonly notOnOrAfter: string | null
  readonly conditions: string
  readonly audience: string | null
  readonly email: string
  readonly groups: readonly string[]
  readonly context: string
  /** Instead of the text of the name id. */
  readonly nameIdXml: string | null
}

export const anna: TestStatement = {
  id: '_assertion-1',
  issuer: expected.issuer,
  issued: at(-5),
  nameId: 'anna-1',
  format: nameIdFormats.persistent,
  method: bearer,
  recipient: expected.recipient,
  inResponseTo: expected.requestId,
  notOnOrAfter: at(300),
  conditions: `NotBefore="${at(-60)}" NotOnOrAfter="${at(300)}"`,
  audience: expected.audience,
  email: 'anna@red.example',
  groups: ['net-ops', 'R&D "<1>"'],
  context: 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
  nameIdXml: null,
}

export const times = { at }

const declaredTypes = ' xmlns:xs="http://www.w3.org/2001/XMLSchema"'
const escapeText = (text: string): string =>
  escapeXml(text).replaceAll('&quot;', '"').replaceAll('&apos;', "'")

const attributeXml = (name: string, values: readonly string[]): string =>
  `<saml:Attribute Name="${name}">${values
    .map(
      (value) =>
        `<saml:AttributeValue xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">${escapeText(value)}</saml:AttributeValue>`,
    )
    .join('')}</saml:Attribute>`

const optional = (name: string, value: string | null): string => (value === null ? '' : ` ${name}="${value}"`)

/** The Assertion, with a place for its signature. Its types are in scope as InclusiveNamespaces needs them. */
export function assertionXml(stated: TestStatement, signature = ''): string {
  const { id, issued, issuer, nameId, nameIdXml, format, method, recipient, audience } = stated
  return (
    `<saml:Assertion xmlns:saml="${namespaces.assertion}"${declaredTypes} ID="${id}" IssueInstant="${issued}" Version="2.0">` +
    `<saml:Issuer>${issuer}</saml:Issuer>${signature}` +
    `<saml:Subject><saml:NameID Format="${format}">${nameIdXml ?? escapeText(nameId)}</saml:NameID>` +
    `<saml:SubjectConfirmation Method="${method}"><saml:SubjectConfirmationData${optional('InResponseTo', stated.inResponseTo)}` +
    `${optional('NotOnOrAfter', stated.notOnOrAfter)} Recipient="${recipient}"></saml:SubjectConfirmationData></saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions ${stated.conditions}>${audience === null ? '' : `<saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction>`}</saml:Conditions>` +
    `<saml:AuthnStatement AuthnInstant="${issued}"><saml:AuthnContext><saml:AuthnContextClassRef>${stated.context}</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>` +
    `<saml:AttributeStatement>${attributeXml('email', [stated.email])}${attributeXml('groups', stated.groups)}</saml:AttributeStatement></saml:Assertion>`
  )
}

export type ResponseParts = {
  readonly issuer?: string
  readonly id?: string
  readonly signature?: string
  readonly extensions?: string
  readonly status?: string
  readonly content: string
  readonly attributes?: string
}

export const responseXml = ({
  issuer = expected.issuer,
  id = '_response-1',
  signature = '',
  extensions = '',
  status = success,
  content,
  attributes = `Destination="${expected.recipient}" ID="${id}" InResponseTo="${expected.requestId}" IssueInstant="${at(-5)}" Version="2.0"`,
}: ResponseParts): string =>
  `<samlp:Response xmlns:samlp="${namespaces.protocol}" ${attributes}>` +
  `<saml:Issuer xmlns:saml="${namespaces.assertion}">${issuer}</saml:Issuer>${signature}${extensions}` +
  `<samlp:Status><samlp:StatusCode Value="${status}"></samlp:StatusCode></samlp:Status>${content}</samlp:Response>`

const more = 'http://www.w3.org/2001/04/xmldsig-more#'
export const algorithms = {
  rsaSha256: `${more}rsa-sha256`,
  rsaSha512: `${more}rsa-sha512`,
  ecdsaSha256: `${more}ecdsa-sha256`,
  rsaSha1: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
  hmacSha256: `${more}hmac-sha256`,
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  sha1: 'http://www.w3.org/2000/09/xmldsig#sha1',
  xslt: 'http://www.w3.org/TR/1999/REC-xslt-19991116',
} as const

export type SigningOptions = {
  readonly key?: TestKey
  readonly method?: string
  readonly digest?: string
  readonly inclusive?: boolean
  readonly uri?: string
  /** After the two usual ones. */
  readonly transform?: string
  /** After KeyInfo. */
  readonly object?: string
  readonly inKeyInfo?: string
}

const prefixList = `<ec:InclusiveNamespaces xmlns:ec="${exclusive}" PrefixList="xs"></ec:InclusiveNamespaces>`

/** Without InclusiveNamespaces the declared types are not used visibly, and not signed. */
const canonical = (xml: string, inclusive: boolean): string =>
  inclusive ? xml : xml.replaceAll(declaredTypes, '')

/** Returns the enveloped signature of an element that is in canonical form. */
export function signatureOf(xml: string, id: string, options: SigningOptions = {}): string {
  const {
    key = idpKey,
    method = algorithms.rsaSha256,
    digest = algorithms.sha256,
    inclusive = false,
  } = options
  const hash = digest === algorithms.sha1 ? 'sha1' : 'sha256'
  const digestValue = createHash(hash).update(canonical(xml, inclusive)).digest('base64')
  const list = inclusive ? prefixList : ''
  const info =
    `<ds:SignedInfo xmlns:ds="${namespaces.signature}"><ds:CanonicalizationMethod Algorithm="${exclusive}"></ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${method}"></ds:SignatureMethod><ds:Reference URI="${options.uri ?? `#${id}`}"><ds:Transforms>` +
    `<ds:Transform Algorithm="${enveloped}"></ds:Transform><ds:Transform Algorithm="${exclusive}">${list}</ds:Transform>${options.transform ?? ''}</ds:Transforms>` +
    `<ds:DigestMethod Algorithm="${digest}"></ds:DigestMethod><ds:DigestValue>${digestValue}</ds:DigestValue></ds:Reference></ds:SignedInfo>`
  const certificate = `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${key.certificate}</ds:X509Certificate></ds:X509Data>${options.inKeyInfo ?? ''}</ds:KeyInfo>`
  const value = signatureValue(info, method, key)
  const inner = info.replace(` xmlns:ds="${namespaces.signature}"`, '')
  return `<ds:Signature xmlns:ds="${namespaces.signature}">${inner}<ds:SignatureValue>${value}</ds:SignatureValue>${certificate}${options.object ?? ''}</ds:Signature>`
}

function signatureValue(info: string, method: string, { privateKey, certificate }: TestKey): string {
  const bytes = Buffer.from(info)
  if (method === algorithms.hmacSha256) {
    const pem = createPublicKey(
      new X509Certificate(Buffer.from(certificate, 'base64')).publicKey.export({
        type: 'spki',
        format: 'pem',
      }),
    )
    return createHmac('sha256', pem.export({ type: 'spki', format: 'pem' }))
      .update(bytes)
      .digest('base64')
  }
  const hash = method.endsWith('sha1') ? 'sha1' : method.endsWith('sha512') ? 'sha512' : 'sha256'
  return sign(hash, bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64')
}

export type Signed = 'assertion' | 'response' | 'both'

/** Returns an honest answer, or what an identity provider would sign with other statements. */
export function signedResponse(
  signs: Signed,
  stated: Partial<TestStatement> = {},
  options: SigningOptions = {},
): string {
  const all = { ...anna, ...stated }
  const ofAssertion = signs === 'response' ? '' : signatureOf(assertionXml(all), all.id, options)
  const content = assertionXml(all, ofAssertion)
  const id = '_response-1'
  const ofResponse = signs === 'assertion' ? '' : signatureOf(responseXml({ id, content }), id, options)
  return responseXml({ id, content, signature: ofResponse })
}

export const toBase64 = (xml: string): string => Buffer.from(xml).toString('base64')
