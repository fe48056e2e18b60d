// NOTIFY to the servers in `also_notify` of a zone. It is a hint: a server that misses it asks after SOA refresh, so no
// state is stored, and no status depends on it.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'
import { toSerial, type Serial } from '../../net/dns/serial.ts'
import type { DomainName, ZoneName } from '../../net/dns/name.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import type { NameServer } from './name-server.ts'

export type NotifyTarget = {
  readonly address: string
  readonly port: number
  readonly keyName: DomainName | null
  readonly keyAlgorithm: string | null
  readonly keySealed: Buffer | null
}

export type NotifyDeps = {
  readonly db: Db
  readonly connect: (target: NotifyTarget) => Pick<NameServer, 'notify' | 'close'>
  /** Called for a server that did not acknowledge. */
  readonly onFailure: (target: NotifyTarget, error: DriverError) => void
}

/** Servers at a time. */
const parallel = 16
/** Overlap of two reads in milliseconds: a transaction may commit after a newer one. */
const overlapMs = 10_000

/** Sends NOTIFY in the runs of a loop. */
export class OtherNotifier {
  readonly #deps: NotifyDeps
  /** The first run notifies of all zones: some may have been published while no process ran. */
  #since = new Date(0)
  /** Serials of which a server was notified, by zone and address. */
  readonly #sent = new Map<string, Serial>()

  constructor(deps: NotifyDeps) {
    this.#deps = deps
  }

  /** Returns the number of NOTIFY messages. Throws if the database fails. */
  async run(signal: AbortSignal): Promise<number> {
    const rows = await listNotified(this.#deps.db, this.#since)
    const due = rows.filter(({ serial, ...row }) => this.#sent.get(idOf(row)) !== serial)
    const servers = [...Map.groupBy(due, ({ address, port, keyName }) => `${address} ${port} ${keyName}`)]
    const next = servers.values()
    const work = async (): Promise<void> => {
      for (const [, zones] of next) {
        signal.throwIfAborted()
        await this.#notify(zones)
      }
    }
    await Promise.all(Array.from({ length: Math.min(parallel, servers.length) }, work))
    const newest = Math.max(0, ...rows.map(({ published }) => published.getTime()))
    if (newest > 0) this.#since = new Date(newest - overlapMs)
    return due.length
  }

  async #notify(zones: readonly NotifiedZone[]): Promise<void> {
    const [target] = zones
    const client = this.#deps.connect(target!)
    try {
      await client.notify(zones)
    } catch (error) {
      if (!(error instanceof DriverError)) throw error
      this.#deps.onFailure(target!, error)
    } finally {
      await client.close()
    }
    for (const row of zones) this.#sent.set(idOf(row), row.serial)
  }
}

const idOf = ({ zone, address, port }: Pick<NotifiedZone, 'zone' | 'address' | 'port'>): string =>
  `${zone} ${address} ${port}`

type NotifiedZone = NotifyTarget & {
  readonly zone: ZoneName
  readonly serial: Serial
  readonly published: Date
}

/** Returns the zones published since a time with a row for each server. The first TSIG key of the zone signs, as it does for its transfers. */
async function listNotified(db: Db, since: Date): Promise<NotifiedZone[]> {
  const { rows } = await sql<Omit<NotifiedZone, 'serial'> & { serial: number }>`
    select z.name as zone, z.serial::float8 as serial, z.published, n.value ->> 'address' as address,
      coalesce((n.value ->> 'port')::integer, 53) as port, k.name as "keyName", k.algorithm as "keyAlgorithm",
      k.secret_sealed as "keySealed"
    from dns_zones z cross join jsonb_array_elements(z.settings -> 'also_notify') n (value)
      left join dns_tsig_keys k on k.id = (z.settings -> 'tsig_key_ids' ->> 0)::integer
        and (k.team_id is null or k.team_id = z.team_id)
    where z.published >= ${since} and z.serial is not null and z.withdrawn is null and z.deleted is null
      and jsonb_typeof(z.settings -> 'also_notify') = 'array'
    order by z.published`.execute(db)
  return rows.map(({ serial, ...row }) => ({ ...row, serial: toSerial(serial) }))
}
