// Observes every name server of the platform file in its own loop, so that a server that does not answer delays no
// other. One process at a time observes.
import { createLedLoop } from '../db/led-loop.ts'
import type { Db } from '../db/postgres.ts'
import { createFollower } from '../drivers/dns-follower/name-server.ts'
import { SandboxNameServer, sandboxCopiesOf } from '../drivers/sandbox/name-server.ts'
import { queueStaffMail } from '../mail/staff-mail.ts'
import type { Shared } from '../process/shared.ts'
import { Targets, type TargetPart } from '../reconcile/targets.ts'
import { saveDifferences, saveRestoreProblem } from '../restore/restore.store.ts'
import type { Component } from '../runtime/component.ts'
import { createLoop } from '../runtime/loop.ts'
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

type Observed = TargetPart & {
  /** Another publication: the serial that is read now is outdated. */
  onPublished(): void
}

export function observeServers(shared: Shared): Component {
  const { owner, waker, log } = shared
  const onRefused = refusalAlert(shared)
  const observed = new Targets<ServerRow, Observed>({
    settingsOf: ({ keySealed, ...server }) => JSON.stringify([server, keySealed?.toString('hex')]),
    create: (server) => observe(shared, server, onRefused),
    onInvalid: ({ name: server }, error) => log.error({ server, err: error }, 'name server is not observed'),
  })
  const manager = createLedLoop(shared, {
    name: 'dns-observe',
    sends: 'nothing',
    wakeName: 'dns',
    // Every change of a zone wakes it, and few change the name servers.
    delayMs: 200,
    intervalMs,
    onStandby: () => observed.stop(),
    async run() {
      await observed.update(await listServers(owner))
      await deleteObservations(owner)
    },
  })
  let unsubscribe = (): void => {}
  return {
    name: manager.name,
    start() {
      unsubscribe = waker.on('dns-published', () => {
        for (const server of observed.parts) server.onPublished()
      })
      manager.start()
    },
    async stop() {
      unsubscribe()
      await manager.stop()
    },
  }
}

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
  let unwatch = (): void => {}
  return {
    start() {
      unwatch = client.watch(() => loop.wake())
      loop.start()
    },
    onPublished() {
      loop.wake()
      observer.interrupt()
    },
    async stop() {
      clearTimeout(timer)
      unwatch()
      await client.close()
      await loop.stop()
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
  if (kind === 'sandbox') {
    const copies = sandboxCopiesOf(postgres, name)
    return new SandboxNameServer({ primary: publishedZones(postgres.owner), copies })
  }
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
