// A name server in the memory of this process that follows a primary, for demos and for tests of loops. It answers no packets.
import type { ZoneSource } from '../../dns/answer/zone-source.ts'
import type { SerialAnswer, NameServer, NameServerIdentity, Question } from '../../dns/publish/name-server.ts'
import { emptyMessage, rcode } from '../../net/dns/message.ts'
import type { ZoneName } from '../../net/dns/name.ts'
import { recordsOf, type ResourceRecord, type SignedRrset } from '../../net/dns/record.ts'
import { isNewer, type Serial } from '../../net/dns/serial.ts'
import { recordClass, recordType } from '../../net/dns/type.ts'
import { DriverError } from '../../runtime/driver-error.ts'

export type SandboxNameServerOptions = {
  readonly primary: Pick<ZoneSource, 'open'>
  /** Zones that it is configured for without data answer as failing; all others are absent. */
  readonly zones?: readonly ZoneName[]
  /** Its zones; it begins without any by default. */
  readonly copies?: SandboxCopies
}

type Copy = { readonly serial: Serial; readonly sets: readonly SignedRrset[] }
type SandboxCopies = Map<ZoneName, Copy>

const copiesOfServers = new WeakMap<object, Map<string, SandboxCopies>>()

/** The zones of a server of a running product: it keeps them while the product connects again, as a real one does. */
export function sandboxCopiesOf(product: object, server: string): SandboxCopies {
  const servers = copiesOfServers.get(product) ?? new Map<string, SandboxCopies>()
  copiesOfServers.set(product, servers)
  const copies = servers.get(server) ?? new Map()
  servers.set(server, copies)
  return copies
}

export class SandboxNameServer implements NameServer {
  /** While true, no call is answered. */
  isDown = false
  readonly #options: SandboxNameServerOptions
  readonly #copies: SandboxCopies
  #isClosed = false

  constructor(options: SandboxNameServerOptions) {
    this.#options = options
    this.#copies = options.copies ?? new Map()
  }

  async probe(): Promise<NameServerIdentity> {
    await this.#answer()
    return { version: 'sandbox' }
  }

  async serials(zones: readonly ZoneName[]): Promise<ReadonlyMap<ZoneName, Serial | 'absent' | 'failing'>> {
    await this.#answer()
    const missing = new Set(this.#options.zones)
    return new Map(
      zones.map((zone) => [
        zone,
        this.#copies.get(zone)?.serial ?? (missing.has(zone) ? 'failing' : 'absent'),
      ]),
    )
  }

  /** Transfers newer zones immediately. */
  async notify(zones: readonly { readonly zone: ZoneName; readonly serial: Serial }[]): Promise<void> {
    await this.#answer()
    for (const { zone } of zones) {
      const snapshot = await this.#options.primary.open(zone)
      const copy = this.#copies.get(zone)
      if (!snapshot || (copy && !isNewer(snapshot.serial, copy.serial))) continue
      this.#copies.set(zone, { serial: snapshot.serial, sets: await Array.fromAsync(snapshot.sets) })
    }
  }

  async ask(question: Question): Promise<SerialAnswer> {
    await this.#answer()
    const { name, type } = question
    const sets = [...this.#copies.values()].flatMap((copy) => copy.sets)
    const found = sets.find((set) => set.name === name && set.type === type)
    const isKnown = sets.some((set) => set.name === name)
    const code = isKnown ? rcode.NOERROR : rcode.REFUSED
    const answers = found ? recordsOf(found) : []
    return { ...emptyMessage, qr: true, aa: isKnown, rcode: code, questions: [question], answers }
  }

  async *read(zone: ZoneName): AsyncGenerator<ResourceRecord> {
    await this.#answer()
    const copy = this.#copies.get(zone)
    if (!copy) throw new DriverError('refused', `${zone} is not served`)
    for (const set of copy.sets) {
      yield* recordsOf(set)
      for (const rdata of set.rrsig)
        yield { name: set.name, type: recordType.RRSIG, class: recordClass.IN, ttl: set.ttl, rdata }
    }
  }

  watch(): () => void {
    return () => {}
  }

  close(): Promise<void> {
    this.#isClosed = true
    return Promise.resolve()
  }

  /** Every call takes a turn of the event loop, as one over a network does. */
  async #answer(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    if (this.isDown || this.#isClosed) throw new DriverError('unreachable', 'the sandbox does not answer')
  }
}
