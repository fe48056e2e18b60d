// One reading statement in one message with its team: both run in one transaction that the message itself opens and
// closes, so that the connection belongs to no team before it and after it. team-reader.ts is its only user.
import { serialize } from 'pg-protocol'
import type { QueryResult } from 'pg'
import { WireQuery, type KnownColumns, type Statement, type WireConnection } from './wire-query.ts'

/** The statement that enters the team, prepared once on each connection; the setting ends with the transaction. */
export const enterTeam = { name: 'pharos_team', text: `select set_config('pharos.team_id', $1, true)` }

export class TeamQuery extends WireQuery {
  readonly #teamId: number
  #hasEntered = false

  constructor(
    teamId: number,
    statement: Statement,
    known: KnownColumns,
    answered: (error: Error | null, result: QueryResult) => void,
  ) {
    super(statement, known, answered)
    this.#teamId = teamId
  }

  protected override render(connection: WireConnection): Uint8Array[] {
    // First, since it throws on values that cannot be sent.
    const statement = super.render(connection)
    const enter = serialize.bind({ statement: enterTeam.name, values: [String(this.#teamId)] })
    return [enter, serialize.execute(), ...statement]
  }

  override handleDataRow(row: Parameters<WireQuery['handleDataRow']>[0]): void {
    // The result of set_config is ignored.
    if (this.#hasEntered) super.handleDataRow(row)
  }

  override handleCommandComplete(message: { readonly text: string }): void {
    if (this.#hasEntered) super.handleCommandComplete(message)
    this.#hasEntered = true
  }
}
