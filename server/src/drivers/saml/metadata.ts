// Metadata of SAML (SAML metadata 2.4): reads that of an identity provider, which an admin enters, and writes ours.
import { nameIdFormats, namespaces, postBinding, redirectBinding } from './names.ts'
import {
  allElements,
  attributeOf,
  decodeXml,
  elementsOf,
  parseXml,
  elementText,
  XmlError,
  type XmlElement,
} from './xml.ts'
import { bareCertificate } from './certificate.ts'
import { escapeXml } from './write-xml.ts'

export type IdpMetadata = {
  readonly entityId: string
  readonly signOnUrl: string
  /** Base64 of DER. */
  readonly certificates: readonly string[]
}

/** Why metadata is not accepted, as a condition of the catalogue of messages. */
export type MetadataObjection =
  | 'metadataUnreadable'
  | 'metadataEntities'
  | 'metadataNoIdp'
  | 'metadataNoRedirect'
  | 'metadataNoCertificate'

export class MetadataError extends Error {
  readonly objection: MetadataObjection

  constructor(objection: MetadataObjection) {
    super(objection)
    this.objection = objection
  }
}

const ofMetadata = (name: string) => (element: XmlElement) =>
  element.namespace === namespaces.metadata && element.name === name

/** Throws MetadataError. */
export function parseMetadata(bytes: Uint8Array): IdpMetadata {
  try {
    return read(parseXml(decodeXml(bytes).replace(/^\uFEFF/, ''), { dropsComments: true }))
  } catch (error) {
    throw error instanceof XmlError ? new MetadataError('metadataUnreadable') : error
  }
}

function read(root: XmlElement): IdpMetadata {
  const [entity, ...others] = [...allElements(root)].filter(ofMetadata('EntityDescriptor'))
  if (others.length > 0) throw new MetadataError('metadataEntities')
  const entityId = entity && attributeOf(entity, 'entityID')
  const [idp, ...more] = entity ? elementsOf(entity).filter(ofMetadata('IDPSSODescriptor')) : []
  if (!idp || more.length > 0 || !entityId) throw new MetadataError('metadataNoIdp')
  const signOn = elementsOf(idp).find(
    (one) => ofMetadata('SingleSignOnService')(one) && attributeOf(one, 'Binding') === redirectBinding,
  )
  const signOnUrl = signOn && attributeOf(signOn, 'Location')
  if (!signOnUrl) throw new MetadataError('metadataNoRedirect')
  const certificates = elementsOf(idp).filter(isForSigning).flatMap(certificatesIn)
  if (certificates.length === 0) throw new MetadataError('metadataNoCertificate')
  return { entityId, signOnUrl, certificates: [...new Set(certificates)] }
}

/** A key without a use is for both. */
const isForSigning = (element: XmlElement): boolean =>
  ofMetadata('KeyDescriptor')(element) && (attributeOf(element, 'use') ?? 'signing') === 'signing'

const certificatesIn = (key: XmlElement): readonly string[] =>
  [...allElements(key)]
    .filter(({ name, namespace }) => name === 'X509Certificate' && namespace === namespaces.signature)
    .map((one) => bareCertificate(elementText(one)))

/** Our own: no key, since nothing is encrypted and requests are not signed. */
export const writeMetadata = (entityId: string, acsUrl: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<md:EntityDescriptor xmlns:md="${namespaces.metadata}" entityID="${escapeXml(entityId)}">
  <md:SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true" protocolSupportEnumeration="${namespaces.protocol}">
    <md:NameIDFormat>${nameIdFormats.persistent}</md:NameIDFormat>
    <md:NameIDFormat>${nameIdFormats.email}</md:NameIDFormat>
    <md:AssertionConsumerService Binding="${postBinding}" Location="${escapeXml(acsUrl)}" index="0" isDefault="true"/>
  </md:SPSSODescriptor>
</md:EntityDescriptor>
`
