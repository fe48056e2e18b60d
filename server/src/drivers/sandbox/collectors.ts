// A simulation of route collectors for the demo: they learn of each announcement and withdrawal on the sandbox routers after
// seconds, and a few of them never lose the route of one prefix. Deterministic, without a network.
import type {
  FollowedPrefix,
  VisibilitySink,
  VisibilitySource,
  VisibilitySourceStatus,
} from '../../byoip/visibility/visibility-source.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import type { CollectorContext } from '../collectors/context.ts'
import { urlDriver } from '../driver/url-driver.ts'

type SandboxAddress = {
  /** The number of simulated collectors. */
  readonly collectors: number
  /** A prefix whose withdrawals do not reach 4 % of the collectors. */
  readonly stuck: Prefix | undefined
}

const form = 'sandbox:300?stuck=192.0.2.0/24'

function parseAddress(text: string): SandboxAddress {
  const match = /^sandbox:(\d{1,4})(?:\?stuck=(\S+))?$/.exec(text)
  if (!match) throw new TypeError(`visibility source: write ${form}`)
  return {
    collectors: Number(match[1]),
    stuck: match[2] === undefined ? undefined : parsePrefix(match[2]),
  }
}

export const sandboxCollectors = urlDriver<SandboxAddress, CollectorContext, VisibilitySource>({
  kind: 'sandbox',
  schemes: ['sandbox:'],
  forms: [form],
  parse: parseAddress,
  create: (address, context) => new SandboxCollectors(address, context),
})

/** The last change of a prefix, and the collectors that have reported it. */
type Reported = { readonly key: string; readonly done: Set<number> }

class SandboxCollectors implements VisibilitySource {
  readonly name = 'sandbox'
  readonly label = 'sandbox'
  readonly #address: SandboxAddress
  readonly #context: CollectorContext
  readonly #reported = new Map<Prefix, Reported>()
  #sink: VisibilitySink | undefined
  #running = false

  constructor(address: SandboxAddress, context: CollectorContext) {
    this.#address = address
    this.#context = context
  }

  connect(sink: VisibilitySink): void {
    this.#sink = sink
  }

  start(): void {
    this.#running = true
  }

  stop(): void {
    this.#running = false
    this.#reported.clear()
  }

  status(): VisibilitySourceStatus {
    return this.#running
      ? { state: 'current', asOf: this.#context.now(), problem: null }
      : { state: 'unavailable', asOf: null, problem: 'not started' }
  }

  /** Reports routes that are due: the monitor calls this every few seconds. */
  follow(prefixes: readonly FollowedPrefix[]): void {
    if (!this.#running) return
    const wanted = new Set(prefixes.map(({ prefix }) => prefix))
    for (const prefix of this.#reported.keys()) if (!wanted.has(prefix)) this.#reported.delete(prefix)
    for (const followed of prefixes) this.#report(followed)
  }

  #report({ prefix, originAsn, change }: FollowedPrefix): void {
    const key = change ? `${change.kind} ${change.at.getTime()}` : ''
    let reported = this.#reported.get(prefix)
    if (!reported) {
      // Every collector exists before the first change, and has no route.
      this.#sink?.followed(prefix, new Date(0))
      this.#sink?.table(prefix, [], new Date(0))
      const before = new Date(0)
      for (let at = 0; at < this.#address.collectors; at++)
        this.#sink?.update({ prefix, collector: nameOf(at), path: null, at: before })
      if (change?.kind === 'withdrawn' && prefix === this.#address.stuck)
        this.#announceStuck(prefix, originAsn)
    }
    if (reported?.key !== key) {
      reported = { key, done: new Set() }
      this.#reported.set(prefix, reported)
    }
    if (!change) return
    const nowMs = this.#context.now().getTime()
    for (let index = 0; index < this.#address.collectors; index++) {
      if (reported.done.has(index)) continue
      const atMs = change.at.getTime() + delayMs(prefix, index)
      if (atMs > nowMs) continue
      reported.done.add(index)
      const path = change.kind === 'announced' ? this.#pathOf(index, originAsn) : null
      if (this.#isDeaf(prefix, index, path === null)) continue
      this.#sink?.update({ prefix, collector: nameOf(index), path, at: new Date(atMs) })
    }
  }

  /** After a restart, the remaining routes are still there. */
  #announceStuck(prefix: Prefix, originAsn: number): void {
    for (let index = 0; index < this.#address.collectors; index++) {
      if (!this.#isDeaf(prefix, index, true) || this.#isDeaf(prefix, index, false)) continue
      const path = this.#pathOf(index, originAsn)
      this.#sink?.update({ prefix, collector: nameOf(index), path, at: new Date(1) })
    }
  }

  /** About 4 % of the collectors never get a route, and 4 % never lose that of the stuck prefix. */
  #isDeaf(prefix: Prefix, index: number, isWithdrawal: boolean): boolean {
    const share = hashOf(`${isWithdrawal ? 'stuck' : 'deaf'} ${prefix} ${index}`) % 25
    return share === 0 && (!isWithdrawal || prefix === this.#address.stuck)
  }

  #pathOf(index: number, originAsn: number): number[] {
    const { ourAsn } = this.#context
    return [4_200_000_000 + index, ...(ourAsn === null ? [] : [ourAsn]), originAsn]
  }
}

/** A collector in the range for documentation (RFC 3849). */
const nameOf = (index: number): string => `2001:db8:ffff::${(index + 1).toString(16)}`

/** Most collectors follow within 40 s, the slowest in about two minutes. */
function delayMs(prefix: Prefix, index: number): number {
  const uniform = (hashOf(`delay ${prefix} ${index}`) % 10_000) / 10_000
  return 2_000 + Math.round(-Math.log(1 - uniform) * 22_000)
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
  // FNV's low bits follow the last character: mix them.
  return (hash ^ (hash >>> 15)) >>> 0
}
