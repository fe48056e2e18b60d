// A hot path of the product beside its peer, as the guard measures it: processor time, in short turns. Its sides come
// from the benchmark in the same file, with little data.
import type { Bench } from '../benchmark.ts'
import type { LoadResult } from '../load.ts'
import { runPgbench, type PgbenchRun } from '../pgbench.ts'
import { endedProgramsMicros } from '../processor-time.ts'
import type { Served } from '../product.ts'

/** Microseconds of processor time in one turn: of the program itself, and of the database that it uses. */
export type Turn = { readonly units: number; readonly program: number; readonly database: number }

export type Sides = { ours(): Promise<Turn>; peer(): Promise<Turn> }

export type HotPath = {
  /** Id of the goal: `P1`. */
  readonly id: PathId
  /** One unit of work: `one event by id`. */
  readonly unit: string
  readonly peer: string
  /** Returns why it cannot be measured here; undefined if it can. */
  missing(): string | undefined
  /** Starts both sides; they end with the stack. */
  prepare(bench: Bench, stack: AsyncDisposableStack): Promise<Sides>
}

export type PathId = 'P1' | 'P3' | 'P4' | 'P5' | 'P7' | 'D8' | 'D1' | 'I2' | 'I4' | 'P9d' | 'P9c'

type Meter = () => number

export const nothing: Meter = () => 0

/** Microseconds of this process so far, of all its threads. */
export const ownMicros: Meter = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Measures `work`, which returns the number of units done. */
export async function spend(program: Meter, database: Meter, work: () => Promise<number>): Promise<Turn> {
  const [programBefore, databaseBefore] = [program(), database()]
  const units = await work()
  return { units, program: program() - programBefore, database: database() - databaseBefore }
}

/** Returns the meter of the bench's PostgreSQL. Throws if it is on another machine. */
export async function databaseMeter(bench: Bench): Promise<Meter> {
  const cluster = await bench.cluster()
  if (cluster.cpuMicros() === 0) throw new Error('the processor time of this PostgreSQL is not known here')
  return () => cluster.cpuMicros()
}

/** A turn of requests to a server with its database. */
export const requestTurn =
  (served: Served, database: Meter, load: () => Promise<LoadResult>): (() => Promise<Turn>) =>
  () =>
    spend(
      () => served.cpuMicros(),
      database,
      async () => (await load()).answers,
    )

/** A turn of pgbench, which is the program, of about this many transactions. */
export const pgbenchTurn =
  (database: Meter, plan: PgbenchRun, transactions: number): (() => Promise<Turn>) =>
  () =>
    spend(endedProgramsMicros, database, async () => {
      const each = Math.ceil(transactions / plan.clients)
      return (await runPgbench({ ...plan, transactions: each })).transactions
    })
