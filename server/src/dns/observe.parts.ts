// Observes every name server of the platform file in its own loop, so that a server that does not answer delays no
// other. One process at a time observes.
import { createLedLoop } from '../db/led-loop.ts'
import type { Db } from '../db/postgres.ts'
import { createFollower } from '../drivers/dns-follower/name-server.ts'
import { SandboxNameServer } from '../drivers/sandbox/name-server.ts'
import { queueStaffMail } from '../mail/staff-mail.ts'
import type { Shared } from '../process/shared.ts'
import { saveDifferences, saveRestoreProblem } from '../restore/restore.store.ts'
import type { Component } from '../runtime/component.ts'
import { createLoop, type Loop } from '../runtime/loop.ts'
import type { ZoneSource } from './answer/zone-source.ts'
import { compareServer } from './publish/compare-server.ts'
import type { NameServer } from './publish/name-server.ts'
import { ServerObserver, type ObserveDeps } from './publish/observe-server.ts'
import { deleteObservations, listServers, type ServerRow } from './publish/observe.store.ts'
import { ServedZones } from './serve/served-zones.ts'
import { openTsigKey } from './settings/sealed-tsig-key.ts'

const intervalMs = 30_000
/** While a server is behind, it is asked again after this time, doubled up to `intervalMs`. */
const retryMs = 1_000

type Observed = {
  readonly key: string
  readonly loop: Loop
  readonly client: NameServer
  readonly observer: ServerObserver
  stopRetry: () => void
}

export function observeServers(shared: Shared): Component {
  const { owner, waker } = shared
  const observed = new Map<number, Observed>()
  const onRefused = refusalAlert(shared)

  const stopOne = async (id: number): Promise<void> => {
    const one = observed.get(id)
    observed.delete(id)
    one?.stopRetry()
    await one?.client.close()
    await one?.loop.stop()
  }
  const stopAll = async (): Promise<void> => void (await Promise.all([...observed.keys()].map(stopOne)))

  const manager = createLedLoop(shared, {
    name: 'dns-observe',
    sends: 'nothing',
    wakeName: 'dns',
    // Every change of a zone wakes it, and few change the name servers.
    delayMs: 200,
    intervalMs,
    onStandby: stopAll,
    async run() {
      const servers = await listServers(owner)
      const wanted = new Map(servers.map((server) => [server.id, server]))
      for (const [id, { key }] of observed) {
        const server = wanted.get(id)
        if (!server || keyOf(server) !== key) await stopOne(id)
      }
      for (const server of servers)
        if (!observed.has(server.id)) observed.set(server.id, observe(shared, server, onRefused))
      await deleteObservations(owner)
    },
  })
  let unsubscribe = (): void => {}
  return {
    name: manager.name,
    start() {
      unsubscribe = waker.on('dns-published', () => {
        for (const { observer, loop } of observed.values()) {
          loop.wake()
          observer.interrupt()
        }
      })
      manager.start()
    },
    async stop() {
      unsubscribe()
      await manager.stop()
    },
  }
}

/** Everything that the client of a server is made of. */
const keyOf = ({ keySealed, ...server }: ServerRow): string =>
  JSON.stringify([server, keySealed?.toString('hex')])

function observe(shared: Shared, server: ServerRow, onRefused: ObserveDeps['onRefused']): Observed {
  const { owner, now, log, metrics } = shared
  const client = connectObserver(shared, server)
  const observer = new ServerObserver(
    {
      db: owner,
      now,
      onRefused,
      onServed: (seconds) => seconds.forEach((one) => metrics.dnsChangeServedSeconds.observe(one)),
    },
    server,
    client,
  )
  let timer: NodeJS.Timeout | undefined
  let delayMs = retryMs
  const loop = createLoop({
    name: `dns-observe:${server.name}`,
    intervalMs,
    // It sends NOTIFY.
    sends: { gate: shared.gate, whileClosed: () => compare(shared, server, client) },
    log,
    metrics,
    async run(signal) {
      await observer.run(signal)
      clearTimeout(timer)
      delayMs = observer.behind > 0 ? Math.min(delayMs * 2, intervalMs) : retryMs
      if (observer.behind > 0 && !signal.aborted) timer = setTimeout(() => loop.wake(), delayMs)
    },
  })
  const unwatch = client.watch(() => loop.wake())
  loop.start()
  return {
    key: keyOf(server),
    loop,
    client,
    observer,
    stopRetry() {
      clearTimeout(timer)
      unwatch()
    },
  }
}

/** Mails about a refusal once: its reason is derived anew after each publication. */
function refusalAlert({ config, ring, log }: Shared): ObserveDeps['onRefused'] {
  const alerted = new Map<number, string>()
  const deps = { ring, recipients: config.operatorAlertEmails }
  return async (trx, zones) => {
    const found = zones.filter(({ id, since }) => alerted.get(id) !== since)
    if (found.length === 0) return undefined
    const recipients = await queueStaffMail(deps, trx, 'zones-refused', { zones: found })
    return () => {
      for (const { id, since } of found) alerted.set(id, since)
      log.error({ zones: found, recipients }, 'zones refused by a name server that others serve')
    }
  }
}

/** While a restore is open, stores the differences between the server and the database. */
async function compare({ owner }: Shared, server: ServerRow, client: NameServer): Promise<void> {
  const source = { area: 'zones', source: server.name.replace(/\.$/, '') } as const
  try {
    const differences = await compareServer(owner, client)
    await saveDifferences(owner, { ...source, differences })
  } catch (error) {
    await saveRestoreProblem(owner, { ...source, problem: (error as Error).message })
    throw error
  }
}

export function connectObserver(
  { config, postgres }: Pick<Shared, 'config' | 'postgres'>,
  { name, kind, address, port, ...key }: ServerRow,
): NameServer {
  if (kind === 'sandbox') return new SandboxNameServer({ primary: publishedZones(postgres.owner) })
  if (address === null) throw new Error(`the name server ${name} has no address`)
  return createFollower({ address, port, key: openTsigKey(config.secret, key) })
}

/** The primary of a sandbox, which is in this process: the published rows, as they are at each transfer. */
function publishedZones(db: Db): Pick<ZoneSource, 'open'> {
  const zones = new ServedZones({ db, isInMemory: false, now: () => new Date() })
  return {
    async open(name) {
      await zones.refresh(false)
      return zones.open(name)
    },
  }
}
