// A whois server that speaks the `!` protocol (IRRd, and what is compatible with it) as a source of what the routing
// registries hold. It keeps connections, and no answers.
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
  /** For one question, with the waiting for a connection and the connecting. */
  readonly timeoutMs?: number
  readonly connectionsMax?: number
  readonly idleMs?: number
  /** A longer answer is refused. */
  readonly answerBytesMax?: number
}

const byDefault = {
  sources: [],
  timeoutMs: 8_000,
  connectionsMax: 2,
  idleMs: 30_000,
  answerBytesMax: 2 * 1024 * 1024,
}

/** Connects at the first question. */
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
    // A server that does not know the option would answer with others.
    const routes = await this.#ask(routesQuery(prefix), signal, (text) => this.#read(text, readRoute))
    return (routes ?? []).filter((route) => covers(route.prefix, prefix))
  }

  async autNum(asn: Asn, signal: AbortSignal): Promise<string | undefined> {
    const autNums = await this.#ask(autNumQuery(asn), signal, (text) => this.#read(text, readAutNum))
    return autNums?.find((object) => object.asn === asn)?.text
  }

  async asSetMembers(name: string, signal: AbortSignal) {
    const members = await this.#ask(membersQuery(name), signal, readAsSetMembers)
    return members && members.asns.length + members.sets.length > 0 ? members : undefined
  }

  async serial(signal: AbortSignal): Promise<string | undefined> {
    const answer = await this.#pool.ask(serialsQuery(this.#sources), signal)
    return answer.kind === 'found' ? newestSerials(answer.text) : undefined
  }

  /** A server does not say how many objects it has; its answers are compared by whoever asks. */
  isSuspicious(): boolean {
    return false
  }

  problems(): readonly string[] {
    return this.#problems.all()
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  /** What is read of the answer, or undefined when there is nothing. */
  async #ask<T>(line: string, signal: AbortSignal, read: (text: string) => T): Promise<T | undefined> {
    const answer = await this.#pool.ask(line, signal)
    const question = `${this.name}: ${line}`
    try {
      const text = textOf(answer, question)
      return text === undefined ? undefined : read(text)
    } catch (error) {
      if (!(error instanceof RpslError)) throw error
      throw new DriverError('refused', `${question}: ${error.message}`, { cause: error })
    }
  }

  /** An object that makes no sense is left out and reported. */
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

function textOf(answer: WhoisAnswer, question: string): string | undefined {
  if (answer.kind === 'found') return answer.text
  if (answer.kind === 'none' || answer.kind === 'absent') return undefined
  const why = answer.kind === 'refused' ? answer.message : 'more than one object has this key'
  throw new DriverError('refused', `${question}: ${why}`)
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
 * Of `RADB:N:0-4711:12`, one line for each registry, the newest serial; the oldest, and that of the last export, change
 * without the objects. A registry without serials says `-`, an unknown one `X`.
 */
function newestSerials(text: string): string | undefined {
  const serials = [...text.matchAll(/^([^:\s]+):[^:\s]*:\d+-(\d+)/gm)].map(
    ([, name, newest]) => `${name}:${newest}`,
  )
  return serials.length === 0 ? undefined : serials.sort().join(',')
}
