// One reading statement in one message with its team: both run in one transaction that the message itself opens and
// closes, so that the connection belongs to no team before it and after it. It relies on internals of pg's Query, since pg's
// pipeline accepts no other class; team-reader.ts is its only user.
import { Query, type FieldDef, type QueryResult } from 'pg'
// @ts-expect-error: pg has no types for this file of its own.
import utils from 'pg/lib/utils.js'

/** The statement that enters the team, prepared once on each connection; the setting ends with the transaction. */
export const enterTeam = { name: 'pharos_team', text: `select set_config('pharos.team_id', $1, true)` }

/** The result columns of a connection's prepared statements, by name. */
export type KnownColumns = Map<string, readonly FieldDef[]>

type Connection = {
  readonly parsedStatements: Record<string, string>
  readonly submittedNamedStatements: Record<string, string>
  parse(statement: { text: string; name: string | undefined }): void
  bind(bound: { portal: string; statement: string | undefined; values: readonly unknown[] }): void
  describe(portal: { type: 'P'; name: string }): void
  execute(portal: { portal: string }): void
  sync(): void
}
export type TeamStatement = {
  readonly name: string | undefined
  readonly text: string
  readonly values: readonly unknown[]
}
type Columns = { readonly fields: readonly FieldDef[] }

/** The parts of pg's Query that its types leave out. */
type WireQuery = {
  name: string | undefined
  queryMode: string | undefined
  readonly text: string
  readonly values: readonly unknown[]
  prepare(connection: Connection): void
  hasBeenParsed(connection: Connection): boolean
  handleRowDescription(columns: Columns): void
  handleDataRow(row: unknown): void
  handleCommandComplete(message: unknown, connection: Connection): void
}
type Answered = (error: Error | null, result: QueryResult) => void
const Wire = Query as unknown as new (
  text: string,
  values: readonly unknown[],
  answered: Answered,
) => WireQuery

export class TeamQuery extends Wire {
  readonly #teamId: number
  readonly #known: KnownColumns
  #hasEntered = false

  constructor(teamId: number, statement: TeamStatement, known: KnownColumns, answered: Answered) {
    // Not one object for all, which pg would copy with its property descriptors.
    super(statement.text, statement.values, answered)
    this.name = statement.name
    this.queryMode = 'extended'
    this.#teamId = teamId
    this.#known = known
  }

  /** As pg's, preceded by the team; the columns are requested once. */
  override prepare(connection: Connection): void {
    const { name, text } = this
    const known = name === undefined ? undefined : this.#known.get(name)
    // First, since it throws on values that cannot be sent: half a message would never be answered.
    const values = this.values.map(prepareValue)
    if (!this.hasBeenParsed(connection)) {
      connection.parse({ text, name })
      if (name !== undefined) connection.submittedNamedStatements[name] = text
    }
    connection.bind({ portal: '', statement: enterTeam.name, values: [String(this.#teamId)] })
    connection.execute(unnamed)
    connection.bind({ portal: '', statement: name, values })
    if (known) super.handleRowDescription({ fields: known })
    else connection.describe(unnamedPortal)
    connection.execute(unnamed)
    connection.sync()
  }

  override handleRowDescription(columns: Columns): void {
    if (this.name !== undefined) this.#known.set(this.name, columns.fields)
    super.handleRowDescription(columns)
  }

  override handleDataRow(row: unknown): void {
    // The result of set_config is ignored.
    if (this.#hasEntered) super.handleDataRow(row)
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.#hasEntered) super.handleCommandComplete(message, connection)
    this.#hasEntered = true
  }
}

const unnamed = { portal: '' }
const unnamedPortal = { type: 'P', name: '' } as const

/** The text or bytes of a parameter. */
const { prepareValue } = utils as { prepareValue(value: unknown): unknown }
