// A real router for tests of whole servers, and a watcher of the routes on it.
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, randomSubnet } from '../../../lab/src/address.ts'
import { Gobgpd } from '../../../lab/src/gobgpd.ts'
import { createGobgpSpeaker } from '../../src/drivers/gobgp/speaker.ts'

/** Starts gobgpd without neighbors. */
export async function startRouter(folder: string): Promise<Gobgpd> {
  const address = `${randomSubnet()}.1`
  const [bgpPort, apiPort] = [await freePort(address, 1790), await freePort(address, 50_051)]
  const router = new Gobgpd({ folder, address, bgpPort, apiPort, asn: 64500, neighbors: [] })
  await router.start()
  return router
}

/**
 * Polls the router continuously: a stable prefix that is missing once is a customer's outage. Returns a function that stops it and returns
 * the prefixes that were missing.
 */
export function watchRouter(address: string, owner: string, stable: readonly string[]) {
  // A busy machine answers late: only a missing route is an outage here.
  const speaker = createGobgpSpeaker({ address, owner, insecure: true, timeoutMs: 60_000 })
  const missing = new Set<string>()
  let polls = 0
  const stopping = new AbortController()
  const watch = async () => {
    for (; !stopping.signal.aborted; await sleep(50)) {
      const there = new Set<string>((await speaker.list()).map(({ prefix }) => prefix))
      for (const prefix of stable) if (!there.has(prefix)) missing.add(prefix)
      polls++
    }
    await speaker.close()
  }
  const watched = watch()
  watched.catch(() => {})
  return async () => {
    stopping.abort()
    await watched
    return { missing, polls }
  }
}
