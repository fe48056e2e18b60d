// The port to what SAML knows about an identity provider before anybody signs in: its metadata and certificates. The use cases of providers are in provider.ts.

/** What an admin sends: the metadata, its URL, or the fields. */
export type GivenSaml = {
  readonly metadata_url?: string
  readonly metadata?: string
  readonly entity_id?: string
  readonly sign_on_url?: string
  readonly certificates?: readonly string[]
}

export type StoredSaml = {
  readonly entity_id: string
  readonly sign_on_url: string
  /** Base64 of DER. */
  readonly certificates: readonly string[]
  /** When the last of them expires, in ISO 8601. */
  readonly certificates_expire: string
  readonly metadata_url: string | null
}

/** Returns the settings with what was sent, or undefined if nothing of it was. Throws `invalid`. */
export type ReadSamlSettings = (
  given: GivenSaml,
  before: StoredSaml | null,
) => Promise<StoredSaml | undefined>
