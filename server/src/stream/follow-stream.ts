// Follows the messages of a team: stored messages after a position, then new ones, for as long as the credential is
// valid.
import type { PersonalMessageType } from '@pharos/contract/messages/notification'
import {
  streamMessageTypes,
  streamTypes,
  type StreamMessageType,
  type StreamType,
} from '@pharos/contract/messages/stream'
import type { Db, Postgres } from '../db/postgres.ts'
import { messageText, moduleOf, readingWithoutModule } from '../outbox/message.ts'
import { lacksGrant, mayDo } from '../operation/grant.ts'
import { fail, invalid, Failure } from '../runtime/error.ts'
import type { Actor } from '../operation/operation.ts'
import type { OutboxListener, StreamSignal } from './outbox-listener.ts'
import { formatPosition, isKept, parsePosition, positionAt, type StreamPosition } from './position.ts'
import { findHorizon, listMessages } from './stream.store.ts'

export type StreamDeps = {
  readonly postgres: Postgres
  /** Reads the horizon, which belongs to no team. */
  readonly db: Db
  readonly outboxListener: OutboxListener
}

/** The request of a follower; see http/event-stream.ts. */
export type Follows = {
  readonly lastEventId: string | null
  readonly actor: () => Promise<Actor>
  readonly signal: AbortSignal
}

type StreamEvent = { readonly id: string; readonly event: string; readonly data: string }

const batch = 100
/** Proxies close connections that are silent for a minute. */
const silenceMs = 15_000

/**
 * Yields `ready` or `reset`, then messages, and null as a keep-alive. Throws `forbidden`, `module_disabled` or `scope_missing` if
 * the actor may not read the requested types, `invalid` if the Last-Event-ID is not an id of this stream.
 */
export async function followStream(
  deps: StreamDeps,
  actor: Actor,
  wanted: readonly StreamMessageType[] | undefined,
  follows: Follows,
): Promise<AsyncIterable<StreamEvent | null>> {
  requireReadable(actor, wanted)
  const horizon = await findHorizon(deps.db)
  const given = positionOf(follows.lastEventId)
  const isWhole = given === undefined || isKept(given, horizon)
  const from = given && isWhole ? { ...given, at: horizon.now } : positionAt(horizon)
  return eventsFrom(deps, actor, wanted ?? streamMessageTypes, from, isWhole, follows)
}

/** Returns the id with which a follower gets every message from now on. */
export const readPosition = async (db: Db): Promise<string> =>
  formatPosition(positionAt(await findHorizon(db)))

async function* eventsFrom(
  { postgres, outboxListener }: StreamDeps,
  { teamId, ...caller }: Actor,
  wanted: readonly StreamMessageType[],
  from: StreamPosition,
  isWhole: boolean,
  { actor, signal }: Follows,
): AsyncGenerator<StreamEvent | null> {
  const { cluster, at } = from
  const userId = caller.kind === 'user' ? caller.userId : null
  yield { id: formatPosition(from), event: isWhole ? 'ready' : 'reset', data: '{}' }
  const subscription = outboxListener.subscribe(teamId)
  try {
    let position = from
    let received: StreamSignal = 'messages'
    for (; ; received = await subscription.next(silenceMs, signal)) {
      if (received === 'ended') return
      // Also without a signal: a notification may be lost.
      const messages =
        received === 'access' ? [] : await listMessages(postgres, teamId, userId, position, wanted, batch)
      // After the query, so that no message written after the revocation of the credential is sent.
      const types = await readableNow(actor, wanted)
      if (types.length === 0) return
      for (const { xid, id, type, at: sent, data } of messages) {
        position = { cluster, at, xid, id }
        if (types.includes(type))
          yield { id: formatPosition(position), event: type, data: messageText(type, sent, data) }
      }
      // A reconnecting follower may have missed many.
      if (messages.length === batch) subscription.repeat()
      else if (signal.aborted) return
      else if (received === 'none') yield null
    }
  } finally {
    subscription.close()
  }
}

function positionOf(lastEventId: string | null): StreamPosition | undefined {
  if (lastEventId === null || lastEventId === '') return undefined
  const position = parsePosition(lastEventId)
  if (position) return position
  throw invalid(['header', 'Last-Event-ID'], 'lastEventId')
}

/** Returns no messages once the credential is no longer valid. */
async function readableNow(
  actor: () => Promise<Actor>,
  wanted: readonly StreamMessageType[],
): Promise<StreamMessageType[]> {
  const now = await actor().catch((error: unknown) => {
    if (error instanceof Failure && error.code !== 'unavailable') return undefined
    throw error
  })
  return now === undefined ? [] : wanted.filter((type) => refusalOf(now, type) === undefined)
}

const isPersonal = (type: StreamMessageType): type is PersonalMessageType =>
  !streamTypes.includes(type as StreamType)

/** With types in the request, each of them must be readable; otherwise at least one type. */
function requireReadable(actor: Actor, wanted: readonly StreamMessageType[] | undefined): void {
  const refusals = (wanted ?? streamTypes).map((type) => refusalOf(actor, type))
  const refusal = wanted ? refusals.find(Boolean) : refusals.every(Boolean) && refusals[0]
  if (refusal) throw refusal
}

function refusalOf(actor: Actor, type: StreamMessageType): Failure | undefined {
  if (isPersonal(type)) return actor.kind === 'user' ? undefined : fail('unauthenticated', 'personal')
  const module = moduleOf(type)
  const [grant, scope] = module === null ? readingWithoutModule(type) : readingOf(module)
  if (!mayDo(actor, grant)) return lacksGrant(actor, grant, scope)
  if (module !== null && !actor.modules.includes(module)) return fail('module_disabled', 'module', { module })
  if (actor.kind === 'token' && !actor.scopes.includes(scope))
    return fail('scope_missing', 'needed', { scope })
  return undefined
}

const readingOf = <M extends NonNullable<ReturnType<typeof moduleOf>>>(module: M) =>
  [`${module}.see`, `${module}:read`] as const
