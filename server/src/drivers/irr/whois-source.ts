// An IRR source that queries a whois server with the `!` protocol (IRRd and compatible servers). It keeps connections open, but
// caches no answers.
import type { IrrSource, RouteObject } from '../../registry/irr-source.ts'
import type { Asn } from '../../net/asn.ts'
import { covers } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { autNumOf, readAsSetMembers, routeObjectOf } from '../../registry/objects/rpsl-objects.ts'
import { parseRpsl, RpslError } from '../../registry/objects/rpsl.ts'
import type { RpslObject } from '../../registry/objects/rpsl.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { createProblemList, type ProblemList } from './problem-list.ts'
import type { WhoisAnswer } from './whois-answer.ts'
import type { WhoisAddress } from './whois-connection.ts'
import { WhoisPool, type WhoisPoolConfig } from './whois-pool.ts'
import { autNumQuery, membersQuery, routesQuery, serialsQuery } from './whois-query.ts'

export type WhoisSourceConfig = WhoisAddress & {
  readonly sources?: readonly string[]
  /** Timeout of one query, including the wait for a connection and connecting. */
  readonly timeoutMs?: number
  readonly connectionsMax?: number
  readonly idleMs?: number
  /** A longer answer is rejected. */
  readonly answerBytesMax?: number
}

const byDefault = {
  sources: [],
  timeoutMs: 8_000,
  connectionsMax: 2,
  idleMs: 30_000,
  answerBytesMax: 2 * 1024 * 1024,
}

/** Connects at the first query. */
export function createWhoisSource(config: WhoisSourceConfig): IrrSource {
  return new WhoisSource({ ...byDefault, ...config })
}

class WhoisSource implements IrrSource {
  readonly name: string
  readonly label: string
  readonly #sources: readonly string[]
  readonly #pool: WhoisPool
  readonly #problems: ProblemList = createProblemList()

  constructor(config: WhoisPoolConfig) {
    const { host, port, sources } = config
    const registries = sources.length === 0 ? '' : ` (${sources.join(',')})`
    this.name = `whois://${host.includes(':') ? `[${host}]` : host}:${port}${registries}`
    this.label = `IRR server${registries}`
    this.#sources = sources
    this.#pool = new WhoisPool(config)
  }

  async routeObjects(prefix: Prefix, signal: AbortSignal): Promise<readonly RouteObject[]> {
    // A server that does not support the option would return objects of other registries.
    const routes = await this.#query(routesQuery(prefix), signal, (text) => this.#read(text, readRoute))
    return (routes ?? []).filter((route) => covers(route.prefix, prefix))
  }

  async autNum(asn: Asn, signal: AbortSignal): Promise<string | undefined> {
    const autNums = await this.#query(autNumQuery(asn), signal, (text) => this.#read(text, readAutNum))
    return autNums?.find((object) => object.asn === asn)?.text
  }

  async asSetMembers(name: string, signal: AbortSignal) {
    const members = await this.#query(membersQuery(name), signal, readAsSetMembers)
    return members && members.asns.length + members.sets.length > 0 ? members : undefined
  }

  async serial(signal: AbortSignal): Promise<string | undefined> {
    const answer = await this.#pool.query(serialsQuery(this.#sources), signal)
    return answer.kind === 'found' ? newestSerials(answer.text) : undefined
  }

  /** The protocol has no count of objects; a loss is detected by the reader, which compares answers. */
  isSuspicious(): boolean {
    return false
  }

  problems(): readonly string[] {
    return this.#problems.all()
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  /** Returns the parsed answer; undefined if it is empty. */
  async #query<T>(line: string, signal: AbortSignal, read: (text: string) => T): Promise<T | undefined> {
    const answer = await this.#pool.query(line, signal)
    const query = `${this.name}: ${line}`
    try {
      const text = textOf(answer, query)
      return text === undefined ? undefined : read(text)
    } catch (error) {
      if (!(error instanceof RpslError)) throw error
      throw new DriverError('refused', `${query}: ${error.message}`, { cause: error })
    }
  }

  /** An invalid object is left out and reported. */
  #read<T>(text: string, read: (object: RpslObject) => T[]): T[] {
    const { objects, problems } = parseRpsl(text)
    for (const { message } of problems) this.#problems.add(message)
    return objects.flatMap((object) => {
      try {
        return read(object)
      } catch (error) {
        if (!(error instanceof RpslError)) throw error
        this.#problems.add(error.message)
        return []
      }
    })
  }
}

function textOf(answer: WhoisAnswer, query: string): string | undefined {
  if (answer.kind === 'found') return answer.text
  if (answer.kind === 'none' || answer.kind === 'absent') return undefined
  const why = answer.kind === 'refused' ? answer.message : 'more than one object has this key'
  throw new DriverError('refused', `${query}: ${why}`)
}

function readRoute(object: RpslObject): RouteObject[] {
  if (object.class !== 'route' && object.class !== 'route6') return []
  const { prefix, origin, source } = routeObjectOf(object)
  return [{ prefix, origin, source }]
}

function readAutNum(object: RpslObject) {
  return object.class === 'aut-num' ? [autNumOf(object)] : []
}

/**
 * Returns the newest serial of each registry, from lines such as `RADB:N:0-4711:12`; the oldest serial and that of the last
 * export change without the objects. A registry without serials has `-`, an unknown one `X`.
 */
function newestSerials(text: string): string | undefined {
  const serials = [...text.matchAll(/^([^:\s]+):[^:\s]*:\d+-(\d+)/gm)].map(
    ([, name, newest]) => `${name}:${newest}`,
  )
  return serials.length === 0 ? undefined : serials.sort().join(',')
}
