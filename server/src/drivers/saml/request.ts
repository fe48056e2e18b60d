// The AuthnRequest, in the query of the sign-on URL (HTTP-Redirect binding, SAML bindings 3.4). It is not signed: whoever changes it gets an answer that is refused.
import { deflateRawSync } from 'node:zlib'
import { namespaces, postBinding } from './names.ts'
import { escapeXml } from './write-xml.ts'

export type SamlRequest = {
  readonly id: string
  readonly signOnUrl: string
  readonly entityId: string
  readonly acsUrl: string
  readonly relayState: string
  readonly at: Date
}

export function requestUrl({ id, signOnUrl, entityId, acsUrl, relayState, at }: SamlRequest): string {
  const attributes = {
    ID: id,
    Version: '2.0',
    IssueInstant: at.toISOString(),
    Destination: signOnUrl,
    AssertionConsumerServiceURL: acsUrl,
    ProtocolBinding: postBinding,
  }
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
  // Without it, a provider with persistent name IDs may refuse a person who signs in for the first time (SAML core 3.4.1.1).
  const policy = '<samlp:NameIDPolicy AllowCreate="true"/>'
  const xml =
    `<samlp:AuthnRequest xmlns:samlp="${namespaces.protocol}"${written.join('')}>` +
    `<saml:Issuer xmlns:saml="${namespaces.assertion}">${escapeXml(entityId)}</saml:Issuer>${policy}</samlp:AuthnRequest>`
  const url = new URL(signOnUrl)
  url.searchParams.set('SAMLRequest', deflateRawSync(xml).toString('base64'))
  url.searchParams.set('RelayState', relayState)
  return url.href
}
