// A prepared statement as one message, whose result columns are requested only once per connection: pg's Query sends five
// messages, and describes and copies the columns of every result. It relies on internals of pg's Query, since pg's client
// accepts no other class; prepared-client.ts and team-query.ts are its only users.
import { Query, type FieldDef, type QueryResult } from 'pg'
import { serialize } from 'pg-protocol'
// @ts-expect-error: pg has no types for this file of its own.
import utils from 'pg/lib/utils.js'
import { typeParsers } from './connection.ts'

export type Statement = {
  /** Of the prepared statement; undefined: it is not kept. */
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

  constructor({ name, text, values }: Statement, known: KnownColumns, answered: Answered) {
    super()
    this.name = name
    this.text = text
    this.callback = answered
    this.#values = values
    this.#known = known
    this.#columns = name === undefined ? [] : (known.get(name) ?? [])
  }

  /** Sends the statement; returns an error if its values cannot be sent: nothing is sent then. */
  submit(connection: WireConnection): Error | null {
    try {
      this.send(connection, this.render(connection))
      return null
    } catch (error) {
      return error as Error
    }
  }

  protected send({ stream }: WireConnection, messages: readonly Uint8Array[]): void {
    const bytes = Buffer.concat(messages)
    if (stream.writable) stream.write(bytes)
  }

  /** The messages, up to the one that ends the transaction of the statement. */
  protected render({ parsedStatements, submittedNamedStatements }: WireConnection): Uint8Array[] {
    const { name, text } = this
    const bind = serialize.bind({
      statement: name ?? '',
      values: this.#values as unknown[],
      valueMapper: prepareValue,
    })
    const isKnown = name !== undefined && this.#known.has(name)
    const end = isKnown ? executeAndSync : describeExecuteAndSync
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

const executeAndSync = Buffer.concat([serialize.execute(), serialize.sync()])
const describeExecuteAndSync = Buffer.concat([serialize.describe({ type: 'P' }), executeAndSync])

/** The text or bytes of a parameter. */
const { prepareValue } = utils as { prepareValue(value: unknown): unknown }
