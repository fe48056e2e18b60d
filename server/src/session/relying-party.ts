// For which host browsers keep the passkeys of the installation (WebAuthn, section 5.1.2).
import { isIP } from 'node:net'
import { isLoopback } from '../net/loopback.ts'

export type RelyingParty = {
  /** A host name: the passkeys of another one are not offered. */
  readonly id: string
  readonly origin: string
  /** Name of the installation. */
  readonly name: string
}

/** Undefined for an IP address, which browsers refuse; for one of this machine it is `localhost`, which they accept without TLS. */
export function relyingPartyOf(publicUrl: string, name: string): RelyingParty | undefined {
  const url = new URL(publicUrl)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) === 0) return { id: host, origin: url.origin, name }
  if (!isLoopback(host)) return undefined
  url.hostname = 'localhost'
  return { id: 'localhost', origin: url.origin, name }
}
