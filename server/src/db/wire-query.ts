// Prepared statements in one message, whose result columns are requested only once per connection: pg's Query sends five
// messages, and describes and copies the columns of every result. It relies on internals of pg's Query, since pg's client
// accepts no other class; prepared-client.ts and team-query.ts are its only users.
import { Query, type FieldDef, type QueryResult } from 'pg'
import { serialize } from 'pg-protocol'
// @ts-expect-error: pg has no types for this file.
import utils from 'pg/lib/utils.js'
import { typeParsers } from './connection.ts'

export type WireStatement = {
  /** Name of the prepared statement; undefined: it is not cached. */
  readonly name: string | undefined
  readonly text: string
  readonly values: readonly unknown[]
}

type Column = { readonly name: string; readonly parse: (text: string) => unknown }

/** The result columns of a connection's prepared statements, by the statement's name. */
export type KnownColumns = Map<string, readonly Column[]>

export type WireConnection = {
  readonly stream: { readonly writable: boolean; write(bytes: Uint8Array): boolean }
  readonly parsedStatements: Record<string, string>
  readonly submittedNamedStatements: Record<string, string>
}
type Answered = (error: Error | null, result: QueryResult) => void

/** The class that pg's client requires, without its constructor, which copies the configuration and creates an emitter. */
const PgQuery = function () {} as unknown as new () => object
PgQuery.prototype = Query.prototype

export class WireQuery extends PgQuery {
  /** Read by pg's client. */
  readonly name: string | undefined
  readonly text: string
  callback: Answered
  readonly #values: readonly unknown[]
  readonly #known: KnownColumns
  #columns: readonly Column[]
  #command = ''
  #rowCount: number | null = null
  readonly #rows: unknown[] = []
  #error: Error | undefined

  constructor({ name, text, values }: WireStatement, known: KnownColumns, answered: Answered) {
    super()
    this.name = name
    this.text = text
    this.callback = answered
    this.#values = values
    this.#known = known
    this.#columns = name === undefined ? [] : (known.get(name) ?? [])
  }

  /** Sends the statement; returns an error without sending if its values cannot be sent. */
  submit(connection: WireConnection): Error | null {
    try {
      this.send(connection, this.render(connection))
      return null
    } catch (error) {
      return error as Error
    }
  }

  protected send({ stream }: WireConnection, messages: readonly Uint8Array[]): void {
    write(stream, messages)
  }

  /** The messages; the last statement of a message ends with the request for the answer. */
  render(
    { parsedStatements, submittedNamedStatements }: WireConnection,
    isLast: boolean = true,
  ): Uint8Array[] {
    const { name, text } = this
    const bind = serialize.bind({
      statement: name ?? '',
      values: this.#values as unknown[],
      valueMapper: prepareValue,
    })
    const isKnown = name !== undefined && this.#known.has(name)
    const end = isLast ? ends[isKnown ? 'known' : 'unknown'] : executes[isKnown ? 'known' : 'unknown']
    const isParsed =
      name !== undefined &&
      (parsedStatements[name] !== undefined || submittedNamedStatements[name] !== undefined)
    if (isParsed) return [bind, end]
    if (name !== undefined) submittedNamedStatements[name] = text
    return [serialize.parse({ name: name ?? '', text }), bind, end]
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: typeParsers.getTypeParser(dataTypeID, 'text'),
    }))
    if (this.name !== undefined) this.#known.set(this.name, this.#columns)
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#error) return
    try {
      const row: Record<string, unknown> = {}
      let at = 0
      for (const { name, parse } of this.#columns) {
        const text = fields[at++]!
        row[name] = text === null ? null : parse(text)
      }
      this.#rows.push(row)
    } catch (error) {
      this.#error = error as Error
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const end = text.lastIndexOf(' ')
    this.#command = end < 0 ? text : text.slice(0, text.indexOf(' '))
    this.#rowCount = end < 0 ? null : Number(text.slice(end + 1))
    // A statement without a result has no description.
    if (this.name !== undefined && !this.#known.has(this.name)) this.#known.set(this.name, this.#columns)
  }

  handleReadyForQuery(): void {
    const { callback } = this
    if (this.#error) return callback(this.#error, noResult)
    callback(null, {
      command: this.#command,
      rowCount: this.#rowCount,
      rows: this.#rows as never[],
      oid: 0,
      fields: [],
    })
  }

  handleError(error: Error): void {
    this.callback(this.#error ?? error, noResult)
  }
}

const noResult: QueryResult = { command: '', rowCount: null, rows: [], oid: 0, fields: [] }

/** Statements in one message: if one fails, the server skips the later ones, and they get its error. */
export class WireBatch extends PgQuery {
  readonly #queries: readonly WireQuery[]
  /** The statement whose answer is being received. */
  #at = 0

  constructor(queries: readonly WireQuery[]) {
    super()
    this.#queries = queries
  }

  /** Read by pg's client, to note the statement as prepared. */
  get name(): string | undefined {
    return this.#current?.name
  }

  get text(): string | undefined {
    return this.#current?.text
  }

  // pg's client requires one.
  callback(): void {}

  get #current(): WireQuery | undefined {
    return this.#queries[this.#at]
  }

  /** Like `submit` of a query. */
  submit(connection: WireConnection): Error | null {
    try {
      const last = this.#queries.length - 1
      write(
        connection.stream,
        this.#queries.flatMap((query, at) => query.render(connection, at === last)),
      )
      return null
    } catch (error) {
      return error as Error
    }
  }

  handleRowDescription(message: Parameters<WireQuery['handleRowDescription']>[0]): void {
    this.#current!.handleRowDescription(message)
  }

  handleDataRow(message: Parameters<WireQuery['handleDataRow']>[0]): void {
    this.#current!.handleDataRow(message)
  }

  handleCommandComplete(message: { readonly text: string }): void {
    this.#current!.handleCommandComplete(message)
    this.#at++
  }

  handleReadyForQuery(): void {
    for (const query of this.#queries) query.handleReadyForQuery()
  }

  handleError(error: Error, { submittedNamedStatements }: WireConnection): void {
    this.#queries.forEach((query, at) => {
      if (at < this.#at) return query.handleReadyForQuery()
      // The server has skipped its parsing.
      if (query.name !== undefined) delete submittedNamedStatements[query.name]
      query.handleError(error)
    })
  }
}

function write(stream: WireConnection['stream'], messages: readonly Uint8Array[]): void {
  const bytes = Buffer.concat(messages)
  if (stream.writable) stream.write(bytes)
}

const execute = serialize.execute()
const describeAndExecute = Buffer.concat([serialize.describe({ type: 'P' }), execute])
const executes = { known: execute, unknown: describeAndExecute }
const ends = {
  known: Buffer.concat([execute, serialize.sync()]),
  unknown: Buffer.concat([describeAndExecute, serialize.sync()]),
}

/** The text or bytes of a parameter. */
const { prepareValue } = utils as { prepareValue(value: unknown): unknown }
