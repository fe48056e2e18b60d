// A connection that keeps repeated statements prepared: planning one takes longer than running it. For the pools of the
// API, whose statements are few and small; a cached plan does not depend on the number of rows.
import { Client, type QueryResult } from 'pg'
import { isStale } from './failure.ts'

/** Texts kept prepared on a connection, and texts remembered that were used once. */
const preparedMax = 200
const seenMax = 1_000

let created = 0

export class PreparedClient extends Client {
  readonly #names = new Map<string, string>()
  readonly #seen = new Set<string>()

  /** Kysely calls it with a text and parameters, and nothing else is prepared. */
  override query(...args: unknown[]): never {
    const [text, values] = args
    const name = args.length === 2 && typeof text === 'string' ? this.#nameOf(text, values) : undefined
    if (name === undefined) return this.#send(...args) as never
    const result = this.#send({ name, text, values }) as Promise<QueryResult>
    return result.catch((error: unknown) => {
      // The next one is prepared again, under another name.
      if (isStale(error)) this.#names.delete(text as string)
      throw error
    }) as never
  }

  #send(...args: unknown[]): unknown {
    return (super.query as (...args: unknown[]) => unknown).apply(this, args)
  }

  /** A name from the second use on: one-off statements are not kept. */
  #nameOf(text: string, values: unknown): string | undefined {
    if (!Array.isArray(values) || values.length === 0) return undefined
    const known = this.#names.get(text)
    if (known !== undefined) return known
    if (!this.#seen.has(text)) {
      if (this.#seen.size >= seenMax) this.#seen.clear()
      this.#seen.add(text)
      return undefined
    }
    if (this.#names.size >= preparedMax) return undefined
    const name = `pharos_kept_${++created}`
    this.#names.set(text, name)
    return name
  }
}
