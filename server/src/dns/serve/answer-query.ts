// The answer to a question while zones are loaded, are in memory, or are not.
import { hostname } from 'node:os'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import { emptyMessage, rcode, udpLengthMax, type Message } from '../../net/dns/message.ts'
import type { ZoneName } from '../../net/dns/name.ts'
import { recordsOf } from '../../net/dns/record.ts'
import { recordClass, recordType } from '../../net/dns/type.ts'
import { respondTo } from '../answer/respond.ts'
import type { ServedZones } from './served-zones.ts'

/**
 * Until all zones are loaded, a name without a zone may still be ours: SERVFAIL, so that clients query another server.
 */
export function createAnswerer(
  isInMemory: boolean,
  zones: ServedZones,
): (query: Message, transport: 'udp' | 'tcp') => Uint8Array {
  // Does not reveal its version, and thereby published vulnerabilities.
  const responder = { zones: zones.contents, id: hostname() }
  const nothing = { has: () => false, get: () => undefined }
  return (query, transport) => {
    const isIn = query.questions[0]?.class === recordClass.IN
    if (!zones.isLoaded && isIn) return answerTo(query, { rcode: rcode.SERVFAIL })
    if (isInMemory) return respondTo(responder, query, transport)
    return serialAnswer(zones, query) ?? respondTo({ ...responder, zones: nothing }, query, transport)
  }
}

/** Without zones in memory, only the serial is answered, for followers. */
function serialAnswer(zones: ServedZones, query: Message): Uint8Array | undefined {
  const [question] = query.questions
  const zone = question && zones.find(question.name as ZoneName)
  if (!zone || question.type !== recordType.SOA) return undefined
  if (zone === 'expired') return answerTo(query, { rcode: rcode.SERVFAIL })
  return answerTo(query, { aa: true, answers: recordsOf(zone.soa) })
}

function answerTo({ id, opcode, rd, questions, edns }: Message, parts: Partial<Message>): Uint8Array {
  const answer = { ...emptyMessage, id, opcode, rd, qr: true, questions, ...parts }
  return encodeMessage(
    edns ? { ...answer, edns: { ...edns, udpSize: udpLengthMax, version: 0, options: [] } } : answer,
  )
}
