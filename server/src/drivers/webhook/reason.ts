// Reasons of failed deliveries, as text for the team of the webhook. They never reveal addresses, name servers or networks of
// the provider.
import { NotAllowed, NotPublic } from './connect.ts'

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before a response was received',
  EPIPE: 'the connection was closed before a response was received',
  ETIMEDOUT: 'no connection within 5 s',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ENOTFOUND: 'the name does not exist',
  ESERVFAIL: 'the name could not be resolved',
  EREFUSED: 'the name could not be resolved',
  ECANCELLED: 'the name could not be resolved',
  EBADNAME: 'the name is not a valid DNS name',
  ETIMEOUT: 'the name could not be resolved',
  HPE_HEADER_OVERFLOW: 'the response headers are too long',
  CERT_HAS_EXPIRED: 'TLS: the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS: the certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS: the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS: the certificate is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'TLS: the certificate is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS: the server does not send its intermediate certificates',
}

export function reasonOf(error: unknown): string {
  if (error instanceof NotPublic) return `${error.message}; ask your provider to allow it`
  if (error instanceof NotAllowed) return error.message
  const { code = '', name } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError') return reasons['ETIMEDOUT']!
  const known = reasons[code]
  if (known !== undefined) return known
  if (code.startsWith('HPE_')) return 'the response is not HTTP'
  if (code.startsWith('ERR_SSL') || code === 'EPROTO')
    return 'TLS: the server does not support a common version or cipher'
  return code === '' ? 'the request failed' : `the request failed (${code})`
}
