// Carpets: several hosts or networks of one prefix that are attacked with the same kind of traffic are one attack on the prefix.
import { Attack } from './attack.ts'

const membersMin = 3
const withinSeconds = 600

type Begin = { readonly second: number; readonly attack: Attack }

export class Carpets {
  /** Attacks that began in the last minutes, by prefix and leading kind of traffic. */
  readonly #begins = new Map<string, Begin[]>()
  readonly #carpets = new Map<string, Attack>()

  /**
   * Adds an attack to the carpet of its prefix; if the carpet begins now, `create` returns its attack. `network` is the
   * prefix of the carpet, `key` the key of an attack on it.
   */
  add(attack: Attack, prefix: string, second: number, create: () => Attack): void {
    const key = `${prefix} ${attack.leading}`
    const known = this.#carpets.get(key)
    if (known) return join(known, attack)
    const begins = (this.#begins.get(key) ?? []).filter((one) => second - one.second < withinSeconds)
    begins.push({ second, attack })
    this.#begins.set(key, begins)
    const latest = new Map(begins.map((one) => [one.attack.key, one.attack]))
    if (latest.size < membersMin) return
    const carpet = create()
    this.#carpets.set(key, carpet)
    for (const one of latest.values()) join(carpet, one)
    carpet.follow({ limits: undefined, own: carpet.own, vectors: new Map() }, 0)
  }

  /** An attack is over. */
  remove(attack: Attack): void {
    for (const [key, carpet] of this.#carpets) if (carpet === attack) this.#carpets.delete(key)
  }

  /** Removes entries that began too long ago. */
  clean(second: number): void {
    for (const [key, begins] of this.#begins) {
      if (Math.abs(second - begins.at(-1)!.second) >= withinSeconds) this.#begins.delete(key)
    }
  }
}

/** An attack that was reported before keeps its own reports. */
function join(carpet: Attack, attack: Attack): void {
  carpet.members.set(attack.key, attack)
  if (!attack.isReported) attack.carpet = carpet
}
