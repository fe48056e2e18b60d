// Limits of the state that the decoder has of exporters. Anyone can send a datagram, and in any sender's name: one exporter that floods
// disturbs no other, and forged ones together take a bounded amount of memory.

export type Usage = {
  domains: number
  templates: number
  rates: number
  sequences: number
  /** Including `heldSetOctets` for each set. */
  heldOctets: number
}

/** The memory of a waiting set in addition to its own octets; measured with sets of one octet, and rounded up. */
export const heldSetOctets = 512

/** For one exporter. */
export const exporterLimits: Readonly<Usage> = {
  domains: 1024,
  templates: 4096,
  rates: 65_536,
  sequences: 1024,
  heldOctets: 2 ** 20,
}

/** For all exporters together. */
const commonLimits: Readonly<Usage> = {
  domains: 65_536,
  templates: 65_536,
  rates: 131_072,
  sequences: 65_536,
  heldOctets: 64 * 2 ** 20,
}

export type QuotaUser = {
  /** Named in the platform file: the common limits, which forged senders can use up, do not apply. */
  readonly shared: { readonly isConfigured: boolean }
  readonly used: Usage
}

export const createUsage = (): Usage => ({ domains: 0, templates: 0, rates: 0, sequences: 0, heldOctets: 0 })

export class Quota {
  readonly #used = createUsage()
  readonly #limits: Readonly<Usage>

  constructor(common: Partial<Usage> = {}) {
    this.#limits = { ...commonLimits, ...common }
  }

  /** Returns whether the amount fits, and then counts it. */
  take(user: QuotaUser, what: keyof Usage, amount = 1): boolean {
    if (!this.hasRoom(user, what, amount)) return false
    user.used[what] += amount
    this.#used[what] += amount
    return true
  }

  hasRoom({ shared, used }: QuotaUser, what: keyof Usage, amount = 1): boolean {
    if (used[what] + amount > exporterLimits[what]) return false
    return shared.isConfigured || this.#used[what] + amount <= this.#limits[what]
  }

  giveBack({ used }: QuotaUser, what: keyof Usage, amount = 1): void {
    used[what] -= amount
    this.#used[what] -= amount
  }

  giveBackAll(user: QuotaUser): void {
    for (const what of Object.keys(exporterLimits) as (keyof Usage)[])
      this.giveBack(user, what, user.used[what])
  }
}
