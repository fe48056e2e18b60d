// The agent beside one daemon: after a restart of the daemon while the control plane is down, it announces the last
// known routes again, and it ends black holes at their time. It makes no other withdrawals, needs no database, and is
// passive while a reconciler answers.
import type { Prefix } from '../../net/prefix.ts'
import type { Component } from '../../runtime/component.ts'
import type { Log } from '../../runtime/log.ts'
import { isBlackhole } from './blackhole-route.ts'
import type { HandedBlackhole, HandedReading, HandedRoutes } from './handed-routes.ts'
import { lastKnownRoutesAgeMsMax } from './last-known-routes.ts'
import { RestartedRouters } from './restore-routers.ts'
import type { Route, Speaker } from './speaker.ts'

export type AgentDeps = {
  readonly speaker: Speaker
  /** Returns the last routes from the reconciler. */
  readonly read: () => HandedReading
  readonly now: () => Date
  readonly log: Log
}

const intervalMs = 1_000
/** Time that an active reconciler may take to fill the daemon itself. */
const reconcilerMs = 2_000

/** Inert until started. */
export class Agent implements Component {
  readonly name = 'agent'
  readonly #deps: AgentDeps
  readonly #kept: RestartedRouters
  #problem: string | undefined
  #timers: NodeJS.Timeout[] = []
  #unwatch: (() => void) | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(deps: AgentDeps) {
    this.#deps = deps
    const { speaker, log } = deps
    this.#kept = new RestartedRouters({ region: 'agent', routers: [{ name: 'agent', speaker }], log })
  }

  start(): void {
    const onUp = () => this.#timers.push(setTimeout(() => this.#kept.onRestart('agent'), reconcilerMs))
    this.#unwatch = this.#deps.speaker.watch({ onUp, onTableChange: () => {}, onNeighborChange: () => {} })
    this.#timers.push(setInterval(() => void this.run(), intervalMs))
  }

  async stop(): Promise<void> {
    this.#unwatch?.()
    for (const timer of this.#timers) clearTimeout(timer)
    await this.#running
    await this.#deps.speaker.close()
  }

  /** Runs one step after the previous one. Never rejects: the next step is the retry. */
  run(): Promise<void> {
    const failed = (error: unknown) => (error as Error).message
    this.#running = this.#running
      .then(() => this.#step().catch(failed))
      .then((problem) => this.#report(problem))
    return this.#running
  }

  /** Returns the problem that prevents a part of the work, if any. */
  async #step(): Promise<string | undefined> {
    const { speaker, read, now } = this.#deps
    const { handed, problem } = read()
    if (!handed) return problem
    // If it does not answer, the rest would fail too, and be logged each time.
    await speaker.probe()
    const atMs = now().getTime()
    const isOver = ({ until }: HandedBlackhole) => Date.parse(until) <= atMs
    const isRecent = atMs - Date.parse(handed.at) <= lastKnownRoutesAgeMsMax
    if (isRecent) {
      const current = handed.blackholes.filter((one) => !isOver(one)).map(({ route }) => route)
      await this.#announce(handed, [...handed.routes, ...current])
    }
    await this.#endBlackholes(handed.blackholes.filter(isOver).map(({ route }) => route.prefix))
    return problem ?? (isRecent ? undefined : `the routes are of ${handed.at}: too old to be announced`)
  }

  async #announce({ region: slug, at }: HandedRoutes, routes: readonly Route[]): Promise<void> {
    const region = { id: 0, slug, speakers: [], quorum: null, communities: [], largeCommunities: [] }
    await this.#kept.announce({ region, routers: [{ name: 'agent', routes }], at }, 'control plane away')
  }

  /** A host of the file that the daemon still discards. A network, or a host that is announced otherwise, stays. */
  async #endBlackholes(hosts: readonly Prefix[]): Promise<void> {
    const { speaker, log } = this.#deps
    const ended = (await speaker.find(hosts)).filter(isBlackhole)
    if (ended.length === 0) return
    await speaker.withdraw(ended)
    log.warn({ hosts: ended.map(({ prefix }) => prefix) }, 'ended black holes')
  }

  /** Logs each problem once. */
  #report(problem: string | undefined): void {
    if (problem !== undefined && problem !== this.#problem)
      this.#deps.log.error({ problem }, 'agent step failed')
    this.#problem = problem
  }
}
