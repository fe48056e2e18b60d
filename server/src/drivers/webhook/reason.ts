// Reasons of failed deliveries, as text for the team of the webhook. They never reveal addresses, name servers or networks of
// the provider.
import { NotAllowed } from './connect.ts'

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before an answer came',
  EPIPE: 'the connection was closed before an answer came',
  ETIMEDOUT: 'no connection within 5 s',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network',
  ENOTFOUND: 'the name does not exist',
  ESERVFAIL: 'the name could not be resolved',
  EREFUSED: 'the name could not be resolved',
  ECANCELLED: 'the name could not be resolved',
  EBADNAME: 'the name is not one of DNS',
  ETIMEOUT: 'the name could not be resolved',
  HPE_HEADER_OVERFLOW: 'the headers of the answer are too long',
  CERT_HAS_EXPIRED: 'TLS: the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS: the certificate is one of another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS: the certificate is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS: the certificate is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'TLS: the certificate is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS: the server does not send the certificates in between',
}

export function reasonOf(error: unknown): string {
  if (error instanceof NotAllowed) return error.message
  const { code = '', name } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError') return words['ETIMEDOUT']!
  const known = words[code]
  if (known !== undefined) return known
  if (code.startsWith('HPE_')) return 'the answer is not HTTP'
  if (code.startsWith('ERR_SSL') || code === 'EPROTO') return 'TLS: the other side does not speak it as we do'
  return code === '' ? 'the request failed' : `the request failed (${code})`
}
