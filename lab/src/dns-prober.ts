// Queries a resolver continuously for names that no cache has, and counts its answers: a resolver that cannot validate
// answers SERVFAIL.
import { setTimeout as sleep } from 'node:timers/promises'
import { queryUdp } from './authoritative-peer.ts'

const types = { A: 1, SOA: 6 } as const
const doBit = 0x80

/** RCODE and the flag AD. Undefined without an answer. */
export async function askResolver(
  port: number,
  name: string,
  type: keyof typeof types,
): Promise<{ readonly rcode: number; readonly isValidated: boolean } | undefined> {
  const labels = name.split('.').filter((label) => label !== '')
  const owner = [...labels.flatMap((label) => [label.length, ...Buffer.from(label)]), 0]
  const header = [Math.floor(Math.random() * 256), 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]
  const opt = [0, 0, 41, 4, 208, 0, 0, doBit, 0, 0, 0]
  const query = Uint8Array.from([...header, ...owner, 0, types[type], 0, 1, ...opt])
  const answer = await queryUdp(port, query).catch(() => undefined)
  return answer && { rcode: answer[3]! & 15, isValidated: (answer[3]! & 0x20) !== 0 }
}

export type ProbeCounts = {
  readonly answers: number
  /** Answers other than NOERROR. */
  readonly failures: number
  /** Answers with the flag AD. */
  readonly validated: number
}

/** Queries from its creation until it is disposed. */
export class DnsProber {
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  readonly #counts = { answers: 0, failures: 0, validated: 0 }
  #seen: ProbeCounts = { ...this.#counts }

  /** `zone` has a wildcard with an address. */
  constructor(port: number, zone: string, everyMs = 25) {
    this.#running = this.#run(port, zone, everyMs)
  }

  /** Counts since the creation. */
  get counts(): ProbeCounts {
    return this.#counts
  }

  /** Counts since the last call. */
  look(): ProbeCounts {
    const { answers, failures, validated } = this.#seen
    this.#seen = { ...this.#counts }
    return {
      answers: this.#seen.answers - answers,
      failures: this.#seen.failures - failures,
      validated: this.#seen.validated - validated,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(port: number, zone: string, everyMs: number): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const answer = await askResolver(port, `r${Math.random().toString(36).slice(2)}.${zone}`, 'A')
      if (answer) this.#counts.answers++
      if (answer && answer.rcode !== 0) this.#counts.failures++
      if (answer?.isValidated) this.#counts.validated++
      await sleep(everyMs)
    }
  }
}
