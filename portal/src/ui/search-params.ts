// The search parameters of a page. Links are checked against the contract's query types; an address can come from
// anywhere, so each value is unknown until the page parses it, and a parameter that the page does not know is dropped.
import type { SearchSchemaInput } from '@tanstack/react-router'

/** A filter that accepts a list also accepts a single value. */
type Written<Value> = Value | (Value extends readonly (infer Element)[] ? Element : never) | undefined

export type SearchOf<Query, Name extends keyof Query> = { readonly [N in Name]?: Written<Query[N]> }

/** Returns the validator of a page's search parameters: the named ones of `Query`. */
export const parameters =
  <Query>() =>
  <const Name extends keyof Query & string>(...names: readonly Name[]) =>
  (search: SearchOf<Query, Name> & SearchSchemaInput): { readonly [N in Name]?: unknown } => {
    const known = new Set<string>(names)
    return Object.fromEntries(
      // The router keeps parameters that are absent here, and removes undefined ones.
      Object.entries(search).map(([name, value]) => [name, known.has(name) ? value : undefined]),
    ) as { readonly [N in Name]?: unknown }
  }
