// Announces the last known routes on restarted routers while the database does not answer, and after a restore the
// routes that it confirms. It announces a prefix once per restart: if the prefix is absent later, a process with a
// database has withdrawn it.
import type { Prefix } from '../../net/prefix.ts'
import type { Log } from '../../runtime/log.ts'
import type { LastKnownRoutes } from './last-known-routes.ts'
import type { Router } from './region-run.ts'

type KeptRoutersDeps = {
  readonly region: string
  readonly routers: readonly Pick<Router, 'name' | 'speaker'>[]
  readonly log: Log
}

/** The routers of a region, as they are seen without the database. */
export class RestartedRouters {
  readonly #deps: KeptRoutersDeps
  /** Routers that came up since their routes were last read here. At the start all: they may have been restarted before. */
  readonly #restarted: Set<string>
  /** Prefixes that restarted routers still lack since the restart, by the name of the router. */
  readonly #unrestored = new Map<string, Set<Prefix>>()

  constructor(deps: KeptRoutersDeps) {
    this.#deps = deps
    this.#restarted = new Set(deps.routers.map(({ name }) => name))
  }

  /** A router is reachable again, so it may have been restarted. */
  onRestart(router: string): void {
    this.#restarted.add(router)
  }

  /** A run with the database has applied the desired state. */
  onReconciled(): void {
    this.#unrestored.clear()
  }

  /**
   * Announces the routes of the plan to each router that came up and has no routes of the owner: it was restarted, and no other
   * process has taken over the region, which would have announced them first. Continues where an earlier call failed. Errors are
   * logged. Returns the number of announced routes.
   */
  async announce(
    kept: LastKnownRoutes | undefined,
    reason: 'database unavailable' | 'restore open' | 'control plane away',
  ): Promise<number> {
    const { region, routers, log } = this.#deps
    let announced = 0
    for (const { name, speaker } of routers) {
      const routes = kept?.routers.find((one) => one.name === name)?.routes ?? []
      if (routes.length === 0) continue
      const hasRestarted = this.#restarted.delete(name)
      try {
        const present = (await speaker.list()).map(({ prefix }) => prefix)
        if (hasRestarted && present.length === 0)
          this.#unrestored.set(name, new Set(routes.map(({ prefix }) => prefix)))
        const unrestored = this.#unrestored.get(name)
        for (const prefix of present) unrestored?.delete(prefix)
        const absent = routes.filter(({ prefix }) => unrestored?.has(prefix))
        if (absent.length === 0) continue
        await speaker.announce(absent)
        this.#unrestored.delete(name)
        announced += absent.length
        const facts = { region, router: name, routes: absent.length, plan_of: kept?.at, reason }
        log.warn(facts, 'announced the last known routes to a router without routes')
      } catch (error) {
        if (hasRestarted) this.#restarted.add(name)
        log.error({ region, router: name, error }, 'last known routes could not be announced')
      }
    }
    return announced
  }
}
