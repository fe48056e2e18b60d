// Answers the questions of class CH by which operators identify a server: version.bind, version.server, id.server, hostname.bind (RFC 4892).
import { rcode, type Message, type Question } from '../../net/dns/message.ts'
import { recordType } from '../../net/dns/type.ts'

export type ServerIdentity = { readonly version: string; readonly id: string }

export function chaosAnswer({ name, type, class: chaos }: Question, identity: ServerIdentity): Partial<Message> {
  const text =
    name === 'version.bind.' || name === 'version.server.'
      ? identity.version
      : name === 'id.server.' || name === 'hostname.bind.'
        ? identity.id
        : undefined
  if (text === undefined || type !== recordType.TXT) return { rcode: rcode.REFUSED }
  const octets = Buffer.from(text).subarray(0, 255)
  const rdata = Uint8Array.of(octets.length, ...octets)
  return { aa: true, answers: [{ name, type, class: chaos, ttl: 0, rdata }] }
}
