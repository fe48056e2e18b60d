// Names of the inventory and of AS numbers, for keys of flows.
import type { Prefix } from '../net/prefix.ts'

/** Only those that the caller may see. */
export type FlowNames = {
  readonly prefixes: readonly { readonly id: number; readonly prefix: Prefix }[]
  readonly devices: readonly {
    readonly id: number
    readonly name: string
    readonly exporterIds: readonly number[]
  }[]
  readonly ports: readonly { readonly id: number; readonly name: string }[]
  /** By AS number, of those that are shown. */
  readonly asns: ReadonlyMap<string, string>
}
