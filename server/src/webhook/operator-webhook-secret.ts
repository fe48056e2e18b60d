// The secret of the operator's webhook in the settings: the format of the Standard Webhooks specification.

const form = /^whsec_(?<key>[A-Za-z0-9+/]+={0,2})$/

/** Returns the key; throws an Error with the expected format, without the secret. */
export function parseWebhookSecret(text: string): Buffer {
  const key = Buffer.from(form.exec(text)?.groups?.['key'] ?? '', 'base64')
  if (key.length < 24 || key.length > 64)
    throw new Error('must be whsec_ and 24 to 64 bytes in base64: openssl rand -base64 32')
  return key
}
