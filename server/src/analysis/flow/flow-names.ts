// What keys of flows refer to in the inventory.
import type { Prefix } from '../../net/prefix.ts'

/** What keys refer to: names of the inventory, only those that the caller may see. */
export type FlowNames = {
  readonly prefixes: readonly { readonly id: number; readonly prefix: Prefix }[]
  readonly devices: readonly {
    readonly id: number
    readonly name: string
    readonly exporterIds: readonly number[]
  }[]
  readonly ports: readonly { readonly id: number; readonly name: string }[]
}
