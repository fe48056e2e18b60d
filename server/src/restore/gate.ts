// The gate of one process: remembers the head of the audit log, notices when the database no longer has it, and then
// stops all sending until staff have closed the restore. Every run that sends asks it (runtime/loop.ts).
import { formatHead } from '../audit/head.ts'
import type { Db, Trx } from '../db/postgres.ts'
import type { Component } from '../runtime/component.ts'
import type { Gate } from '../runtime/gate.ts'
import type { Log } from '../runtime/log.ts'
import { createLoop, type Loop } from '../runtime/loop.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { compareIdentity, compareWitness, type DatabaseNow, type Verdict } from './detect.ts'
import {
  openRestore,
  readDatabaseIdentity,
  readSeen,
  saveDatabaseIdentity,
  withdrawRestore,
  type NewRestore,
} from './gate.store.ts'
import type { DatabaseIdentity, Witness, WitnessFile } from './witness.ts'

export type RestoreGateDeps = {
  readonly db: Db
  readonly file: WitnessFile
  /** Queues the mail to staff, in the transaction that opens the restore. */
  readonly inform: (trx: Trx, id: number) => Promise<void>
  readonly log: Log
  readonly metrics: Metrics
}

/** Remembers so often, in memory. */
const intervalMs = 1_000
/** Writes the file so often. */
const writeMs = 5_000
/** Time for which the start of the other parts waits for the first answer of the database. */
const firstAnswerMs = 2_000

const stateOf = ({ openId }: Pick<DatabaseNow, 'openId'>) => (openId === null ? 'open' : 'closed')

export class RestoreGate implements Gate<Trx>, Component {
  readonly name = 'restore gate'
  readonly #deps: RestoreGateDeps
  readonly #loop: Loop
  #witness: Witness | undefined
  #identity: DatabaseIdentity | null = null
  #isFileRead = false
  #writtenMs = -Infinity
  /** The place of the database was compared once; sending is not allowed before. */
  #isPlaced = false
  #state: Gate['state'] = 'unknown'

  constructor(deps: RestoreGateDeps) {
    this.#deps = deps
    const { log, metrics } = deps
    const run = () => this.#remember()
    this.#loop = createLoop({ name: 'restore-witness', intervalMs, sends: 'nothing', run, log, metrics })
  }

  get state(): Gate['state'] {
    return this.#state
  }

  async start(): Promise<void> {
    this.#loop.start()
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, firstAnswerMs)
    this.#loop.runOnce().then(resolve, resolve)
    await promise
    clearTimeout(timer)
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async mayApply(within: Db | Trx = this.#deps.db): Promise<boolean> {
    if (!this.#isPlaced) await this.#loop.runOnce()
    const { seen } = await this.#observe(within)
    this.#state = stateOf(seen)
    return this.#state === 'open'
  }

  /**
   * Opens a restore if the database went back. Otherwise advances the witness, unless a restore is open: then it is the
   * evidence.
   */
  async #observe(db: Db | Trx): Promise<{ seen: DatabaseNow; verdict: Verdict }> {
    // The witness may advance while the statement runs.
    const witness = this.#readWitness()
    const seen = await readSeen(db, witness?.head)
    const verdict = compareWitness(witness, seen)
    if (seen.openId !== null) return { seen, verdict }
    if (verdict === 'went_back') return { seen: await this.#open('head_missing', seen), verdict }
    const isLater = (this.#witness?.head.sequence ?? 0) <= (seen.head?.sequence ?? 0)
    if (seen.head && (isLater || verdict !== 'agrees')) {
      const { installation, head, closed, at } = seen
      this.#witness = { installation, head, closed, at, database: this.#identity }
    }
    return { seen, verdict }
  }

  #readWitness(): Witness | undefined {
    if (!this.#isFileRead) this.#witness = this.#deps.file.read()
    this.#isFileRead = true
    return this.#witness
  }

  async #remember(): Promise<void> {
    const { db, file } = this.#deps
    const before = this.#readWitness()
    const { seen, verdict } = await this.#observe(db)
    this.#state = stateOf(await this.#checkIdentity(before, seen, verdict))
    this.#isPlaced = true
    if (this.#state === 'closed' || !this.#witness || performance.now() - this.#writtenMs < writeMs) return
    await file.write(this.#witness)
    this.#writtenMs = performance.now()
  }

  /** `witness`: as it was before it advanced. */
  async #checkIdentity(
    witness: Witness | undefined,
    seen: DatabaseNow,
    verdict: Verdict,
  ): Promise<DatabaseNow> {
    const { db, log } = this.#deps
    const { stored, found } = await readDatabaseIdentity(db)
    this.#identity = found
    const identity = compareIdentity(verdict, witness, seen, stored, found)
    if (identity === 'same') return seen
    if (identity === 'other_database')
      return seen.openId === null
        ? this.#open('other_database', seen, { before: stored, after: found })
        : seen
    // After a restore the place is confirmed with the decision.
    if (seen.openId !== null && !(verdict === 'agrees' && (await withdrawRestore(db, seen.openId))))
      return seen
    await saveDatabaseIdentity(db, found)
    if (stored !== null)
      log.warn({ before: stored, after: found }, 'database moved; its content is the remembered one')
    return { ...seen, openId: null }
  }

  async #open(
    reason: NewRestore['reason'],
    seen: DatabaseNow,
    identity: Readonly<Record<string, unknown>> = {},
  ): Promise<DatabaseNow> {
    const { db, log, inform } = this.#deps
    const evidence = {
      known_head: this.#witness ? formatHead(this.#witness.head) : null,
      found_head: seen.head ? formatHead(seen.head) : null,
      ...identity,
    }
    const id = await openRestore(db, { reason, evidence, actor: 'pharos' }, inform)
    if (id !== undefined)
      log.error(
        { restore: id, reason, ...evidence },
        'database was restored: nothing is sent until staff decide',
      )
    return { ...seen, openId: id ?? 0 }
  }
}
