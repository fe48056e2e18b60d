// Honest and forged answers of SAML. Honest ones are accepted; of the forged ones each is refused with its reason. The wrappings are those of Somorovsky and others, "On
// Breaking SAML: Be Whoever You Want to Be" (USENIX Security 2012), for each honest shape. The product does not import this file.
import type { SignInReason } from '@pharos/contract/sign-in-reason'
import { namespaces, nameIdFormats } from './names.ts'
import {
  algorithms,
  anna,
  assertionXml,
  ecKey,
  expected,
  otherKey,
  responseXml,
  signatureOf,
  signedResponse,
  times,
  toBase64,
  type Signed,
  type SigningOptions,
  type TestStatement,
} from './testing-responses.ts'

export type CorpusCase = {
  readonly name: string
  /** Base64. */
  readonly answer: string
  /** Undefined: it is accepted. */
  readonly reason?: SignInReason
}

const shapes: readonly Signed[] = ['assertion', 'response', 'both']
const lists = [false, true]

const nameOf = (signs: Signed, inclusive: boolean): string =>
  `${signs} signed${inclusive ? ', with InclusiveNamespaces' : ''}`

export const honest: readonly CorpusCase[] = [
  ...shapes.flatMap((signs) =>
    lists.map((inclusive) => ({
      name: nameOf(signs, inclusive),
      answer: toBase64(signedResponse(signs, {}, { inclusive })),
    })),
  ),
  { name: 'SHA-512', answer: toBase64(signedResponse('assertion', {}, { method: algorithms.rsaSha512 })) },
  {
    name: 'ECDSA',
    answer: toBase64(signedResponse('both', {}, { key: ecKey, method: algorithms.ecdsaSha256 })),
  },
  {
    name: 'with a declaration of XML and line ends of Windows',
    answer: toBase64(`<?xml version="1.0" encoding="UTF-8"?>\r\n${signedResponse('assertion')}\r\n`),
  },
  {
    name: 'written in another way',
    answer: toBase64(
      signedResponse('assertion')
        .replace(/Value="([^"]*)"><\/samlp:StatusCode>/, "Value = '$1' />")
        .replaceAll('&lt;', '&#60;')
        .replace('<ds:SignatureValue>', '<ds:SignatureValue>\n'),
    ),
  },
]

const mallory: TestStatement = { ...anna, id: '_evil-1', nameId: 'mallory', email: 'mallory@red.example' }

type Pieces = {
  readonly signs: Signed
  readonly options: SigningOptions
  /** The assertion as it was sent, with its signature if it has one. */
  readonly original: string
  /** Without its signature. */
  readonly bare: string
  readonly ofAssertion: string
  readonly ofResponse: string
  readonly response: string
  readonly bareResponse: string
}

function piecesOf(signs: Signed, inclusive: boolean): Pieces {
  const options = { inclusive }
  const bare = assertionXml(anna)
  const ofAssertion = signs === 'response' ? '' : signatureOf(bare, anna.id, options)
  const original = assertionXml(anna, ofAssertion)
  const bareResponse = responseXml({ content: original })
  const ofResponse = signs === 'assertion' ? '' : signatureOf(bareResponse, '_response-1', options)
  const response = responseXml({ content: original, signature: ofResponse })
  return { signs, options, original, bare, ofAssertion, ofResponse, response, bareResponse }
}

const within = (signature: string, content: string): string =>
  signature.replace('</ds:Signature>', `${content}</ds:Signature>`)
const object = (content: string): string => `<ds:Object>${content}</ds:Object>`
const evil = (signature = '', id = mallory.id): string => assertionXml({ ...mallory, id }, signature)
const evilResponse = (signature: string, content = evil(), rest = ''): string =>
  responseXml({ id: '_evil-response', signature, content: `${content}${rest}` })

/** The document of each wrapping, by its number. The signature is the one that the shape has. */
const wrappings: Readonly<Record<string, (pieces: Pieces) => string>> = {
  'XSW 1': ({ ofResponse, ofAssertion, bareResponse }) =>
    evilResponse(within(ofResponse || ofAssertion, bareResponse)),
  'XSW 2': ({ ofResponse, ofAssertion, bareResponse }) =>
    evilResponse(`${bareResponse}${ofResponse || ofAssertion}`),
  'XSW 3': ({ ofResponse, original }) => responseXml({ signature: ofResponse, content: evil() + original }),
  'XSW 4': ({ ofResponse, original }) =>
    responseXml({
      signature: ofResponse,
      content: evil().replace('</saml:Assertion>', `${original}</saml:Assertion>`),
    }),
  'XSW 5': ({ ofAssertion, ofResponse, bare }) =>
    responseXml({ content: evil(ofAssertion || ofResponse) + bare }),
  'XSW 6': ({ ofAssertion, ofResponse, bare }) =>
    responseXml({ content: evil(within(ofAssertion || ofResponse, bare)) }),
  'XSW 7': ({ ofResponse, original }) =>
    responseXml({
      signature: ofResponse,
      extensions: `<samlp:Extensions>${evil()}</samlp:Extensions>`,
      content: original,
    }),
  'XSW 8': ({ ofAssertion, ofResponse, bare }) =>
    responseXml({ content: evil(within(ofAssertion || ofResponse, object(bare))) }),
  'the evil assertion last': ({ ofResponse, original }) =>
    responseXml({ signature: ofResponse, content: original + evil() }),
  'the same id twice': ({ ofResponse, original }) =>
    responseXml({ signature: ofResponse, content: evil('', anna.id) + original }),
  'a decoy in Object': ({ ofAssertion, ofResponse, bare }) =>
    responseXml({
      signature: ofResponse && within(ofResponse, object(evil())),
      content: assertionXml(anna, ofAssertion && within(ofAssertion, object(evil()))) || bare,
    }),
  'a decoy in KeyInfo': ({ ofAssertion, ofResponse }) => {
    const decoyed = (signature: string) => signature.replace('</ds:KeyInfo>', `${evil()}</ds:KeyInfo>`)
    return responseXml({ signature: decoyed(ofResponse), content: assertionXml(anna, decoyed(ofAssertion)) })
  },
  'another response in the extensions': ({ response, original, ofResponse }) =>
    responseXml({
      id: '_outer',
      signature: ofResponse,
      extensions: `<samlp:Extensions>${response}</samlp:Extensions>`,
      content: evil() || original,
    }),
  'a second signature with the same value': ({ ofAssertion, ofResponse, original }) =>
    responseXml({
      signature: ofResponse,
      content: original.replace('<saml:Subject>', `${ofAssertion || ofResponse}<saml:Subject>`),
    }).replace('</samlp:Response>', `${ofResponse || ofAssertion}</samlp:Response>`),
  'an assertion of another namespace before it': ({ ofResponse, original }) =>
    responseXml({
      signature: ofResponse,
      content: evil().replaceAll(namespaces.assertion, 'urn:example:assertion') + original,
    }),
}

const wrapped: readonly CorpusCase[] = shapes.flatMap((signs) =>
  lists.flatMap((inclusive) =>
    Object.entries(wrappings).map(([name, wrap]) => ({
      name: `${name}: ${nameOf(signs, inclusive)}`,
      answer: toBase64(wrap(piecesOf(signs, inclusive))),
      reason: 'document' as const,
    })),
  ),
)

/** The signature of an honest error answer, moved to an assertion that nobody signed. */
function carriedError(): string {
  const status = 'urn:oasis:names:tc:SAML:2.0:status:Responder'
  const error = responseXml({ id: '_error', status, content: '' })
  const signature = signatureOf(error, '_error')
  return responseXml({ id: '_carrier', content: evil(within(signature, error)) })
}

const one = (name: string, reason: SignInReason, xml: string | Buffer): CorpusCase => ({
  name,
  reason,
  answer: (typeof xml === 'string' ? Buffer.from(xml) : xml).toString('base64'),
})
const stating = (name: string, reason: SignInReason, stated: Partial<TestStatement>): CorpusCase[] =>
  shapes.map((signs) => one(`${name}: ${signs} signed`, reason, signedResponse(signs, stated)))
const signing = (name: string, reason: SignInReason, options: SigningOptions): CorpusCase[] =>
  shapes.map((signs) => one(`${name}: ${signs} signed`, reason, signedResponse(signs, {}, options)))

const plain = signedResponse('assertion')
const transform = (algorithm: string, content = ''): string =>
  `<ds:Transform Algorithm="${algorithm}">${content}</ds:Transform>`
const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(plain, 'utf16le')])

const signatures: readonly CorpusCase[] = [
  one('no signature', 'signature', responseXml({ content: assertionXml(anna) })),
  ...signing('another key, whose certificate is in KeyInfo', 'signature', { key: otherKey }),
  ...signing('SHA-1 as signature', 'algorithm', { method: algorithms.rsaSha1 }),
  ...signing('SHA-1 as digest', 'algorithm', { digest: algorithms.sha1 }),
  ...signing('HMAC with the certificate as key', 'algorithm', { method: algorithms.hmacSha256 }),
  ...signing('an empty URI', 'document', { uri: '' }),
  ...signing('a URI of another document', 'document', { uri: 'https://mallory.example/#_assertion-1' }),
  ...signing('a third transform', 'algorithm', { transform: transform(algorithms.sha256) }),
  ...signing('XSLT', 'algorithm', {
    transform: transform(
      algorithms.xslt,
      '<xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform" version="1.0"></xsl:stylesheet>',
    ),
  }),
  one('a changed name id', 'signature', plain.replace('>anna-1<', '>mallory<')),
  one(
    'a changed signature',
    'signature',
    plain.replace(/(<ds:SignatureValue>)./, '$1A').replace(/(<ds:SignatureValue>.)./, '$1B'),
  ),
  one('two references', 'document', plain.replace(/(<ds:Reference .*?<\/ds:Reference>)/, '$1$1')),
  one('two SignedInfo', 'document', plain.replace(/(<ds:SignedInfo>.*?<\/ds:SignedInfo>)/, '$1$1')),
  one(
    'a comment in DigestValue',
    'document',
    plain.replace('<ds:DigestValue>', '<ds:DigestValue><!-- a -->'),
  ),
  one(
    'ECDSA with the certificate of RSA',
    'signature',
    signedResponse('assertion', {}, { key: ecKey, method: algorithms.ecdsaSha256 }).replaceAll(
      'ecdsa-sha256',
      'rsa-sha256',
    ),
  ),
  one('a signed error as carrier', 'document', carriedError()),
]

const documents: readonly CorpusCase[] = [
  one('no XML', 'document', 'hello'),
  one('an empty document', 'document', ' '),
  { name: 'no base64', answer: '<samlp:Response/>', reason: 'document' },
  one('DOCTYPE', 'document', `<!DOCTYPE samlp:Response [<!ENTITY a "b">]>${plain}`),
  one('a processing instruction', 'document', plain.replace('<saml:Subject>', '<?php a?><saml:Subject>')),
  one('a comment', 'document', plain.replace('<saml:Subject>', '<!-- a --><saml:Subject>')),
  ...stating('a comment in NameID', 'document', { nameIdXml: 'anna@red.example<!-- -->.mallory.example' }),
  ...stating('an element in NameID', 'document', { nameIdXml: 'anna<saml:b>-1</saml:b>' }),
  one('CDATA', 'document', plain.replace('>anna-1<', '><![CDATA[anna-1]]><')),
  one('an entity that is not declared', 'document', plain.replace('>anna-1<', '>&a;<')),
  one('UTF-16', 'document', utf16),
  one('bytes that are not UTF-8', 'document', Buffer.from(plain.replace('anna-1', 'ann\u00e9'), 'latin1')),
  one('a declaration of UTF-16', 'document', `<?xml version="1.0" encoding="UTF-16"?>${plain}`),
  one('a NUL', 'document', plain.replace('anna-1', 'anna\u0000')),
  one(
    'deep nesting',
    'document',
    plain.replace('<saml:Subject>', `${'<a>'.repeat(40)}${'</a>'.repeat(40)}<saml:Subject>`),
  ),
  one('many nodes', 'document', plain.replace('<saml:Subject>', `${'<a/>'.repeat(25_000)}<saml:Subject>`)),
  one(
    'many namespaces',
    'document',
    plain.replace(
      '<saml:Subject>',
      `<a ${Array.from({ length: 200 }, (_, number) => `xmlns:n${number}="a"`).join(' ')}/><saml:Subject>`,
    ),
  ),
  one('two documents', 'document', plain + plain),
  one('an assertion as the root', 'document', assertionXml(anna, signatureOf(assertionXml(anna), anna.id))),
  one('no assertion', 'document', responseXml({ content: '' })),
  one(
    'an encrypted assertion',
    'document',
    responseXml({
      content: `<saml:EncryptedAssertion xmlns:saml="${namespaces.assertion}"></saml:EncryptedAssertion>`,
    }),
  ),
  one(
    'an error',
    'idp_error',
    responseXml({ status: 'urn:oasis:names:tc:SAML:2.0:status:Responder', content: '' }),
  ),
  one('an error with an assertion', 'document', plain.replace('status:Success', 'status:Responder')),
  one('no status', 'document', plain.replace(/<samlp:Status>.*<\/samlp:Status>/, '')),
  one('SAML 1.1', 'document', plain.replace('Version="2.0"', 'Version="1.1"')),
  one('a response without an id', 'document', plain.replace(' ID="_response-1"', '')),
  one('an assertion without an id', 'document', plain.replace(' ID="_assertion-1"', '')),
  one(
    'an id as Id elsewhere',
    'document',
    plain.replace('<ds:Signature ', '<ds:Signature Id="_assertion-1" '),
  ),
  one(
    'an id in the namespace of XML',
    'document',
    plain.replace('<samlp:Status>', '<samlp:Status xml:id="_assertion-1">'),
  ),
  one('an attribute twice', 'document', plain.replace('Version="2.0"', 'Version="2.0" Version="2.0"')),
  one(
    'a prefix that is not declared',
    'document',
    plain.replace('<saml:Subject>', '<other:a></other:a><saml:Subject>'),
  ),
]

const statements: readonly CorpusCase[] = [
  ...stating('another issuer', 'issuer', { issuer: 'https://mallory.example/saml' }),
  one(
    'another issuer of the response',
    'issuer',
    plain.replace(
      `<saml:Issuer xmlns:saml="${namespaces.assertion}">${expected.issuer}`,
      `<saml:Issuer xmlns:saml="${namespaces.assertion}">https://mallory.example`,
    ),
  ),
  ...stating('another audience', 'audience', { audience: 'https://other.example' }),
  ...stating('no audience', 'audience', { audience: null }),
  ...stating('another recipient', 'recipient', {
    recipient: 'https://portal.example/sso/saml/aaaaaaaaaaaa/acs',
  }),
  one(
    'another destination',
    'recipient',
    plain.replace(`Destination="${expected.recipient}"`, 'Destination="https://other.example/acs"'),
  ),
  ...stating('another request', 'nonce', { inResponseTo: '_another' }),
  ...stating('no request', 'nonce', { inResponseTo: null }),
  one(
    'another request of the response',
    'nonce',
    plain.replace(/ InResponseTo="[^"]*"/, ' InResponseTo="_another"'),
  ),
  ...stating('a confirmation that is not of a bearer', 'document', {
    method: 'urn:oasis:names:tc:SAML:2.0:cm:sender-vouches',
  }),
  ...stating('a confirmation without an end', 'document', { notOnOrAfter: null }),
  ...stating('a confirmation that has expired', 'time', { notOnOrAfter: times.at(-61) }),
  ...stating('an assertion of an hour ago', 'time', {
    issued: times.at(-3600),
    notOnOrAfter: times.at(3600),
  }),
  ...stating('an assertion of tomorrow', 'time', { issued: times.at(86_400) }),
  ...stating('conditions that have expired', 'time', { conditions: `NotOnOrAfter="${times.at(-61)}"` }),
  ...stating('conditions of later', 'time', { conditions: `NotBefore="${times.at(61)}"` }),
  ...stating('a time that is none', 'document', { notOnOrAfter: 'tomorrow' }),
  ...stating('a time without a zone', 'document', { notOnOrAfter: '2026-05-01T12:05:00' }),
  ...stating('a name id for one session', 'document', { format: nameIdFormats.transient }),
  ...stating('a name id with a space', 'document', { nameId: 'anna-1 ' }),
  ...stating('an empty name id', 'document', { nameId: ' ' }),
  ...stating('a name id of 10,000 characters', 'document', { nameId: 'a'.repeat(10_000) }),
]

export const forged: readonly CorpusCase[] = [...wrapped, ...signatures, ...documents, ...statements]
