// Finds the servers of the parent zone by asking from the root (RFC 1034 section 5.3.3). It uses no resolver, because
// DNSSEC needs the current data of the parent and not a cached copy.
import { rcode, type Message, type Question } from '../../net/dns/message.ts'
import {
  isAtOrBelow,
  isBelow,
  nameFromWire,
  root,
  type DomainName,
  type ZoneName,
} from '../../net/dns/name.ts'
import { recordClass, recordType } from '../../net/dns/type.ts'

/** The target of a question. */
export type ServerAddress = { readonly address: string; readonly port: number }

/** Queries one server; rejects if it does not answer. */
export type AskServer = (server: ServerAddress, question: Question) => Promise<Message>

/** A server by its name; any of its addresses will do. */
export type ParentServer = { readonly name: string; readonly addresses: readonly ServerAddress[] }

export type FindOptions = {
  readonly ask: AskServer
  /** Servers of the root, or of the only zone above in a closed network. */
  readonly roots: readonly ParentServer[]
  /** Whether a question may be sent to an address that a zone names. */
  readonly isAllowed: (address: string) => boolean
  /** Whether the name can be delegated at all: names for documentation and tests have no parent on the internet. */
  readonly isDelegable: (zone: ZoneName) => boolean
}

/** Zones from the root to the parent, and names of servers that must be resolved on the way. */
const stepsMax = 24
const depthMax = 4

/** No server on the way to the parent answered. */
export class ParentNotFound extends Error {}

export const questionFor = (name: DomainName, type: number): Question => ({
  name,
  type,
  class: recordClass.IN,
})

/** Returns all servers of the closest zone above `zone`. Throws ParentNotFound. */
export async function findParent(options: FindOptions, zone: ZoneName): Promise<readonly ParentServer[]> {
  if (!options.isDelegable(zone)) throw new ParentNotFound(`${zone} has no parent`)
  let servers = options.roots
  let above: DomainName = root
  for (let step = 0; step < stepsMax; step++) {
    const answer = await askAny(options.ask, servers, questionFor(zone, recordType.NS))
    const cut = referralOf(answer, above, zone)
    if (cut === undefined || cut === zone) return servers
    servers = await serversOf(options, answer, cut, 0)
    above = cut
  }
  throw new ParentNotFound(`more than ${stepsMax} zones above ${zone}`)
}

/** Returns the zone of a referral between `above` and `zone`; undefined if the server is authoritative. */
function referralOf(answer: Message, above: DomainName, zone: DomainName): DomainName | undefined {
  if (answer.aa || answer.answers.length > 0) return undefined
  const cut = answer.authorities.find(({ type }) => type === recordType.NS)?.name
  if (cut === undefined || !isBelow(cut, above) || !isAtOrBelow(zone, cut))
    throw new ParentNotFound(`a server of ${above} gave no usable answer for ${zone}`)
  return cut
}

/** Returns the answer of the first server that gives one. */
async function askAny(
  ask: AskServer,
  servers: readonly ParentServer[],
  question: Question,
): Promise<Message> {
  for (const { addresses } of servers) {
    const answer = await askServer(ask, addresses, question)
    if (answer) return answer
  }
  throw new ParentNotFound(`no server answered the question for ${question.name}`)
}

/**
 * Returns the answer of a server at any of its addresses; undefined if it does not answer, or with an error such as
 * SERVFAIL.
 */
export async function askServer(
  ask: AskServer,
  addresses: readonly ServerAddress[],
  question: Question,
): Promise<Message | undefined> {
  for (const address of addresses) {
    try {
      const answer = await ask(address, question)
      if (answer.rcode === rcode.NOERROR || answer.rcode === rcode.NXDOMAIN) return answer
    } catch {
      // The next address, or the next server, is asked.
    }
  }
  return undefined
}

/** Returns the servers of a referral, with their addresses from glue or from further questions. */
async function serversOf(
  options: FindOptions,
  { authorities, additionals }: Message,
  cut: DomainName,
  depth: number,
): Promise<ParentServer[]> {
  const names = authorities
    .filter(({ type, name }) => type === recordType.NS && name === cut)
    .map(({ rdata }) => nameFromWire(rdata))
  const servers = names.map(async (name): Promise<ParentServer> => {
    const glue = additionals.filter((record) => record.name === name && isAddress(record.type)).map(addressOf)
    const known = glue.length > 0 || depth >= depthMax ? glue : await resolve(options, name, depth + 1)
    const addresses = known.filter(options.isAllowed).map((address) => ({ address, port: 53 }))
    return { name, addresses }
  })
  const found = await Promise.all(servers)
  if (found.every(({ addresses }) => addresses.length === 0))
    throw new ParentNotFound(`no server of ${cut} has an address`)
  return found
}

/** Returns the addresses of a name, asked from the root; an empty list if they cannot be found. */
async function resolve(options: FindOptions, name: DomainName, depth: number): Promise<string[]> {
  let servers = options.roots
  let above: DomainName = root
  try {
    for (let step = 0; step < stepsMax; step++) {
      const answer = await askAny(options.ask, servers, questionFor(name, recordType.A))
      if (answer.aa || answer.answers.length > 0)
        return answer.answers
          .filter((record) => record.name === name && isAddress(record.type))
          .map(addressOf)
      const cut = referralOf(answer, above, name)!
      servers = await serversOf(options, answer, cut, depth)
      above = cut
    }
  } catch (error) {
    if (!(error instanceof ParentNotFound)) throw error
  }
  return []
}

const isAddress = (type: number): boolean => type === recordType.A || type === recordType.AAAA

/** IPv4 before IPv6 in the text form that sockets take. */
function addressOf({ type, rdata }: { readonly type: number; readonly rdata: Uint8Array }): string {
  if (type === recordType.A) return rdata.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((rdata[2 * i]! << 8) | rdata[2 * i + 1]!).toString(16))
  return groups.join(':')
}
