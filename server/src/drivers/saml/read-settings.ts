// Reads the settings of a provider from what an admin sends: metadata at a URL that the admin names, metadata as text, or fields.
import { certificatesMax } from '@pharos/contract/team/provider'
import { invalid } from '../../runtime/error.ts'
import type { GivenSaml, ReadSamlSettings, StoredSaml } from '../../identity/saml-settings.ts'
import type { OutgoingFetch } from '../outgoing/fetch.ts'
import { bareCertificate, lastExpiry, objectionToCertificate } from './certificate.ts'
import { MetadataError, parseMetadata, type IdpMetadata } from './metadata.ts'

export type SamlSettingsDeps = {
  readonly fetch: OutgoingFetch
  /** Whether a setting allows providers in networks that are not public, also without TLS. */
  readonly allowsPrivate: boolean
  readonly now?: () => Date
}

export function createSamlSettings({
  fetch,
  allowsPrivate,
  now = () => new Date(),
}: SamlSettingsDeps): ReadSamlSettings {
  return async (given, before) => {
    const { metadata_url: url, metadata } = given
    const hasFields =
      given.entity_id !== undefined || given.sign_on_url !== undefined || given.certificates !== undefined
    const sources = [url !== undefined, metadata !== undefined, hasFields].filter(Boolean).length
    if (sources === 0 && before) return undefined
    if (sources !== 1) throw invalid(['body', 'metadata'], 'samlSource')
    const loc = ['body', url === undefined ? 'metadata' : 'metadata_url']
    const read = hasFields
      ? ofFields(given, before)
      : currentOf(parse(loc, url === undefined ? Buffer.from(metadata!) : await download(fetch, url)), loc)
    if (before && read.entityId !== before.entity_id)
      throw invalid(loc, 'otherEntity', { entityId: read.entityId.slice(0, 200) })
    const isHttp = (text: string) => {
      const parsed = URL.parse(text)
      const isAllowed = parsed?.protocol === 'https:' || (allowsPrivate && parsed?.protocol === 'http:')
      return (
        isAllowed &&
        parsed.username === '' &&
        parsed.password === '' &&
        /^[\x21-\x7e]{1,2000}$/.test(text) &&
        !text.includes('#')
      )
    }
    if (!isHttp(read.signOnUrl)) throw invalid(hasFields ? ['body', 'sign_on_url'] : loc, 'signOnUrl')
    // Admins read both; what an admin enters as a field is checked by the contract.
    const isPlain = /^[\x21-\x7e]{1,1024}$/.test(read.entityId)
    if (!hasFields && !isPlain) throw invalid(loc, 'metadataNoIdp')
    return {
      entity_id: read.entityId,
      sign_on_url: read.signOnUrl,
      certificates: read.certificates,
      certificates_expire: lastExpiry(read.certificates)!.toISOString(),
      metadata_url: url ?? null,
    }
  }

  function ofFields(
    { entity_id, sign_on_url, certificates }: GivenSaml,
    before: StoredSaml | null,
  ): IdpMetadata {
    const entityId = entity_id ?? before?.entity_id
    const signOnUrl = sign_on_url ?? before?.sign_on_url
    const bare = certificates?.map(bareCertificate) ?? before?.certificates
    if (entityId === undefined || signOnUrl === undefined || bare === undefined)
      throw invalid(['body', 'metadata'], 'samlSource')
    for (const [at, one] of (certificates === undefined ? [] : bare).entries()) {
      const objection = objectionToCertificate(one, now())
      if (objection) throw invalid(['body', 'certificates', at], objection)
    }
    return { entityId, signOnUrl, certificates: [...new Set(bare)] }
  }

  /** While an identity provider changes its certificate, its metadata may still have the former one. */
  function currentOf(read: IdpMetadata, loc: string[]): IdpMetadata {
    const objections = read.certificates.map((one) => objectionToCertificate(one, now()))
    const certificates = read.certificates.filter((_, at) => objections[at] === undefined)
    if (certificates.length === 0) throw invalid(loc, objections[0]!)
    if (certificates.length > certificatesMax) throw invalid(loc, 'metadataCertificates')
    return { ...read, certificates }
  }
}

/** Throws the same error whatever the reason, so that it tells nothing about the network of the provider. */
async function download(fetch: OutgoingFetch, url: string): Promise<Uint8Array> {
  const headers = { accept: 'application/samlmetadata+xml, */*;q=0.5' }
  const response = await fetch(url, { method: 'GET', headers }).catch(() => undefined)
  if (response?.status !== 200) throw invalid(['body', 'metadata_url'], 'metadataUrl')
  return new Uint8Array(await response.arrayBuffer())
}

function parse(loc: string[], bytes: Uint8Array): IdpMetadata {
  try {
    return parseMetadata(bytes)
  } catch (error) {
    if (!(error instanceof MetadataError)) throw error
    throw invalid(loc, error.objection)
  }
}
