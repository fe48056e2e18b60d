// A primary of other zones over DNS: AXFR (RFC 5936) and IXFR (RFC 1995), each complete and covered by signatures before anything of it is used.
import { setTimeout as sleep } from 'node:timers/promises'
import type { TransferSource } from '../../dns/import/transfer-source.ts'
import type { TransferResult, TransferredStep, ZonePrimary } from '../../dns/publish/zone-primary.ts'
import { rcode } from '../../net/dns/message.ts'
import type { ZoneName } from '../../net/dns/name.ts'
import type { ResourceRecord } from '../../net/dns/record.ts'
import { isNewer } from '../../net/dns/serial.ts'
import { recordClass, recordType } from '../../net/dns/type.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { receiveMessages, type DnsQuery, type DnsTarget } from './exchange.ts'
import { createFollower, soaSerialOf, type FollowerOptions } from './name-server.ts'

const timeoutMs = 10_000
/**
 * Time until the error of an import whose server does not answer with DNS: a little longer than the timeout without any
 * answer, so that the time does not reveal closed ports.
 */
const unreachableMs = timeoutMs + 1_000

export function createPrimary(options: FollowerOptions): ZonePrimary {
  const target: DnsTarget = { ...options, timeoutMs: options.timeoutMs ?? timeoutMs }
  return {
    async serial(zone) {
      const server = createFollower(target)
      const serial = (await server.serials([zone])).get(zone)
      await server.close()
      if (typeof serial === 'number') return serial
      throw new DriverError('refused', `${target.address} is not authoritative for the zone`)
    },
    transfer: (zone, transfer) => transferZone(target, zone, transfer),
  }
}

/** The source of imports. `keyOf` opens the TSIG key of a row. */
export function createTransferSource(keyOf: (id: number) => Promise<FollowerOptions['key']>): TransferSource {
  return {
    async transfer({ zone, address, port, tsigKeyId, recordsMax, signal }) {
      const key = tsigKeyId === undefined ? undefined : await keyOf(tsigKeyId)
      const answerAt = sleep(unreachableMs, undefined, { ref: false })
      const target = { address, port, key, timeoutMs }
      const found = await transferZone(target, zone, { recordsMax, signal }).catch(async (error: unknown) => {
        if (error instanceof DriverError && error.kind === 'unreachable') await answerAt
        throw error
      })
      if (found.kind !== 'whole')
        throw new DriverError('protocol', 'the server answered AXFR with differences')
      return found.records
    },
  }
}

async function transferZone(
  target: DnsTarget,
  zone: ZoneName,
  { from, recordsMax, signal }: Parameters<ZonePrimary['transfer']>[1],
): Promise<TransferResult> {
  const type = from ? recordType.IXFR : recordType.AXFR
  const query: DnsQuery = {
    questions: [{ name: zone, type, class: recordClass.IN }],
    ...(from && { authorities: [from] }),
  }
  const transfer = new TransferReader(zone, recordsMax)
  for await (const { message, finish } of receiveMessages(target, query, signal)) {
    if (message.rcode === rcode.NOTIMP && from) return transferZone(target, zone, { recordsMax, signal })
    if (message.rcode !== rcode.NOERROR)
      throw new DriverError('refused', `${target.address} refused the transfer with RCODE ${message.rcode}`)
    for (const record of message.answers) transfer.add(record)
    const isUpToDate = from !== undefined && transfer.isUpToDate(from)
    if (!isUpToDate && !transfer.isComplete) continue
    finish()
    return isUpToDate ? { kind: 'steps', steps: [] } : transfer.result
  }
  throw new DriverError('unreachable', `${target.address} ended the transfer early`)
}

/** Reads the records of a transfer in their order: the SOA is at the start and at the end, and in IXFR before each half of a step. */
class TransferReader {
  readonly #zone: ZoneName
  readonly #recordsMax: number
  readonly #records: ResourceRecord[] = []
  /** Positions of SOA records. */
  readonly #soas: number[] = []
  isComplete = false

  constructor(zone: ZoneName, recordsMax: number) {
    this.#zone = zone
    this.#recordsMax = recordsMax
  }

  add(record: ResourceRecord): void {
    if (this.isComplete) throw new DriverError('protocol', 'records follow the end of the transfer')
    const isSoa = record.type === recordType.SOA && record.name === this.#zone
    if (this.#records.length === 0 && !isSoa)
      throw new DriverError('protocol', 'the transfer starts without SOA')
    if (this.#records.length > this.#recordsMax)
      throw new DriverError('refused', `the zone has more than ${this.#recordsMax} records`)
    if (isSoa) this.#soas.push(this.#records.length)
    this.#records.push(record)
    if (isSoa) this.isComplete = this.#endsHere(record)
  }

  /**
   * A single SOA means that there are no changes (RFC 1995 section 4). If its serial is newer, the rest follows in
   * further messages.
   */
  isUpToDate(from: ResourceRecord): boolean {
    return this.#records.length === 1 && !isNewer(soaSerialOf(this.#records[0]!), soaSerialOf(from))
  }

  get #isDifference(): boolean {
    return this.#soas[1] === 1
  }

  /** The last SOA repeats the first; in IXFR the last step also ends with its serial, before its records. */
  #endsHere(soa: ResourceRecord): boolean {
    if (this.#soas.length === 1 || soaSerialOf(soa) !== soaSerialOf(this.#records[0]!)) return false
    return !this.#isDifference || this.#soas.length % 2 === 0
  }

  get result(): TransferResult {
    const records = this.#records.slice(0, -1)
    if (!this.#isDifference || this.#soas.length === 2) return { kind: 'whole', records }
    const bounds = this.#soas.slice(1)
    const steps: TransferredStep[] = []
    for (let i = 0; i + 2 < bounds.length; i += 2)
      steps.push({
        removed: this.#records.slice(bounds[i], bounds[i + 1]),
        added: this.#records.slice(bounds[i + 1], bounds[i + 2]),
      })
    return { kind: 'steps', steps }
  }
}
