// A benchmark: a measurement of the product beside a peer, and its lines of the table. Types only; table.ts prints them.
import type { Cluster } from './cluster.ts'

/** One line of the table. */
export type Line = {
  /** The measurement with its size: `list of 100, 1 M events`. */
  readonly what: string
  readonly result: string
  readonly peer: string
  /** Pharos' result relative to the peer's, such as `2.4x`. */
  readonly ratio: string
  /** Empty for a line that is only for comparison. */
  readonly goal: string
  readonly reached: boolean | undefined
}

/** The environment of a benchmark. */
export type Bench = {
  /** Small sizes and short slices: tests that it works, not how fast it is. */
  readonly quick: boolean
  /** A tenth of the sizes that take more than five minutes. */
  readonly brief: boolean
  /** The sizes that take many minutes, where a benchmark has them. */
  readonly full: boolean
  /** Number of rounds in which Pharos and the peer alternate. */
  readonly rounds: number
  readonly sliceSeconds: number
  /** Connections to the product, and clients of the peer. */
  readonly clients: number
  /** Returns a durable PostgreSQL for the bench; starts it on first use. */
  cluster(): Promise<Cluster>
  /** For logs and scripts; deleted at the end unless the user named it. */
  readonly folder: string
  /** Prints progress, and lines beside the table. */
  report(text: string): void
}

export type Benchmark = {
  /** Id of the goal: `P1`. */
  readonly id: string
  /** Name on the command line and of its file. */
  readonly name: string
  readonly title: string
  /** Returns why it cannot be measured here; undefined if it can. */
  missing(): string | undefined
  run(bench: Bench): Promise<readonly Line[]>
}
