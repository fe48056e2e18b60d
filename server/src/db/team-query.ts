// One reading statement in one message with its team: both run in one transaction that the message itself opens and
// closes, so that the connection belongs to no team before it and after it. team-reader.ts is its only user.
import { serialize } from 'pg-protocol'
import type { QueryResult } from 'pg'
import { WireQuery, type KnownColumns, type WireStatement, type WireConnection } from './wire-query.ts'

/** The statement that enters the team, prepared once on each connection; the setting ends with the transaction. */
export const enterTeam = { name: 'pharos_team', text: `select set_config('pharos.team_id', $1, true)` }

/** Messages that a connection sends together at the end of the turn of the event loop. */
export type Outbox = { readonly messages: Uint8Array[]; flush(): void }

const enterExecute = serialize.execute()
/** The message that enters a team, by its id. */
const entering = new Map<number, Uint8Array>()
const enteringMax = 1_000

function enterMessage(teamId: number): Uint8Array {
  const known = entering.get(teamId)
  if (known) return known
  const bind = serialize.bind({ statement: enterTeam.name, values: [String(teamId)] })
  const message = Buffer.concat([bind, enterExecute])
  if (entering.size >= enteringMax) entering.clear()
  entering.set(teamId, message)
  return message
}

export class TeamQuery extends WireQuery {
  readonly #teamId: number
  readonly #outbox: Outbox
  #hasEntered = false

  constructor(
    teamId: number,
    statement: WireStatement,
    known: KnownColumns,
    outbox: Outbox,
    answered: (error: Error | null, result: QueryResult) => void,
  ) {
    super(statement, known, answered)
    this.#teamId = teamId
    this.#outbox = outbox
  }

  override render(connection: WireConnection): Uint8Array[] {
    // First, since it throws on values that cannot be sent.
    const statement = super.render(connection)
    return [enterMessage(this.#teamId), ...statement]
  }

  protected override send(_connection: WireConnection, messages: readonly Uint8Array[]): void {
    const { messages: waiting, flush } = this.#outbox
    if (waiting.length === 0) setImmediate(flush)
    waiting.push(...messages)
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
