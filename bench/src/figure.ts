// A figure: a measurement of the product beside a peer, and its lines of the table. Types only; table.ts prints them.
import type { Cluster } from './cluster.ts'

/** One line of the table. */
export type Line = {
  /** The measurement with its size: `list of 100, 1 M events`. */
  readonly what: string
  readonly figure: string
  readonly peer: string
  /** Ours to the peer's, such as `2.4x`. */
  readonly ratio: string
  /** Empty for a line that is there to compare only. */
  readonly goal: string
  readonly reached: boolean | undefined
}

/** Everything that a figure needs of the bench. */
export type Bench = {
  /** Small sizes and short slices: whether it works, not how fast it is. */
  readonly quick: boolean
  /** How often ours and the peer's take turns. */
  readonly rounds: number
  readonly sliceSeconds: number
  /** Connections of the product, clients of the peer. */
  readonly clients: number
  /** A durable PostgreSQL for the bench; started when first asked for. */
  cluster(): Promise<Cluster>
  /** For logs and scripts; gone at the end unless the user named it. */
  readonly folder: string
  /** Progress, and lines beside the table. */
  say(text: string): void
}

export type Figure = {
  /** Of goals: `P1`. */
  readonly id: string
  /** Its name on the command line; the name of its file. */
  readonly name: string
  readonly title: string
  /** Why it cannot be measured here; undefined when it can. */
  missing(): string | undefined
  run(bench: Bench): Promise<readonly Line[]>
}
