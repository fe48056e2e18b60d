// From the SAMLResponse of a browser to what the identity provider has signed. Pure; it runs in a thread of its own (answer-thread.ts), since the input is of anybody.
import { createPublicKey, X509Certificate, type KeyObject } from 'node:crypto'
import { SignInFailure } from '../../identity/identity-provider.ts'
import { checkDocument } from './check-document.ts'
import { readAssertion, type Expected, type ReadAssertion } from './read-assertion.ts'
import { signedXml } from './signature.ts'
import {
  attributeOf,
  decodeXml,
  elementsOf,
  parseXml,
  elementText,
  XmlError,
  type XmlElement,
} from './xml.ts'
import { namespaces } from './names.ts'

export type AnswerJob = {
  /** Base64, as the form has it. */
  readonly answer: string
  /** Base64 of DER. */
  readonly certificates: readonly string[]
  readonly expected: Expected
}

/** Throws SignInFailure with the reason. */
export function verifyAnswer(job: AnswerJob): ReadAssertion {
  try {
    return verify(job)
  } catch (error) {
    if (error instanceof XmlError) throw new SignInFailure('document', { cause: error })
    throw error
  }
}

function verify({ answer, certificates, expected }: AnswerJob): ReadAssertion {
  const base64 = answer.replace(/[ \t\r\n]/g, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new SignInFailure('document')
  const checked = checkDocument(parseXml(decodeXml(Buffer.from(base64, 'base64'))))
  const { response, assertion, responseSignature, assertionSignature } = checked
  const keys = certificates.map(keyOf)
  const signedResponse = responseSignature && signedXml(response, responseSignature, keys)
  const signedAssertion = assertionSignature && signedXml(assertion, assertionSignature, keys)
  const read = readAssertion(
    signedAssertion === undefined ? assertionOf(parseXml(signedResponse!)) : parseXml(signedAssertion),
    expected,
  )
  checkResponse(response, expected, read)
  return read
}

const keyOf = (certificate: string): KeyObject =>
  createPublicKey(
    new X509Certificate(Buffer.from(certificate, 'base64')).publicKey.export({ type: 'spki', format: 'pem' }),
  )

/** The only Assertion of a signed Response. */
function assertionOf(response: XmlElement): XmlElement {
  const [found, ...others] = elementsOf(response).filter(
    ({ name, namespace }) => name === 'Assertion' && namespace === namespaces.assertion,
  )
  if (!found || others.length > 0) throw new SignInFailure('document')
  return found
}

/** What the Response states, which may be unsigned, must not contradict the Assertion. */
function checkResponse(
  response: XmlElement,
  { issuer, recipient, requestId }: Expected,
  { assertion: { claims } }: ReadAssertion,
): void {
  const stated = elementsOf(response).find(
    ({ name, namespace }) => name === 'Issuer' && namespace === namespaces.assertion,
  )
  if (stated && elementText(stated) !== issuer) throw new SignInFailure('issuer', { claims })
  const destination = attributeOf(response, 'Destination')
  if (destination !== undefined && destination !== recipient) throw new SignInFailure('recipient', { claims })
  const request = attributeOf(response, 'InResponseTo')
  if (request !== undefined && request !== requestId) throw new SignInFailure('nonce', { claims })
}
