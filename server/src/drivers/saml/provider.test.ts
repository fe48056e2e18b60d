// The driver against an identity provider on loopback: the request, the answer in a thread, and answers that cost much.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  conformsToIdentityProvider,
  type ProtocolAnswers,
} from '../../identity/identity-provider.conformance.ts'
import { SignInFailure, type FlowAnswer, type SamlSettings } from '../../identity/identity-provider.ts'
import { createSaml } from './provider.ts'
import { createTestKey } from './testing-certificate.ts'
import { toBase64, type Signed } from './testing-responses.ts'
import { browseSaml, startSaml, type TestSaml } from './testing.ts'

const settingsOf = ({ entityId, signOnUrl, certificate }: TestSaml): SamlSettings => ({
  kind: 'saml',
  key: 'k3j5mq2xw7ab',
  groupsClaim: 'groups',
  secondFactorValues: [],
  entityId,
  signOnUrl,
  certificates: [createTestKey().certificate, certificate],
  audience: 'https://portal.example/sso/saml/k3j5mq2xw7ab/metadata',
  acsUrl: 'https://portal.example/sso/saml/k3j5mq2xw7ab/acs',
})

async function browse(redirect: string): Promise<FlowAnswer> {
  const { form } = await browseSaml(redirect)
  return { state: form.RelayState, samlResponse: form.SAMLResponse }
}

const decoded = (answer: FlowAnswer): string => Buffer.from(answer.samlResponse!, 'base64').toString()

function createOnce() {
  const seen = new Set<string>()
  return async (key: string, id: string) => seen.size < seen.add(`${key} ${id}`).size
}

async function open(signs: Signed) {
  const idp = await startSaml()
  idp.signs = signs
  idp.person = { groups: ['net-ops'] }
  const protocol: ProtocolAnswers = {
    subjectClaim: 'NameID',
    spent: 'replayed',
    // The issuer of the response is not signed if the assertion is; that of the assertion always is.
    ofOthers: (answer) =>
      signs === 'assertion'
        ? [
            {
              ...answer,
              samlResponse: toBase64(decoded(answer).replace(idp.entityId, 'https://mallory.example')),
            },
          ]
        : [],
    errors: (answer) => [
      { ...answer, samlResponse: undefined },
      {
        ...answer,
        samlResponse: toBase64(
          '<p:Response xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol" ID="_e" Version="2.0"><p:Status><p:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Responder"/></p:Status></p:Response>',
        ),
      },
    ],
  }
  return {
    idp,
    provider: createSaml({ claimAssertion: createOnce() })(settingsOf(idp)),
    browse,
    person: { email: 'anna@red.example', subject: 'anna-1' },
    protocol,
    [Symbol.asyncDispose]: () => idp[Symbol.asyncDispose](),
  }
}

for (const signs of ['assertion', 'response', 'both'] as const)
  conformsToIdentityProvider(`a SAML provider (${signs} signed)`, () => open(signs))

test('the request keeps the query of the sign-on URL', async () => {
  await using harness = await open('assertion')
  const { redirect } = await harness.provider.begin({ state: 'state-1' })
  assert.deepEqual([...new URL(redirect).searchParams.keys()], ['tenant', 'SAMLRequest', 'RelayState'])
})

test('an answer of 256 KiB that is costly to read is refused, and the next one is read', async () => {
  await using harness = await open('assertion')
  const { provider } = harness
  const { redirect, secrets } = await provider.begin({ state: 'state-1' })
  const honest = await browse(redirect)
  const costly = [
    `${'<a>'.repeat(60_000)}`,
    `<a ${Array.from({ length: 20_000 }, (_, at) => `b${at}="1"`).join(' ')}/>`,
    `<a xmlns:b="c">${`<b:d xmlns:e${1}="f"/>`.repeat(9_000)}</a>`,
    `<a>${'&amp;'.repeat(35_000)}</a>`,
    `<!--${'-'.repeat(150_000)}`,
    `<a b="${' '.repeat(180_000)}`,
    `<a${' '.repeat(180_000)}b`,
  ]
  const refusals = costly.map((xml) =>
    assert.rejects(
      provider.finish(secrets, { state: 'state-1', samlResponse: toBase64(xml) }),
      (error) => error instanceof SignInFailure && error.reason === 'document',
    ),
  )
  await Promise.all(refusals)
  assert.equal((await provider.finish(secrets, honest)).subject, 'anna-1')
})
