// Following what happens to a team: everything after a position, then what comes, for as long as the credential is good.
import type { MessageType } from '@pharos/contract/webhook-message'
import { messageTypes } from '@pharos/contract/webhook-message'
import type { Db, Postgres } from '../db/postgres.ts'
import { fail, invalid, Failure } from '../runtime/error.ts'
import type { Actor } from '../runtime/operation.ts'
import type { Doorbell, Ring } from './doorbell.ts'
import { formatPosition, isKept, parsePosition, positionAt, type Position } from './position.ts'
import { findHorizon, listNews } from './stream.store.ts'

export type StreamDeps = {
  readonly postgres: Postgres
  /** Where the database is asked how far it is, before a team is named. */
  readonly db: Db
  readonly doorbell: Doorbell
}

/** Who follows, as far as it is known here; see http/event-stream.ts. */
export type Follows = {
  readonly lastEventId: string | null
  readonly actor: () => Promise<Actor>
  readonly signal: AbortSignal
}

type StreamEvent = { readonly id: string; readonly event: string; readonly data: string }

const batch = 100
/** Proxies close what is silent for a minute. */
const silenceMs = 15_000

/**
 * Begins to follow: `ready` or `reset`, then messages. Null is said in the silence between. Throws `module_disabled` or
 * `scope_missing` where nothing of what is wanted may be read, `invalid` on a Last-Event-ID that is none of ours.
 */
export async function followStream(
  deps: StreamDeps,
  actor: Actor,
  wanted: readonly MessageType[] | undefined,
  follows: Follows,
): Promise<AsyncIterable<StreamEvent | null>> {
  requireReadable(actor, wanted)
  const horizon = await findHorizon(deps.db)
  const given = positionOf(follows.lastEventId)
  const isWhole = given === undefined || isKept(given, horizon)
  const from = given && isWhole ? { ...given, at: horizon.now } : positionAt(horizon)
  return eventsFrom(deps, actor.teamId, wanted ?? messageTypes, from, isWhole, follows)
}

async function* eventsFrom(
  { postgres, doorbell }: StreamDeps,
  teamId: number,
  wanted: readonly MessageType[],
  from: Position,
  isWhole: boolean,
  { actor, signal }: Follows,
): AsyncGenerator<StreamEvent | null> {
  const { cluster, at } = from
  yield { id: formatPosition(from), event: isWhole ? 'ready' : 'reset', data: '{}' }
  const bell = doorbell.follow(teamId)
  try {
    let position = from
    for (let ring: Ring = 'news'; ; ring = await bell.rang(silenceMs, signal)) {
      // Also in silence: a ring may have got lost.
      const news = ring === 'rights' ? [] : await listNews(postgres, teamId, position, wanted, batch)
      // After the reading, so that nothing is told that happened after the credential was taken away.
      const types = await readableNow(actor, wanted)
      if (types.length === 0) return
      for (const { xid, id, type, message } of news) {
        position = { cluster, at, xid, id }
        if (types.includes(type)) yield { id: formatPosition(position), event: type, data: message }
      }
      // Somebody who was away may have missed much.
      if (news.length === batch) bell.again()
      else if (signal.aborted) return
      else if (ring === 'silence') yield null
    }
  } finally {
    bell.end()
  }
}

function positionOf(lastEventId: string | null): Position | undefined {
  if (lastEventId === null || lastEventId === '') return undefined
  const position = parsePosition(lastEventId)
  if (position) return position
  throw invalid(['header', 'Last-Event-ID'], 'lastEventId')
}

/** Nothing, as soon as the credential is no longer good. */
async function readableNow(
  actor: () => Promise<Actor>,
  wanted: readonly MessageType[],
): Promise<MessageType[]> {
  const now = await actor().catch((error: unknown) => {
    if (error instanceof Failure && error.code !== 'unavailable') return undefined
    throw error
  })
  return now === undefined ? [] : wanted.filter((type) => refusalOf(now, type) === undefined)
}

/** What is asked for by name has to be readable; of everything, something. */
function requireReadable(actor: Actor, wanted: readonly MessageType[] | undefined): void {
  const refusals = (wanted ?? messageTypes).map((type) => refusalOf(actor, type))
  const refusal = wanted ? refusals.find(Boolean) : refusals.every(Boolean) && refusals[0]
  if (refusal) throw refusal
}

function refusalOf(actor: Actor, type: MessageType): Failure | undefined {
  const module = type.startsWith('event.') ? 'lighthouse' : 'ipam'
  const scope = `${module}:read`
  if (!actor.modules.includes(module)) return fail('module_disabled', 'module', { module })
  if (actor.kind === 'token' && !actor.scopes.includes(scope))
    return fail('scope_missing', 'needed', { scope })
  return undefined
}
