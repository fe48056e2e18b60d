// The search parameters of a page. Links are checked against the contract's query types; an address can come from anywhere, so
// each value is unknown until the page parses it. A list names the parameters that it does not know.
import type { SearchSchemaInput } from '@tanstack/react-router'

/** A filter that accepts a list also accepts a single value. */
type Written<Value> = Value | (Value extends readonly (infer Element)[] ? Element : never) | undefined

/** The parameters of any list: order, visible columns, time range and the row in the side panel. */
export type ViewParameters = {
  /** As the API orders: `-start` is descending. */
  readonly sort?: string | undefined
  readonly columns?: readonly string[] | undefined
  /** Up to now: `24h`, `30d`, `this-month`. */
  readonly range?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly show?: string | number | undefined
}

export type SearchOf<Query, Name extends keyof Query> = {
  readonly [N in Name]?: Written<Query[N]>
} & Omit<ViewParameters, Name>

/** Returns the validator of a page's search parameters: the named parameters of `Query`, and the parameters of any list. */
export const parameters =
  <Query>() =>
  <const Name extends keyof Query & string>(..._names: readonly Name[]) =>
  (
    search: SearchOf<Query, Name> & SearchSchemaInput,
  ): { readonly [N in Name | keyof ViewParameters]?: unknown } =>
    // Their names are the same; the values are unknown until the page parses them.
    search as unknown as { readonly [N in Name | keyof ViewParameters]?: unknown }
