// Work on rows that become due, outside of a transaction: mails, webhook deliveries, readings of devices, transfers of zones, and checks of
// domains, ASNs and delegations. A row is claimed under a lease, worked on
// beside others, and saved with the time when it is due again. Any number of processes may do so at once: each claims rows that
// no other has, and rows of a process that dies are due when their lease ends.
import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from './postgres.ts'

export type DueWork<Row> = {
  /** Claims up to `limit` due rows for longer than their work takes; returns none if none are due. */
  readonly claim: (limit: number) => Promise<readonly Row[]>
  readonly work: (row: Row) => Promise<void>
  /** Rows in parallel in this process. */
  readonly parallel: number
  /** The work of a row failed: the row is due again when its lease ends. */
  readonly onError: (error: unknown) => void
  /** The work of a row ended, so that another one can start. */
  readonly onEnd?: () => void
}

export type DueWorker = {
  /** Starts as many due rows as the capacity permits, without waiting for them; returns their number. */
  fill(): Promise<number>
  /** Starts due rows until all are started or the signal is aborted, and resolves when all started rows have ended. */
  drain(signal: AbortSignal): Promise<void>
  /** Resolves when all rows that were started have ended. */
  settled(): Promise<void>
  readonly running: number
}

export function createDueWorker<Row>({ claim, work, parallel, onError, onEnd }: DueWork<Row>): DueWorker {
  const running = new Set<Promise<void>>()

  function start(row: Row): void {
    const task = work(row)
      .catch(onError)
      .finally(() => {
        running.delete(task)
        onEnd?.()
      })
    running.add(task)
  }

  async function fill(): Promise<number> {
    const room = parallel - running.size
    if (room <= 0) return 0
    const rows = await claim(room)
    for (const row of rows) start(row)
    return rows.length
  }

  const settled = async (): Promise<void> => void (await Promise.all(running))

  return {
    fill,
    async drain(signal) {
      try {
        while (!signal.aborted && (await fill()) > 0)
          if (running.size >= parallel) await Promise.race(running)
      } finally {
        await settled()
      }
    },
    settled,
    get running() {
      return running.size
    },
  }
}

/** The tables with rows that become due, and their keys. */
export const dueTables = {
  mails: 'id',
  webhooks: 'id',
  domains: 'id',
  device_states: 'device_id',
  dns_secondaries: 'zone_id',
  dns_delegations: 'zone_id',
} as const

/**
 * Claims rows of a table. `due` selects the keys from alias `r` as `id`, the longest waiting first, and limits their number; `lease` sets
 * the columns that keep others from claiming the rows. `returning` may name columns of `due` and of `joined`, such as `devices d on d.id =
 * due.id`. Rows that another process is claiming are skipped.
 */
export async function claimRows<Row>(
  db: Db | Trx,
  table: keyof typeof dueTables,
  claim: {
    readonly due: RawBuilder<unknown>
    readonly lease: RawBuilder<unknown>
    readonly joined?: RawBuilder<unknown>
    readonly returning: RawBuilder<unknown>
  },
): Promise<Row[]> {
  const join = claim.joined ? sql`join ${claim.joined}` : sql``
  // Materialised, so that no plan runs the selection twice and claims more than the limit.
  const { rows } = await sql<Row>`
    with due as materialized (${claim.due} for no key update of r skip locked)
    update ${sql.table(table)} r set ${claim.lease} from due ${join} where r.${sql.ref(dueTables[table])} = due.id
    returning ${claim.returning}`.execute(db)
  return rows
}
