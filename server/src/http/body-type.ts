// The size, charset and encoding of bodies that are accepted, of JSON and of forms.
import { errorAt, fail, type Failure, type FailureDetails } from '../runtime/error.ts'

const charsets = /;\s*charset\s*=\s*(?:"([^"]*)"|([^;\s]*))/gi

/** Throws 415 if a Content-Type names a charset other than UTF-8 (RFC 8259, 8.1). */
export function requireUtf8(contentType: string | undefined): void {
  for (const [, quoted, plain] of (contentType ?? '').matchAll(charsets)) {
    const charset = quoted ?? plain ?? ''
    if (!/^utf-?8$/i.test(charset)) throw fail('unsupported_media_type', 'charset', { charset })
  }
}

/** Throws 415 for a compressed body. Decompression is deliberately not supported: a kilobyte of gzip can be a gigabyte. */
export function requireIdentity(contentEncoding: string | undefined): void {
  if ((contentEncoding ?? 'identity').toLowerCase() !== 'identity')
    throw fail('unsupported_media_type', 'encoding')
}

/**
 * Throws 415 for a multipart body where a body of any other media type is accepted: the parts would be taken for the content, and
 * curl -F sends them instead of it.
 */
export function refuseMultipart(contentType: string | undefined): void {
  if (/^\s*multipart\//i.test(contentType ?? '')) throw fail('unsupported_media_type', 'multipart')
}

/** Returns the 413 of a body, or of a file of a form, that is larger than the limit. */
export function tooLarge(file: string | undefined, bytesMax: number, details: FailureDetails = {}): Failure {
  const loc = file === undefined ? ['body'] : ['body', file]
  const errors = [errorAt(loc, 'tooLarge', { bytes_max: bytesMax })]
  return fail('body_too_large', file === undefined ? 'body' : 'file', { bytesMax }, { ...details, errors })
}
