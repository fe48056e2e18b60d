// The port of a name server over DNS: serials, NOTIFY, questions and AXFR, as any server answers them.
import type {
  SerialAnswer,
  AskOptions,
  NameServer,
  NameServerIdentity,
  Question,
} from '../../dns/publish/name-server.ts'
import { opcode, rcode, type Message } from '../../net/dns/message.ts'
import { parseName, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import type { ResourceRecord } from '../../net/dns/record.ts'
import { toSerial, type Serial } from '../../net/dns/serial.ts'
import type { TsigKey } from '../../net/dns/tsig.ts'
import { recordClass, recordType } from '../../net/dns/type.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { exchange, isRefusal, receiveMessages, type DnsQuery, type DnsTarget } from './exchange.ts'
import { exchangeAll } from './exchange-all.ts'

export type FollowerOptions = {
  readonly address: string
  readonly port: number
  /** Signs NOTIFY, serial queries and transfers. */
  readonly key?: TsigKey | undefined
  readonly timeoutMs?: number
}

const defaultTimeoutMs = 5_000
/** Interval of queries while a call waits for the server. */
const watchMs = 1_000

const soaOf = (zone: ZoneName): Question => ({ name: zone, type: recordType.SOA, class: recordClass.IN })

/** Opens a socket on first use. */
export function createFollower(options: FollowerOptions): NameServer {
  return new Follower({ ...options, timeoutMs: options.timeoutMs ?? defaultTimeoutMs })
}

class Follower implements NameServer {
  readonly #target: DnsTarget
  readonly #closing = new AbortController()
  readonly #watchers = new Set<() => void>()
  #isDown = false
  #watch: NodeJS.Timeout | undefined

  constructor(target: DnsTarget) {
    this.#target = target
  }

  async probe(): Promise<NameServerIdentity> {
    const [version, id] = await Promise.all([this.#text('version.bind.'), this.#text('id.server.')])
    return { ...(version !== undefined && { version }), ...(id !== undefined && { id }) }
  }

  async serials(zones: readonly ZoneName[]): Promise<ReadonlyMap<ZoneName, Serial | 'absent' | 'failing'>> {
    const queries = zones.map((zone) => ({ questions: [soaOf(zone)] }))
    const answers = await this.#attempt(() => exchangeAll(this.#target, queries, this.#closing.signal))
    return new Map(zones.map((zone, at) => [zone, serialIn(zone, answers[at]!)]))
  }

  async notify(zones: readonly { readonly zone: ZoneName; readonly serial: Serial }[]): Promise<void> {
    // The SOA may go with a NOTIFY (RFC 1996 section 3.7), but a receiver must ask for it anyway.
    const queries = zones.map(({ zone }): DnsQuery => ({
      opcode: opcode.NOTIFY,
      aa: true,
      questions: [soaOf(zone)],
    }))
    const answers = await this.#attempt(() => exchangeAll(this.#target, queries, this.#closing.signal))
    const refused = zones.filter((_, at) => answers[at]!.rcode !== rcode.NOERROR)
    if (refused.length === 0) return
    const reasons = refused.map(({ zone }) => ({ subject: zone, reason: 'NOTIFY was refused' }))
    throw new DriverError('refused', `${refused.length} NOTIFY refused`, { refused: reasons })
  }

  ask(question: Question, options: AskOptions = {}): Promise<SerialAnswer> {
    const { edns, recursionDesired = false, tcp = false, timeoutMs = this.#target.timeoutMs } = options
    const query: DnsQuery = {
      questions: [question],
      rd: recursionDesired,
      ...(edns && { edns: { ...edns, version: 0, options: [] } }),
    }
    // Queries like any client: without a key.
    const target = { ...this.#target, key: undefined, timeoutMs }
    return this.#attempt(() => exchange(target, query, { tcp, signal: this.#closing.signal }))
  }

  async *read(zone: ZoneName): AsyncGenerator<ResourceRecord> {
    const query = { questions: [{ name: zone, type: recordType.AXFR, class: recordClass.IN }] }
    let soas = 0
    for await (const { message, finish } of receiveMessages(this.#target, query, this.#closing.signal)) {
      const { rcode: code, answers } = message
      if (code !== rcode.NOERROR) throw new DriverError('refused', `the transfer of ${zone} was refused`)
      for (const record of answers) {
        const isSoa = record.type === recordType.SOA && record.name === zone
        if (isSoa && ++soas === 2) return finish()
        yield record
      }
    }
    throw new DriverError('unreachable', `the transfer of ${zone} ended early`)
  }

  watch(onUp: () => void): () => void {
    this.#watchers.add(onUp)
    this.#schedule()
    return () => {
      this.#watchers.delete(onUp)
      if (this.#watchers.size === 0) clearTimeout(this.#watch)
    }
  }

  close(): Promise<void> {
    clearTimeout(this.#watch)
    this.#watchers.clear()
    this.#closing.abort(new DriverError('unreachable', 'the client was closed'))
    return Promise.resolve()
  }

  /** The text of a name of class CH; undefined if the server does not give it. */
  async #text(name: string): Promise<string | undefined> {
    const question = { name: parseName(name), type: recordType.TXT, class: recordClass.CH }
    const { answers } = await this.ask(question)
    const rdata = answers.find(({ type }) => type === recordType.TXT)?.rdata
    return rdata && Buffer.from(rdata.subarray(1, 1 + rdata[0]!)).toString('utf8')
  }

  /** Remembers whether the server answers. */
  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    this.#closing.signal.throwIfAborted()
    try {
      const result = await work()
      if (this.#isDown) {
        this.#isDown = false
        for (const onUp of this.#watchers) onUp()
      }
      return result
    } catch (error) {
      if (error instanceof DriverError && error.kind === 'unreachable') {
        this.#isDown = true
        this.#schedule()
      }
      throw error
    }
  }

  #schedule(): void {
    clearTimeout(this.#watch)
    if (!this.#isDown || this.#watchers.size === 0 || this.#closing.signal.aborted) return
    this.#watch = setTimeout(() => void this.#text('version.bind.').catch(() => {}), watchMs)
    this.#watch.unref()
  }
}

function serialIn(zone: ZoneName, answer: Message): Serial | 'absent' | 'failing' {
  const soa = answer.answers.find(({ type, name }) => type === recordType.SOA && name === zone)
  if (answer.rcode === rcode.NOERROR && answer.aa && soa) return soaSerialOf(soa)
  if (answer.rcode === rcode.SERVFAIL) return 'failing'
  if (answer.rcode === rcode.NOERROR || isRefusal(answer)) return 'absent'
  throw new DriverError(
    'protocol',
    `the question for the SOA of ${zone} was answered with RCODE ${answer.rcode}`,
  )
}

/** Returns the serial of an SOA: the first of the five numbers at its end. */
export function soaSerialOf({ rdata }: { readonly name: DomainName; readonly rdata: Uint8Array }): Serial {
  return toSerial(Buffer.from(rdata).readUInt32BE(rdata.length - 20))
}
