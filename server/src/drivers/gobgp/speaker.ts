// The speaker on a GoBGP 3.x daemon. It must not retry, must not remember what is announced, and must not use a call of
// GoBGP that can mean "everything".
import { create } from '@bufbuild/protobuf'
import type { Route, Speaker, SpeakerIdentity } from '../../byoip/speaker.ts'
import { familyOf } from '../../net/address.ts'
import type { Family } from '../../net/bits.ts'
import type { Prefix } from '../../net/prefix.ts'
import { DriverError, type Refusal } from '../../runtime/driver-error.ts'
import { GobgpClient, type GobgpConnection } from './client.ts'
import { decodeOwnRoute, encodeRoute, type Owner, parseOwner, wireFamily } from './codec.ts'
import {
  type AddPathStreamRequest,
  AddPathStreamRequestSchema,
  GetBgpRequestSchema,
  GobgpApi,
  ListPathRequestSchema,
  type Path,
} from './generated/gobgp_pb.js'
import { isGobgp4 } from './next-version.ts'
import { withdrawalOf } from './withdrawal.ts'

export type GobgpSpeakerConfig = GobgpConnection & {
  /** The owner community, `asn:function:owner` (RFC 8092): routes without it are not ours. One owner per Pharos. */
  readonly owner: string
  /** For a whole call of the speaker, however many requests it takes. */
  readonly timeoutMs?: number
}

/** Paths in one message: 500 is about 50 kB, well below gRPC's 4 MiB, and makes 10,000 routes 20 messages. */
const pathsPerMessage = 500

/** Throws CommunityError on a bad owner and TypeError on plaintext to another machine; connects at the first call. */
export function createGobgpSpeaker(config: GobgpSpeakerConfig): Speaker {
  return new GobgpSpeaker(config)
}

class GobgpSpeaker implements Speaker {
  readonly #client: GobgpClient
  readonly #config: GobgpSpeakerConfig
  readonly #owner: Owner

  constructor(config: GobgpSpeakerConfig) {
    this.#owner = parseOwner(config.owner)
    this.#client = new GobgpClient(config)
    this.#config = config
  }

  async probe(): Promise<SpeakerIdentity> {
    const deadline = this.#deadline()
    const { address } = this.#config
    try {
      const { global } = await this.#client.unary(
        GobgpApi.method.getBgp,
        create(GetBgpRequestSchema),
        deadline,
      )
      if (!global?.asn)
        throw new DriverError('unreachable', `gobgpd at ${address}: it has no configuration yet`)
      return { name: 'GoBGP', version: '3.x', asn: global.asn, routerId: global.routerId }
    } catch (error) {
      if (!(error instanceof DriverError) || error.kind !== 'protocol') throw error
      const next = await isGobgp4(this.#client, deadline)
      const what = next ? 'GoBGP 4 is not supported yet, run 3.x' : 'what answers is not GoBGP 3.x'
      throw new DriverError('protocol', `gobgpd at ${address}: ${what}`, { cause: error })
    }
  }

  async list(): Promise<readonly Route[]> {
    const deadline = this.#deadline()
    const lists = await Promise.all([this.#listFamily(4, deadline), this.#listFamily(6, deadline)])
    return lists.flat()
  }

  async find(prefixes: readonly Prefix[]): Promise<readonly Route[]> {
    const deadline = this.#deadline()
    const asked = new Set(prefixes)
    const families = Map.groupBy(asked, familyOf)
    // A family of which nothing is asked is left out: to GoBGP an empty selection is the whole table.
    const lists = await Promise.all(
      [...families].map(([family, selected]) => this.#listFamily(family, deadline, selected)),
    )
    return lists.flat().filter(({ prefix }) => asked.has(prefix))
  }

  async announce(routes: readonly Route[]): Promise<void> {
    const refused: Refusal[] = []
    const paths: Named<Path>[] = []
    for (const route of routes) {
      try {
        paths.push({ prefix: route.prefix, value: encodeRoute(route, this.#owner) })
      } catch (error) {
        refused.push({ subject: route.prefix, reason: (error as Error).message })
      }
    }
    const message = (part: readonly Named<Path>[]) =>
      create(AddPathStreamRequestSchema, { paths: part.map(({ value }) => value) })
    refused.push(...(await this.#send(paths, message, this.#deadline())))
    this.#throwRefused(refused)
  }

  async withdraw(routes: readonly Pick<Route, 'prefix'>[]): Promise<void> {
    const prefixes = routes.map(({ prefix }) => ({ prefix, value: prefix }))
    const message = (part: readonly Named<Prefix>[]) =>
      withdrawalOf(
        part.map(({ prefix }) => prefix),
        this.#owner,
      )
    this.#throwRefused(await this.#send(prefixes, message, this.#deadline()))
  }

  watch(onUp: () => void): () => void {
    return this.#client.watch(onUp)
  }

  async close(): Promise<void> {
    this.#client.close()
  }

  async #listFamily(family: Family, deadline: Date, selected: readonly Prefix[] = []): Promise<Route[]> {
    const request = create(ListPathRequestSchema, {
      family: wireFamily(family),
      prefixes: selected.map((prefix) => ({ prefix })),
      enableOnlyBinary: true,
    })
    const paths: Path[] = []
    await this.#client.serverStream(GobgpApi.method.listPath, request, deadline, ({ destination }) => {
      if (destination) paths.push(...destination.paths)
    })
    return paths.map((path) => this.#decode(path, family)).filter((route) => route !== undefined)
  }

  #decode(path: Path, family: Family): Route | undefined {
    try {
      return decodeOwnRoute(path, family, this.#owner)
    } catch (error) {
      const message = `gobgpd at ${this.#config.address}: an unreadable path: ${(error as Error).message}`
      throw new DriverError('protocol', message, { cause: error })
    }
  }

  /**
   * Sends all parts and returns those that were refused. GoBGP gives one answer for a whole stream and stops it at the
   * first refusal, so a refused one is sent again in halves until the refused parts stand alone; what was taken the
   * first time takes no harm from it.
   */
  async #send<T>(
    parts: readonly Named<T>[],
    message: (parts: readonly Named<T>[]) => AddPathStreamRequest,
    deadline: Date,
  ): Promise<Refusal[]> {
    if (parts.length === 0) return []
    try {
      await this.#client.clientStream(GobgpApi.method.addPathStream, messagesOf(parts, message), deadline)
      return []
    } catch (error) {
      if (!(error instanceof DriverError) || error.kind !== 'refused') throw error
      if (parts.length === 1) return [{ subject: parts[0]!.prefix, reason: error.message }]
      const middle = parts.length >>> 1
      const before = await this.#send(parts.slice(0, middle), message, deadline)
      return [...before, ...(await this.#send(parts.slice(middle), message, deadline))]
    }
  }

  #throwRefused(refused: readonly Refusal[]): void {
    if (refused.length === 0) return
    const first = `${refused[0]!.subject}: ${refused[0]!.reason}`
    const message = `gobgpd at ${this.#config.address}: ${refused.length} routes refused, first ${first}`
    throw new DriverError('refused', message, { refused })
  }

  #deadline(): Date {
    return new Date(Date.now() + (this.#config.timeoutMs ?? 5_000))
  }
}

type Named<T> = { readonly prefix: Prefix; readonly value: T }

function messagesOf<T>(
  parts: readonly Named<T>[],
  message: (parts: readonly Named<T>[]) => AddPathStreamRequest,
): AddPathStreamRequest[] {
  const messages: AddPathStreamRequest[] = []
  for (let start = 0; start < parts.length; start += pathsPerMessage)
    messages.push(message(parts.slice(start, start + pathsPerMessage)))
  return messages
}
