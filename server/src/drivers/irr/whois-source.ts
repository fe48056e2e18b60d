// An IRR source that queries a whois server with the `!` protocol (IRRd and compatible servers). It keeps connections open, but
// caches no answers.
import type { AutNumObject, IrrSource, RouteObject } from '../../registry/irr-source.ts'
import type { Asn } from '../../net/asn.ts'
import { covers, type Prefix } from '../../net/prefix.ts'
import { regionalFirst } from '../../registry/objects/regional-registries.ts'
import {
  autNumOf,
  isRegistryName,
  readAsSetMembers,
  routeObjectOf,
} from '../../registry/objects/rpsl-objects.ts'
import { parseRpsl, RpslError, type RpslObject } from '../../registry/objects/rpsl.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import type { WhoisAnswer } from './whois-answer.ts'
import type { WhoisAddress } from './whois-connection.ts'
import { WhoisPool, type WhoisPoolConfig } from './whois-pool.ts'
import { autNumQuery, membersQuery, routesQuery, serialsQuery, sourcesQuery } from './whois-query.ts'

export type WhoisSourceConfig = WhoisAddress & {
  readonly sources?: readonly string[]
  /** Timeout of one query, including the wait for a connection and connecting. */
  readonly timeoutMs?: number
  readonly connectionsMax?: number
  readonly idleMs?: number
  /** A longer answer is rejected. */
  readonly answerBytesMax?: number
}

/** A loaded server answers after many seconds, and the validator can wait. Calls for a person end by their signal. */
const queryTimeoutMs = 30_000

const byDefault = {
  sources: [],
  timeoutMs: queryTimeoutMs,
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
  readonly #config: WhoisPoolConfig
  readonly #pool: WhoisPool
  /** Searches regional registries first; undefined until it is needed. */
  #regionalFirst: { readonly sources: string; readonly pool: WhoisPool } | undefined
  readonly #problems: ProblemList = createProblemList()
  #isClosed = false

  constructor(config: WhoisPoolConfig) {
    const { host, port, sources } = config
    const registries = sources.length === 0 ? '' : ` (${sources.join(',')})`
    this.name = `whois://${host.includes(':') ? `[${host}]` : host}:${port}${registries}`
    this.label = `IRR server${registries}`
    this.#sources = sources
    this.#config = config
    this.#pool = new WhoisPool(config)
  }

  async routeObjects(prefix: Prefix, signal: AbortSignal): Promise<readonly RouteObject[]> {
    // A server that does not support the option would return objects of other registries.
    const routes = await this.#query(routesQuery(prefix), signal, (text) => this.#read(text, readRoute))
    return (routes ?? []).filter((route) => covers(route.prefix, prefix))
  }

  async autNum(asn: Asn, signal: AbortSignal): Promise<AutNumObject | undefined> {
    const pool = await this.#autNumPool(signal)
    const autNums = await this.#query(autNumQuery(asn), signal, (text) => this.#read(text, readAutNum), pool)
    const found = autNums?.find((object) => object.asn === asn)
    return found && { source: found.source, text: found.text }
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

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([this.#pool.close(), this.#regionalFirst?.pool.close()])
  }

  /** A server answers with the object of the first registry only. */
  async #autNumPool(signal: AbortSignal): Promise<WhoisPool> {
    const listed = this.#sources.length > 0 ? this.#sources : await this.#listSources(signal)
    const sources = regionalFirst(listed)
    // A closed pool rejects.
    if (String(sources) === String(listed) || this.#isClosed) return this.#pool
    if (this.#regionalFirst?.sources !== String(sources)) {
      await this.#regionalFirst?.pool.close()
      const pool = new WhoisPool({ ...this.#config, sources, connectionsMax: 1 })
      this.#regionalFirst = { sources: String(sources), pool }
    }
    return this.#regionalFirst.pool
  }

  /** Empty if the server does not list them: then they are searched in its order. */
  async #listSources(signal: AbortSignal): Promise<string[]> {
    const answer = await this.#pool.query(sourcesQuery, signal)
    return answer.kind === 'found' ? answer.text.trim().toUpperCase().split(',').filter(isRegistryName) : []
  }

  /** Returns the parsed answer; undefined if it is empty. */
  async #query<T>(
    line: string,
    signal: AbortSignal,
    read: (text: string) => T,
    pool = this.#pool,
  ): Promise<T | undefined> {
    const answer = await pool.query(line, signal)
    const query = `${this.name}: ${line}`
    try {
      const text = textOf(answer, query)
      return text === undefined ? undefined : read(text)
    } catch (error) {
      if (!(error instanceof RpslError)) throw error
      throw new DriverError('refused', `${query}: ${error.message}`, { cause: error })
    }
  }

  /** An invalid object is skipped and reported. */
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

/** Problems with the objects of a source, for operators: each once, the last few of them. */
type ProblemList = {
  add(problem: string): void
  all(): readonly string[]
}

const problemsMax = 20

function createProblemList(): ProblemList {
  const problems = new Set<string>()
  return {
    add(problem) {
      problems.delete(problem)
      problems.add(problem)
      if (problems.size > problemsMax) problems.delete(problems.values().next().value!)
    },
    all: () => [...problems],
  }
}
