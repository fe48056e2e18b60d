// The driver with SimpleSAMLphp, whose signatures are made by another implementation of canonicalization.
import { describe } from 'node:test'
import { conformsToIdentityProvider } from '../../identity/identity-provider.conformance.ts'
import { parseMetadata } from './metadata.ts'
import { createSaml } from './provider.ts'
import { browseForm, simplesamlphpMissing, startSimplesamlphp } from './testing-simplesamlphp.ts'
import { toBase64 } from './testing-responses.ts'

const audience = 'https://portal.example/sso/saml/k3j5mq2xw7ab/metadata'
const acsUrl = 'https://portal.example/sso/saml/k3j5mq2xw7ab/acs'

async function open(signs: 'assertion' | 'response' | 'both') {
  const peer = await startSimplesamlphp({ entityId: audience, acsUrl }, signs)
  const seen = new Set<string>()
  const { entityId, signOnUrl, certificates } = parseMetadata(Buffer.from(peer.metadata))
  return {
    provider: createSaml({ claimAssertion: async (_, id) => seen.size < seen.add(id).size })({
      kind: 'saml',
      key: 'k3j5mq2xw7ab',
      groupsClaim: 'groups',
      secondFactorValues: [],
      entityId,
      signOnUrl,
      certificates,
      audience,
      acsUrl,
    }),
    browse: async (redirect: string) => {
      const { samlResponse, state } = await browseForm(redirect)
      return { state, samlResponse }
    },
    person: { email: 'anna@red.example', subject: 'anna-1' },
    protocol: {
      subjectClaim: 'NameID',
      spent: 'replayed' as const,
      ofOthers: (answer: { readonly state: string; readonly samlResponse?: string | undefined }) =>
        signs === 'assertion'
          ? [
              {
                ...answer,
                samlResponse: toBase64(
                  Buffer.from(answer.samlResponse!, 'base64')
                    .toString()
                    .replace(`<saml:Issuer>${entityId}`, '<saml:Issuer>https://mallory.example'),
                ),
              },
            ]
          : [],
      errors: ({ state }: { readonly state: string }) => [{ state }],
    },
    [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
  }
}

describe('SimpleSAMLphp', { skip: simplesamlphpMissing }, () => {
  for (const signs of ['assertion', 'response', 'both'] as const)
    conformsToIdentityProvider(`SimpleSAMLphp (${signs} signed)`, () => open(signs))
})
