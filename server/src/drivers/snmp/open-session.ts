// Opens a session of net-snmp on a socket of our own, and measures round trips. It decides which messages may be answers.
import snmp, { type Session, type User } from 'net-snmp'
import type { SnmpCredential, V3Credential } from './credential.ts'
import { pduType, type MessageHeader } from './message-header.ts'
import { openDeviceSocket, type DeviceAddress } from './socket.ts'

export type SessionOptions = DeviceAddress & {
  readonly credential: SnmpCredential
  /** Timeout of one try. */
  readonly timeoutMs: number
  readonly tries: number
  /** Accepts answers from every address: for devices that answer from another one. */
  readonly acceptsAnySource: boolean
  /** For tests without a network. */
  readonly openSocket?: typeof openDeviceSocket
}

export type OpenSnmpSession = {
  readonly session: Session
  /** Called with errors of the socket and exceptions of the library. */
  onFailure: (error: Error) => void
  /** Datagrams that were no valid answer. */
  dropped(): number
  /** Times of the last datagram sent and of an answer, in ms since 1970; the round trip by the monotonic clock. */
  roundTrip(receivedAt: number): { sentAt: number; receivedAt: number; roundTripMs: number }
  /** The device has answered the discovery of SNMPv3. */
  knowsEngine(): boolean
  close(): void
}

export async function openSession(
  { address, port, timeoutMs, acceptsAnySource, openSocket = openDeviceSocket }: SessionOptions,
  credential: SnmpCredential,
): Promise<OpenSnmpSession> {
  let [dropped, sentAt, sentMs] = [0, 0, 0]
  const socket = await openSocket(
    { address, port },
    {
      onSend: () => {
        sentAt = Date.now()
        sentMs = performance.now()
      },
      accepts: answerFilter(credential),
      onDrop: () => void dropped++,
      onError: (error) => open.onFailure(error),
    },
    acceptsAnySource,
  )
  const options = {
    port,
    transport: 'udp4' as const,
    timeout: timeoutMs,
    retries: 0,
    dgramModule: { createSocket: () => socket },
  }
  const session =
    credential.kind === 'v2c'
      ? snmp.createSession(address, credential.community, { ...options, version: snmp.Version2c })
      : snmp.createV3Session(address, userOf(credential), options)
  // Without a listener, a malformed datagram would end the process.
  session.on('error', () => void dropped++)
  const open: OpenSnmpSession = {
    session,
    onFailure: () => undefined,
    dropped: () => dropped,
    roundTrip: (receivedAt) => ({ sentAt, receivedAt, roundTripMs: performance.now() - sentMs }),
    knowsEngine: () => session.msgSecurityParameters !== undefined,
    close: () => session.close(),
  }
  return open
}

/**
 * Returns whether a message may be an answer: of SNMPv2c with the community; of SNMPv3 with the security level of the request. Only
 * reports may have less (RFC 3412 section 7.2): net-snmp does not check that.
 */
function answerFilter(credential: SnmpCredential): (header: MessageHeader) => boolean {
  if (credential.kind === 'v2c')
    return (header) =>
      header.version === 1 && header.community === credential.community && header.pduType === pduType.response
  const [authenticates, encrypts] = [credential.auth !== null, credential.privacy !== null]
  return (header) => {
    if (header.version !== 3) return false
    // The library fails at a digest that it has no key for.
    if (header.isAuthenticated && !authenticates) return false
    if (header.isEncrypted) return encrypts && header.isAuthenticated
    if (header.pduType === pduType.report) return true
    return !encrypts && header.isAuthenticated === authenticates && header.pduType === pduType.response
  }
}

const authNumbers = {
  md5: snmp.AuthProtocols.md5,
  sha1: snmp.AuthProtocols.sha,
  sha224: snmp.AuthProtocols.sha224,
  sha256: snmp.AuthProtocols.sha256,
  sha384: snmp.AuthProtocols.sha384,
  sha512: snmp.AuthProtocols.sha512,
}
const privacyNumbers = {
  aes128: snmp.PrivProtocols.aes,
  aes256b: snmp.PrivProtocols.aes256b,
  aes256r: snmp.PrivProtocols.aes256r,
}

function userOf({ user, auth, authPassword, privacy, privacyPassword }: V3Credential): User {
  if (auth === null) return { name: user, level: snmp.SecurityLevel.noAuthNoPriv }
  const base = { name: user, authProtocol: authNumbers[auth], authKey: authPassword }
  if (privacy === null) return { ...base, level: snmp.SecurityLevel.authNoPriv }
  const level = snmp.SecurityLevel.authPriv
  return { ...base, level, privProtocol: privacyNumbers[privacy], privKey: privacyPassword }
}
