// The corpus of forged answers, random moves of nodes, and a second implementation of XML signatures (xml-crypto) as signer and as judge.
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { SignedXml } from 'xml-crypto'
import { SignInFailure } from '../../identity/identity-provider.ts'
import { createRandom, testSeed } from '../../../test/support/random.ts'
import { scaled } from '../../runtime/testing-scale.ts'
import { exclusive, enveloped } from './names.ts'
import { movedAtRandom } from './testing-moves.ts'
import {
  algorithms,
  anna,
  assertionXml,
  ecKey,
  expected,
  idpKey,
  responseXml,
  signedResponse,
  toBase64,
} from './testing-responses.ts'
import { forged, honest } from './testing-corpus.ts'
import { verifyAnswer } from './verify-answer.ts'

const certificates = [ecKey.certificate, idpKey.certificate]
const outcomeOf = (answer: string, by: readonly string[] = certificates): string => {
  try {
    const { assertion } = verifyAnswer({ answer, certificates: by, expected })
    return `${assertion.subject} ${assertion.email}`
  } catch (error) {
    if (error instanceof SignInFailure) return error.reason
    throw error
  }
}
const accepted = 'anna-1 anna@red.example'

describe('an honest answer', () => {
  for (const { name, answer } of honest)
    it(`is accepted: ${name}`, () => assert.equal(outcomeOf(answer), accepted))

  it('states everything that it contains', () => {
    const { assertion } = verifyAnswer({ answer: honest[0]!.answer, certificates, expected })
    assert.deepEqual(assertion.groups, anna.groups)
    assert.deepEqual(assertion.claims, ['NameID', 'email', 'groups'])
    assert.equal(assertion.secondFactor, false)
  })
})

describe('a forged answer', () => {
  it('is refused with its reason', () => {
    const wrong = forged
      .map(({ name, answer, reason }) => ({ name, reason, outcome: outcomeOf(answer) }))
      .filter(({ reason, outcome }) => reason !== outcome)
    assert.deepEqual(wrong, [])
    assert.ok(forged.length > 200, `${forged.length} cases`)
  })
})

const signedShapes = (['assertion', 'response', 'both'] as const).flatMap((signs) =>
  [false, true].map((inclusive) => signedResponse(signs, {}, { inclusive })),
)

test('nodes that are moved at random never give another identity', () => {
  const forgery = signedResponse(
    'both',
    { id: '_evil-1', nameId: 'mallory', email: 'mallory@red.example' },
    { key: ecKey, method: algorithms.ecdsaSha256 },
  )
  const random = createRandom(testSeed)
  const onlyRsa = [idpKey.certificate]
  let same = 0
  for (let at = 0; at < scaled(50_000, 4_000); at++) {
    const moved = movedAtRandom(signedShapes[at % signedShapes.length]!, forgery, random)
    const outcome = outcomeOf(toBase64(moved), onlyRsa)
    if (outcome === accepted) same += 1
    else assert.ok(!outcome.includes(' '), `seed ${testSeed}: ${outcome}: ${moved}`)
  }
  assert.ok(same > 0, 'no document was accepted')
})

test('characters that are changed at random never give another identity', () => {
  const { below } = createRandom(testSeed)
  for (let at = 0; at < scaled(20_000, 1_000); at++) {
    const bytes = Buffer.from(signedShapes[at % signedShapes.length]!)
    for (let count = 0; count <= below(3); count++) bytes[below(bytes.length)] = below(256)
    const outcome = outcomeOf(bytes.toString('base64'))
    if (outcome !== accepted)
      assert.ok(!outcome.includes(' '), `seed ${testSeed}: ${outcome}: ${bytes.toString()}`)
  }
})

describe('xml-crypto', () => {
  const pem = (base64: string) => `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`

  /** Indented, with quotes and empty elements as no canonical form has them. */
  const indented = responseXml({ content: assertionXml(anna) })
    .replaceAll('><', '>\n  <')
    .replaceAll(/<([\w:]+)([^<>]*)>\s*<\/\1>/g, '<$1$2 />')
    .replaceAll(/Value="([^"]*)"/g, "Value='$1'")

  const sign = (xml: string, path: string, inclusive: boolean): string => {
    const signer = new SignedXml({
      privateKey: idpKey.privateKey,
      publicCert: pem(idpKey.certificate),
      signatureAlgorithm: algorithms.rsaSha256,
      canonicalizationAlgorithm: exclusive,
    })
    signer.addReference({
      xpath: path,
      transforms: [enveloped, exclusive],
      digestAlgorithm: algorithms.sha256,
      ...(inclusive ? { inclusiveNamespacesPrefixList: ['xs'] } : {}),
    })
    const location = { reference: `${path}/*[local-name()='Issuer']`, action: 'after' } as const
    signer.computeSignature(xml, { prefix: 'ds', location })
    return signer.getSignedXml()
  }
  const [assertion, response] = ["//*[local-name()='Assertion']", "/*[local-name()='Response']"] as const

  for (const inclusive of [false, true]) {
    it(`signs answers that are accepted${inclusive ? ', with InclusiveNamespaces' : ''}`, () => {
      const ofAssertion = sign(indented, assertion, inclusive)
      for (const xml of [
        ofAssertion,
        sign(indented, response, inclusive),
        sign(ofAssertion, response, inclusive),
      ])
        assert.equal(outcomeOf(toBase64(xml)), accepted)
    })
  }

  it('accepts the signatures of the honest answers', () => {
    for (const xml of signedShapes) {
      const [signature] =
        /<ds:Signature .*?<\/ds:Signature>/.exec(xml.slice(xml.indexOf('<saml:Assertion'))) ??
        /<ds:Signature .*?<\/ds:Signature>/.exec(xml)!
      const judge = new SignedXml({ publicCert: pem(idpKey.certificate) })
      judge.loadSignature(signature)
      assert.ok(judge.checkSignature(xml))
    }
  })
})
