// The speaker on a GoBGP daemon, 3.x or 4.x; the version is detected. It must not retry, must not store which routes are
// announced, and must not use a call of GoBGP that can mean "everything". 4.x was never tested with a real daemon
// (docs/decisions/009-gobgp-4.md).
import { counted } from '@pharos/contract/counted'
import type {
  Advertised,
  InstalledRoute,
  Neighbor,
  Route,
  Speaker,
  SpeakerEvents,
  SpeakerIdentity,
} from '../../byoip/regions/speaker.ts'
import { familyOf } from '../../net/address.ts'
import type { Family } from '../../net/bits.ts'
import type { Prefix } from '../../net/prefix.ts'
import { DriverError, type RejectedItem } from '../../runtime/driver-error.ts'
import { GobgpClient, type GobgpConnection, isTimeout } from './client.ts'
import {
  decodeOrigin,
  decodeOwnRoute,
  encodeRoute,
  type Owner,
  parseOwner,
  type GobgpPath,
  wireFamily,
} from './codec.ts'
import type { Dialect } from './dialect.ts'
import { type ChangeKind, EventStream } from './event-stream.ts'
import { identify, type Identified, isProtocol } from './identify.ts'
import { isRestartGate, withEnd, type Notifications } from './neighbors.ts'
import { encodeCheckedWithdrawal } from './withdrawal.ts'

export type GobgpSpeakerConfig = GobgpConnection & {
  /** The owner community, `asn:function:owner` (RFC 8092): routes without it are foreign. One owner per Pharos. */
  readonly owner: string
  /** Timeout of a call of the speaker, with all its requests; a large table or change may take longer, as long as it progresses. */
  readonly timeoutMs?: number
}

/** Paths in one message: 500 is about 50 kB, well below gRPC's 4 MiB, and makes 10,000 routes 20 messages. */
const pathsPerMessage = 500

/** Routes that are sent under one timeout: a busy router needs seconds for 20,000. */
const routesPerCall = 5_000

/** Throws CommunityError on a bad owner and TypeError on plaintext to another machine; connects at the first call. */
export function createGobgpSpeaker(config: GobgpSpeakerConfig): Speaker {
  return new GobgpSpeaker(config)
}

class GobgpSpeaker implements Speaker {
  readonly #client: GobgpClient
  readonly #config: GobgpSpeakerConfig
  readonly #owner: Owner
  readonly #events: EventStream
  /** The dialect detected on the connection, and the number of losses before it. */
  #understood: { readonly dialect: Dialect; readonly losses: number } | undefined
  /** By address, the message counters of a neighbor when it was last established. */
  readonly #established = new Map<string, Notifications>()
  /** Number of paths that the last full list found. */
  readonly #paths = new Map<Family, number>()

  constructor(config: GobgpSpeakerConfig) {
    this.#owner = parseOwner(config.owner)
    this.#client = new GobgpClient(config)
    this.#config = config
    this.#events = new EventStream({
      client: this.#client,
      dialect: () => this.#speak(async (dialect) => dialect),
      probe: () => identify(this.#client, this.#deadline()),
      identifier: this.#owner.identifier,
    })
  }

  async probe(): Promise<SpeakerIdentity> {
    const { dialect, global } = await this.#identify(this.#deadline())
    if (!global?.asn)
      throw new DriverError('unreachable', `gobgpd at ${this.#config.address}: it has no configuration yet`)
    const { asn, routerId } = global
    return {
      name: 'GoBGP',
      version: dialect.version,
      asn,
      routerId,
      key: `${routerId} ${this.#config.owner}`,
    }
  }

  list(): Promise<readonly InstalledRoute[]> {
    return this.#speak(async (dialect, deadline) => {
      const families = [4, 6] as const
      const lists = await Promise.all(
        families.map((family) => this.#listFamily(dialect, family, [], deadline)),
      )
      for (const [at, family] of families.entries()) this.#paths.set(family, lists[at]!.paths)
      return lists.flatMap(({ routes }) => routes)
    })
  }

  async advertised(neighbor: string, family: Family, pathsMax: number): Promise<Advertised | undefined> {
    if ((this.#paths.get(family) ?? Infinity) > pathsMax) return undefined
    return this.#speak(async (dialect, deadline) => {
      const selection = { family: wireFamily(family), prefixes: [], neighbor }
      const destinations = await dialect.listPaths(this.#client, selection, deadline)
      return new Map(
        destinations.flatMap(([path]) => (path ? [this.#reading(() => decodeOrigin(path, family))] : [])),
      )
    })
  }

  async find(prefixes: readonly Prefix[]): Promise<readonly InstalledRoute[]> {
    const asked = new Set(prefixes)
    // A family without prefixes is skipped: to GoBGP an empty selection is the whole table.
    const families = [...Map.groupBy(asked, familyOf)]
    if (families.length === 0) return []
    return this.#speak(async (dialect, deadline) => {
      const lists = await Promise.all(
        families.map(([family, selected]) => this.#listFamily(dialect, family, selected, deadline)),
      )
      return lists.flatMap(({ routes }) => routes).filter(({ prefix }) => asked.has(prefix))
    })
  }

  async announce(routes: readonly Route[]): Promise<void> {
    const refused: RejectedItem[] = []
    const paths: Named<GobgpPath>[] = []
    for (const route of routes) {
      try {
        paths.push({ prefix: route.prefix, value: encodeRoute(route, this.#owner) })
      } catch (error) {
        refused.push({ subject: route.prefix, reason: (error as Error).message })
      }
    }
    refused.push(
      ...(await this.#change('announcement', paths, (part, dialect) =>
        dialect.encodeChange(part.map(({ value }) => value)),
      )),
    )
    this.#throwRefused(refused)
  }

  async withdraw(routes: readonly Pick<Route, 'prefix'>[]): Promise<void> {
    const prefixes = routes.map(({ prefix }) => ({ prefix, value: prefix }))
    const refused = await this.#change('withdrawal', prefixes, (part, dialect) =>
      encodeCheckedWithdrawal(
        part.map(({ prefix }) => prefix),
        this.#owner,
        dialect,
      ),
    )
    this.#throwRefused(refused)
  }

  async neighbors(): Promise<readonly Neighbor[]> {
    const all = await this.#speak((dialect, deadline) => dialect.listNeighbors(this.#client, deadline))
    return all
      .filter((neighbor) => !isRestartGate(neighbor))
      .map((neighbor) => {
        const { address, state, notifications } = neighbor
        if (state === 'established') this.#established.set(address, notifications)
        return withEnd(neighbor, this.#established.get(address))
      })
  }

  watch(events: SpeakerEvents): () => void {
    return this.#events.watch(events)
  }

  async close(): Promise<void> {
    this.#events.stop()
    this.#client.close()
  }

  /**
   * Runs the work in the daemon's dialect. It is detected again on each connection, and after an invalid answer, because the
   * daemon may have been replaced by another version.
   */
  async #speak<T>(work: (dialect: Dialect, deadline: Date) => Promise<T>): Promise<T> {
    const deadline = this.#deadline()
    try {
      const isSame = this.#understood?.losses === this.#client.losses
      const { dialect } = isSame ? this.#understood! : await this.#identify(deadline)
      return await work(dialect, deadline)
    } catch (error) {
      if (isProtocol(error)) this.#understood = undefined
      if (isTimeout(error)) void this.#events.missedAnswer()
      throw error
    }
  }

  async #identify(deadline: Date): Promise<Identified> {
    const { losses } = this.#client // read first: the connection may be lost during detection
    const identified = await identify(this.#client, deadline)
    this.#understood = { dialect: identified.dialect, losses }
    return identified
  }

  async #listFamily(
    dialect: Dialect,
    family: Family,
    prefixes: readonly Prefix[],
    deadline: Date,
  ): Promise<{ readonly routes: InstalledRoute[]; readonly paths: number }> {
    const selection = { family: wireFamily(family), prefixes }
    const destinations = await dialect.listPaths(this.#client, selection, deadline)
    const routes = destinations.flatMap((paths) =>
      paths.flatMap((path, at) => {
        const route = this.#reading(() => decodeOwnRoute(path, family, this.#owner))
        return route ? [{ ...route, isBest: at === 0 }] : []
      }),
    )
    return { routes, paths: destinations.reduce((count, { length }) => count + length, 0) }
  }

  #reading<T>(decode: () => T): T {
    try {
      return decode()
    } catch (error) {
      const message = `gobgpd at ${this.#config.address}: an unreadable path: ${(error as Error).message}`
      throw new DriverError('protocol', message, { cause: error })
    }
  }

  /** Sends all parts and returns the refused ones. */
  async #change<T>(
    kind: ChangeKind,
    parts: readonly Named<T>[],
    encode: Encode<T>,
  ): Promise<readonly RejectedItem[]> {
    const refused: RejectedItem[] = []
    for (let start = 0; start < parts.length; start += routesPerCall)
      refused.push(...(await this.#changeSome(kind, parts.slice(start, start + routesPerCall), encode)))
    return refused
  }

  async #changeSome<T>(
    kind: ChangeKind,
    parts: readonly Named<T>[],
    encode: Encode<T>,
  ): Promise<readonly RejectedItem[]> {
    const prefixes = parts.map(({ prefix }) => prefix)
    return this.#speak(async (dialect, deadline) => {
      // A call to a suspended daemon waits in its socket and is applied when it continues, even if the call has timed out and
      // the connection is closed. A change is therefore sent only to a daemon that just answered.
      await dialect.getGlobal(this.#client, deadline)
      this.#events.expect(kind, prefixes, deadline)
      try {
        return await this.#send(parts, dialect, (part) => encode(part, dialect), deadline)
      } catch (error) {
        this.#events.removeExpected(kind, prefixes)
        throw error
      }
    })
  }

  /**
   * GoBGP returns one answer for a whole stream and stops at the first rejected route, so a rejected stream is sent again in
   * halves until the rejected routes are isolated. Sending an accepted route again is harmless.
   */
  async #send<T>(
    parts: readonly Named<T>[],
    dialect: Dialect,
    encode: (parts: readonly Named<T>[]) => Uint8Array,
    deadline: Date,
  ): Promise<RejectedItem[]> {
    try {
      await this.#client.clientStream(dialect.change, messagesOf(parts, encode), deadline)
      return []
    } catch (error) {
      if (!(error instanceof DriverError) || error.kind !== 'refused') throw error
      if (parts.length === 1) return [{ subject: parts[0]!.prefix, reason: error.message }]
      const middle = parts.length >>> 1
      const before = await this.#send(parts.slice(0, middle), dialect, encode, deadline)
      return [...before, ...(await this.#send(parts.slice(middle), dialect, encode, deadline))]
    }
  }

  #throwRefused(refused: readonly RejectedItem[]): void {
    if (refused.length === 0) return
    const first = `${refused[0]!.subject}: ${refused[0]!.reason}`
    const message = `gobgpd at ${this.#config.address}: ${counted(refused.length, 'route')} refused, first ${first}`
    throw new DriverError('refused', message, { refused })
  }

  #deadline(): Date {
    return new Date(Date.now() + (this.#config.timeoutMs ?? 5_000))
  }
}

type Named<T> = { readonly prefix: Prefix; readonly value: T }
type Encode<T> = (parts: readonly Named<T>[], dialect: Dialect) => Uint8Array

function messagesOf<T>(
  parts: readonly Named<T>[],
  encode: (parts: readonly Named<T>[]) => Uint8Array,
): Uint8Array[] {
  const messages: Uint8Array[] = []
  for (let start = 0; start < parts.length; start += pathsPerMessage)
    messages.push(encode(parts.slice(start, start + pathsPerMessage)))
  return messages
}
