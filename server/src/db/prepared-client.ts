// A connection that caches prepared statements: planning takes longer than running. For the pools of the API, whose
// statements are few and small. A cached plan fits the rows at its time: see analyze-grown.ts.
import { Client, type QueryResult, type Submittable } from 'pg'
import { isStale } from './failure.ts'
import { WireBatch, WireQuery, type KnownColumns, type WireStatement } from './wire-query.ts'

/** Texts kept prepared on a connection, and texts remembered that were used once. */
const preparedMax = 200
const seenMax = 1_000

let created = 0

/** A statement of a batch, with the callbacks of its answer. */
export type BatchedStatement = Pick<WireStatement, 'text' | 'values'> & {
  readonly resolve: (result: QueryResult) => void
  readonly reject: (error: unknown) => void
}

export class PreparedClient extends Client {
  readonly #names = new Map<string, string>()
  readonly #seen = new Set<string>()
  readonly #columns: KnownColumns = new Map()

  /** Kysely calls it with a text and parameters; only these statements are prepared. */
  override query(...args: unknown[]): never {
    const [text, values] = args
    const isPrepared =
      args.length === 2 && typeof text === 'string' && Array.isArray(values) && this.keeps(text, values)
    const name = isPrepared ? this.#nameOf(text) : undefined
    if (name === undefined) return (super.query as (...args: unknown[]) => never).apply(this, args)
    return this.#run({ name, text: text as string, values: values as unknown[] }) as never
  }

  /** Without parameters it may contain several statements. */
  protected keeps(_text: string, values: readonly unknown[]): boolean {
    return values.length > 0
  }

  /**
   * Sends the statements in one message; resolves when all have their answers. After an error the later statements are
   * not run, and each gets the error. No other statement may be sent until then.
   */
  runBatch(statements: readonly BatchedStatement[]): Promise<void> {
    const { promise, resolve: settle } = Promise.withResolvers<void>()
    let waiting = statements.length
    const queries = statements.map(({ text, values, resolve, reject }) => {
      const name = this.#nameOf(text)
      return new WireQuery({ name, text, values }, this.#columns, (error, result) => {
        if (error) {
          if (isStale(error)) this.#names.delete(text)
          reject(error)
        } else resolve(result)
        if (--waiting === 0) settle()
      })
    })
    super.query(new WireBatch(queries) as unknown as Submittable)
    return promise
  }

  async #run(statement: WireStatement): Promise<QueryResult> {
    try {
      return await new Promise((resolve, reject) => {
        const answered = (error: Error | null, result: QueryResult) =>
          error ? reject(error) : resolve(result)
        super.query(new WireQuery(statement, this.#columns, answered) as unknown as Submittable)
      })
    } catch (error) {
      // The next use prepares it again, under another name.
      if (isStale(error)) this.#names.delete(statement.text)
      throw error
    }
  }

  /** A name from the second use on: one-off statements are not kept. */
  #nameOf(text: string): string | undefined {
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

/** Starts a statement of the owner that runs often and finds few rows. */
const mark = '/* kept */'

/**
 * For the owner: keeps only the statements with the mark. A plan that is kept is made for lists of ten, and loops also run statements with lists
 * of thousands.
 */
export class MarkedClient extends PreparedClient {
  protected override keeps(text: string): boolean {
    return text.startsWith(mark)
  }
}
